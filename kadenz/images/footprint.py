# SPDX-License-Identifier: Apache-2.0
"""Flash and RAM of an image, by part and source file.

Each byte of the loaded sections counts once: for the file that it came from, or for the linker,
which fills, aligns and reserves. The linker's map says which object a byte came from. Without a map
the symbols and the debug information do, as far as they reach.
"""

from __future__ import annotations

import os
import shlex
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import msgspec

from kadenz import __version__
from kadenz.config.kernel import KernelObject
from kadenz.config.manifest import FootprintEntry, ObjectEntry
from kadenz.elf import Elf, Section
from kadenz.errors import UsageError
from kadenz.images import shared_name
from kadenz.images.debug_info import DebugInfo
from kadenz.images.link_map import FILL, LinkMap, Piece, read_map
from kadenz.images.provenance import OTHER, PARTS, Homes, Tree

PADDING, RESERVED, LINKER, UNKNOWN = "padding", "linker script", "linker", "not attributed"
FOLDERS = {**PARTS, "suite/bench": "benchmarks", "kernels/conformance": "conformance"}
# What ld makes for dynamic linking; its map names the first object of the link for it.
_MADE_BY_LINKER = (".interp", ".dyn", ".gnu.", ".hash", ".rel", ".plt", ".got", ".note.gnu.build")
_STUBS = "linker stubs"  # veneers, in the map


def footprint(program: Path, trees: Sequence[Tree] = ()) -> list[FootprintEntry]:
    """The bytes of `program` by part and file; `trees` are folders outside the checkout.

    Beside the program, its linker map (`.map`) and `compile_commands.json` are read if they are
    there. UsageError for a program with neither map nor symbols, or with the map of another.
    """
    elf = Elf(program)
    mapped = _by_map(elf)
    debug = DebugInfo(program)
    pieces = mapped or list(
        _by_symbols(elf, lambda at: debug.source_at(at) or debug.source_of_data(at))
    )
    gap = PADDING if mapped else UNKNOWN  # strings have no symbols
    origins = _Origins(program, Homes(trees, FOLDERS))
    found: dict[tuple[str, str], FootprintEntry] = {}
    for section in elf.sections:
        own = [piece for piece in pieces if piece.section == section.name]
        for part, file, size in _attributed(section, own, origins, gap):
            entry = found.setdefault((part, file), FootprintEntry(part=part, file=file))
            setattr(entry, section.kind, getattr(entry, section.kind) + size)
    for key, size in origins.compiled.items():
        if key in found:
            found[key].compiled = size
    return [found[key] for key in sorted(found)]


def objects(program: Path, kinds: Mapping[str, KernelObject]) -> list[ObjectEntry]:
    """The RAM of each kind of kernel object, by the debug information of `program`."""
    if not kinds:
        return []
    sizes = DebugInfo(program).type_sizes({kind.type for kind in kinds.values()})
    return [
        ObjectEntry(kind=name, type=kind.type, bytes=sizes.get(kind.type), plus=kind.plus)
        for name, kind in kinds.items()
    ]


class Weights(msgspec.Struct):
    """The footprint and the objects of one program; stored beside it."""

    key: str
    footprint: list[FootprintEntry]
    objects: list[ObjectEntry]


def weights(program: Path, trees: Sequence[Tree], kinds: Mapping[str, KernelObject]) -> Weights:
    """`footprint` and `objects` of a program in its build folder, computed once for each image."""
    file = program.with_name("kadenz-footprint.json")
    named = [(tree.part, str(tree.folder)) for tree in trees]
    key = f"{__version__} {Elf(program).sha256} {named} {kinds}"
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=Weights)
    except (OSError, msgspec.DecodeError):
        kept = None
    if kept is None or kept.key != key:
        kept = Weights(key, footprint(program, trees), objects(program, kinds))
        file.write_bytes(msgspec.json.encode(kept))
    return kept


def _attributed(
    section: Section, pieces: Sequence[Piece], origins: _Origins, gap: str
) -> Iterator[tuple[str, str, int]]:
    """(part, file, bytes) of the whole section, gaps included."""
    if section.name.startswith(_MADE_BY_LINKER):
        yield LINKER, section.name, section.size
        return
    if all(piece.object == FILL for piece in pieces):
        yield RESERVED, section.name, section.size
        return
    at, end = section.address, section.address + section.size
    ordered = sorted(pieces, key=lambda piece: piece.address)
    for piece, following in pairwise([*ordered, None]):
        assert piece is not None
        if piece.address > at:
            yield gap, section.name, piece.address - at
        at = min(piece.address + piece.size, following.address if following else end)
        if at > piece.address:
            yield *origins.of(piece), at - piece.address
    if at < end:
        yield gap, section.name, end - at


