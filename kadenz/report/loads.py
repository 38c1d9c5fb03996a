# SPDX-License-Identifier: Apache-2.0
"""Loads of the runs: their work rate, and the idle machine's for comparison."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.results import RunResult
from kadenz.config.manifest import LoadEntry, Manifest
from kadenz.report.table import Cell, Table, words

_NONE = "none"


def load_of(manifest: Manifest) -> str:
    """The load's name as requested; "none" if no load was requested."""
    return manifest.condition_values.get("load") or _NONE


def described(entry: LoadEntry) -> str:
    """ "disk: 141 MB/s written (idle 1.38)"."""
    text = f"{entry.name}: {_number(entry.rate)} {entry.unit} (idle {_number(entry.idle_rate)})"
    return text if entry.verified else f"{text}; not verified: {entry.reason}"


def line(manifest: Manifest) -> str:
    """ "load disk: 141 MB/s written (idle 1.38)"; "" if no load was requested."""
    name = manifest.condition_values.get("load", "")
    parts = "; ".join(described(entry) for entry in manifest.loads)
    if not parts:
        return f"load {name}" if name else ""
    return f"load {parts}" if parts.startswith(f"{name}:") else f"load {name}: {parts}"


def load_table(runs: Sequence[tuple[str, RunResult]]) -> Table | None:
    """Every load of every run, by label; None if no run had any."""
    rows = [
        (
            words(label),
            words(entry.name),
            words(entry.title),
            Cell(str(entry.workers), entry.workers),
            words(", ".join(map(str, entry.cpus))),
            words(", ".join(f"{key.replace('_', ' ')} {v}" for key, v in entry.settings.items())),
            _cell(entry.idle_rate),
            _cell(entry.rate_before),
            _cell(entry.rate),
            _cell(min(entry.record_rates.values())) if entry.record_rates else words(""),
            words(entry.unit),
            _cell(entry.cpu_percent),
            Cell("yes", "yes") if entry.verified else Cell(f"no: {entry.reason}", "no", "warn"),
        )
        for label, run in runs
        for entry in run.manifest.loads
    ]
    if not rows:
        return None
    return Table(
        name="loads",
        title="Loads during the measurements",
        columns=(
            "Run",
            "Load",
            "Work",
            "Workers",
            "Processors",
            "Settings",
            "Idle machine",
            "Before",
            "While measuring",
            "Least in a record",
            "Unit",
            "% of CPU time",
            "Verified",
        ),
        rows=tuple(rows),
        numeric=frozenset({3, 6, 7, 8, 9, 11}),
        notes=tuple(
            dict.fromkeys(
                f"{entry.name}: {entry.counter}" for _, run in runs for entry in run.manifest.loads
            )
        ),
    )


def _cell(value: float) -> Cell:
    return Cell(_number(value), value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
