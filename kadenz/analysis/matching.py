# SPDX-License-Identifier: Apache-2.0
"""Which runs of one side are compared with which of the other, point by point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kadenz.config.manifest import Manifest, RecordEntry
from kadenz.errors import UsageError
from kadenz.store import Run

NO_LOAD = "none"


@dataclass
class SameRuns:
    """The same point in every run of a side."""

    runs: list[tuple[Run, RecordEntry]] = field(default_factory=list)


@dataclass(frozen=True)
class Key:
    """A point: what its runs have in common, the benchmark and its parameters."""

    group: str
    bench: str
    params: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The point in words."""
        words = " ".join(f"{k}={v}" for k, v in self.params)
        return " ".join(word for word in (self.group, self.bench, words) if word)


@dataclass(frozen=True)
class Matched:
    """Both sides' points by key; `group_of` says which runs belong together, "" for all of them."""

    baseline: dict[Key, SameRuns]
    candidate: dict[Key, SameRuns]
    group_of: Callable[[Manifest], str]


def match(baseline: Sequence[Run], candidate: Sequence[Run]) -> Matched:
    """Match two sides by target and load; where they share none, by target; else as they are.

    By target needs one load a target and side, as they are one target and load a side: UsageError
    otherwise, because it would not be clear which is to be compared with which.
    """
    group_of: Callable[[Manifest], str] = _everything
    for finer in (_target_and_load, target_of):
        sides = [{finer(run.manifest) for run in side} for side in (baseline, candidate)]
        if sides[0] & sides[1] and (finer is _target_and_load or _one_load(baseline, candidate)):
            group_of = finer
            break
    else:
        both = [
            sorted({_target_and_load(run.manifest) for run in side})
            for side in (baseline, candidate)
        ]
        if any(len(names) > 1 for names in both):
            raise UsageError(
                f"the sides have no target in common: {', '.join(both[0])} against "
                f"{', '.join(both[1])}",
                remedy="Name runs of one target and load on each side, or of the same ones",
            )
    return Matched(_points(baseline, group_of), _points(candidate, group_of), group_of)


def target_of(manifest: Manifest) -> str:
    """The target and how it was measured."""
    return f"{manifest.target.name} ({manifest.target.instrument})"


def load_of(manifest: Manifest) -> str:
    """What ran beside it; "none" where nobody asked."""
    return manifest.conditions.get("load") or NO_LOAD


def _target_and_load(manifest: Manifest) -> str:
    load = load_of(manifest)
    return target_of(manifest) + ("" if load == NO_LOAD else f", load {load}")


def _everything(_: Manifest) -> str:
    return ""


def _one_load(*sides: Sequence[Run]) -> bool:
    for side in sides:
        loads: dict[str, set[str]] = {}
        for run in side:
            loads.setdefault(target_of(run.manifest), set()).add(load_of(run.manifest))
        if any(len(found) > 1 for found in loads.values()):
            return False
    return True


def _points(runs: Sequence[Run], group_of: Callable[[Manifest], str]) -> dict[Key, SameRuns]:
    found: dict[Key, SameRuns] = {}
    for run in runs:
        for entry in run.manifest.records:
            if entry.status != "n/a":
                params = tuple(sorted(entry.params.items()))
                key = Key(group_of(run.manifest), entry.bench, params)
                found.setdefault(key, SameRuns()).runs.append((run, entry))
    for key, same in found.items():
        variants = sorted({run.manifest.variant for run, _ in same.runs} - {""})
        if len(variants) > 1:
            raise UsageError(
                f"{key.name}: one side has runs of {len(variants)} variants: {', '.join(variants)}",
                remedy="Name the run folders of one of them",
            )
    return found
