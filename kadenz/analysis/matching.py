# SPDX-License-Identifier: Apache-2.0
"""Matches the runs of two sides, point by point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from kadenz.analysis.parameters import Points
from kadenz.analysis.systems import aligned, names_of, values_of
from kadenz.config.manifest import Manifest, Nature, RecordEntry
from kadenz.config.params import Value
from kadenz.errors import UsageError
from kadenz.store import Run


@dataclass
class SameRuns:
    """The same point in every run of a side."""

    runs: list[tuple[Run, RecordEntry]] = field(default_factory=list)

    @property
    def nature(self) -> Nature:
        """What a sample of the point is."""
        return self.runs[0][1].nature

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the runs."""
        return tuple(str(run.path) for run, _ in self.runs)

    @property
    def seconds(self) -> float:
        """How long the point was measured, in all runs together."""
        return sum(entry.duration_s or 0.0 for _, entry in self.runs)


@dataclass(frozen=True)
class Key:
    """A point: the group of its runs, the benchmark and its parameters."""

    group: str
    bench: str
    params: tuple[tuple[str, Value], ...]

    @property
    def name(self) -> str:
        """The point in words."""
        params = " ".join(f"{k}={v}" for k, v in self.params)
        return " ".join(word for word in (self.group, self.bench, params) if word)


@dataclass(frozen=True)
class Matched:
    """Both sides' points by key. `group_of` names the group of a run; "" if all form one."""

    baseline: dict[Key, SameRuns]
    candidate: dict[Key, SameRuns]
    group_of: Callable[[Manifest], str]


def target_of(manifest: Manifest) -> str:
    """The target and its instrument."""
    return f"{manifest.target.name} ({manifest.target.instrument})"


def system_names(runs: Sequence[Run]) -> list[str]:
    """The target of each run and the conditions that are unusual or distinguish it among `runs`."""
    systems = _Systems(runs)
    every, side = range(len(systems.kinds)), systems.sides(runs)
    targets = [target_of(run.manifest) for run in runs]
    return [
        systems.name(target, systems.of(run.manifest), every, side[target])
        for target, run in zip(targets, runs, strict=True)
    ]


_System = tuple[str, ...]  # the value of each kind


class _Systems:
    """The systems of all runs on both sides, and how they are named."""

    def __init__(self, runs: Sequence[Run]) -> None:
        lines = aligned([run.manifest for run in runs])
        self._of = {
            id(run.manifest): values_of(line) for run, line in zip(runs, lines, strict=True)
        }
        columns = list(zip(*lines, strict=True))
        self.kinds = tuple(column[0].kind for column in columns)
        self._names = [
            dict(zip(values_of(column), names_of(column), strict=True)) for column in columns
        ]
        self._usual = {
            (target_of(run.manifest), place): condition.usual
            for run, line in zip(runs, lines, strict=True)
            for place, condition in enumerate(line)
            if condition.usual
        }

    def of(self, manifest: Manifest) -> _System:
        """The system of a run."""
        return self._of[id(manifest)]

    def sides(self, runs: Iterable[Run]) -> dict[str, set[_System]]:
        """The systems of a side by target."""
        systems: dict[str, set[_System]] = {}
        for run in runs:
            systems.setdefault(target_of(run.manifest), set()).add(self.of(run.manifest))
        return systems

    def name(
        self, target: str, system: _System, kept: Collection[int], among: Collection[_System]
    ) -> str:
        """The target, what is unusual, and what of `kept` places distinguishes it `among` all."""
        parts, alike = [target], list(among)
        for place in sorted(kept):
            several = len({other[place] for other in alike}) > 1
            alike = [other for other in alike if other[place] == system[place]]
            usual = self._usual.get((target, place))
            if system[place] != usual and (several or usual):
                parts.append(self._names[place][system[place]])
        return ", ".join(parts)

    def difference(self, systems: Sequence[_System]) -> str:
        """ "2 kernels: Linux 6.1, Linux 6.12"."""
        parts = []
        for kind, values in zip(self.kinds, zip(*systems, strict=True), strict=True):
            if len(set(values)) > 1:
                parts.append(f"{len(set(values))} × {kind}: {', '.join(sorted(set(values)))}")
        return "; ".join(parts)


