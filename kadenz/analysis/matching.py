# SPDX-License-Identifier: Apache-2.0
"""Matches the runs of two sides, point by point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from kadenz.config.manifest import Manifest, RecordEntry
from kadenz.config.params import Value
from kadenz.errors import UsageError
from kadenz.store import Run

NO_LOAD = "none"
# Parameters that benchmarks got later, with the value of runs that do not have them.
_AS_BEFORE = frozenset(
    {(f"core{which}", 0) for which in ("", "_a", "_b", "_low", "_high")} | {("migrate", "none")}
)


@dataclass
class SameRuns:
    """The same point in every run of a side."""

    runs: list[tuple[Run, RecordEntry]] = field(default_factory=list)


@dataclass(frozen=True)
class Key:
    """A point: the group of its runs, the benchmark and its parameters."""

    group: str
    bench: str
    params: tuple[tuple[str, Value], ...]

    @property
    def name(self) -> str:
        """The point in words."""
        words = " ".join(f"{k}={v}" for k, v in self.params)
        return " ".join(word for word in (self.group, self.bench, words) if word)


@dataclass(frozen=True)
class Matched:
    """Both sides' points by key. `group_of` names the group of a run; "" if all form one."""

    baseline: dict[Key, SameRuns]
    candidate: dict[Key, SameRuns]
    group_of: Callable[[Manifest], str]


def target_of(manifest: Manifest) -> str:
    """The target and its instrument."""
    return f"{manifest.target.name} ({manifest.target.instrument})"


def load_of(manifest: Manifest) -> str:
    """The load; "none" if none was requested."""
    return manifest.conditions.get("load") or NO_LOAD


def _disturbance_of(manifest: Manifest) -> str:
    return manifest.conditions.get("disturbance") or "undisturbed"


def _tuning_of(manifest: Manifest) -> str:
    return manifest.conditions.get("tuning") or "not tuned"


def _kernel_of(manifest: Manifest) -> str:
    """The kernel's name, version and source: two trees may both be called V11."""
    target, build = manifest.target, manifest.build
    source = manifest.conditions.get("guest kernel") or (build.kernel_source if build else "")
    own = f"{target.kernel_name} {target.kernel_version}".strip()
    return f"{own}, {source}" if source else own


# The conditions that define a system, besides its target. Runs that differ in one of these are not
# repetitions. If the sides share none, the last conditions are dropped first.
_VARIED: dict[str, Callable[[Manifest], str]] = {
    "load": load_of,
    "disturbance": _disturbance_of,
    "tuning": _tuning_of,
    "kernel": _kernel_of,
}
_System = tuple[str, ...]  # one value for each of _VARIED


def match(baseline: Sequence[Run], candidate: Sequence[Run]) -> Matched:
    """Matches two sides by target and, within a target, by its system.

    A system is load, disturbance, tuning and kernel (version and source). If the sides of a target
    share no system, they are matched by the conditions that they do share: two kernels under two
    loads load by load, two kernels alone against each other. If they share no target, one system is
    compared with another. UsageError if a side then mixes several systems, because the pairs would
    be ambiguous.
    """
    sides = [_systems(side) for side in (baseline, candidate)]
    common = [target for target in sides[0] if target in sides[1]]
    if not common:
        _one_each(sides)
        return _matched(baseline, candidate, lambda _: "")
    kept = {target: _shared(target, sides[0][target], sides[1][target]) for target in common}
    names = {}
    for target in dict.fromkeys((*sides[0], *sides[1])):
        both = sides[0].get(target, set()) | sides[1].get(target, set())
        for system in both:
            names[target, system] = _name(target, system, kept.get(target, tuple(_VARIED)), both)
    return _matched(baseline, candidate, lambda made: names[target_of(made), _system_of(made)])


def changed(left: Manifest, right: Manifest) -> list[str]:
    """The conditions of the system that changed, in words: "load none → disk"."""
    found = []
    for kind, value in _VARIED.items():
        if value(left) != value(right):
            short = _short(kind, [value(left), value(right)])
            found.append(f"{_titled(kind, short[0])} → {short[1]}")
    return found


