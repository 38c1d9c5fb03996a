# SPDX-License-Identifier: Apache-2.0
"""Flash and RAM of images by part, by file, by kernel object, and of the files they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kadenz.analysis.results import RunResult
from kadenz.config.manifest import BuildEntry, FootprintEntry
from kadenz.report.table import Cell, Table, text_cell, whole

Builds = Sequence[tuple[str, BuildEntry]]  # (label, image)

# What a user's own firmware would keep comes first, what the linker adds last.
_ORDER = (
    "kernel",
    "port",
    "board",
    "arch",
    "instrument",
    "suite",
    "benchmarks",
    "extra benchmarks",
    "conformance",
    "C library",
    "C++ library",
    "compiler library",
    "linker",
    "padding",
    "linker script",
    "not attributed",
)
_SOURCES = _ORDER[: _ORDER.index("C library")]  # parts whose files are sources
KERNEL = ("kernel",)
_FIGURES: tuple[tuple[str, Callable[[FootprintEntry], int]], ...] = (
    ("Code", lambda entry: entry.code),
    ("Constants", lambda entry: entry.constants),
    ("Data", lambda entry: entry.data),
    ("Zeroed", lambda entry: entry.zeroed),
    ("Flash", lambda entry: entry.flash),
    ("RAM", lambda entry: entry.ram),
)
MEANING = (
    "Bytes. Flash is code, constants and the initial values of data, unless they are loaded into "
    "RAM directly. RAM is data, zeroed memory, and code and constants that run there. `linker "
    "script` is memory that it reserves: stack, and the storage of samples.",
)
_RELATIVE = (
    "Text: code and constants, as `size` prints it. Compiled is the object file, linked what the "
    "image kept of it: the linker drops unused functions and shortens calls. The difference is to "
    "the first image.",
)
NO_OBJECT = "not in this image"


def of_runs(named: Sequence[tuple[str, RunResult]]) -> list[tuple[str, BuildEntry]]:
    """The different images of runs, each under the label of its first run."""
    images: dict[str, tuple[str, BuildEntry]] = {}
    for label, run in named:
        build = run.manifest.build
        if build is not None and build.footprint:
            images.setdefault(build.elf_sha256, (label, build))
    return list(images.values())


def tables(builds: Builds) -> list[Table]:
    """All tables about these images; empty if the footprint of none is known."""
    if not builds:
        return []
    candidates = (parts(builds), minimal(builds), objects(builds), *common(builds))
    return [table for table in candidates if table is not None]


def total(entries: Sequence[FootprintEntry], part: str = "", file: str = "") -> FootprintEntry:
    """The sum of `entries`."""
    combined = FootprintEntry(part=part, file=file)
    combined.stored = sum(entry.flash for entry in entries)
    combined.resident = sum(entry.ram for entry in entries)
    for field in ("code", "constants", "data", "zeroed", "compiled"):
        setattr(combined, field, sum(getattr(entry, field) for entry in entries))
    return combined


def parts(builds: Builds) -> Table:
    """A row for each part, and the sum. One image: all figures; several: flash and RAM of each."""
    entries = [build.footprint for _, build in builds]
    return _parts("footprint", "Flash and RAM", entries, builds)


def minimal(builds: Builds) -> Table | None:
    """The same of the images' minimal applications, without memory that only the script reserves.

    None if none was weighed.
    """
    weighed = [(label, build) for label, build in builds if build.minimal]
    left_out = ("padding", "linker script")
    entries = [[e for e in build.minimal if e.part not in left_out] for _, build in weighed]
    title = "Flash and RAM of a minimal application: one thread that wakes at every tick"
    return _parts("footprint-minimal", title, entries, weighed) if weighed else None


def _parts(
    name: str, title: str, entries: Sequence[Sequence[FootprintEntry]], builds: Builds
) -> Table:
    used = {entry.part for of_image in entries for entry in of_image}
    order = [*(part for part in _ORDER if part in used), *sorted(used - {*_ORDER})]
    rows = [
        ((part,), [total([e for e in of_image if e.part == part]) for of_image in entries])
        for part in order
    ]
    rows.append((("whole image",), [total(of_image) for of_image in entries]))
    return _table(name, title, ("Part",), rows, builds)


def files(builds: Builds) -> Table:
    """A row for each file of each part."""
    place = {part: number for number, part in enumerate(_ORDER)}
    keys = {(entry.part, entry.file) for _, build in builds for entry in build.footprint}
    of = [{(e.part, e.file): e for e in build.footprint} for _, build in builds]
    rows = [
        (key, [by_file.get(key, FootprintEntry(part=key[0], file=key[1])) for by_file in of])
        for key in sorted(keys, key=lambda key: (place.get(key[0], len(place)), key))
    ]
    return _table("footprint-files", "Flash and RAM by file", ("Part", "File"), rows, builds)


def _table(
    name: str,
    title: str,
    heads: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], list[FootprintEntry]]],
    builds: Builds,
) -> Table:
    figures = _FIGURES if len(builds) == 1 else _FIGURES[-2:]
    several = len(builds) > 1
    columns = [
        f"{figure}, {label}" if several else figure for label, _ in builds for figure, _ in figures
    ]
    return Table(
        name=name,
        title=title,
        columns=(*heads, *columns),
        rows=tuple(
            (*map(text_cell, key), *(whole(read(e)) for e in entries for _, read in figures))
            for key, entries in rows
        ),
        numeric=frozenset(range(len(heads), len(heads) + len(columns))),
        notes=MEANING,
    )


def objects(builds: Builds) -> Table | None:
    """RAM of one object of each kind; None if no kernel names its kinds."""
    kinds = dict.fromkeys(entry.kind for _, build in builds for entry in build.objects)
    if not kinds:
        return None
    of = [{entry.kind: entry for entry in build.objects} for _, build in builds]
    rows = []
    for kind in kinds:
        known = [by_kind.get(kind) for by_kind in of]
        sources = dict.fromkeys((entry.type, entry.plus) for entry in known if entry is not None)
        sizes = [
            text_cell(NO_OBJECT) if entry is None or entry.bytes is None else whole(entry.bytes)
            for entry in known
        ]
        types, plus = ("; ".join(dict.fromkeys(column)) for column in zip(*sources, strict=True))
        rows.append((text_cell(kind), *sizes, text_cell(types), text_cell(plus, "long")))
    return Table(
        name="footprint-objects",
        title="RAM of one kernel object",
        columns=("Object", *(label for label, _ in builds), "Control block", "With it"),
        rows=tuple(rows),
        numeric=frozenset(range(1, len(builds) + 1)),
        notes=("Bytes of the control block (sizeof, from debug information).",),
    )


def common(builds: Builds) -> list[Table]:
    """Text of the files that images of one kernel share, as kioxia2019 compares instruction sets.

    A table for each kernel with several images.
    """
    groups = [group for group in same_kernel(builds) if len(group) > 1]
    return [_common(group, number) for number, group in enumerate(groups, 1)]


def same_kernel(builds: Builds) -> list[list[tuple[str, BuildEntry]]]:
    """The images by kernel: those of one group have files of it in common."""
    groups: list[list[tuple[str, BuildEntry]]] = []
    for label, build in builds:
        for group in groups:
            if shared_files([group[0][1], build], KERNEL):
                group.append((label, build))
                break
        else:
            groups.append([(label, build)])
    return groups


def _common(builds: Builds, number: int) -> Table:
    rows = []
    for scope, wanted in (("kernel", KERNEL), ("all sources", _SOURCES)):
        shared = shared_files([build for _, build in builds], wanted)
        compiled = [sum(e.compiled for e in entries) for entries in shared]
        linked = [sum(e.code + e.constants for e in entries) for entries in shared]
        what = f"{scope}: {len(shared[0])} common files"
        rows += [(f"{what}, compiled", compiled), (f"{what}, linked", linked)]
    rows.append(("whole image, linked", [build.text_bytes for _, build in builds]))
    return Table(
        name=f"footprint-common-{number}",
        title="Text of common files",
        columns=("Files", *(label for label, _ in builds)),
        rows=tuple((text_cell(what), *_relative(values)) for what, values in rows),
        numeric=frozenset(range(1, len(builds) + 1)),
        notes=_RELATIVE,
    )


def shared_files(builds: Sequence[BuildEntry], wanted: Sequence[str]) -> list[list[FootprintEntry]]:
    """The entries of each image for the compiled files that all have, of the parts `wanted`."""
    of = [
        {(e.part, e.file): e for e in build.footprint if e.part in wanted and e.compiled}
        for build in builds
    ]
    keys = sorted(set.intersection(*(set(by_file) for by_file in of)))
    return [[by_file[key] for key in keys] for by_file in of] if keys else []


def percent(value: int, base: int) -> str:
    """The change against `base`: "+17.8 %"."""
    return f"{100 * (value / base - 1):+.1f} %"


def _relative(values: Sequence[int]) -> list[Cell]:
    first, *rest = values
    return [whole(first), *(Cell(f"{value:,} ({percent(value, first)})", value) for value in rest)]