def match(baseline: Sequence[Run], candidate: Sequence[Run]) -> Matched:
    """Matches two sides by target and, within a target, by its system.

    A system is a kernel (version and source) under conditions (`systems.system_of`). If the sides
    of a target share no system, they are matched by what they do share: two kernels under two loads
    load by load, two kernels alone against each other. If they share no target, one system is
    compared with another. UsageError if a side then mixes several systems, because the pairs would
    be ambiguous.
    """
    systems = _Systems([*baseline, *candidate])
    sides = [systems.sides(side) for side in (baseline, candidate)]
    common = [target for target in sides[0] if target in sides[1]]
    every = range(len(systems.kinds))
    if not common:
        _one_each(systems, sides)
        return _matched(baseline, candidate, lambda _: "")
    kept = {
        target: _shared(systems, target, *(side[target] for side in sides)) for target in common
    }
    names = {}
    for target in dict.fromkeys((*sides[0], *sides[1])):
        both = sides[0].get(target, set()) | sides[1].get(target, set())
        for system in both:
            names[target, system] = systems.name(target, system, kept.get(target, every), both)
    return _matched(
        baseline, candidate, lambda manifest: names[target_of(manifest), systems.of(manifest)]
    )


def _only(system: _System, places: Collection[int]) -> _System:
    return tuple(system[place] for place in places)


def _shared(
    systems: _Systems, target: str, left: set[_System], right: set[_System]
) -> tuple[int, ...]:
    """The places of the kinds by which a target's sides match: as many as they share without
    mixing. The first kinds, a kernel before all, are given up first."""
    places = range(len(systems.kinds))
    varied = [at for at in reversed(places) if len({system[at] for system in left | right}) > 1]
    same = [at for at in places if at not in varied]
    mixed = ""
    for count in range(len(varied), -1, -1):
        for chosen in combinations(varied, count):
            groups = [{_only(system, chosen) for system in side} for side in (left, right)]
            both = groups[0] & groups[1]
            several = [
                sorted(members)
                for group in both
                for side in (left, right)
                if len(members := {system for system in side if _only(system, chosen) == group}) > 1
            ]
            if both and not several:
                return (*same, *chosen)
            if both:
                mixed = mixed or systems.difference(several[0])
    raise UsageError(
        f"{target}: one side has runs of {mixed}, and the other side has different ones",
        remedy="Name the run folders of one of them, or the same ones on both sides",
    )


def _one_each(systems: _Systems, sides: Sequence[dict[str, set[_System]]]) -> None:
    every = range(len(systems.kinds))
    names = [
        sorted(
            systems.name(target, system, every, among)
            for target, among in side.items()
            for system in among
        )
        for side in sides
    ]
    if any(len(side) > 1 for side in names):
        raise UsageError(
            f"the sides have no target in common: {', '.join(names[0])} against "
            f"{', '.join(names[1])}",
            remedy="Name runs of one target, kernel and set of conditions on each side, or of the "
            "same ones",
        )


def _matched(
    baseline: Sequence[Run], candidate: Sequence[Run], group_of: Callable[[Manifest], str]
) -> Matched:
    points = Points(record for run in (*baseline, *candidate) for record in run.manifest.records)
    left, right = (_points(side, group_of, points) for side in (baseline, candidate))
    return Matched(left, right, group_of)


def _points(
    runs: Sequence[Run], group_of: Callable[[Manifest], str], points: Points
) -> dict[Key, SameRuns]:
    by_key: dict[Key, SameRuns] = {}
    for run in runs:
        for entry in run.manifest.records:
            if entry.status != "n/a":
                params = points.of(entry.bench, entry.params)
                key = Key(group_of(run.manifest), entry.bench, params)
                by_key.setdefault(key, SameRuns()).runs.append((run, entry))
    for key, same in by_key.items():
        variants = sorted({run.manifest.variant for run, _ in same.runs} - {""})
        if len(variants) > 1:
            raise UsageError(
                f"{key.name}: one side has runs of {len(variants)} variants: {', '.join(variants)}",
                remedy="Name the run folders of one of them",
            )
    return by_key
