# SPDX-License-Identifier: Apache-2.0
"""A damaged ELF file: a UsageError with its name, in bounded time and memory."""

from __future__ import annotations

import io
import random
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from elftools.elf.elffile import ELFFile

from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.debug_info import DebugInfo, _plain, _size, _types
from kadenz.images.elf_facts import read_facts

SOURCE = """\
struct inner { char name[12]; const char *text; };
typedef struct { int before; struct inner in; volatile const long *at; } outer_t;
outer_t outer[3];
static const int table[] = {1, 2, 3};
static int twice(int of) { return of + table[of % 3]; }
int main(int count, char **words) { (void)words; outer[0].before = count; return twice(count); }
"""
WAYS = ("-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz")


class Image(NamedTuple):
    """A compiled file and its sections: place and size."""

    content: bytes
    sections: dict[str, tuple[int, int]]


@pytest.fixture(scope="module", params=WAYS, ids=WAYS)
def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "x.c").write_text(SOURCE)
    command = ["gcc", "-O1", *request.param.split(), "x.c", "-o", "x.elf"]
    subprocess.run(command, cwd=folder, check=True)
    with (folder / "x.elf").open("rb") as stream:
        sections = {
            section.name: (section["sh_offset"], section["sh_size"])
            for section in ELFFile(stream).iter_sections()
            if section["sh_type"] not in ("SHT_NOBITS", "SHT_NULL")
        }
        return Image((folder / "x.elf").read_bytes(), sections)


def ask(file: Path) -> None:
    """Everything that kadenz reads of an image."""
    elf = Elf(file)
    assert elf.sizes and elf.machine and elf.entry >= 0 and elf.riscv_extensions is not None
    code = [symbol.address for symbol in elf.symbols]
    elf.symbol_at(code[0] if code else 0)
    read_facts(file)
    debug = DebugInfo(file)
    for address in code:
        debug.source_at(address)
        debug.source_of_data(address)
    debug.lines(code)
    for source in sorted(debug.sources())[:1]:
        debug.statements(source)
    debug.inlined_at(code)
    debug.type_sizes({"outer_t", "inner", "nothing"})
    debug.member("outer_t", "before")
    debug.member("inner", "name")
    debug.place("outer.in.name")
    debug.definition("outer")


def test_a_whole_file_is_read(image: Image, tmp_path: Path) -> None:
    file = tmp_path / "x.elf"
    file.write_bytes(image.content)
    ask(file)
    debug = DebugInfo(file)
    assert debug.type_sizes({"outer_t"}) == {"outer_t": 40}
    assert debug.place("outer.in.text") == ("outer", 24)


QUESTIONS: list[Callable[[Path], Any]] = [
    lambda file: Elf(file).sizes,
    lambda file: Elf(file).symbols,
    lambda file: Elf(file).functions,
    read_facts,
    lambda file: DebugInfo(file).source_at(0x1139),
    lambda file: DebugInfo(file).source_of_data(0x4040),
    lambda file: DebugInfo(file).lines([0x1139]),
    lambda file: DebugInfo(file).type_sizes({"outer_t", "inner", "nothing"}),
    lambda file: DebugInfo(file).member("inner", "name"),
    lambda file: DebugInfo(file).place("outer.in.name"),
    lambda file: DebugInfo(file).definition("outer"),
]
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)


def mutations(image: Image, count: int) -> Iterator[bytes]:
    """Bytes of the headers, the symbols and the debug information are others; or the end is cut."""
    chance = random.Random(31)
    table = len(image.content) - 64 * (len(image.sections) + 2)  # the headers of sections
    places = [(0, 64), (table, len(image.content) - table)]
    wanted = (".debug_", ".symtab", ".strtab", ".comment", ".shstrtab")
    places += [place for name, place in image.sections.items() if name.startswith(wanted)]
    for _ in range(count):
        data = bytearray(image.content)
        for _ in range(chance.randrange(1, 4)):
            begin, size = chance.choice(places)
            at = begin + chance.randrange(size)
            data[at] = chance.choice([*INTERESTING, chance.randrange(256)])
        yield bytes(data[: chance.randrange(len(data))] if chance.random() < 0.05 else data)


def test_mutated_files_are_read_or_named(image: Image, tmp_path: Path) -> None:
    file = tmp_path / "x.elf"
    read = named = 0
    for number, data in enumerate(mutations(image, 1000)):
        file.write_bytes(data)
        try:
            QUESTIONS[number % len(QUESTIONS)](file)
            read += 1
        except UsageError as error:
            assert str(file) in error.message
            named += 1
    assert read and named


