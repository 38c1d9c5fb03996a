# SPDX-License-Identifier: Apache-2.0
"""Rule 7 of the method: only equal options can be compared. Shows every difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.config.manifest import BuildEntry, ClockEntry, Manifest

ABSENT = "–"


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


def configuration(manifest: Manifest) -> dict[tuple[str, str], str]:
    """Every manifest value that may change a figure, as text by (group, key)."""
    target, clock, build = manifest.target, manifest.clock, manifest.build
    # The compiled sources come first: the same version may be other code.
    found = _sources(build) | {
        ("target", "kernel"): f"{target.kernel_name} {target.kernel_version}",
        ("target", "board"): target.title or target.board,
        ("target", "architecture"): target.arch,
        ("target", "tier"): target.tier,
        ("target", "instrument"): target.instrument,
        ("target", "cores"): str(target.cores),
        ("target", "tick_hz"): str(target.tick_hz),
        ("clock", "name"): clock.name,
        ("clock", "class"): clock.clock_class,
        ("clock", "hz"): str(clock.hz),
        ("clock", "instructions a count"): _ratio(clock),
        ("campaign", "name"): manifest.campaign.name,
        ("campaign", "quick"): "yes" if manifest.campaign.quick else "no",
        ("kadenz", "version"): f"{manifest.kadenz_version} {manifest.kadenz_describe}".strip(),
    }
    found |= {("setting", key): value for key, value in target.settings.items()}
    found |= {("condition", key): value for key, value in manifest.condition_values.items()}
    for load in manifest.loads:
        found |= {
            ("load", f"{load.name} workers"): str(load.workers),
            ("load", f"{load.name} processors"): ", ".join(map(str, load.cpus)),
            ("load", f"{load.name} verified"): "yes" if load.verified else "no",
        }
        found |= {("load", f"{load.name} {key}"): text for key, text in load.settings.items()}
    if build is not None:
        found |= {
            ("build", "compiler"): _compiler(build),
            ("build", "flags"): build.flags,
            ("build", "kernel source"): build.kernel_source,
            ("build", "image"): build.elf_sha256[:12],
        }
    if manifest.emulator is not None:
        emulator = manifest.emulator
        found[("emulator", "version")] = f"{emulator.name} {emulator.version}"
    if target.tier == "host":  # a guest does not see the host
        host = manifest.host
        found |= {
            ("host", "kernel"): host.kernel,
            ("host", "preemption"): host.preempt,
            ("host", "processor"): f"{host.cpu} × {host.cpus}",
            ("host", "virtual"): host.virtual or "no",
        }
        found |= {("host", key): value for key, value in host.facts.items()}
    return found


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


def _drop_common_flags(tables: list[dict[tuple[str, str], str]]) -> None:
    """Drops flags that all runs share: readers look for the differing ones."""
    key = "build", "flags"
    lists = [table[key].split() for table in tables if key in table]
    if len(lists) < 2:
        return
    common = set(lists[0]).intersection(*lists[1:])
    for table in tables:
        if key in table:
            own = [flag for flag in table[key].split() if flag not in common]
            table[key] = " ".join(own) or "only shared flags"


def differences(manifests: Sequence[Manifest]) -> list[Difference]:
    """The values that differ between `manifests`, in a stable order; [] for one or none."""
    tables = [configuration(manifest) for manifest in manifests]
    _drop_common_flags(tables)
    keys = list(dict.fromkeys(key for table in tables for key in table))
    found = []
    for group, key in keys:
        values = tuple(table.get((group, key), ABSENT) for table in tables)
        if len(set(values)) > 1:
            found.append(Difference(group, key, values))
    return found
