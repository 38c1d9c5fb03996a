# SPDX-License-Identifier: Apache-2.0
"""The debug information of an ELF file, by pyelftools.

pyelftools reads a compile unit's whole table of abbreviations before the unit's first entry. Most
questions are about that entry alone: here a table is read as far as an entry needs it, in half the
time for an image.
"""

from __future__ import annotations

from typing import Any

_PASSES = 16  # over the entries of a unit, of at least a byte each


def read_dwarf(elf: Any) -> Any:
    """The DWARFInfo of an ELFFile; None if the file has none."""
    if not elf.has_dwarf_info():
        return None
    dwarf = elf.get_dwarf_info(follow_links=False)
    tables: dict[int, _Abbreviations] = {}

    def table(offset: int) -> _Abbreviations:
        if offset not in tables:
            tables[offset] = _Abbreviations(dwarf, offset)
        return tables[offset]

    dwarf.get_abbrev_table = table
    parse = dwarf._parse_CU_at_offset
    dwarf._parse_CU_at_offset = lambda offset: _forwards(parse(offset))
    return dwarf


def _forwards(unit: Any) -> Any:
    """A compile unit whose entries are passed forwards, and each a few times.

    pyelftools goes where an entry says that its sibling is. ValueError for one before it, and for
    siblings inside of each other: their number grows as a power of two.
    """
    get, left = unit._get_cached_DIE, _PASSES * (unit["unit_length"] + 1)

    def entry(offset: int) -> Any:
        nonlocal left
        left -= 1
        die = get(offset)
        sibling = die.attributes.get("DW_AT_sibling")
        if sibling is not None:
            base = 0 if sibling.form == "DW_FORM_ref_addr" else unit.cu_offset
            if sibling.value + base <= offset:
                raise ValueError(f"the entry at {offset:#x} is before itself")
        if left < 0:
            raise ValueError(f"the entry at {offset:#x} is in many others")
        return die

    unit._get_cached_DIE = entry
    return unit


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
