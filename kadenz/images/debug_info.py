# SPDX-License-Identifier: Apache-2.0
"""DWARF: the sources of an image's code and data, and the sizes of its types."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from kadenz.config import inventory
from kadenz.elf import damage, damaged, opened
from kadenz.images.dwarf import read_dwarf

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")

_SIZED = {
    "DW_TAG_structure_type",
    "DW_TAG_union_type",
    "DW_TAG_class_type",
    "DW_TAG_typedef",
}
_TRANSPARENT = {
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_array_type",
}
_REMOVED = 1  # addresses up to here
_OP_ADDR = 0x03  # DWARF 5, 7.7.1
_ROOT, _BUILD = "/kadenz", "/kadenz-build"  # of suite/places.cmake


@dataclass(frozen=True)
class Member:
    """A member of a structure: its offset, and what it has of a text."""

    offset: int
    characters: int  # of an array of them; 0: it is a pointer
    pointer_bytes: int


class _Unit(NamedTuple):
    """A compile unit: its place in the debug information, and its code."""

    offset: int
    ranges: tuple[tuple[int, int], ...]


class _Lines(NamedTuple):
    """The rows of a unit's line program, by address."""

    files: dict[int, Path]
    starts: list[int]
    rows: list[tuple[int, int]]  # file and line; line 0: no source, or the end of a sequence

    def of(self, addresses: Collection[int]) -> dict[int, tuple[Path, int]]:
        lines = {}
        for address in addresses:
            file, line = self.rows[place] if (place := self._place(address)) >= 0 else (0, 0)
            if line:
                lines[address] = self.files[file], line
        return lines

    def _place(self, address: int) -> int:
        return bisect_right(self.starts, address) - 1


