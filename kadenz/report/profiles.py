# SPDX-License-Identifier: Apache-2.0
"""A profile for people and for other programs: tables, flame graphs, stacks, disassembly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kadenz import __version__
from kadenz.analysis.profiles import (
    KINDS,
    by_function,
    by_kind,
    by_part,
    difference,
    function_at,
    view,
)
from kadenz.config.profile import LaneProfile, MaskedEntry, Profile, ViewEntry, ViewName
from kadenz.report.flames import file_stem, graph, place_of, stacks, title_of
from kadenz.report.render import render_template, write_text
from kadenz.report.svg.panel import standalone
from kadenz.report.table import Cell, Table, text_cell, whole

_COLUMNS: tuple[ViewName, ...] = ("typical", "slowest", "coldest")
_MASKED_SHOWN = 5
_CALLERS_SHOWN = 3


def tables(profile: Profile, lane: LaneProfile) -> list[Table]:
    """Typical, slowest and coldest sample side by side: parts and kinds, functions, masks."""
    views = _columns(lane)
    return [
        _sums(profile, lane, views),
        _functions(profile, views),
        _sections(profile, "masked", "Interrupts off", {v.name: v.masked for v in views}),
        _sections(profile, "locked", "Scheduler locked", {v.name: v.locked for v in views}),
    ]


def _columns(lane: LaneProfile) -> list[ViewEntry]:
    return [entry for name in _COLUMNS for entry in lane.views if entry.name == name]


def _row(name: str, *rest: Cell) -> tuple[Cell, ...]:
    return (text_cell(name), *rest)


def _sums(profile: Profile, lane: LaneProfile, views: Sequence[ViewEntry]) -> Table:
    sums = [by_part(profile, entry) for entry in views]
    parts = dict.fromkeys(part for counts in sums for part in counts)
    kinds = [by_kind(profile, entry) for entry in views]
    rows = [
        _row(f"all {profile.unit}s", *(whole(entry.instructions) for entry in views)),
        *(_row(f"  {part}", *(whole(counts.get(part, 0)) for counts in sums)) for part in parts),
        *(_row(f"  {kind}", *(whole(counts[kind]) for counts in kinds)) for kind in KINDS),
        _row("exceptions entered", *(whole(sum(entry.exceptions.values())) for entry in views)),
        _row("exceptions left", *(whole(entry.returns) for entry in views)),
    ]
    between = "from the request to the mark"
    notes: tuple[str, ...] = ()
    if lane.is_of_samples:
        samples = view(lane, "all").samples
        between = "between the stamps"
        notes = (f"{samples:,} samples on {lane.paths:,} different paths",)
    return Table(
        "sums",
        f"{title_of(profile, lane)}: {profile.unit}s {between}",
        ("", *(f"{entry.name} ({place_of(lane, entry)})" for entry in views)),
        tuple(rows),
        frozenset(range(1, 1 + len(views))),
        notes,
    )


def _functions(profile: Profile, views: Sequence[ViewEntry]) -> Table:
    sums = [{(f.name, f.part): f for f in by_function(profile, entry)} for entry in views]
    rows = []
    for name, part in dict.fromkeys(key for functions in sums for key in functions):
        in_views = [functions.get((name, part)) for functions in sums]
        counts = [whole(function.instructions if function else 0) for function in in_views]
        calls = in_views[0].calls if in_views[0] else 0
        rows.append((text_cell(name), text_cell(part), whole(calls), *counts))
    return Table(
        "functions",
        "By function",
        ("function", "part", "calls", *(entry.name for entry in views)),
        tuple(rows),
        frozenset(range(2, 3 + len(views))),
        ("calls: of the typical sample",),
    )


def _sections(
    profile: Profile, name: str, title: str, views: Mapping[ViewName, Sequence[MaskedEntry]]
) -> Table:
    rows = []
    for column, sections in views.items():
        for entry in sections[:_MASKED_SHOWN]:
            ends = text_cell(callers(profile, entry)), text_cell(function_at(profile, entry.end))
            rows.append((text_cell(column), whole(entry.instructions), whole(entry.times), *ends))
    return Table(
        name,
        f"{title}, longest first",
        ("sample", f"{profile.unit}s", "times", "from", "to"),
        tuple(rows),
        frozenset({1, 2}),
    )


def callers(profile: Profile, entry: MaskedEntry) -> str:
    """Where a section begins: "queue_send > xQueueGenericSend > vPortEnterCritical"."""
    return " > ".join(profile.functions[at].name for at in entry.path[-_CALLERS_SHOWN:])


def remarks(profile: Profile, lane: LaneProfile) -> list[str]:
    """Functions that the slowest and the coldest sample executed and the typical did not."""
    typical = view(lane, "typical")
    sentences = []
    # If they are the same sample, it is the slowest.
    others = {entry.sample: entry for entry in reversed(_columns(lane)) if entry is not typical}
    for other in others.values():
        differences = difference((profile, typical), (profile, other))
        if other.instructions == typical.instructions and not differences:
            continue
        what = "; ".join(change.description for change in differences) or "the same functions"
        sentences.append(
            f"{other.name}, {place_of(lane, other)}: {other.instructions:,} instead of "
            f"{typical.instructions:,}: {what}"
        )
    return sentences


def folded(profile: Profile, shown: ViewEntry) -> str:
    """Folded stacks, a line for each: "task_2;queue_send;xQueueGenericSend 28"."""
    lines = [f"{';'.join(s.path)} {s.instructions}" for s in stacks(profile, shown)]
    return "".join(f"{line}\n" for line in lines)


def speedscope(profile: Profile, lane: LaneProfile) -> dict[str, Any]:
    """The views in the format of speedscope.app (file-format-schema.json)."""
    frames: dict[str, int] = {}
    profiles = []
    for shown in lane.views:
        samples, weights = [], []
        for stack in stacks(profile, shown):
            samples.append([frames.setdefault(name, len(frames)) for name in stack.path])
            weights.append(stack.instructions)
        profiles.append(
            {
                "type": "sampled",
                "name": shown.name,
                "unit": "none",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": title_of(profile, lane),
        "exporter": f"kadenz {__version__}",
        "activeProfileIndex": lane.views.index(view(lane, "typical")),
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
    }


def disassembly(profile: Profile, lane: LaneProfile) -> str:
    """Every executed instruction with its source line, and its count in each sample."""
    views = _columns(lane)
    return "".join(f"{line}\n" for line in _disassembly(profile, lane, views))


def _disassembly(profile: Profile, lane: LaneProfile, views: Sequence[ViewEntry]) -> Iterator[str]:
    counts = [dict(entry.code) for entry in views]
    counted = "cycles" if profile.unit == "cycle" else "executions"
    yield f"{title_of(profile, lane)}: {counted} in one sample"
    yield " ".join(f"{entry.name:>8}" for entry in views)
    numbered = sorted(enumerate(profile.code), key=lambda pair: pair[1].address)
    for function, group in groupby(numbered, key=lambda pair: pair[1].function):
        entry = profile.functions[function]
        yield f"\n{entry.name} ({entry.part}, {entry.file})"
        place = ("", 0)
        for number, code in group:
            if (code.file, code.line) != place and code.line:
                place = code.file, code.line
                yield f"{'':{9 * len(views)}}{code.file}:{code.line}"
            executed = " ".join(f"{by_number.get(number, 0) or '':>8}" for by_number in counts)
            yield f"{executed}   {code.address:8x}  {code.text}"


def write_files(profiles: Sequence[Profile], folder: Path) -> list[Path]:
    """Writes everything about some profiles beside them; returns the page first."""
    import msgspec

    files = []
    lanes = [(profile, lane) for profile in profiles for lane in profile.lanes]
    for profile, lane in lanes:
        stem = folder / file_stem(profile, lane)
        plot = graph(profile, lane, "typical")
        speed = msgspec.json.encode(speedscope(profile, lane)).decode()
        for suffix, content in (
            (".svg", standalone(plot)),
            (".folded", folded(profile, view(lane, "typical"))),
            (".speedscope.json", speed),
            (".disassembly.txt", disassembly(profile, lane)),
        ):
            file = stem.with_name(stem.name + suffix)
            write_text(file, content)
            files.append(file)
    page = folder / "profile.html"
    write_text(page, _page(lanes))
    return [page, *files]


def _page(lanes: Sequence[tuple[Profile, LaneProfile]]) -> str:
    in_cycles = any(profile.unit == "cycle" for profile, _ in lanes)
    clock = "cycle-exact" if in_cycles else "instruction"
    sections = []
    for profile, lane in lanes:
        sections.append(
            {
                "title": title_of(profile, lane),
                "graphs": [graph(profile, lane, "typical"), graph(profile, lane, "slowest")],
                "remarks": remarks(profile, lane),
                "tables": tables(profile, lane),
            }
        )
    command = "profile" if all(lane.is_of_samples for _, lane in lanes) else "worst --why"
    return render_template(
        "profile.html.j2", version=__version__, sections=sections, clock=clock, command=command
    )
