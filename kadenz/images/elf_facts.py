# SPDX-License-Identifier: Apache-2.0
"""The facts that an ELF file states about itself: its machine, addresses, symbols, compiler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kadenz.config.manifest import BuildEntry
from kadenz.elf import HOW, Elf, opened, symbols_of
from kadenz.errors import UsageError
from kadenz.images.dwarf import read_dwarf

_ALLOC = 2  # sh_flags, System V gABI chapter 4
_SUITE_FOLDER = "bench"  # the suite's benchmarks are compiled from a folder of this name


@dataclass(frozen=True)
class ElfFacts:
    """Facts from the file. `symbols` is None if it was stripped."""

    kind: str  # "ET_EXEC"
    machine: str  # "EM_ARM"
    bits: int
    occupied: tuple[tuple[int, int], ...]  # address and size of everything in memory
    symbols: frozenset[str] | None
    compilers: tuple[str, ...]  # from .comment, else from the debug information
    flags: str  # of a benchmark of the suite, from the debug information; "" if unknown


def read_facts(file: Path) -> ElfFacts:
    """Reads the facts. Raises UsageError for a file that is missing, or not a whole ELF file."""
    try:
        with opened(file) as elf:
            return _facts(elf)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}", remedy=HOW) from None


def build_elsewhere(elf: Elf, facts: ElfFacts, what: str) -> BuildEntry:
    """The build of an ELF file that another build made, as far as the file states it; `what`:
    "image app.elf". Nothing is known about its sources, and nothing is claimed."""
    sizes = elf.sizes
    return BuildEntry(
        compiler="; ".join(facts.compilers) or "unknown",
        compiler_version="",
        flags=facts.flags,
        elf_sha256=elf.sha256,
        text_bytes=sizes.text,
        data_bytes=sizes.data,
        bss_bytes=sizes.bss,
        kernel_source=f"{what}, built elsewhere",
    )


def _facts(elf: Any) -> ElfFacts:
    table = elf.get_section_by_name(".symtab")
    producers = list(_producers(elf))
    compilers = _comment(elf) or [producer.partition(" -")[0] for _, producer in producers]
    return ElfFacts(
        kind=str(elf["e_type"]),
        machine=str(elf["e_machine"]),
        bits=int(elf.elfclass),
        occupied=tuple(dict.fromkeys(_occupied(elf))),
        symbols=None if table is None else frozenset(s.name for s in symbols_of(table)),
        compilers=tuple(dict.fromkeys(compilers)),
        flags=next((_flags(p) for folder, p in producers if folder == _SUITE_FOLDER), ""),
    )


def _occupied(elf: Any) -> Iterator[tuple[int, int]]:
    """Where bytes are loaded (physical), and where memory is used (virtual).

    By sections: a segment may begin below its first section, with the headers of the file.
    """
    loads = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
    for section in elf.iter_sections():
        address, size = section["sh_addr"], section["sh_size"]
        if not section["sh_flags"] & _ALLOC or not size:
            continue
        yield address, size
        if section["sh_type"] == "SHT_NOBITS":
            continue
        for load in loads:
            offset = address - load["p_vaddr"]
            if 0 <= offset < load["p_memsz"]:
                yield load["p_paddr"] + offset, size


def _comment(elf: Any) -> list[str]:
    """The texts that compilers put into .comment."""
    section = elf.get_section_by_name(".comment")
    data = section.data() if section is not None else b""
    return [text.decode(errors="replace") for text in data.split(b"\0") if text]


def _producers(elf: Any) -> Iterator[tuple[str, str]]:
    """The folder of each compiled file and DW_AT_producer: the compiler and its flags."""
    dwarf = read_dwarf(elf)
    for unit in dwarf.iter_CUs() if dwarf is not None else ():
        attributes = unit.get_top_DIE().attributes
        if "DW_AT_producer" in attributes and "DW_AT_name" in attributes:
            name = PurePosixPath(_text(attributes["DW_AT_name"]))
            yield name.parent.name, _text(attributes["DW_AT_producer"])


def _text(attribute: Any) -> str:
    value = attribute.value
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _flags(producer: str) -> str:
    _, dash, flags = producer.partition(" -")
    return f"-{flags}" if dash else ""
