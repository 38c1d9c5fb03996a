# SPDX-License-Identifier: Apache-2.0
"""The clock of a run, from the target's own data and from the clock benchmarks (rule 4)."""

from __future__ import annotations

import numpy as np

from kadenz.config.debug_server import ServerClock
from kadenz.config.manifest import (
    ClockClass,
    ClockEntry,
    Distribution,
    Manifest,
    RecordEntry,
    Tier,
)
from kadenz.host.clock import RateOverRun
from kadenz.store import Run
from kadenz.targets.timing_model import Model
from kadenz.wire.messages import Hello

INSTRUCTION = "instruction"


def clock_class(tier: Tier, virtual: str, server: ServerClock = "hardware") -> ClockClass:
    """The meaning of a time stamp. A virtual or shared machine is never `hardware`.

    `server` is what a debug server runs the board on; this machine does not count then.
    """
    if tier == "board":
        return server
    if tier in ("emulated", "guest"):
        return "instruction"
    if tier == "rtl":
        return "cycle-exact"
    return "hosted" if virtual else "hardware"


def clock_entry(
    hello: Hello, kind: ClockClass, unit: str, model: Model | None = None
) -> ClockEntry:
    """The clock that the target declares. Counted instructions have no rate: their hz is 0.

    With a timing model the clock is the model's, at the rate of the board's chip.
    """
    if model is not None:
        entry = model.entry
        return ClockEntry(
            clock_class="cycle-model",
            name=f"model of {entry.title}",
            hz=model.hz,
            bits=64,
            unit="cycle",
            checked_against=entry.checked,
            model=entry,
        )
    return ClockEntry(
        clock_class=kind,
        name=hello.clock.name,
        hz=0 if kind == INSTRUCTION else hello.clock.hz,
        bits=hello.clock.bits,
        unit=unit,
    )


def checks_rate(entry: ClockEntry, tier: str) -> bool:
    """Whether this machine can compare the target's clock with another clock."""
    return tier == "host" and entry.name == "clock_monotonic"


def enter_rate(clock: ClockEntry, check: RateOverRun) -> None:
    """Enters the reference clock of the run and the deviation from it."""
    rate, seconds = check.end()
    clock.checked_against = (
        f"{rate.against} over {seconds:,.0f} s, ± {rate.uncertainty_ppm:.2g} ppm"
    )
    clock.rate_error_ppm = round(rate.ppm, 6)


def enter_measurements(manifest: Manifest, run: Run) -> None:
    """Fills the clock's entry from the records of clock/*."""
    clock = manifest.clock
    for record in manifest.records:
        if record.status not in ("ok", "invalid") or not record.lanes:
            continue
        if record.bench == "clock/resolution":
            clock.resolution = _distribution(run, record)
        elif record.bench == "clock/read-cost":
            clock.read_cost = _distribution(run, record)
        elif record.bench == "clock/monotonic":
            clock.backward_steps = record.proof.failed
            clock.monotonic = record.proof.checked > 0 and record.proof.failed == 0


def _distribution(run: Run, record: RecordEntry) -> Distribution | None:
    values = run.samples(record, 0)
    if values.size == 0:
        return None
    return Distribution(
        n=int(values.size),
        min=float(values.min()),
        median=float(np.median(values)),
        max=float(values.max()),
    )
