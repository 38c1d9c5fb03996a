# SPDX-License-Identifier: Apache-2.0
"""Places of code by line of a source: `main.c:120` is the first instruction of that line."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePosixPath

from kadenz.elf import Elf, Section
from kadenz.errors import UsageError
from kadenz.images.debug_info import DebugInfo

_LINE = re.compile(r"(?P<file>.*[^:]):(?P<line>\d{1,9})")
_SHOWN = 6  # files or addresses in a message


class SourceLines:
    """The lines of an image's sources, by its debug information."""

    def __init__(self, elf: Elf) -> None:
        self._elf, self._debug = elf, DebugInfo(elf.path)
        self._known: dict[Path, dict[int, list[int]]] = {}

    @staticmethod
    def is_line(text: str) -> bool:
        """Whether it is written as a line: "main.c:120"."""
        return _LINE.fullmatch(text) is not None

    def address(self, text: str, option: str) -> int:
        """The first instruction of a line. UsageError for a line without code, and for one with
        several: it is inlined, or in several copies of its function."""
        match = _LINE.fullmatch(text)
        assert match is not None
        source = self._source(match["file"], text, option)
        line = int(match["line"])
        code = self._code_of(source)
        if line not in code:
            raise UsageError(
                f"{option} {text}: no instruction of {self._elf.path} is of this line",
                remedy=f"Lines with code next to it: {_near(line, code)}",
            )
        copies = self._copies(code[line])
        if len(copies) > 1:
            places = [f"{at:#010x} ({self._elf.symbol_at(at)})" for at in copies]
            raise UsageError(
                f"{option} {text}: this line is in the code {len(copies)} times, inlined or in "
                f"copies of its function: {listed(places)}",
                remedy=f"Name one: {option} {copies[0]:#010x}",
            )
        return copies[0]

    def _source(self, name: str, text: str, option: str) -> Path:
        """The only source whose path ends with `name`."""
        if not self._sources:
            raise UsageError(
                f"{option} {text}: {self._elf.path} has no lines of sources",
                remedy="Compile with -g, and pass the image before it is stripped; or name a "
                "symbol, or an address",
            )
        parts = PurePosixPath(name).parts
        fitting = [each for each in self._sources if each.parts[-len(parts) :] == parts]
        with_code = [each for each in fitting if self._code_of(each)]
        if len(with_code) == 1:
            return with_code[0]
        if with_code:
            raise UsageError(
                f"{option} {text}: {len(with_code)} sources of {self._elf.path} have this name: "
                f"{listed(map(str, with_code))}",
                remedy=f"Write more of its path: {option} {'/'.join(with_code[0].parts[-2:])}:"
                f"{text.rpartition(':')[2]}",
            )
        names = sorted({each.name for each in self._sources})
        near = get_close_matches(parts[-1], names, _SHOWN, 0.6) or names
        why = "has no code of" if fitting else "has no source called"
        raise UsageError(
            f"{option} {text}: {self._elf.path} {why} {name}",
            remedy=f"Its sources: {listed(near)}",
        )

    @cached_property
    def _sources(self) -> list[Path]:
        return sorted(self._debug.sources())

    def _code_of(self, source: Path) -> dict[int, list[int]]:
        """Addresses by line, of code that the image has."""
        if source not in self._known:
            code = [section for section in self._elf.sections if section.kind == "code"]
            lines = {
                line: [at for at in addresses if any(at in _bytes(each) for each in code)]
                for line, addresses in self._debug.statements(source).items()
            }
            self._known[source] = {line: sorted(at) for line, at in lines.items() if at}
        return self._known[source]

    def _copies(self, addresses: list[int]) -> list[int]:
        """The first address of each copy of a line. Optimised code comes back to a line; these
        places are one copy, if they are in one function and inlined at the same places."""
        inlined = self._debug.inlined_at(addresses)
        first: dict[tuple[str, tuple[int, ...]], int] = {}
        for at in addresses:
            first.setdefault((self._elf.symbol_at(at).partition("+")[0], inlined[at]), at)
        return sorted(first.values())


def _bytes(section: Section) -> range:
    return range(section.address, section.address + section.size)


def _near(line: int, code: Iterable[int]) -> str:
    """The lines with code around a line: "118 and 121"."""
    known = sorted(code)
    place = bisect(known, line)
    return " and ".join(map(str, known[max(place - 1, 0) : place + 1]))


def listed(names: Iterable[str]) -> str:
    """ "a, b and 3 more"."""
    names = list(names)
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
