# SPDX-License-Identifier: Apache-2.0
"""The manifest of every run: the measurement, the target, and the build."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.analysis.results import RunResult
from kadenz.analysis.stored import stored_line
from kadenz.report import labels
from kadenz.report.loads import described
from kadenz.report.sections import Fold, Section
from kadenz.report.table import Table, text_cell
from kadenz.report.views import Report

PLACE = 110


def sections(report: Report) -> Iterator[Section]:
    """Always one, with a fold for each run."""
    folds = [Fold(label, "", (manifest_table(label, run).bare,)) for label, run in report.runs]
    yield Section("manifests", "Manifests", tuple(folds))


def manifest_table(label: str, run: RunResult) -> Table:
    """The measurement, the target, and the build."""
    manifest, target = run.manifest, run.manifest.target
    rows = [
        ("run", manifest.id),
        ("created", manifest.created),
        ("measured for", f"{manifest.duration_s:,.1f} s"),
        ("campaign", manifest.campaign.name + (" (quick)" if manifest.campaign.quick else "")),
        ("kadenz", f"{manifest.kadenz_version} {manifest.kadenz_describe}".strip()),
        ("target", target.name),
        ("board", labels.board(run)),
        ("kernel", labels.kernel(run)),
        ("architecture", target.arch),
        ("instrument", target.instrument),
        ("cores", str(target.cores)),
        ("tick", f"{target.tick_hz:,} Hz"),
        ("capabilities", ", ".join(target.capabilities)),
    ]
    rows += [(f"setting {key}", value) for key, value in target.settings.items()]
    rows += [(f"condition {condition.kind}", condition.value) for condition in manifest.conditions]
    for load in manifest.loads:
        rows += [(f"load {load.name}", described(load)), ("its command", " ".join(load.command))]
    if manifest.build is not None:
        build = manifest.build
        rows += [
            ("compiler", f"{build.compiler} {build.compiler_version}"),
            ("flags", build.flags),
            ("kernel source", build.kernel_source),
            *(
                (
                    f"source of {part.part}",
                    f"{part.files} files, sha256 {part.sha256} {part.version}".strip(),
                )
                for part in build.parts
            ),
            ("image", f"sha256 {build.elf_sha256}"),
            (
                "size",
                f"{build.text_bytes:,} text, {build.data_bytes:,} data, {build.bss_bytes:,} bss",
            ),
        ]
    if manifest.emulator is not None:
        emulator = manifest.emulator
        rows += [
            ("emulator", f"{emulator.name} {emulator.version}"),
            ("emulator arguments", " ".join(emulator.arguments)),
            ("executed", stored_line(manifest) or "for this run"),
        ]
    host = manifest.host
    rows += [
        ("host", f"{host.os}, {host.kernel}, {host.preempt}"),
        ("host processor", f"{host.cpu} × {host.cpus}"),
        ("host virtual", host.virtual or "no"),
    ]
    rows += [(f"host {key}", value) for key, value in host.facts.items()]
    return Table.headed(
        "What | Value",
        name=labels.slug("manifest", label),
        title=f"Manifest: {label}",
        rows=tuple((text_cell(key), text_cell(value, "long")) for key, value in rows if value),
    )