def test_segments_that_the_file_does_not_have_are_named(image: Image, tmp_path: Path) -> None:
    """What `footprint` asks about memories, without a section asked before."""
    file = tmp_path / "x.elf"
    for place in (1 << 40, (1 << 64) - 8, len(image.content) - 8):
        file.write_bytes(patched(image, (32, "<Q", place)))  # e_phoff
        for question in ("segments", "hosted"):
            with pytest.raises(UsageError, match="damaged ELF file"):
                getattr(Elf(file), question)


# ---- sizes and counts ----------------------------------------------------------------------------
def header(image: Image, name: str) -> int:
    """The place of a section's header."""
    with_names = ELFFile(io.BytesIO(image.content))
    number = with_names.get_section_index(name)
    return int(with_names["e_shoff"] + number * with_names["e_shentsize"])


SIZE, KIND, FLAGS, ENTRY = 32, 4, 8, 56  # in the header of a section, 64 bit


def patched(image: Image, *changes: tuple[int, str, int]) -> bytes:
    data = bytearray(image.content)
    for at, form, value in changes:
        struct.pack_into(form, data, at, value)
    return bytes(data)


def refused(data: bytes, folder: Path) -> str:
    file = folder / "x.elf"
    file.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        ask(file)
    return caught.value.message


def test_a_count_of_sections_that_the_file_does_not_have_is_named(
    image: Image, tmp_path: Path
) -> None:
    data = bytearray(patched(image, (60, "<H", 0), (58, "<H", 0)))  # e_shnum, e_shentsize
    struct.pack_into("<Q", data, struct.unpack_from("<Q", data, 40)[0] + SIZE, 1 << 32)
    refused(bytes(data), tmp_path)


def test_debug_information_without_bytes_is_not_made_of_zeros(image: Image, tmp_path: Path) -> None:
    at = header(image, ".debug_info")
    data = patched(image, (at + KIND, "<I", 8), (at + SIZE, "<Q", 1 << 40), (at + FLAGS, "<Q", 0))
    assert ".debug_info of 1,099,511,627,776 bytes" in refused(data, tmp_path)


def test_names_that_share_their_bytes_are_bounded(image: Image, tmp_path: Path) -> None:
    """60,000 symbols, each with the same name of a megabyte."""
    symbol = struct.pack("<IBBHQQ", 1, 2, 0, 1, 0, 0)
    data, tail = bytearray(image.content), len(image.content)
    data += symbol * 60_000 + b"\0" + b"a" * (1 << 20) + b"\0"
    for name, at, size in (
        (".symtab", tail, len(symbol) * 60_000),
        (".strtab", tail + len(symbol) * 60_000, (1 << 20) + 2),
    ):
        struct.pack_into("<QQ", data, header(image, name) + 24, at, size)
    assert "letters of symbols" in refused(bytes(data), tmp_path)


# ---- references ----------------------------------------------------------------------------------
class Entry:
    """An entry of debug information whose type is another one."""

    def __init__(self, offset: int) -> None:
        self.offset, self.tag = offset, "DW_TAG_typedef"
        self.attributes = {"DW_AT_type": None}
        self.type = self

    def get_DIE_from_attribute(self, _: str) -> Entry:  # noqa: N802  # as pyelftools
        return self.type


@pytest.mark.parametrize("length", [1, 2, 100])
def test_a_type_that_is_its_own_is_named(length: int) -> None:
    ring = [Entry(number) for number in range(length)]
    for entry, after in zip(ring, ring[1:] + ring[:1], strict=True):
        entry.type = after
    for question in (_plain, _size, lambda die: list(_types(die))):
        with pytest.raises(ValueError, match="refers to itself"):
            question(ring[0])


def test_a_sibling_before_its_entry_is_named(image: Image, tmp_path: Path) -> None:
    for at in _siblings(image.content):
        for value in (0, 11, 12):
            file = tmp_path / "x.elf"
            file.write_bytes(patched(image, (at, "<I", value)))
            with pytest.raises(UsageError, match="before itself|damaged"):
                ask(file)


def _siblings(content: bytes) -> list[int]:
    """The places of DW_AT_sibling; none in a packed file."""
    elf = ELFFile(io.BytesIO(content))
    section = elf.get_section_by_name(".debug_info")
    if section.compressed:
        return []
    dies = [die for unit in elf.get_dwarf_info().iter_CUs() for die in unit.iter_DIEs()]
    siblings = [die.attributes.get("DW_AT_sibling") for die in dies if not die.is_null()]
    return [section["sh_offset"] + sibling.offset for sibling in siblings if sibling is not None]
