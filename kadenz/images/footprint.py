# SPDX-License-Identifier: Apache-2.0
"""Flash and RAM of an image, by part and source file.

Each byte of the loaded sections counts for the file that it came from, or for the linker, which
fills, aligns and reserves: once for the flash that keeps it, once for the RAM that it runs in. The
linker's map says which object a byte came from. Without a map the symbols and the debug information
do, as far as they reach.
"""

from __future__ import annotations

import os
import re
import shlex
from bisect import bisect_right
from collections import Counter, defaultdict
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
from kadenz.images.libraries import library
from kadenz.images.link_map import FILL, STUBS, LinkMap, Piece, map_of, read_map
from kadenz.images.memory import Memories
from kadenz.images.provenance import OTHER, PARTS, Homes, Tree
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular

PADDING, RESERVED, LINKER, UNKNOWN = "padding", "linker script", "linker", "not attributed"
FOLDERS = {**PARTS, "suite/bench": "benchmarks", "kernels/conformance": "conformance"}
# What ld makes for dynamic linking; its map names the first object of the link for it.
_MADE_BY_LINKER = re.compile(
    r"\.(interp|dyn(sym|str|amic)|hash|gnu\.(hash|version(_[dr])?)|rela?\..+|relr\.dyn"
    r"|i?(plt|got)(\..+)?|note\.gnu\.build-id)"
)
_OPTIMISED = re.compile(r"\.ltrans|\blto[.-]|\.lto\b")  # objects that link-time optimisation made
_RULES = 2  # of attribution; counts up when an unchanged image gets other figures


def footprint(program: Path, trees: Sequence[Tree] = ()) -> list[FootprintEntry]:
    """The bytes of `program` by part and file; `trees` are folders outside the checkout.

    Beside the program, its linker map (`.map`) and `compile_commands.json` are read if they are
    there. UsageError for a program with neither map nor symbols, or with the map of another.
    """
    elf = Elf(program)
    link_map, debug = _map(elf), DebugInfo(program)
    pieces = _pieces(elf, link_map, lambda at: debug.source_at(at) or debug.source_of_data(at))
    memories, origins = Memories(elf, link_map.regions), _Origins(program, Homes(trees, FOLDERS))
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    shared = 0  # RAM below this address is counted: sections of an overlay share theirs
    for section in elf.sections:
        section_pieces = [piece for piece in pieces if piece.section == section.name]
        for place, begin, end in _attributed(
            section, section_pieces, origins, mapped=bool(link_map.pieces)
        ):
            size = end - begin
            counts[place][section.kind] += size
            counts[place]["stored"] += size * memories.stored(section)
            counts[place]["resident"] += size * memories.copied_within_ram(section)
            if memories.resident(section):
                counts[place]["resident"] += max(end - max(begin, shared), 0)
        if memories.resident(section):
            shared = max(shared, section.address + section.size)
    return [
        FootprintEntry(
            part=part,
            file=file,
            compiled=origins.compiled.get((part, file), 0),
            stored=count.pop("stored", 0),
            resident=count.pop("resident", 0),
            **count,
        )
        for (part, file), count in sorted(counts.items())
    ]


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
    key = f"{__version__} {_RULES} {Elf(program).sha256} {named} {kinds}"
    try:
        kept = read_json(file.read_bytes(), Weights)
    except (OSError, msgspec.DecodeError):
        kept = None
    if kept is None or kept.key != key:
        kept = Weights(key, footprint(program, trees), objects(program, kinds))
        file.write_bytes(msgspec.json.encode(kept))
    return kept


def _attributed(
    section: Section, pieces: Sequence[Piece], origins: _Origins, *, mapped: bool
) -> Iterator[tuple[tuple[str, str], int, int]]:
    """(part and file), begin and end address of the whole section, gaps included."""
    at, end = section.address, section.address + section.size
    if _MADE_BY_LINKER.fullmatch(section.name):
        yield (LINKER, section.name), at, end
        return
    if mapped and all(piece.object == FILL for piece in pieces):
        yield (RESERVED, section.name), at, end
        return
    gap = (PADDING if mapped else UNKNOWN, section.name)  # strings have no symbols
    ordered = sorted(pieces, key=lambda piece: piece.address)
    for piece, following in pairwise([*ordered, None]):
        assert piece is not None
        if piece.address > at:
            yield gap, at, piece.address
        begin = max(at, piece.address)
        at = min(piece.address + piece.size, following.address if following else end)
        if at > begin:
            yield origins.of(piece), begin, at
        at = max(at, begin)
    if at < end:
        yield gap, at, end


def _map(elf: Elf) -> LinkMap:
    """The map beside the program; empty without one. UsageError if it is the map of another."""
    file = map_of(elf.path)
    try:
        text = read_regular(file).decode(errors="replace") if file else ""
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}", remedy="Remove it, or link again") from None
    link_map = read_map(text)
    if not link_map.pieces:
        return LinkMap()
    for section in elf.sections:
        place = link_map.sections.get(section.name)
        if place != (section.address, section.size):
            raise UsageError(
                f"{file}: is not the map of {elf.path.name}: they differ in {section.name}",
                remedy="Link again, or remove the map to go by symbols",
            )
    return link_map


