# SPDX-License-Identifier: Apache-2.0
"""What a guest's launcher sends of a recording: facts, descriptions of events, and the ring.

kernels/linux/guest/trace.h has its form.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kadenz.errors import TargetFailed
from kadenz.watching.decoding import decoders, names
from kadenz.watching.events import Happening
from kadenz.watching.layouts import page_bytes
from kadenz.watching.pages import events_of_pages

_FILE = re.compile(rb"file (facts|events/header_page|events/\w+/\w+/format) (\d{1,7})\n")
_RING = b"ring\n"
_HEAD = "events/header_page"
_FACT = re.compile(r"^(\w+) (-?\d{1,18})$", re.MULTILINE)
_FACTS = {"program", "left", "dropped", "cost_events", "cost_ns"}


class GuestRing:
    """The recording of a guest's only processor. `facts` are the launcher's numbers, `lacking` the
    events that the kernel does not have.

    TargetFailed for one that is not whole; ToolMissing for a kernel without the scheduler's events,
    which `where` names.
    """

    def __init__(self, sent: bytes, where: str) -> None:
        files, at = _files(sent)
        self.facts = {name: int(value) for name, value in _FACT.findall(files.get("facts", ""))}
        is_whole = self.facts.keys() >= _FACTS and _HEAD in files
        if not is_whole or sent[at : at + len(_RING)] != _RING:
            raise TargetFailed(
                f"{where}: the recording did not come out whole: {len(sent):,} bytes",
                remedy="Watch for less time: --for SECONDS",
            )
        self._ring = sent[at + len(_RING) :]
        with tempfile.TemporaryDirectory() as folder:
            events = Path(folder) / "events"
            for name, text in files.items():
                place = Path(folder) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
            recorded, self.lacking = names(events, where)
            self._decoders = decoders(events, recorded)
            self._page_bytes = page_bytes(events)

    @property
    def bytes(self) -> int:
        """Bytes of the ring."""
        return len(self._ring)

    def events(self) -> Iterator[Happening]:
        """All events, in the order of their times."""
        return events_of_pages(io.BytesIO(self._ring), self._page_bytes, 0, self._decoders)


def _files(sent: bytes) -> tuple[dict[str, str], int]:
    """The files by their names, and where the next part begins."""
    files, at = {}, 0
    while match := _FILE.match(sent, at):
        end = match.end() + int(match[2])
        files[match[1].decode()] = sent[match.end() : end].decode(errors="replace")
        at = end
    return files, at
