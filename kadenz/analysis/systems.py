# SPDX-License-Identifier: Apache-2.0
"""Which system a run measured, besides its target: its kernel and the conditions that change it.

A run without a condition that others have had its usual value. Identity, names and differences of
systems come from the entries alone: no kind is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from kadenz.config.manifest import ConditionEntry, Manifest

ABSENT = "–"


def conditions_of(manifest: Manifest) -> list[ConditionEntry]:
    """Every condition that was stated."""
    return manifest.conditions


def system_conditions(manifest: Manifest) -> dict[str, str]:
    """The values of the conditions that change the system, by kind."""
    return {
        condition.kind: condition.value
        for condition in manifest.conditions
        if condition.changes_system
    }


def system_of(manifest: Manifest) -> list[ConditionEntry]:
    """The kernel (two trees may both be called V11), then the conditions that change the system."""
    target, build = manifest.target, manifest.build
    label = f"{target.kernel_name} {target.kernel_version}".strip()
    parts = [label, build.kernel_source if build is not None else ""]
    kernel = ConditionEntry(kind="kernel", value=", ".join(filter(None, parts)), label=label)
    return [kernel, *(condition for condition in manifest.conditions if condition.changes_system)]


def aligned(
    manifests: Sequence[Manifest],
    entries: Callable[[Manifest], Sequence[ConditionEntry]] = system_of,
) -> list[tuple[ConditionEntry, ...]]:
    """The entries of each run: the same kinds in the same order, those not stated as usual."""
    stated = [{entry.kind: entry for entry in entries(manifest)} for manifest in manifests]
    usual: dict[tuple[str, str], str] = {}
    for manifest, by_kind in zip(manifests, stated, strict=True):
        for entry in by_kind.values():
            place = manifest.target.name, entry.kind
            usual[place] = usual.get(place) or entry.usual
    kinds = list(dict.fromkeys(kind for by_kind in stated for kind in by_kind))
    return [
        tuple(
            by_kind.get(kind) or _usual(kind, usual.get((manifest.target.name, kind), ""))
            for kind in kinds
        )
        for manifest, by_kind in zip(manifests, stated, strict=True)
    ]


def _usual(kind: str, value: str) -> ConditionEntry:
    return ConditionEntry(kind=kind, value=value or ABSENT, usual=value)


def names_of(column: Sequence[ConditionEntry]) -> list[str]:
    """The labels of entries of one kind; kind and value where two values have one label."""
    labels: dict[str, str] = {}
    for entry in column:  # runs of two versions of kadenz may label a value differently
        labels.setdefault(entry.value, entry.label)
    every = list(labels.values())
    return [
        label if every.count(label := labels[entry.value]) == 1 else f"{entry.kind} {entry.value}"
        for entry in column
    ]


def changes(left: Manifest, right: Manifest, *, aside: Collection[str] = ()) -> list[str]:
    """What differs between two systems, in words: "load none → disk"; `aside` are kinds that do not
    count."""
    differences = []
    for pair in zip(*aligned([left, right]), strict=True):
        if pair[0].value != pair[1].value and pair[0].kind not in aside:
            before, after = names_of(pair)
            differences.append(f"{before} → {after.removeprefix(f'{pair[0].kind} ')}")
    return differences


def values_of(system: Iterable[ConditionEntry]) -> tuple[str, ...]:
    """The values alone: equal for runs of one system."""
    return tuple(entry.value for entry in system)
