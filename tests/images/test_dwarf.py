# SPDX-License-Identifier: Apache-2.0
"""Abbreviations that are read on demand give the entries that pyelftools gives."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from elftools.common.exceptions import ELFParseError
from elftools.elf.elffile import ELFFile

from kadenz.images.dwarf import read_dwarf

SOURCES = {
    "one": "struct pair { int a; char b[4]; }; struct pair one; int two(void) { return one.a; }",
    "three": "typedef unsigned long word; enum e { A, B }; word three(enum e x) { return x + 1u; }",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Two compile units with debug information."""
    folder = tmp_path_factory.mktemp("dwarf")
    for name, text in SOURCES.items():
        (folder / f"{name}.c").write_text(text)
    files = [str(folder / f"{name}.c") for name in SOURCES]
    library = folder / "both.so"
    subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", str(library), *files], check=True)
    return library.read_bytes()


def entries(dwarf: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for unit in dwarf.iter_CUs():
        for entry in unit.iter_DIEs():
            yield entry.tag, {name: attribute.value for name, attribute in entry.attributes.items()}


def test_all_entries_are_those_of_pyelftools(program: bytes) -> None:
    theirs = list(entries(ELFFile(io.BytesIO(program)).get_dwarf_info()))
    assert len(theirs) > 10
    assert list(entries(read_dwarf(ELFFile(io.BytesIO(program))))) == theirs


def test_an_entry_whose_abbreviation_is_missing_is_an_error(program: bytes) -> None:
    section = ELFFile(io.BytesIO(program)).get_section_by_name(".debug_abbrev")
    begin, size = section["sh_offset"], section["sh_size"]
    emptied = program[:begin] + bytes(size) + program[begin + size :]
    with pytest.raises((KeyError, ELFParseError)):
        list(entries(read_dwarf(ELFFile(io.BytesIO(emptied)))))


def test_a_file_without_debug_information_has_no_entry(program: bytes, tmp_path: Path) -> None:
    bare = tmp_path / "bare.so"
    (tmp_path / "whole.so").write_bytes(program)
    subprocess.run(["strip", "-o", str(bare), str(tmp_path / "whole.so")], check=True)
    dwarf = read_dwarf(ELFFile(io.BytesIO(bare.read_bytes())))
    assert dwarf is None or list(entries(dwarf)) == []  # .eh_frame counts as debug information