def _system_of(manifest: Manifest) -> _System:
    return tuple(value(manifest) for value in _VARIED.values())


def _systems(runs: Iterable[Run]) -> dict[str, set[_System]]:
    found: dict[str, set[_System]] = {}
    for run in runs:
        found.setdefault(target_of(run.manifest), set()).add(_system_of(run.manifest))
    return found


def _only(system: _System, kinds: Sequence[str]) -> _System:
    return tuple(value for kind, value in zip(_VARIED, system, strict=True) if kind in kinds)


def _shared(target: str, left: set[_System], right: set[_System]) -> tuple[str, ...]:
    """The conditions by which a target's sides match: as many as they share without mixing."""
    mixed = ""
    for count in range(len(_VARIED), -1, -1):
        for kinds in combinations(_VARIED, count):
            both = {_only(one, kinds) for one in left} & {_only(one, kinds) for one in right}
            several = [
                sorted(found)
                for group in both
                for side in (left, right)
                if len(found := {one for one in side if _only(one, kinds) == group}) > 1
            ]
            if both and not several:
                return kinds
            if both:
                mixed = mixed or _difference(several[0])
    raise UsageError(
        f"{target}: one side has runs of {mixed}, and the other side has different ones",
        remedy="Name the run folders of one of them, or the same ones on both sides",
    )


def _difference(systems: Sequence[_System]) -> str:
    """ "2 kernels: Linux 6.1, Linux 6.12"."""
    words = []
    for place, kind in enumerate(_VARIED):
        values = sorted({system[place] for system in systems})
        if len(values) > 1:
            words.append(f"{len(values)} {kind}s: {', '.join(values)}")
    return "; ".join(words)


def _one_each(sides: Sequence[dict[str, set[_System]]]) -> None:
    names = [
        sorted(
            _name(target, system, tuple(_VARIED), systems)
            for target, systems in side.items()
            for system in systems
        )
        for side in sides
    ]
    if any(len(side) > 1 for side in names):
        raise UsageError(
            f"the sides have no target in common: {', '.join(names[0])} against "
            f"{', '.join(names[1])}",
            remedy="Name runs of one target, load, tuning and kernel on each side, or of the same "
            "ones",
        )


def _name(target: str, system: _System, kept: Sequence[str], among: Iterable[_System]) -> str:
    """A group's name: the target, its load, and those of `kept` that distinguish it `among` all."""
    words = [target]
    for place, kind in enumerate(_VARIED):
        values = sorted({one[place] for one in among})
        value = system[place]
        if kind not in kept or (kind == "load" and value == NO_LOAD):
            continue
        if kind == "load" or len(values) > 1:
            short = _short(kind, values)[values.index(value)]
            words.append(_titled(kind, short))
    return ", ".join(words)


def _short(kind: str, values: Sequence[str]) -> list[str]:
    """Kernels without their source, if they are distinct without it."""
    short = [value.partition(", ")[0] if kind == "kernel" else value for value in values]
    return short if len(set(short)) == len(set(values)) else list(values)


def _titled(kind: str, value: str) -> str:
    """ "load disk"; "not tuned" and "Linux 6.12" need no title."""
    plain = kind == "kernel" or value in ("not tuned", "undisturbed")
    return value if plain else f"{kind} {value}"


def _matched(
    baseline: Sequence[Run], candidate: Sequence[Run], group_of: Callable[[Manifest], str]
) -> Matched:
    return Matched(_points(baseline, group_of), _points(candidate, group_of), group_of)


def _points(runs: Sequence[Run], group_of: Callable[[Manifest], str]) -> dict[Key, SameRuns]:
    found: dict[Key, SameRuns] = {}
    for run in runs:
        for entry in run.manifest.records:
            if entry.status != "n/a":
                params = tuple(one for one in sorted(entry.params.items()) if one not in _AS_BEFORE)
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
