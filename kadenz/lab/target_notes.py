# SPDX-License-Identifier: Apache-2.0
"""The settings and notes of a target, entered into its run before the records they are of."""

from __future__ import annotations

from collections.abc import Mapping

from kadenz.config import manifest
from kadenz.config.manifest import EventEntry
from kadenz.lab.condition import Running
from kadenz.lab.events import enter_events, enter_kinds, kinds_in_words
from kadenz.store import RunWriter
from kadenz.wire.records import Assembler

# Kinds of notes of a target that become warnings of the run; a chatty one would hide the others.
_NOTES_MAX = 20


class TargetNotes:
    """The settings and the texts of one boot.

    A killed lab leaves what was entered until then. So this is called before each record is
    closed: a record that counts as measured has its warnings.
    """

    def __init__(
        self,
        run: Running,
        writer: RunWriter,
        assembler: Assembler,
        settings: Mapping[str, str],
    ) -> None:
        """`settings` are those of this machine, as they are when the target reads them."""
        self._run, self._writer, self._assembler = run, writer, assembler
        self._settings = dict(settings)
        self._known = False  # the target's own settings
        self._texts = 0  # entered so far
        self._kinds: list[EventEntry] = []
        self._entered: list[manifest.Warning] = []

    def enter(self) -> None:
        """Enters what is new: everything into the console file, its kinds into the warnings."""
        document = self._writer.manifest
        if not self._known and self._assembler.hello is not None:
            self._known = True
            # The catalog may have been asked with fewer rights: this is what is measured.
            document.target.settings = self._assembler.hello.settings | self._settings
        news = self._assembler.texts[self._texts :]
        if not news:
            return
        self._texts += len(news)
        for text in news:
            self._writer.say(text)
            self._run.progress.note(self._run.label, text)
        enter_kinds(self._kinds, enter_events(document.events, news))
        document.warnings = [
            warning for warning in document.warnings if warning not in self._entered
        ]
        self._entered = [
            warning for warning in self._warnings() if warning not in document.warnings
        ]
        document.warnings += self._entered

    def _warnings(self) -> list[manifest.Warning]:
        notes = kinds_in_words(self._kinds)
        warnings = [
            manifest.Warning(code="target-note", message=text) for text in notes[:_NOTES_MAX]
        ]
        more = len(notes) - _NOTES_MAX
        if more > 0:
            text = f"{more} more kinds of messages: see console.txt"
            warnings.append(manifest.Warning(code="target-notes", message=text))
        return warnings


def enter_warning(writer: RunWriter, code: str, message: str) -> None:
    """Stamps a warning on the run, once."""
    known = [(w.code, w.message) for w in writer.manifest.warnings]
    if (code, message) not in known:
        writer.manifest.warnings.append(manifest.Warning(code=code, message=message))
