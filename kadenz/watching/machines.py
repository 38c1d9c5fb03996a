# SPDX-License-Identifier: Apache-2.0
"""The machine whose threads were watched, as the manifest of a run describes it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field

from kadenz.config.manifest import (
    BuildEntry,
    ClockEntry,
    ConditionEntry,
    EmulatorEntry,
    HostEntry,
    LoadEntry,
    PreflightEntry,
    TargetEntry,
    ValueEntry,
    Warning,  # noqa: A004
)
from kadenz.host.facts import read_host
from kadenz.watching.units import MICROSECONDS, Unit


@dataclass(frozen=True)
class Machine:
    """A machine as a manifest has it. `target` has no program and no end yet."""

    target: TargetEntry
    clock: ClockEntry
    host: HostEntry
    unit: Unit = MICROSECONDS
    build: BuildEntry | None = None
    emulator: EmulatorEntry | None = None
    conditions: Sequence[ConditionEntry] = ()
    loads: Sequence[LoadEntry] = ()
    warnings: Sequence[Warning] = ()
    preflight: Sequence[PreflightEntry] = field(default_factory=tuple)
    value: ValueEntry | None = None  # None: nothing is kept of it


def this_linux(cpus: int) -> Machine:
    """This machine, with what it says about the trust in its figures."""
    here = read_host()
    return Machine(
        target=_linux(platform.machine(), here.entry.kernel, cpus),
        clock=_clock("hosted" if here.entry.virtual else "hardware", "clock_monotonic"),
        host=here.entry,
        warnings=here.warnings,
        preflight=here.preflight,
    )


def of_recording(cpus: int) -> Machine:
    """The machine of a recording, which does not describe it."""
    return Machine(
        target=_linux("", "", cpus),
        clock=_clock("hosted", "the recording's"),
        host=HostEntry(
            os="Linux", kernel="", preempt="", cpu="unknown", cpus=cpus, virtual="", facts={}
        ),
    )


def _linux(arch: str, version: str, cpus: int) -> TargetEntry:
    return TargetEntry(
        name="linux@host",
        kernel="",
        board="linux",
        tier="host",
        instrument="ftrace",
        arch=arch,
        kernel_name="Linux",
        kernel_version=version,
        capabilities=[],
        settings={},
        cores=max(1, cpus),
        tick_hz=0,
        title="Linux",
    )


def _clock(kind: str, name: str) -> ClockEntry:
    return ClockEntry(
        clock_class=kind,  # type: ignore[arg-type]  # of the callers above
        name=name,
        hz=1_000_000_000,
        bits=64,
        unit="ns",
    )
