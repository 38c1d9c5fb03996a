# SPDX-License-Identifier: Apache-2.0
"""Reads ELF files: digest, section sizes, symbols."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kadenz.errors import UsageError
from kadenz.regular_files import open_regular, read_regular

_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400  # sh_flags, System V gABI chapter 4
_HOSTED = {"PT_INTERP", "PT_DYNAMIC", "PT_PHDR"}  # program headers for a loader
# Of e_flags: mask, value, extension. RISC-V ELF psABI: EF_RISCV_RVC, _FLOAT_ABI_*, _RVE.
_RISCV_FLAGS = ((1, 1, "c"), (6, 2, "f"), (6, 4, "d"), (8, 8, "e"))


HOW = "Pass the linked image: the .elf file of your build"
_MAGIC = b"\x7fELF"
_MOST_BYTES = 1 << 30  # of a file, and of a section that is unpacked
_MOST_SEGMENTS = 1024
_HEADER_BYTES = 40  # of a section in a 32-bit file
_MOST_LETTERS = 1 << 28  # of the names of all symbols; names may share their bytes

# Code runs, constants are read, data has initial values, zeroed memory has none in the file.
SectionKind = Literal["code", "constants", "data", "zeroed"]


@dataclass(frozen=True)
class Section:
    """A section that is loaded, or takes memory."""

    name: str
    address: int  # where it is when the image runs
    size: int
    kind: SectionKind
    load: int  # where its contents are until something copies them: `address`, or in flash
    per_thread: bool = False

    @property
    def copied(self) -> bool:
        """Whether start-up code brings its contents to where they run."""
        return self.kind != "zeroed" and self.load != self.address


class Segment(NamedTuple):
    """Bytes that are loaded together: address when they run, size, alignment."""

    address: int
    size: int
    page: int


@dataclass(frozen=True)
class Symbol:
    """A function or variable."""

    section: str
    address: int
    size: int
    name: str


@dataclass(frozen=True)
class Sizes:
    """Bytes as `size` counts them: text (code and constants), data (initialised), bss (zeroed)."""

    text: int
    data: int
    bss: int


class _Entry(NamedTuple):
    """A line of the symbol table."""

    name: str
    value: int
    size: int
    kind: str  # "STT_FUNC"
    section: Any


@cache
def damage() -> tuple[type[Exception], ...]:
    """What pyelftools raises for a damaged file, and what follows from values that no file has."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.construct.core import ConstructError

    return (
        *(ELFError, DWARFError, ConstructError, zlib.error, ValueError, LookupError, TypeError),
        *(AttributeError, ArithmeticError, MemoryError, RecursionError, AssertionError),
        NotImplementedError,
    )


def damaged(file: Path, error: object) -> UsageError:
    """A file whose content contradicts itself."""
    return UsageError(f"{file}: damaged ELF file: {error}", remedy=HOW)


@contextmanager
def opened(file: Path) -> Iterator[Any]:
    """An ELFFile of pyelftools. Damage that shows while it is open is a UsageError."""
    from elftools.elf.elffile import ELFFile

    # An OSError inside: a place of 64 bits is beyond what seek takes.
    broken: tuple[type[Exception], ...] = (OSError, *damage())
    with open_regular(file) as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise UsageError(f"{file}: not an ELF file", remedy=HOW)
        try:
            elf = ELFFile(stream)
            _check(elf, os.fstat(stream.fileno()).st_size)
            yield elf
        except broken as error:
            raise damaged(file, error or type(error).__name__) from None


def _check(elf: Any, size: int) -> None:
    """ValueError for counts and sizes that take hours or gigabytes to read."""
    if size > _MOST_BYTES:
        raise ValueError(f"it has {size:,} bytes")
    if elf.num_sections() * _HEADER_BYTES > size or elf.num_segments() > _MOST_SEGMENTS:
        raise ValueError(f"{elf.num_sections()} sections, {elf.num_segments()} segments")
    for section in elf.iter_sections():
        # Debug information is unpacked, and zeros are made where a section has no bytes.
        if section.data_size > _MOST_BYTES and not section["sh_flags"] & _ALLOC:
            raise ValueError(f"section {section.name} of {section.data_size:,} bytes")


