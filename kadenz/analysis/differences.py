# SPDX-License-Identifier: Apache-2.0
"""Rule 7 of the method: only equal options can be compared. Shows every difference.

Every field of the manifest counts, unless CANNOT_MATTER names it with the reason.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kadenz.analysis.parameters import Named, Points
from kadenz.analysis.systems import ABSENT, aligned, conditions_of
from kadenz.config.manifest import ARRIVALS, BuildEntry, ClockEntry, Manifest, RecordEntry

_Point = tuple[str, Named]


@dataclass(frozen=True)
class Difference:
    """One configuration value that differs between runs; `values[i]` belongs to run i."""

    group: str  # "kernel", "compiler", ...
    key: str
    values: tuple[str, ...]

    @property
    def disagrees(self) -> bool:
        """True if two runs have different values; else some runs lack the setting."""
        return len(set(self.values) - {ABSENT}) > 1


# Fields of the manifest that cannot change a figure, and why. Every other field counts.
CANNOT_MATTER = {
    "schema_version": "how run.json is written",
    "id": "a name of the run",
    "name": "a name of the run",
    "variant": "a name of the run",
    "round": "which repetition it is",
    "place": "which repetition it is",
    "created": "when it was measured",
    "duration_s": "a result",
    "partial": "shown with the run",
    "partial_reason": "shown with the run",
    "events": "results",
    "warnings": "observations, shown with the run",
    "preflight": "observations of this Linux, whose settings are in host",
    "call": "what it asked for is in conditions, campaign and records",
    "resumed": "a repeated record is a record like others",
    "campaign.file": "where it was",
    "campaign.sha256": "what it asks for is in conditions and records",
    "target.name": "kernel, board and tier count",
    "clock.resolution": "a result of clock/",
    "clock.read_cost": "a result of clock/",
    "clock.monotonic": "a result of clock/",
    "clock.backward_steps": "a result of clock/",
    "clock.checked_against": "how the rate was measured",
    "clock.rate": "measured; figures use it where it deviates",
    "clock.rate_error_ppm": "measured",
    "clock.model.title": "words",
    "clock.model.checked": "words",
    "build.text_bytes": "follows from the image",
    "build.data_bytes": "follows from the image",
    "build.bss_bytes": "follows from the image",
    "build.footprint": "follows from the image",
    "build.minimal": "follows from the image",
    "build.objects": "follows from the image",
    "build.parts.files": "follows from the digest",
    "conditions.label": "words",
    "conditions.usual": "of other runs",
    "conditions.changes_system": "whether runs that differ in it are of one system",
    "loads.title": "words",
    "loads.command": "its settings are listed",
    "loads.counter": "how the rate was measured",
    "loads.unit": "how the rate was measured",
    "loads.idle_rate": "measured",
    "loads.rate": "measured; too low a rate is not verified",
    "loads.rate_before": "measured",
    "loads.record_rates": "measured",
    "loads.record_cpu_percent": "measured",
    "loads.cpu_percent": "measured",
    "loads.reason": "words",
    "tuning.title": "words",
    "tuning.applied": "when it was applied",
    "tuning.at_start": "a warning of the run",
    "tuning.at_end": "a warning of the run",
    "tuning.items.was": "not in force",
    # Of records, which are compared point by point.
    "planned": "the places in the plan",
    "records.id": "the place in the plan",
    "records.bench": "points are matched by it",
    "records.params": "points are matched by them",
    "records.defaults": "points are matched by the values in force",
    "records.source": "words",
    "records.declared": "how reports describe a sample",
    "records.status": "a result",
    "records.reason": "a result",
    "records.drains": "when the storage was emptied: a result",
    "records.proof": "a result",
    "records.duration_s": "a result",
    "records.value": "where the samples are from",
    "records.functions": "names of what the values point to; another image says so itself",
    "records.raised.exact": "a result",
    "records.code_bytes": "follows from the image",
    "records.lanes.period_us": "follows from the parameters and the kernel's tick",
    "records.lanes.file": "where the samples are",
    "records.lanes.dtype": "how samples are written",
    "records.lanes.taken": "a result",
    "records.lanes.missed": "a result",
    "records.lanes.overrun": "a result",
    "records.lanes.not_measured": "a result",
    "records.lanes.sha256": "a result",
    "records.lanes.companion_of": "part of the name",
}
# Fields that `_in_words` shows.
_IN_WORDS = (
    *("target.title", "target.kernel_name", "target.kernel_version", "kadenz_version"),
    *("kadenz_describe", "clock.clock_class", "clock.instructions_per_count", "build.parts"),
    *("build.compiler", "build.compiler_version", "build.elf_sha256", "emulator.name"),
    *("emulator.version", "host.cpu", "host.cpus", "host.virtual"),
)
# Groups, and keys that are not the names of their fields.
_GROUPS = {
    "records": ("record",),
    "clock.model": ("model",),
    "target.settings": ("setting",),
    "conditions": ("condition",),
    "host.facts": ("host",),
    "loads": ("load",),
    "benchmark_notes": ("note",),
    "target.kernel": ("target", "kernel folder"),
    "target.board": ("target", "board folder"),
    "target.arch": ("target", "architecture"),
    "host.preempt": ("host", "preemption"),
    "build.kernel_source": ("build", "kernel source"),
    "loads.cpus": ("load", "processors"),
    "loads.settings": ("load",),
}
_NAMED_BY = ("name", "kind", "key", "part")  # the field that names an entry of a list
_NO_WORDS = ("value", "items", "lanes", "parameters")  # fields that a key need not name
_SEPARATOR = ", "
_Leaf = tuple[str, tuple[str, ...], str]


def configuration(manifest: Manifest) -> dict[tuple[str, str], str]:
    """Every manifest value that may change a figure, as text by (group, key)."""
    settings = _in_words(manifest)
    for field in msgspec.structs.fields(manifest):
        value = getattr(manifest, field.name)
        if field.name == "records" or (field.name == "host" and manifest.target.tier != "host"):
            continue  # compared point by point; no emulator sees the machine that it runs on
        for path, names, text in _leaves(value, field.name):
            if not _is_below(path, _IN_WORDS):
                settings[_key(path, names)] = text
    return settings


def _is_below(path: str, fields: Container[str]) -> bool:
    parts = path.split(".")
    return any(".".join(parts[:n]) in fields for n in range(1, len(parts) + 1))


def _leaves(value: Any, path: str, names: tuple[str, ...] = ()) -> Iterator[_Leaf]:
    """The values that count: path of fields, names of the entries on it, and the value as text."""
    if _is_below(path, CANNOT_MATTER) or value in (None, "", [], {}):
        return
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            if not (names and field.name in _NAMED_BY):  # `names` has its value
                yield from _leaves(getattr(value, field.name), f"{path}.{field.name}", names)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, path, (*names, str(key)))
    elif isinstance(value, list) and isinstance(value[0], msgspec.Struct):
        for entry in value:
            named = next(name for name in _NAMED_BY if hasattr(entry, name))
            yield from _leaves(entry, path, (*names, getattr(entry, named)))
    elif isinstance(value, list | tuple):
        yield path, names, _SEPARATOR.join(map(str, value))
    else:
        yield path, names, ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _key(path: str, names: Sequence[str]) -> tuple[str, str]:
    """The group and key under which a value is shown."""
    parts = path.split(".")
    at = max(n for n in range(len(parts) + 1) if n == 1 or ".".join(parts[:n]) in _GROUPS)
    group, *named = _GROUPS.get(".".join(parts[:at]), parts[:1])
    rest = [part for part in parts[at:] if part not in _NO_WORDS]
    return group, " ".join([*names, *named, *rest])


def _in_words(manifest: Manifest) -> dict[tuple[str, str], str]:
    """Values that are shown together. The compiled sources come first: the same version may be
    other code."""
    target, clock, build = manifest.target, manifest.clock, manifest.build
    settings = _sources(build) | {
        ("target", "kernel"): f"{target.kernel_name} {target.kernel_version}",
        ("target", "board"): target.title or target.board,
        ("clock", "class"): clock.clock_class,
        ("clock", "instructions a count"): _ratio(clock),
        ("kadenz", "version"): f"{manifest.kadenz_version} {manifest.kadenz_describe}".strip(),
    }
    if build is not None:
        settings["build", "compiler"] = _compiler(build)
        settings["build", "image"] = build.elf_sha256[:12]
    if manifest.emulator is not None:
        emulator = manifest.emulator
        settings["emulator", "version"] = f"{emulator.name} {emulator.version}"
    if target.tier == "host":
        host = manifest.host
        settings["host", "processor"] = f"{host.cpu} × {host.cpus}"
        settings["host", "virtual"] = host.virtual or "no"
    return settings


def _ratio(clock: ClockEntry) -> str:
    ratio = clock.instructions_per_count
    return ABSENT if ratio is None else f"{ratio:g}"


def _sources(build: BuildEntry | None) -> dict[tuple[str, str], str]:
    """The digest of the source files of each part of the image."""
    parts = build.parts if build is not None else []
    return {("source", part.part): f"{part.sha256[:12]} {part.version}".strip() for part in parts}


def _compiler(build: BuildEntry) -> str:
    """Name and version; most compilers repeat their name in the version."""
    if build.compiler_version.startswith(build.compiler):
        return build.compiler_version
    return f"{build.compiler} {build.compiler_version}".strip()


def _drop_common(tables: list[dict[tuple[str, str], str]], key: tuple[str, str], by: str) -> None:
    """Drops words that all runs share: readers look for the differing ones.

    Where only their order or number differs, all are kept.
    """
    lists = [table[key].split(by) for table in tables if key in table]
    if len(lists) < 2:
        return
    common = set(lists[0]).intersection(*lists[1:])
    distinct = [[word for word in tokens if word not in common] for tokens in lists]
    if all(tokens == distinct[0] for tokens in distinct) and any(
        tokens != lists[0] for tokens in lists
    ):
        return
    shown = iter(distinct)
    for table in tables:
        if key in table:
            table[key] = by.join(next(shown)) or f"only shared {key[1]}"


def _of_records(manifest: Manifest, points: Points) -> dict[_Point, dict[str, str]]:
    """What each point was measured with, by key."""
    return {
        (entry.bench, points.of(entry.bench, entry.params)): record_settings(entry)
        for entry in manifest.records
        if entry.status != "n/a"
    }


def record_settings(entry: RecordEntry) -> dict[str, str]:
    """Every value of a record that may change its figures, by key. How many arrivals a sample has
    room for is a result."""
    lanes = [lane for lane in entry.lanes if not {lane.name, lane.companion_of} & {*ARRIVALS}]
    asked = msgspec.structs.replace(entry, lanes=lanes)
    return {_key(path, names)[1]: text for path, names, text in _leaves(asked, "records")}


def _record_differences(manifests: Sequence[Manifest]) -> list[Difference]:
    """What differs between records of one point; points that differ alike share a row."""
    named = Points(entry for manifest in manifests for entry in manifest.records)
    tables = [_of_records(manifest, named) for manifest in manifests]
    points = [point for point in tables[0] if all(point in table for table in tables)]
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for point in points:
        by_run = [table[point] for table in tables]
        for key in dict.fromkeys(key for settings in by_run for key in settings):
            values = tuple(settings.get(key, ABSENT) for settings in by_run)
            if len(set(values)) > 1:
                alike.setdefault((key, values), []).append(point[0])
    return [
        Difference("record", f"{key}, {_benches(benches, len(points))}", values)
        for (key, values), benches in alike.items()
    ]


def _benches(benches: Sequence[str], among: int) -> str:
    names = list(dict.fromkeys(benches))
    return "every point" if len(benches) == among > 1 else ", ".join(names)


def differences(manifests: Sequence[Manifest]) -> list[Difference]:
    """The values that differ between `manifests`, in a stable order; [] for one or none."""
    if len(manifests) < 2:
        return []
    tables = [configuration(manifest) for manifest in manifests]
    for table, entries in zip(tables, aligned(manifests, conditions_of), strict=True):
        # An entry that is not stated has the usual value.
        table.update({("condition", entry.kind): entry.value for entry in entries})
    _drop_common(tables, ("build", "flags"), " ")
    _drop_common(tables, ("emulator", "arguments"), _SEPARATOR)
    keys = list(dict.fromkeys(key for table in tables for key in table))
    groups = list(dict.fromkeys(group for group, _ in keys))
    keys.sort(key=lambda key: groups.index(key[0]))
    rows = []
    for group, key in keys:
        values = tuple(table.get((group, key), ABSENT) for table in tables)
        if len(set(values)) > 1:
            rows.append(Difference(group, key, values))
    return rows + _record_differences(manifests)
