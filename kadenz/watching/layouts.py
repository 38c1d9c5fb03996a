# SPDX-License-Identifier: Apache-2.0
"""How this kernel lays out events in its trace buffers, from the `format` files of tracefs."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.errors import ToolMissing

_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)
_FIELD = re.compile(
    r"field:(?P<type>[^;]*?)\s*\b(?P<name>\w+)(?P<array>\[[^\]]*\])?;\s*"
    r"offset:(?P<offset>\d+);\s*size:(?P<size>\d+);\s*signed:(?P<signed>[01]);"
)
_PAGE = re.compile(r"field: char data;\s*offset:(\d+);\s*size:(\d+);")
_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}


@dataclass(frozen=True)
class Field:
    """A field of an event: its place in the payload, and its code for `struct`."""

    offset: int
    code: str
    size: int


class Layout:
    """The fields of one event."""

    def __init__(self, text: str, where: str) -> None:
        number = _ID.search(text)
        if number is None:
            raise ToolMissing(
                f"{where}: not the format of an event", remedy="Is this a tracefs of Linux?"
            )
        self.where = where
        self.id = int(number[1])
        self._fields = dict(_fields(text))

    def reader(self, names: Sequence[str]) -> struct.Struct:
        """Unpacks the fields `names`, in the order of their places; ToolMissing for others."""
        try:
            fields = [self._fields[name] for name in names]
        except KeyError as missing:
            raise ToolMissing(
                f"{self.where}: this kernel's event has no field {missing}",
                remedy="Record with trace-cmd, and watch the file: kadenz watch FILE.dat",
            ) from None
        code, at = "=", 0
        for field in fields:
            code += f"{field.offset - at}x{field.code}"
            at = field.offset + field.size
        return struct.Struct(code)

    def has(self, name: str) -> bool:
        """Whether it has a field."""
        return name in self._fields

    def is_text(self, name: str) -> bool:
        """Whether a field holds the place of a text of any length, not the text."""
        return self._fields[name].code == "I"


def _fields(text: str) -> list[tuple[str, Field]]:
    fields = []
    for match in _FIELD.finditer(text):
        size, kind = int(match["size"]), match["type"]
        if "__data_loc" in kind:
            code = "I"  # length << 16 | offset
        elif match["array"]:
            code = f"{size}s"
        else:
            integer = _INTEGERS.get(size, f"{size}s")
            code = integer if match["signed"] == "1" else integer.upper()
            code = code if code != "I" else "L"  # "=": both have four bytes
        fields.append((match["name"], Field(int(match["offset"]), code, size)))
    return fields


def layout(events: Path, name: str) -> Layout | None:
    """The layout of an event `system/name` below the folder `events`; None without the event."""
    file = events / name / "format"
    try:
        return Layout(file.read_text(encoding="ascii", errors="replace"), str(file))
    except OSError:
        return None


def page_bytes(events: Path) -> int:
    """Bytes of a page of the rings, by the kernel's own words below the folder `events`.

    ToolMissing where they are not as Linux writes them.
    """
    file = events / "header_page"
    match = _PAGE.search(file.read_text(encoding="ascii", errors="replace"))
    if match is None:
        raise ToolMissing(
            f"{file}: not as Linux describes its rings",
            remedy="Record with trace-cmd, and watch the file: kadenz watch FILE.dat",
        )
    return int(match[1]) + int(match[2])