def symbols_of(table: Any) -> Iterator[Any]:
    """The symbols of a table, none for None. ValueError for names beyond any file's."""
    letters = 0
    for symbol in table.iter_symbols() if table is not None else ():
        letters += len(symbol.name)
        if letters > _MOST_LETTERS:
            raise ValueError(f"more than {_MOST_LETTERS:,} letters of symbols")
        yield symbol


class Elf:
    """An ELF file, read on first access. UsageError where it is damaged."""

    symbol_tables: tuple[str, ...] = (".symtab",)  # the first that it has is read

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def sha256(self) -> str:
        """Digest of the whole file."""
        return hashlib.sha256(read_regular(self.path, limit=_MOST_BYTES)).hexdigest()

    @cached_property
    def sections(self) -> list[Section]:
        """The loaded sections, by address."""
        with opened(self.path) as elf:
            segments = _loaded(elf)
            loaded_sections = [
                Section(
                    section.name,
                    section["sh_addr"],
                    section["sh_size"],
                    _kind(section),
                    _load(section, segments),
                    bool(section["sh_flags"] & _TLS),
                )
                for section in elf.iter_sections()
                if section["sh_flags"] & _ALLOC
            ]
        return sorted(loaded_sections, key=lambda section: (section.address, -section.size))

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments that are loaded, by address."""
        with opened(self.path) as elf:
            return sorted(
                Segment(segment["p_vaddr"], segment["p_memsz"], max(segment["p_align"], 1))
                for segment in _loaded(elf)
            )

    @cached_property
    def hosted(self) -> bool:
        """Whether an operating system loads the program, by its headers and notes."""
        with opened(self.path) as elf:
            headers = {segment["p_type"] for segment in elf.iter_segments()}
            note = elf.get_section_by_name(".note.ABI-tag")
            system = elf["e_ident"]["EI_OSABI"] == "ELFOSABI_LINUX"
        return note is not None or system or not headers.isdisjoint(_HOSTED)

    def contents(self, section: str) -> bytes:
        """The bytes of a section."""
        with opened(self.path) as elf:
            return bytes(elf.get_section_by_name(section).data())

    @cached_property
    def riscv_arch(self) -> str:
        """What a RISC-V image was compiled for: "rv32i2p1_m2p0_c2p0".

        "" if the file does not say. Source: RISC-V ELF psABI, Tag_RISCV_arch.
        """
        with opened(self.path) as elf:
            section = elf.get_section_by_name(".riscv.attributes")
            match = re.search(rb"rv(?:32|64)[a-z0-9_]+", section.data()) if section else None
        return match[0].decode() if match else ""

    @cached_property
    def riscv_extensions(self) -> set[str]:
        """The single-letter extensions of a RISC-V image, base included: {"i", "m", "c"}.

        Of a file that does not say, those that the flags of its header show: {"c"}.
        """
        extensions = self.riscv_arch[4:].split("_")
        letters = {
            letter
            for extension in extensions
            if len(letter := re.sub(r"\d+p\d+$", "", extension)) == 1
        }
        if letters:
            return letters
        with opened(self.path) as elf:
            header = elf.header
        flags = header["e_flags"] if header["e_machine"] == "EM_RISCV" else 0
        return {letter for mask, value, letter in _RISCV_FLAGS if flags & mask == value}

    @cached_property
    def machine(self) -> str:
        """The instruction set: "EM_RISCV", "EM_ARM"."""
        with opened(self.path) as elf:
            return str(elf["e_machine"])

    @cached_property
    def mode_bit(self) -> int:
        """The bit with which an address marks Thumb code: 1 on Arm, else 0."""
        return 1 if self.machine == "EM_ARM" else 0

    @cached_property
    def entry(self) -> int:
        """The address of the first instruction, without the bit that marks Thumb code."""
        with opened(self.path) as elf:
            return int(elf["e_entry"]) & ~self.mode_bit

    @cached_property
    def sizes(self) -> Sizes:
        """Sizes of the loaded sections."""
        total = {"code": 0, "constants": 0, "data": 0, "zeroed": 0}
        for section in self.sections:
            total[section.kind] += section.size
        return Sizes(total["code"] + total["constants"], total["data"], total["zeroed"])

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Functions and variables by address, the largest of an address first."""
        table_symbols = [
            Symbol(
                symbol.section.name,
                symbol.value & ~(self.mode_bit if symbol.kind == "STT_FUNC" else 0),
                symbol.size,
                symbol.name,
            )
            for symbol in self._table
            if symbol.kind in ("STT_FUNC", "STT_OBJECT")
        ]
        return sorted(table_symbols, key=lambda symbol: (symbol.address, -symbol.size))

    @cached_property
    def _table(self) -> list[_Entry]:
        """The symbols that lie in a section, as the file has them; none in a stripped file."""
        with opened(self.path) as elf:
            tables = map(elf.get_section_by_name, self.symbol_tables)
            table = next((each for each in tables if each is not None), None)
            sections = dict(enumerate(elf.iter_sections()))
            return [
                _Entry(
                    symbol.name,
                    entry["st_value"],
                    entry["st_size"],
                    entry["st_info"]["type"],
                    sections[entry["st_shndx"]],
                )
                for symbol in symbols_of(table)
                if (entry := symbol.entry)["st_shndx"] in sections
            ]

    def symbol_at(self, address: int) -> str:
        """`function+0x12` for an address in code; "" if it lies in no function."""
        starts = [s for s, _, _ in self.functions]
        address &= ~self.mode_bit
        index = bisect_right(starts, address) - 1
        if index < 0:
            return ""
        start, size, name = self.functions[index]
        inside = address - start
        # An assembly label has no size: it extends to the next label or the end of its section.
        return f"{name}+{inside:#x}" if inside < size else ""

    @cached_property
    def functions(self) -> list[tuple[int, int, str]]:
        """Address, size and name of functions and labels of code, by address."""
        labels = sorted(
            (
                symbol.value & ~self.mode_bit,
                symbol.size,
                symbol.name,
                symbol.section["sh_addr"] + symbol.section["sh_size"],
            )
            for symbol in self._table
            if symbol.kind in ("STT_FUNC", "STT_NOTYPE")
            and symbol.section["sh_flags"] & _EXEC
            and symbol.name
            and not symbol.name.startswith("$")  # Arm mapping symbols ($t, $d, ...)
        )
        following = [start for start, _, _, _ in labels[1:]] + [0]  # after the last there is none
        return [
            (start, size or max(min(after or end, end) - start, 0), name)
            for (start, size, name, end), after in zip(labels, following, strict=False)
        ]


class Library(Elf):
    """A shared library: one without symbols still has the names of what it exports."""

    symbol_tables = (".symtab", ".dynsym")


def _kind(section: Any) -> SectionKind:
    flags = section["sh_flags"]
    if section["sh_type"] == "SHT_NOBITS":
        return "zeroed"
    if flags & _EXEC:  # even if data is among it, as for `size`
        return "code"
    return "data" if flags & _WRITE else "constants"


def _loaded(elf: Any) -> list[Any]:
    return [segment for segment in elf.iter_segments("PT_LOAD") if segment["p_memsz"]]


def _load(section: Any, segments: list[Any]) -> int:
    """The load address of a section. Some linkers leave all physical addresses at zero."""
    address = int(section["sh_addr"])
    for segment in segments:
        if segment.section_in_segment(section) and any(each["p_paddr"] for each in segments):
            return address - int(segment["p_vaddr"]) + int(segment["p_paddr"])
    return address
