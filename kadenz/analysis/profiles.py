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
    def words(self) -> str:
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
    return next(one for one in lane.views if one.name == name)


def by_function(profile: Profile, shown: ViewEntry) -> list[FunctionSum]:
    """The functions, the largest first. A function in an interrupt is of that part."""
    instructions: Counter[tuple[str, str]] = Counter()
    calls: Counter[tuple[str, str]] = Counter()
    for stack in shown.stacks:
        function = profile.functions[stack.path[-1]]
        key = function.name, INTERRUPT if stack.interrupt else function.part
        instructions[key] += stack.instructions
        calls[key] += stack.calls
    found = [FunctionSum(*key, instructions[key], calls[key]) for key in instructions]
    return sorted(found, key=lambda one: (-one.instructions, one.name))


def by_part(profile: Profile, shown: ViewEntry) -> dict[str, int]:
    """Instructions of each part, the largest first; they add up to the view."""
    found: Counter[str] = Counter()
    for one in by_function(profile, shown):
        found[one.part] += one.instructions
    return dict(found.most_common())


def by_kind(profile: Profile, shown: ViewEntry) -> dict[str, int]:
    """Instructions of each kind; they add up to the view."""
    found = dict.fromkeys(KINDS, 0)
    for number, times in shown.code:
        found[profile.code[number].kind] += times
    return found


def difference(
    before: tuple[Profile, ViewEntry], after: tuple[Profile, ViewEntry]
) -> list[Difference]:
    """The functions in which two views differ, the largest difference first.

    Their sum is the difference of the views, if both are of one sample.
    """
    sums = [{(f.name, f.part): f for f in by_function(*side)} for side in (before, after)]
    found = []
    for key in {**sums[0], **sums[1]}:
        old, new = (side.get(key, FunctionSum(*key, 0, 0)) for side in sums)
        more = new.instructions - old.instructions
        if more or old.calls != new.calls:
            found.append(Difference(*key, more, (old.calls, new.calls)))
    return sorted(found, key=lambda one: (-abs(one.more), one.name))


def function_at(profile: Profile, address: int) -> str:
    """The function of an executed address, with its line."""
    for one in profile.code:
        if one.address == address:
            place = f" ({one.file}:{one.line})" if one.line else ""
            return f"{profile.functions[one.function].name}{place}"
    return f"{address:#x}"


@dataclass(frozen=True)
class Explained:
    """A lane that two runs have profiled: where the typical samples differ."""

    title: str
    unit: str
    spans: tuple[int, int]
    differences: tuple[Difference, ...]


def explain(before: Sequence[Run], after: Sequence[Run]) -> list[Explained]:
    """The lanes that both sides have, by function. UsageError for a run without profiles.

    Profiles of a target are the same in each run: of several on one side the first counts.
    """
    named = Points(record for run in (*before, *after) for record in run.manifest.records)
    sides = [_profiles(runs, named) for runs in (before, after)]
    points = Counter(_without_params(key) for key in sides[0])
    found = []
    for key in sides[0]:
        if key not in sides[1]:
            continue
        (old, old_lane), (new, new_lane) = (side[key] for side in sides)
        views = view(old_lane, "typical"), view(new_lane, "typical")
        target, bench, params, lane = key
        swept = points[_without_params(key)] > 1
        words = [f"{name}={value}" for name, value in params if swept]
        title = " ".join([target, bench, *words]) + ("" if lane == "all" else f", {lane}")
        differences = difference((old, views[0]), (new, views[1]))
        spans = views[0].instructions, views[1].instructions
        found.append(Explained(title, old.unit, spans, tuple(differences)))
    if not found:
        raise UsageError(
            "the profiles of the two sides have no point in common",
            remedy="Profile the same benchmarks with the same parameters on both sides",
        )
    return found


_Key = tuple[str, str, Named, str]


def _without_params(key: _Key) -> tuple[str, str, str]:
    return key[0], key[1], key[3]


def _profiles(runs: Sequence[Run], named: Points) -> dict[_Key, tuple[Profile, LaneProfile]]:
    found: dict[_Key, tuple[Profile, LaneProfile]] = {}
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
                found.setdefault(key, (profile, lane))
    return found