def _whole(read: Callable[Concatenate[DebugInfo, _Asked], _Answer]) -> Callable[..., _Answer]:
    """A question to debug information: UsageError where it is damaged."""

    @wraps(read)
    def checked(self: DebugInfo, *asked: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        try:
            return read(self, *asked, **named)
        except damage() as error:
            raise damaged(self.path, error or type(error).__name__) from None

    return checked


class DebugInfo:
    """The debug information of an ELF file, read on first access. UsageError for damage."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tables: dict[int, _Lines] = {}  # of units whose lines were asked for

    @cached_property
    def _dwarf(self) -> Any:
        with opened(self.path) as elf:
            return read_dwarf(elf)

    @_whole
    def source_at(self, address: int) -> Path | None:
        """The source file of the code at `address`; None without debug information."""
        starts = [start for start, _, _ in self._code]
        index = bisect_right(starts, address) - 1
        if index < 0 or address >= self._code[index][1]:
            return None
        return self._code[index][2]

    @_whole
    def source_of_data(self, address: int) -> Path | None:
        """The source file that defines the variable at `address`."""
        return self._data.get(address)

    @_whole
    def lines(self, addresses: Collection[int]) -> dict[int, tuple[Path, int]]:
        """The source file and line of each of these addresses that has them."""
        wanted = sorted(addresses)
        lines: dict[int, tuple[Path, int]] = {}
        for unit in self._lined:
            inside = [
                address
                for begin, end in unit.ranges
                for address in wanted[bisect_left(wanted, begin) : bisect_left(wanted, end)]
            ]
            if inside:
                lines |= self._table(unit).of(inside)
        return lines

    @cached_property
    def _lined(self) -> list[_Unit]:
        """The compile units with their code: each record of a run asks for its lines."""
        return [_Unit(unit.cu_offset, tuple(self._ranges(unit))) for unit in self._units()]

    @_whole
    def sources(self) -> set[Path]:
        """All files that line tables name; none without debug information."""
        return {file for _, files, _ in self._programs() for file in files.values()}

    @_whole
    def statements(self, source: Path) -> dict[int, list[int]]:
        """The addresses at which statements of a source begin, by line. A file that is compiled
        several times, or included, has those of each time.

        Without functions that the linker removed: it leaves their lines at address 0 or 1.
        """
        lines: dict[int, list[int]] = {}
        for _, files, program in self._programs():
            numbers = {number for number, file in files.items() if file == source}
            sequence: list[Any] = []
            for entry in program.get_entries() if numbers else ():
                if entry.state is None:
                    continue
                sequence.append(entry.state)
                if entry.state.end_sequence:
                    if sequence[0].address > _REMOVED:
                        for state in sequence[:-1]:
                            if state.is_stmt and state.file in numbers:
                                lines.setdefault(state.line, []).append(state.address)
                    sequence = []
        return lines

    @_whole
    def inlined_at(self, addresses: Collection[int]) -> dict[int, tuple[int, ...]]:
        """The copies of inlined functions that each address is in, outermost first: the places of
        their entries."""
        inside: dict[int, list[int]] = {address: [] for address in addresses}
        for unit in self._lined:
            near = [a for a in inside if any(begin <= a < end for begin, end in unit.ranges)]
            for die in self._dwarf.get_CU_at(unit.offset).iter_DIEs() if near else ():
                if die.tag != "DW_TAG_inlined_subroutine":
                    continue
                for begin, end in self._ranges_of(die):
                    for address in near:
                        if begin <= address < end:
                            inside[address].append(die.offset)
        return {address: tuple(copies) for address, copies in inside.items()}

    def _programs(self) -> Iterator[tuple[Any, dict[int, Path], Any]]:
        """Units that have a line program, with its files by number."""
        for unit in self._units():
            program = self._dwarf.line_program_for_CU(unit)
            if program is not None:
                yield unit, _line_files(unit, program), program

    def _table(self, unit: _Unit) -> _Lines:
        if unit.offset not in self._tables:
            compile_unit = self._dwarf.get_CU_at(unit.offset)
            program = self._dwarf.line_program_for_CU(compile_unit)
            self._tables[unit.offset] = _lines_of(compile_unit, program)
        return self._tables[unit.offset]

    @_whole
    def type_sizes(self, names: Collection[str]) -> dict[str, int]:
        """Bytes of each structure, union or typedef of `names` that the image's sources define.

        A name may be qualified: "embassy_executor::raw::TaskHeader".
        """
        sizes: dict[str, int] = {}
        for unit in self._units():
            if len(sizes) == len(set(names)):
                break
            for name, die in _named(unit.get_top_DIE(), ""):
                for wanted in names:
                    same = name == wanted or name.endswith(f"::{wanted}")
                    if same and wanted not in sizes and (size := _size(die)) is not None:
                        sizes[wanted] = size
        return sizes

    @_whole
    def member(self, structure: str, name: str) -> Member | None:
        """A member of a structure; None if the image's sources define neither."""
        for unit in self._units():
            for known, die in _named(unit.get_top_DIE(), ""):
                if known == structure and (place := _member(_plain(die), name)) is not None:
                    offset, child = place
                    return Member(offset, *_text_of(child))
        return None

    @_whole
    def place(self, path: str) -> tuple[str, int] | None:
        """The variable of "variable.member.member" and the offset of its last member.

        Of an array it is the first element. None if the image's sources define no such member.
        """
        variable, *names = path.split(".")
        if not names:
            return variable, 0
        for unit in self._units():
            for die in unit.get_top_DIE().iter_children():
                if (
                    die.tag != "DW_TAG_variable"
                    or _text(die.attributes.get("DW_AT_name")) != variable
                ):
                    continue
                if "DW_AT_type" in die.attributes and (offset := _offset(die, names)) is not None:
                    return variable, offset
        return None

    @_whole
    def definition(self, variable: str) -> Path | None:
        """The source file that defines the global variable of this name."""
        for unit in self._units():
            for die in unit.get_top_DIE().iter_children():
                if die.tag != "DW_TAG_variable" or "DW_AT_location" not in die.attributes:
                    continue
                before = "DW_AT_specification"
                named = die.get_DIE_from_attribute(before) if before in die.attributes else die
                if _text(named.attributes.get("DW_AT_name")) == variable:
                    return self._source(unit.get_top_DIE())
        return None

    def _units(self) -> Iterator[Any]:
        return iter(self._dwarf.iter_CUs() if self._dwarf is not None else ())

    @cached_property
    def _code(self) -> list[tuple[int, int, Path]]:
        """Every range of code with its source, by address."""
        ranges = [
            (begin, end, source)
            for unit in self._units()
            for begin, end, source in self._code_of(unit)
            if begin < end and source is not None
        ]
        return sorted(ranges, key=lambda code_range: code_range[:2])

    def _code_of(self, unit: Any) -> Iterator[tuple[int, int, Path | None]]:
        """The ranges of a unit; of one that GCC's link-time optimisation made, its functions."""
        top = unit.get_top_DIE()
        if not _is_of_many(top):
            yield from ((begin, end, self._source(top)) for begin, end in self._ranges(unit))
            return
        for die in unit.iter_DIEs():
            low, high = (die.attributes.get(f"DW_AT_{end}_pc") for end in ("low", "high"))
            if die.tag == "DW_TAG_subprogram" and low is not None and high is not None:
                yield low.value, _end(low, high), self._source(_origin(die).cu.get_top_DIE())

    @cached_property
    def _data(self) -> dict[int, Path]:
        sources = {}
        for unit in self._units():
            source = self._source(unit.get_top_DIE())
            for die in unit.iter_DIEs():
                place = die.attributes.get("DW_AT_location")
                if source is None or die.tag != "DW_TAG_variable" or place is None:
                    continue
                if place.form == "DW_FORM_exprloc" and place.value[:1] == [_OP_ADDR]:
                    of = _origin(die).cu.get_top_DIE()
                    defined = self._source(of) or source
                    sources[int.from_bytes(bytes(place.value[1:]), "little")] = defined
        return sources

    def _source(self, die: Any) -> Path | None:
        """The file of a compile unit, as the compiler was given it, below its working folder."""
        name, folder = (
            die.attributes[key].value.decode(errors="replace") if key in die.attributes else ""
            for key in ("DW_AT_name", "DW_AT_comp_dir")
        )
        if not name:
            return None
        source = Path(folder) / name
        for mark, here in ((_ROOT, inventory.root()), (_BUILD, self.path.parent)):
            if source.is_relative_to(mark):
                return here / source.relative_to(mark)
        return source

    def _ranges(self, unit: Any) -> Iterator[tuple[int, int]]:
        return self._ranges_of(unit.get_top_DIE())

    def _ranges_of(self, die: Any) -> Iterator[tuple[int, int]]:
        """The code of an entry. The base of a list is that of its unit."""
        unit, top = die.cu, die.cu.get_top_DIE()
        low, high = (die.attributes.get(f"DW_AT_{end}_pc") for end in ("low", "high"))
        first = top.attributes.get("DW_AT_low_pc")
        base = first.value if first is not None else 0
        if low is not None and high is not None:
            yield low.value, _end(low, high)
        if "DW_AT_ranges" not in die.attributes:
            return
        lists = self._dwarf.range_lists()
        for entry in lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            elif getattr(entry, "is_absolute", False):
                yield entry.begin_offset, entry.end_offset
            else:
                yield base + entry.begin_offset, base + entry.end_offset


def _is_of_many(top: Any) -> bool:
    return _text(top.attributes.get("DW_AT_name")) == "<artificial>"


def _origin(die: Any) -> Any:
    """What a DIE is a copy of, in the unit of its source; itself if it is no copy."""
    while "DW_AT_abstract_origin" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_abstract_origin")
    return die


def _end(low: Any, high: Any) -> int:
    from elftools.dwarf.descriptions import describe_form_class

    absolute = describe_form_class(high.form) == "address"
    return int(high.value) + (0 if absolute else int(low.value))


def _lines_of(unit: Any, program: Any) -> _Lines:
    if program is None:
        return _Lines({}, [], [])
    states = [entry.state for entry in program.get_entries() if entry.state is not None]
    states.sort(key=lambda state: (state.address, not state.end_sequence))
    return _Lines(
        _line_files(unit, program),
        [state.address for state in states],
        [(state.file, 0 if state.end_sequence else state.line) for state in states],
    )


def _line_files(unit: Any, program: Any) -> dict[int, Path]:
    """The files of a line program by their number, which begins at 0 from DWARF 5 on."""
    header = program.header
    working = _text(unit.get_top_DIE().attributes.get("DW_AT_comp_dir"))
    if header.version >= 5:
        folders = [
            Path(working) / _decoded(directory.DW_LNCT_path) for directory in header.directories
        ]
        return {
            number: folders[entry.dir_index] / _decoded(entry.name)
            for number, entry in enumerate(header.file_entry)
        }
    folders = [
        Path(working),
        *(Path(working) / _decoded(directory) for directory in header.include_directory),
    ]
    return {
        number: folders[entry.dir_index] / _decoded(entry.name)
        for number, entry in enumerate(header.file_entry, start=1)
    }


def _text(attribute: Any) -> str:
    return _decoded(attribute.value) if attribute is not None else ""


def _decoded(name: bytes) -> str:
    return name.decode(errors="replace")


def _named(die: Any, scope: str) -> Iterator[tuple[str, Any]]:
    """The types with a name below `die`, those in namespaces with their scope."""
    for child in die.iter_children():
        if child.tag not in _SIZED and child.tag != "DW_TAG_namespace":
            continue
        name = child.attributes.get("DW_AT_name")
        if name is None:
            continue
        full = f"{scope}{name.value.decode(errors='replace')}"
        if child.tag == "DW_TAG_namespace":
            yield from _named(child, f"{full}::")
        else:
            yield full, child


def _types(die: Any) -> Iterator[Any]:
    """An entry, its type, the type of that. ValueError for one that is its own type."""
    seen = set()
    while die.offset not in seen:
        seen.add(die.offset)
        yield die
        if "DW_AT_type" not in die.attributes:
            return
        die = die.get_DIE_from_attribute("DW_AT_type")
    raise ValueError(f"the type at {die.offset:#x} refers to itself")


def _plain(die: Any, transparent: Collection[str] = _TRANSPARENT) -> Any:
    """The type without its names and qualifiers; of an array, its elements'."""
    for layer in _types(die):
        if (die := layer).tag not in transparent:
            break
    return die


def _member(structure: Any, name: str) -> tuple[int, Any] | None:
    """Offset and entry of a member of a structure."""
    for child in structure.iter_children():
        place = child.attributes.get("DW_AT_data_member_location")
        if place is not None and _text(child.attributes.get("DW_AT_name")) == name:
            return int(place.value), child
    return None


def _offset(variable: Any, names: list[str]) -> int | None:
    """Offset of a member of a member of a variable."""
    total, die = 0, variable
    for name in names:
        member = _member(_plain(die.get_DIE_from_attribute("DW_AT_type")), name)
        if member is None:
            return None
        total, die = total + member[0], member[1]
    return total


def _text_of(member: Any) -> tuple[int, int]:
    """Bytes of a member that is an array of characters, and of one that points to them."""
    type = member.get_DIE_from_attribute("DW_AT_type")
    die = _plain(type, _TRANSPARENT - {"DW_TAG_array_type"})
    if die.tag == "DW_TAG_pointer_type":
        return 0, int(die.attributes["DW_AT_byte_size"].value)
    for child in die.iter_children():
        if "DW_AT_upper_bound" in child.attributes:
            return int(child.attributes["DW_AT_upper_bound"].value) + 1, 0
    return 1, 0


def _size(die: Any) -> int | None:
    """Bytes of a type; None for a declaration without definition."""
    sizes = (layer.attributes.get("DW_AT_byte_size") for layer in _types(die))
    return next((int(size.value) for size in sizes if size is not None), None)
