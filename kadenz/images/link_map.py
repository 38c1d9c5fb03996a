# SPDX-License-Identifier: Apache-2.0
"""GNU ld's map: which object each byte of an image came from.

Format: ld manual, option -Map. After "Linker script and memory map", a line in column 0 begins a
section of the image; a line with one blank before it is a section of an object, with address, size
and object. A long name is on a line of its own, and its figures follow on the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_BEGIN = "\nLinker script and memory map\n"
_OUTPUT = re.compile(r"^([^\s*]\S*)(?:\s+0x([0-9a-f]+)\s+0x([0-9a-f]+))?")
_NAME = re.compile(r"^ ([^\s*(]\S*)$")
_INPUT = re.compile(r"^ [^\s(]\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?: (.*))?$")
_REST = re.compile(r"^\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?: (.*))?$")
FILL = "*fill*"  # what the linker put between two objects


@dataclass(frozen=True)
class Piece:
    """Bytes of a section of the image that came from one object."""

    section: str  # of the image: ".text"
    address: int
    size: int
    object: str  # "CMakeFiles/freertos.dir/…/tasks.c.obj", "/usr/lib/libc.a(memcpy.o)"; FILL


@dataclass
class LinkMap:
    """Sections of the image, and the pieces of all of them."""

    sections: dict[str, tuple[int, int]] = field(default_factory=dict)  # address, size
    pieces: list[Piece] = field(default_factory=list)


def read_map(text: str) -> LinkMap:
    """Everything in a map, sections that are not loaded included. Empty for another linker's map.

    The size of a piece may be too large: ld still lists strings that it merged into equal ones
    elsewhere. A piece ends where the next one begins, at the latest.
    """
    found = LinkMap()
    section, waiting = "", ""  # `waiting` for figures: "section", "piece"
    for line in text.partition(_BEGIN)[2].splitlines():
        if match := _OUTPUT.match(line):
            section, waiting = match.group(1), "section"
            if match.group(2):
                found.sections[section] = _numbers(*match.group(2, 3))
                waiting = ""
        elif _NAME.match(line):
            waiting = "piece"
        elif match := _INPUT.match(line) or (_REST.match(line) if waiting else None):
            address, size = _numbers(*match.group(1, 2))
            if waiting == "section":
                found.sections[section] = (address, size)
            elif size:
                object_ = FILL if line.startswith(f" {FILL}") else (match.group(3) or "").strip()
                found.pieces.append(Piece(section, address, size, object_))
            waiting = ""
        else:
            waiting = ""
    return found


def _numbers(address: str, size: str) -> tuple[int, int]:
    return int(address, 16), int(size, 16)
