# SPDX-License-Identifier: Apache-2.0
"""The linker's map: which object each byte of an image came from, and the memories of its script.

GNU ld (manual, option -Map): after "Linker script and memory map", a line in column 0 begins a
section of the image; a line with one blank before it is a section of an object, with address, size
and object. A long name is on a line of its own, and its figures follow on the next.

lld (lld/ELF/MapFile.cpp): addresses, size and alignment, then a section of the image in the column
Out, a section of an object in the column In, eight further, and its symbols eight further again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.images.memory import Region

_BEGIN = "\nLinker script and memory map\n"
_OUTPUT = re.compile(r"^([^\s*]\S*)(?:\s+0x([0-9a-f]+)\s+0x([0-9a-f]+))?")
_NAME = re.compile(r"^ ([^\s*(]\S*)$")
_INPUT = re.compile(r"^ [^\s(]\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?: (.*))?$")
_REST = re.compile(r"^\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?: (.*))?$")
_REGION = re.compile(r"^([^\s*]\S*)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?:\s+(\S+))?$", re.MULTILINE)
_LLD = re.compile(r"\s*VMA\s+LMA\s+Size\s+Align\s+Out\s+In\s+Symbol\n")
_LLD_LINE = re.compile(r"^\s*([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+ ( *)(.*)$")
_LLD_INPUT = re.compile(r"^(.*):\(.*\)$")
FILL = "*fill*"  # what the linker put between two objects
STUBS = "linker stubs"  # veneers: GNU ld's name for them


@dataclass(frozen=True)
class Piece:
    """Bytes of a section of the image that came from one object."""

    section: str  # of the image: ".text"
    address: int
    size: int
    object: str  # "CMakeFiles/freertos.dir/…/tasks.c.obj", "/usr/lib/libc.a(memcpy.o)"; FILL; ""


@dataclass
class LinkMap:
    """Sections of the image, the pieces of all of them, and the memories of the linker script."""

    sections: dict[str, tuple[int, int]] = field(default_factory=dict)  # address, size
    pieces: list[Piece] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)


def map_of(program: Path) -> Path | None:
    """The map beside a program: app.map or app.elf.map beside app.elf."""
    named = (program.with_suffix(".map"), program.with_name(f"{program.name}.map"))
    return next((file for file in named if file.is_file()), None)


def read_map(text: str) -> LinkMap:
    """Everything in a map, sections that are not loaded included. Empty for another linker's map.

    The size of a piece may be too large: ld still lists strings that it merged into equal ones
    elsewhere. A piece ends where the next one begins, at the latest.
    """
    header = _LLD.match(text)
    return _read_lld(text[header.end() :]) if header else _read_gnu(text)


def _read_gnu(text: str) -> LinkMap:
    before, _, after = text.partition(_BEGIN)
    link_map = LinkMap(regions=list(_regions(before.partition("\nMemory Configuration\n")[2])))
    section, waiting = "", ""  # `waiting` for figures: "section", "piece"
    for line in after.splitlines():
        if match := _OUTPUT.match(line):
            section, waiting = match.group(1), "section"
            if match.group(2):
                link_map.sections[section] = _numbers(*match.group(2, 3))
                waiting = ""
        elif _NAME.match(line):
            waiting = "piece"
        elif match := _INPUT.match(line) or (_REST.match(line) if waiting else None):
            address, size = _numbers(*match.group(1, 2))
            if waiting == "section":
                link_map.sections[section] = (address, size)
            elif size:
                object_ = FILL if line.startswith(f" {FILL}") else (match.group(3) or "").strip()
                link_map.pieces.append(Piece(section, address, size, object_))
            waiting = ""
        else:
            waiting = ""
    return link_map


def _regions(text: str) -> Iterator[Region]:
    """The lines of "Memory Configuration", without the memory of everything that is in none."""
    for match in _REGION.finditer(text):
        yield Region(*_numbers(*match.group(2, 3)), match.group(4) or "")


def _read_lld(text: str) -> LinkMap:
    link_map = LinkMap()
    section = ""
    for match in filter(None, map(_LLD_LINE.match, text.splitlines())):
        (address, size), content = _numbers(*match.group(1, 2)), match.group(4)
        if not match.group(3):
            section = content
            link_map.sections[section] = (address, size)
        elif len(match.group(3)) == 8 and size:
            link_map.pieces.append(Piece(section, address, size, _lld_object(content)))
    return link_map


def _lld_object(content: str) -> str:
    """The object of a line in the column In; FILL for a command of the linker script."""
    match = _LLD_INPUT.match(content)
    if match is None:
        return FILL
    if match.group(1) != "<internal>":
        return match.group(1)
    return STUBS if "thunk" in content else ""  # "": strings that lld merged


def _numbers(address: str, size: str) -> tuple[int, int]:
    return int(address, 16), int(size, 16)
