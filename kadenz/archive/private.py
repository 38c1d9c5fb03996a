# SPDX-License-Identifier: Apache-2.0
"""Which texts of a run are private, and the run without them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kadenz.errors import UsageError
from kadenz.json_text import read_json
from kadenz.store import Run, read_run
from kadenz.store.layout import MANIFEST, SAMPLES
from kadenz.store.manifest_file import decoded, write_manifest

LEFT_OUT = "(left out)"
# What is private in a text of run.json, in the order in which it is looked for. A path is absolute,
# or begins with ~ or .., and has two parts at least: `a/b` and `MB/s` are not.
RULES = {
    "address": re.compile(
        r"\b[a-z][a-z0-9+.-]*://[^\s/,;'\")]+"  # the machine in a URL
        r"|[\w.+-]+@[\w.-]+:\d+"  # a debug server that runs: NAME@HOST:PORT
        # A line of a source file is not one: queue.c:120
        r"|(?<![\w.-])[a-z][\w.-]*\.(?!(?:rs|py|cc|cpp|hpp|asm|ld|toml):)[a-z]{2,}:\d{2,5}\b"
        r"|(?<![\w.-])[a-z][\w-]*:\d{4,5}\b"
        r"|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])(?::\d+)?"
        r"|(?<![\w:])(?:[\da-f]{2}:){5}[\da-f]{2}(?![\w:])",  # of a network interface
        re.IGNORECASE,
    ),
    "serial line": re.compile(r"/dev/(?:serial/|tty)[^\s,;:'\"]*"),
    "path": re.compile(r"(?:(?<![\w./~-])|(?<=-[IL]))(?:~|\.\.)?/[\w.+-]+(?:/[^\s,;:'\")]*)+"),
    "serial number": re.compile(
        r"\b(?:probe|serial)[=: ]+[\w:.-]+|\b[\da-f]{4}:[\da-f]{4}:[\w.-]+", re.IGNORECASE
    ),
    "mail address": re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"),
}
# Names by which runs, records and their files are found. They stay.
_NAMES = ("bench", "file", "id", "sha256", "dtype", "unit")
_OF_LANE = ("name", "companion_of")  # its file is named after it
# A target's name; a lab's own has no @ and is a text like any other.
_TARGET = re.compile(r"(?:[a-z0-9-]+/)?[a-z0-9_-]+@[a-z]+")
# Tables whose keys are free words.
_FREE = ("settings", "facts", "conditions", "params")


def rules_of(hide: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    """RULES, and one for each regular expression of `hide`. UsageError for a wrong one."""
    rules = dict(RULES)
    for text in hide:
        try:
            rules[f"--hide {text}"] = re.compile(text)
        except re.error as error:
            raise UsageError(
                f"--hide {text}: {error}", remedy="Write a regular expression of Python"
            ) from None
    return rules


@dataclass
class Cleaning:
    """Takes private texts out of runs, and notes what it took."""

    rules: dict[str, re.Pattern[str]]
    gone: dict[str, set[str]] = field(default_factory=dict)  # rule -> texts left out
    stays: set[str] = field(default_factory=set)  # names that match a --hide

    def text(self, value: str) -> str:
        """`value` without its private parts."""
        for name, rule in self.rules.items():
            hits = {hit.group() for hit in rule.finditer(value)}
            if hits:
                self.gone.setdefault(name, set()).update(hits)
                value = rule.sub(LEFT_OUT, value)
        return value

    def run(self, folder: Path) -> Run:
        """The run folder without private texts, the call that measured it, and all other files.

        The `interrupted/` folders of a resumed run go too: they have manifests of their own.
        """
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = file.relative_to(folder).as_posix()
            if name != MANIFEST and not name.startswith(f"{SAMPLES}/"):
                self.gone.setdefault("file", set()).add(name)
                file.unlink()
        plain = read_json((folder / MANIFEST).read_bytes(), dict[str, Any])
        # Options name probes, lines, servers and folders, each as a word of its own.
        call = plain.pop("call", None)
        if call:
            command = " ".join([call["folder"], "kadenz run", *call["words"]])
            self.gone.setdefault("call", set()).add(command)
        plain["campaign"]["file"] = Path(plain["campaign"]["file"]).name
        write_manifest(folder, decoded(self._walk(plain)), sync=False)
        return read_run(folder)

    def _walk(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            if key in _FREE:
                for name in value:
                    self._name(name)
            stay = _OF_LANE if key == "lanes" else ()
            cleaned = {
                name: self._name(inner) if name in stay else self._walk(inner, name)
                for name, inner in value.items()
            }
            if key == "conditions" and "kind" in value:  # as free a word as the keys of a table
                cleaned["kind"] = self._name(value["kind"])
            return cleaned
        if isinstance(value, list):
            return [self._walk(inner, key) for inner in value]
        if not isinstance(value, str):
            return value
        if key in _NAMES or (key == "name" and _TARGET.fullmatch(value)):
            return self._name(value)
        return self.text(value)

    def _name(self, value: str) -> str:
        hide_rules = [rule for name, rule in self.rules.items() if name not in RULES]
        if any(rule.search(value) for rule in hide_rules):
            self.stays.add(value)
        return value