def _pieces(elf: Elf, link_map: LinkMap, source_of: Callable[[int], Path | None]) -> list[Piece]:
    """The pieces of a map; objects that have many sources are cut by symbol, as all is without."""
    if not link_map.pieces:
        return list(_by_symbols(elf, source_of))
    several = [piece for piece in link_map.pieces if _OPTIMISED.search(piece.object)]
    if not several or not elf.symbols:
        return link_map.pieces
    symbols = list(_by_symbols(elf, source_of))
    others = [piece for piece in link_map.pieces if piece not in set(several)]
    return [*others, *(part for piece in several for part in _cut(piece, symbols))]


def _cut(piece: Piece, symbols: Sequence[Piece]) -> Iterator[Piece]:
    """The symbols inside a piece, and what lies between them, whose source is not known."""
    at, end = piece.address, piece.address + piece.size
    for symbol in symbols:
        if symbol.section == piece.section and at <= symbol.address < end:
            if symbol.address > at:
                yield Piece(piece.section, at, symbol.address - at, "")
            yield symbol
            at = symbol.address + symbol.size
    if at < end:
        yield Piece(piece.section, at, end - at, "")


def _by_symbols(elf: Elf, source_of: Callable[[int], Path | None]) -> Iterator[Piece]:
    """A piece for each function and variable, named by its source; "" if that is not known."""
    symbols = elf.symbols
    if not symbols:
        raise UsageError(
            f"{elf.path}: has no symbols: it was stripped, and has no linker map beside it",
            remedy=f"Link with -g and -Wl,-Map={elf.path.with_suffix('.map').name}, do not strip",
        )
    ends: dict[str, int] = {}  # by section: those of an overlay have the same addresses
    for symbol in symbols:
        # Aliases begin at one address; the largest comes first.
        if symbol.size and symbol.address >= ends.get(symbol.section, 0):
            source = source_of(symbol.address) or ""
            yield Piece(symbol.section, symbol.address, symbol.size, str(source))
            ends[symbol.section] = symbol.address + symbol.size


class CodeOrigins:
    """The part and file of each address in code, as `footprint` counts them."""

    def __init__(self, program: Path, trees: Sequence[Tree] = ()) -> None:
        elf = Elf(program)
        self._origins = _Origins(program, Homes(trees, FOLDERS))
        pieces = _pieces(elf, _map(elf), DebugInfo(program).source_at)
        self._pieces = sorted(pieces, key=lambda piece: piece.address)
        self._starts = [piece.address for piece in self._pieces]

    def at(self, address: int) -> tuple[str, str]:
        """Part and file of the object at an address; UNKNOWN and "" between objects."""
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
        if not piece.object:
            return UNKNOWN, piece.section
        if piece.object not in self._known:
            self._known[piece.object] = self._find(piece)
        return self._known[piece.object]

    def _find(self, piece: Piece) -> tuple[str, str]:
        if piece.object == STUBS:
            return LINKER, "veneers"
        file = Path(os.path.normpath(self._folder / piece.object))
        source = self._sources.get(file)
        if source is not None:
            place = self._placed(source)
            if file.is_file():
                self.compiled[place] = Elf(file).sizes.text
            return place
        by_debug_information = self._debug.source_at(piece.address) if _is_object(file) else None
        place = self._placed(by_debug_information or file)
        return (library(str(file)) or place) if place[0] == UNKNOWN else place

    def _placed(self, source: Path) -> tuple[str, str]:
        source = Path(os.path.normpath(source))
        part, name = self._homes.place(source)
        if part == OTHER and self._ours and source.is_relative_to(self._folder):
            return "port", str(source.relative_to(self._folder))  # generated from data of the port
        return (part if part != OTHER else UNKNOWN), name

    @cached_property
    def _sources(self) -> dict[Path, Path]:
        """The source of each object that the build compiled."""
        file = self._folder / "compile_commands.json"
        if not file.is_file():
            return {}
        try:
            commands = msgspec.convert(
                shared_name.compile_commands(self._folder), list[_Compilation]
            )
            return {
                Path(os.path.normpath(Path(compilation.directory) / output)): Path(compilation.file)
                for compilation in commands
                if (output := _output(compilation))
            }
        except ValueError as error:  # of msgspec, and of shlex for a quote that does not end
            raise UsageError(f"{file}: {error}", remedy="Remove it, or configure again") from None

    @cached_property
    def _debug(self) -> DebugInfo:
        return DebugInfo(self.program)


class _Compilation(msgspec.Struct):
    """An entry of compile_commands.json."""

    directory: str
    file: str
    output: str = ""  # CMake names none, others do
    command: str = ""  # one of the two
    arguments: list[str] = []


def _output(compiled: _Compilation) -> str:
    """The object that a compilation writes."""
    arguments = compiled.arguments or shlex.split(compiled.command)
    written = next((after for word, after in pairwise(arguments) if word == "-o"), "")
    return compiled.output or written


def _is_object(file: Path) -> bool:
    """Whether `file` is an object, or a member of a library: "libc.a(memcpy.o)"."""
    return file.name.endswith((".o", ".obj", ".a", ")"))