def _by_map(elf: Elf) -> list[Piece]:
    """The pieces in the map beside the program. UsageError if it is the map of another."""
    file = elf.path.with_suffix(".map")
    made = read_map(file.read_text(errors="replace")) if file.is_file() else LinkMap()
    if not made.pieces:
        return []
    for section in elf.sections:
        place = made.sections.get(section.name)
        if place != (section.address, section.size):
            raise UsageError(
                f"{file}: is not the map of {elf.path.name}: they differ in {section.name}",
                remedy="Link again, or remove the map to go by symbols",
            )
    return made.pieces


def _by_symbols(elf: Elf, source_of: Callable[[int], Path | None]) -> Iterator[Piece]:
    """A piece for each function and variable, named by its source; "" if that is not known."""
    symbols = elf.symbols
    if not symbols:
        raise UsageError(
            f"{elf.path}: has no symbols: it was stripped, and has no linker map beside it",
            remedy=f"Link with -g and -Wl,-Map={elf.path.with_suffix('.map').name}, do not strip",
        )
    at = 0
    for symbol in symbols:
        # Aliases begin at one address; the largest comes first.
        if symbol.size and symbol.address >= at:
            source = source_of(symbol.address) or ""
            yield Piece(symbol.section, symbol.address, symbol.size, str(source))
            at = symbol.address + symbol.size


class CodeOrigins:
    """The part and file of each address in code, as `footprint` counts them."""

    def __init__(self, program: Path, trees: Sequence[Tree] = ()) -> None:
        elf = Elf(program)
        self._origins = _Origins(program, Homes(trees, FOLDERS))
        pieces = _by_map(elf) or _by_symbols(elf, DebugInfo(program).source_at)
        self._pieces = sorted(pieces, key=lambda one: one.address)
        self._starts = [piece.address for piece in self._pieces]

    def at(self, address: int) -> tuple[str, str]:
        """Part and file."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._starts[index] + self._pieces[index].size:
            return UNKNOWN, ""
        return self._origins.of(self._pieces[index])


class _Origins:
    """The part and file of each object of a program."""

    def __init__(self, program: Path, homes: Homes) -> None:
        self.program = program
        self.compiled: dict[tuple[str, str], int] = {}  # (part, file) -> text of the object
        self._folder = program.parent.resolve()
        self._ours = (self._folder / shared_name.CONFIGURED).is_file()
        self._homes = homes
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, piece: Piece) -> tuple[str, str]:
        """Part and file. All pieces of an object have the same."""
        if piece.object == FILL:
            return PADDING, piece.section
        if piece.object not in self._known:
            self._known[piece.object] = self._find(piece)
        return self._known[piece.object]

    def _find(self, piece: Piece) -> tuple[str, str]:
        if piece.object == _STUBS:
            return LINKER, "veneers"
        if not piece.object:
            return UNKNOWN, piece.section
        file = Path(os.path.normpath(self._folder / piece.object))
        source = self._sources.get(file)
        if source is not None:
            place = self._placed(source)
            self.compiled[place] = Elf(file).sizes.text
            return place
        by_debug_information = self._debug.source_at(piece.address) if _is_object(file) else None
        place = self._placed(by_debug_information or file)
        # A linker finds libraries by absolute paths; relative ones are objects of the build.
        if place[0] != UNKNOWN or not _is_object(file) or not Path(piece.object).is_absolute():
            return place
        library = file.name.partition("(")[0]
        return ("compiler library" if "gcc" in file.parts else "C library"), library

    def _placed(self, source: Path) -> tuple[str, str]:
        source = Path(os.path.normpath(source))
        part, name = self._homes.place(source)
        if part == OTHER and self._ours and source.is_relative_to(self._folder):
            return "port", str(source.relative_to(self._folder))  # generated from data of the port
        return (part if part != OTHER else UNKNOWN), name

    @cached_property
    def _sources(self) -> dict[Path, Path]:
        """The source of each object that CMake compiled."""
        listed = (self._folder / "compile_commands.json").is_file()
        commands = shared_name.compile_commands(self._folder) if listed else []
        return {
            Path(os.path.normpath(Path(command["directory"]) / output)): Path(command["file"])
            for command in commands
            if (output := _output(shlex.split(command["command"])))
        }

    @cached_property
    def _debug(self) -> DebugInfo:
        return DebugInfo(self.program)


def _output(words: Sequence[str]) -> str:
    """The object that a compiler's command writes."""
    return next((after for word, after in pairwise(words) if word == "-o"), "")


def _is_object(file: Path) -> bool:
    """Whether `file` is an object, or a member of a library: "libc.a(memcpy.o)"."""
    return file.name.endswith((".o", ".obj", ".a", ")"))
