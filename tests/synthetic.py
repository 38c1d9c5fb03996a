# SPDX-License-Identifier: Apache-2.0
"""Run folders made by the real writer from made-up samples, for tests of the reading path."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.config.manifest import (
    SCHEMA_VERSION,
    BuildEntry,
    CampaignEntry,
    ClockEntry,
    ConditionEntry,
    DeadlineEntry,
    Distribution,
    EmulatorEntry,
    HostEntry,
    LaneEntry,
    Manifest,
    Nature,
    ProofEntry,
    RecordEntry,
    Status,
    TargetEntry,
    Warning,  # noqa: A004
)
from kadenz.config.params import Params
from kadenz.store import RunWriter
from kadenz.store.older_runs import conditions_of
from kadenz.wire.messages import companion

Samples = npt.NDArray[Any]


@dataclass
class Point:
    """One record to write. `lanes` by name, each in ticks; `core0:cycle` is a companion."""

    bench: str
    lanes: dict[str, Samples] = field(default_factory=dict)
    params: Params = field(default_factory=dict)
    status: Status = "ok"
    reason: str = ""
    unit: str = "ticks"
    cold: int = 0
    missed: int = 0
    not_measured: int = 0
    deadline: DeadlineEntry | None = None
    overrun: int = 0
    failed_checks: int = 0
    proof_reason: str = ""
    defaults: Params = field(default_factory=dict)
    nature: Nature | None = None  # as from before benchmarks declared it


HIFIVE1 = {
    "name": "freertos/hifive1-revb@emulated",
    "kernel": "freertos",
    "board": "hifive1-revb",
    "arch": "riscv",
    "title": "SiFive HiFive1 Rev B",
}
STM32F4 = {
    "name": "freertos/stm32f4@emulated",
    "kernel": "freertos",
    "board": "stm32f4",
    "arch": "armv7m",
    "title": "STM32F405 (Cortex-M4F)",
}
LINUX = {
    "name": "posix/linux@host",
    "kernel": "posix",
    "board": "linux",
    "arch": "x86_64",
    "title": "This Linux",
}


def under(**values: str) -> list[ConditionEntry]:
    """Conditions by kind, `guest_kernel` for "guest kernel"."""
    return conditions_of({kind.replace("guest_", "guest "): v for kind, v in values.items()})


def _build(board: str, *, linux: bool) -> BuildEntry:
    return BuildEntry(
        compiler="gcc",
        compiler_version="12.2.0",
        flags="-O2 -Wall",
        elf_sha256=board.encode().hex().ljust(64, "0")[:64],
        text_bytes=18_000,
        data_bytes=120,
        bss_bytes=9_000,
        kernel_source="" if linux else "freertos-next 0.12.0 (crates.io)",
    )


def _host() -> HostEntry:
    return HostEntry(
        os="Debian GNU/Linux 12",
        kernel="6.18.0",
        preempt="PREEMPT_DYNAMIC",
        cpu="a processor",
        cpus=2,
        virtual="kvm",
        facts={"governor": "none"},
    )


def manifest(
    target: dict[str, str],
    *,
    settings: dict[str, str] | None = None,
    warnings: Sequence[Warning] = (),
    clock: ClockEntry | None = None,
    id: str = "",
) -> Manifest:
    """A complete manifest for one of the three targets above."""
    linux = target["kernel"] == "posix"
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version="0.1.0",
        id=id or "20261121-103000-" + target["kernel"] + "-" + target["board"],
        created="2026-11-21T10:30:00Z",
        duration_s=12.5,
        partial=False,
        partial_reason="",
        campaign=CampaignEntry(
            name="synthetic", file="campaigns/synthetic.toml", sha256="0" * 64, quick=False
        ),
        target=TargetEntry(
            name=target["name"],
            kernel=target["kernel"],
            board=target["board"],
            tier="host" if linux else "emulated",
            instrument="counter",
            arch=target["arch"],
            kernel_name="Linux" if linux else "FreeRTOS",
            kernel_version="6.18" if linux else "V11.2.0",
            capabilities=["suspend", "mutex"],
            settings=settings or {"tick_rate_hz": "1000", "optimisation": "-O2"},
            cores=2 if linux else 1,
            tick_hz=1000,
            title=target["title"],
        ),
        # A copy: a test may change its own.
        clock=copy(clock or (LINUX_CLOCK if linux else EMULATED_CLOCK)),
        build=_build(target["board"], linux=linux),
        host=_host(),
        emulator=None
        if linux
        else EmulatorEntry(name="qemu-system", version="10.0.2", arguments=["-icount", "shift=0"]),
        conditions=under(load="none"),
        warnings=list(warnings),
        records=[],
    )


EMULATED_CLOCK = ClockEntry(
    clock_class="instruction",
    name="mcycle",
    hz=0,
    bits=32,
    unit="instruction",
    resolution=Distribution(n=1000, min=1.0, median=1.0, max=1.0),
    read_cost=Distribution(n=1000, min=1.0, median=1.0, max=2.0),
    monotonic=True,
    backward_steps=0,
    checked_against="scope",
)
LINUX_CLOCK = ClockEntry(
    clock_class="hosted",
    name="clock_monotonic",
    hz=1_000_000_000,
    bits=64,
    unit="ns",
    resolution=Distribution(n=1000, min=1.0, median=21.0, max=60.0),
    read_cost=Distribution(n=1000, min=20.0, median=21.0, max=900.0),
    monotonic=True,
    backward_steps=0,
    checked_against="clock_monotonic_raw",
    rate_error_ppm=0.4,
)


def write_run(parent: Path, document: Manifest, points: Sequence[Point]) -> Path:
    """Write a run folder and return it."""
    writer = RunWriter(parent, document)
    for number, point in enumerate(points):
        writer.open_record(_entry(number, point))
        for lane, values in enumerate(point.lanes.values()):
            if values.size:
                writer.append(number, lane, values)
        writer.close_record(number)
    return writer.finish()


def _entry(number: int, point: Point) -> RecordEntry:
    return RecordEntry(
        id=number,
        bench=point.bench,
        params=dict(point.params),
        ranks={"rank_a": 8, "rank_b": 7},
        begins="before send",
        ends="after receive of the reply",
        source="yoo2024 algorithm 1",
        status=point.status,
        reason=point.reason,
        unit=point.unit,
        cold=point.cold,
        drains=[],
        lanes=[
            LaneEntry(
                name=name,
                file="",
                dtype=values.dtype.str,
                planned=values.size + point.missed + point.not_measured,
                taken=values.size,
                missed=point.missed,
                overrun=point.overrun,
                not_measured=point.not_measured,
                companion_of=companion(name)[0],
                unit="count" if companion(name)[0] else "",
            )
            for name, values in point.lanes.items()
        ],
        proof=ProofEntry(
            checked=sum(v.size for n, v in point.lanes.items() if not companion(n)[0]),
            failed=point.failed_checks,
            reason=point.proof_reason,
        ),
        deadline=point.deadline,
        defaults=dict(point.defaults),
        declared=point.nature,
    )


def instructions(centre: int, n: int, rng: np.random.Generator, every: int = 0) -> Samples:
    """Counted instructions: nearly constant; a tick interferes in one of `every` samples."""
    values = np.full(n, centre, dtype=np.uint32)
    values[rng.random(n) < 0.3] += 2
    values[: min(3, n)] += 40
    if every:
        values[every // 2 :: every] += 180
    return values


def nanoseconds(centre: float, n: int, rng: np.random.Generator) -> Samples:
    """A hosted latency: skewed, with a heavy tail."""
    body = centre * rng.lognormal(0.0, 0.12, n)
    tail = rng.random(n) < 0.002
    body[tail] *= 1.0 + 30.0 * rng.pareto(1.5, int(tail.sum()))
    return np.minimum(body, 4e9).astype(np.uint32)


def board_points(rng: np.random.Generator, n: int = 400, scale: float = 1.0) -> list[Point]:
    """Records of a campaign on a microcontroller."""
    points = []
    for bench, fixed, per_byte in (
        ("itc/queue", 900, 2.1),
        ("itc/stream-buffer", 1400, 2.2),
        ("itc/message-buffer", 1600, 2.2),
    ):
        for size in range(60, 601, 60):
            centre = int(scale * (fixed + per_byte * size))
            points.append(
                Point(
                    bench,
                    {"all": instructions(centre, n, rng, every=20)},
                    {"size_bytes": size, "period_us": 10000},
                    cold=3,
                )
            )
    for bench, centre in (
        ("itc/semaphore-counting", 420),
        ("itc/semaphore-binary", 415),
        ("itc/mutex", 470),
    ):
        lanes = {"all": instructions(int(scale * centre), n, rng)}
        points.append(Point(bench, lanes, {"period_us": 10000}, cold=3))
    for bench, centre in (("micro/task-switch-sampled", 117), ("micro/preemption-sampled", 300)):
        points.append(Point(bench, {"all": instructions(int(scale * centre), n, rng)}, cold=1))
    points.append(
        Point("itc/pipe", {"all": np.empty(0, np.uint32)}, status="n/a", reason="no pipes here")
    )
    return points


def linux_points(rng: np.random.Generator, n: int = 3000) -> list[Point]:
    """Records of a campaign on Linux."""
    points = []
    for bench, fixed, per_byte in (
        ("itc/pipe", 5200, 0.35),
        ("itc/fifo", 5300, 0.35),
        ("itc/message-queue", 4100, 0.25),
    ):
        for size in (4, 16, 64, 256, 1024, 3072):
            lanes = {"all": nanoseconds(fixed + per_byte * size, n, rng)}
            points.append(Point(bench, lanes, {"size_bytes": size, "period_us": 10000}, cold=10))
    for bench, centre in (("itc/semaphore-counting", 3100), ("itc/mutex", 3300)):
        lanes = {"all": nanoseconds(centre, n, rng)}
        points.append(Point(bench, lanes, {"period_us": 10000}, cold=10))
    lanes = {f"core{i}": nanoseconds(21_000 + 900 * i, 5 * n, rng) for i in range(2)}
    points.append(
        Point("cyclic/wakeup-latency", lanes, {"period_us": 1000}, cold=5, missed=3, overrun=2)
    )
    return points
