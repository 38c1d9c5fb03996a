# SPDX-License-Identifier: Apache-2.0
"""Sums of a profile by function, part and kind, and what one view did that another did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from kadenz.analysis.parameters import Named, Points
from kadenz.config.profile import INTERRUPT, CodeKind, LaneProfile, Profile, ViewEntry, ViewName
from kadenz.errors import UsageError
from kadenz.store import Run
from kadenz.store.layout import PROFILES
from kadenz.store.profiles import read_profiles

KINDS = get_args(CodeKind)


@dataclass(frozen=True)
class FunctionSum:
    """A function's own instructions in a view, in one part, and how often it was called."""

    name: str
    part: str
    instructions: int
    calls: int


@dataclass(frozen=True)
class Difference:
    """A function of two views; `more` is what the second executed beyond the first."""

    name: str
    part: str
    more: int
    calls: tuple[int, int]

    @property
    def description(self) -> str:
        """ "+25 prvLockQueue (2 calls instead of 1)"."""
        before, after = self.calls
        if before == after:
            calls = ""
        elif not before:
            calls = f" (called {_times(after)}; the other never)"
        elif not after:
            calls = f" (never called; the other {_times(before)})"
        else:
            calls = f" ({after} calls instead of {before})"
        return f"{self.more:+,} {self.name}{calls}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def view(lane: LaneProfile, name: ViewName) -> ViewEntry:
    """The view of a name."""
    return next(entry for entry in lane.views if entry.name == name)


def by_function(profile: Profile, shown: ViewEntry) -> list[FunctionSum]:
    """The functions, the largest first. A function in an interrupt is of that part."""
    instructions: Counter[tuple[str, str]] = Counter()
    calls: Counter[tuple[str, str]] = Counter()
    for stack in shown.stacks:
        function = profile.functions[stack.path[-1]]
        key = function.name, INTERRUPT if stack.interrupt else function.part
        instructions[key] += stack.instructions
        calls[key] += stack.calls
    sums = [FunctionSum(*key, instructions[key], calls[key]) for key in instructions]
    return sorted(sums, key=lambda function_sum: (-function_sum.instructions, function_sum.name))


def by_part(profile: Profile, shown: ViewEntry) -> dict[str, int]:
    """Instructions of each part, the largest first; they add up to the view."""
    instructions: Counter[str] = Counter()
    for function in by_function(profile, shown):
        instructions[function.part] += function.instructions
    return dict(instructions.most_common())


def by_kind(profile: Profile, shown: ViewEntry) -> dict[str, int]:
    """Instructions of each kind; they add up to the view."""
    instructions = dict.fromkeys(KINDS, 0)
    for number, times in shown.code:
        instructions[profile.code[number].kind] += times
    return instructions


def difference(
    before: tuple[Profile, ViewEntry], after: tuple[Profile, ViewEntry]
) -> list[Difference]:
    """The functions in which two views differ, the largest difference first.

    Their sum is the difference of the views, if both are of one sample.
    """
    sums = [{(f.name, f.part): f for f in by_function(*side)} for side in (before, after)]
    differences = []
    for key in {**sums[0], **sums[1]}:
        old, new = (side.get(key, FunctionSum(*key, 0, 0)) for side in sums)
        more = new.instructions - old.instructions
        if more or old.calls != new.calls:
            differences.append(Difference(*key, more, (old.calls, new.calls)))
    return sorted(differences, key=lambda row: (-abs(row.more), row.name))


def function_at(profile: Profile, address: int) -> str:
    """The function of an executed address, with its line."""
    for instruction in profile.code:
        if instruction.address == address:
            place = f" ({instruction.file}:{instruction.line})" if instruction.line else ""
            return f"{profile.functions[instruction.function].name}{place}"
    return f"{address:#x}"


@dataclass(frozen=True)
class Explained:
    """A lane that two runs have profiled: where the typical samples differ."""

    target: str
    bench: str
    lane: str
    title: str
    unit: str
    spans: tuple[int, int]
    differences: tuple[Difference, ...]


def is_profiled(run: Run) -> bool:
    """Whether a run has profiles."""
    return (run.path / PROFILES).is_dir()


def explain(before: Sequence[Run], after: Sequence[Run]) -> list[Explained]:
    """The lanes that both sides have, by function. UsageError for a run without profiles.

    Profiles of a target are the same in each run: of several on one side the first counts.
    """
    named = Points(record for run in (*before, *after) for record in run.manifest.records)
    sides = [_profiles(runs, named) for runs in (before, after)]
    points = Counter(_without_params(key) for key in sides[0])
    explained = []
    for key in sides[0]:
        if key not in sides[1]:
            continue
        (old, old_lane), (new, new_lane) = (side[key] for side in sides)
        views = view(old_lane, "typical"), view(new_lane, "typical")
        target, bench, params, lane = key
        swept = points[_without_params(key)] > 1
        swept_params = [f"{name}={value}" for name, value in params if swept]
        title = " ".join([target, bench, *swept_params]) + ("" if lane == "all" else f", {lane}")
        differences = difference((old, views[0]), (new, views[1]))
        spans = views[0].instructions, views[1].instructions
        explained.append(Explained(target, bench, lane, title, old.unit, spans, tuple(differences)))
    if not explained:
        raise UsageError(
            "the profiles of the two sides have no point in common",
            remedy="Profile the same benchmarks with the same parameters on both sides",
        )
    return explained


_Key = tuple[str, str, Named, str]


def _without_params(key: _Key) -> tuple[str, str, str]:
    return key[0], key[1], key[3]


def _profiles(runs: Sequence[Run], named: Points) -> dict[_Key, tuple[Profile, LaneProfile]]:
    by_lane: dict[_Key, tuple[Profile, LaneProfile]] = {}
    for run in runs:
        profiles = read_profiles(run)
        if not profiles:
            raise UsageError(
                f"{run.path}: has no profile",
                remedy="Measure it with `kadenz profile` instead of `kadenz run`",
            )
        for profile in profiles:
            params = named.of(profile.bench, run.record(profile.record).params)
            for lane in profile.lanes:
                key = profile.target, profile.bench, params, lane.lane
                by_lane.setdefault(key, (profile, lane))
    return by_lane
