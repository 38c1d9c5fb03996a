# SPDX-License-Identifier: Apache-2.0
"""A master that says nothing to kadenz is measured as it is, from outside of its guest."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kadenz.config import inventory
from kadenz.config.campaign import Benchmark
from kadenz.errors import UsageError
from kadenz.images.program import build_program
from kadenz.store import Run, read_run
from tests.guest.conftest import measured

pytestmark = [pytest.mark.counted, pytest.mark.usefixtures("program_runs_here")]

RT = "linux-rt/terminals-x86_64@guest"
N = 300
PERIOD_US = 500


def run_of(
    command: str,
    output: Path,
    *,
    samples: int = N,
    period_us: int = PERIOD_US,
    fresh: bool = False,
    disturbance: str = "",
    ring: Path | None = None,
) -> Run:
    benchmark = Benchmark(
        name="control/lateness", samples=samples, params={"period_us": period_us, "skip": 100}
    )
    result = measured(
        RT,
        output,
        benchmark=benchmark,
        program=command,
        ring=ring,
        fresh=fresh,
        disturbance=disturbance,
    )
    assert result.folder is not None
    return read_run(result.folder)


def ethercrab() -> str:
    """A program with a master of ethercrab. Its frames come every half of a pulse's period."""
    file = build_program("kadenz-motion")[0].path
    options = "--built-in terminals --interface eth0 --allow-idle-states --quiet --output /dev/null"
    return f"{file} edge {options} --edges 100000"


def test_a_foreign_master_is_measured_unchanged_and_byte_for_byte(tmp_path: Path) -> None:
    runs = [run_of(ethercrab(), tmp_path / name, fresh=True) for name in ("one", "two")]
    lanes = []
    for run in runs:
        (record,) = [r for r in run.manifest.records if r.bench == "control/lateness"]
        assert record.status == "ok", record.reason
        times, numbers = record.lanes
        assert (times.name, times.taken, times.missed) == ("departure", N, 0)
        assert np.array_equal(run.samples(record, numbers), np.arange(N))
        late = run.samples(record, times) - np.arange(N) * PERIOD_US * 1000
        assert np.abs(late - np.median(late)).max() < 5_000
        assert record.proof.checked == N
        lanes.append(run.samples(record, times).tobytes())
        parts = {part.part for part in run.manifest.build.parts} if run.manifest.build else set()
        assert "program" in parts
        assert [e.value for e in run.manifest.conditions if e.kind == "program"]
    assert lanes[0] == lanes[1]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("/bin/false", "false ended by itself (exit status: 1) and sent no frame"),
        ("/bin/sleep 10000", "sleep was ended after 20 s of the guest's clock and sent no"),
    ],
)
def test_a_program_that_is_no_master_is_named(command: str, reason: str, tmp_path: Path) -> None:
    run = run_of(command, tmp_path)
    (record,) = [r for r in run.manifest.records if r.bench == "control/lateness"]
    assert record.status == "failed" and reason in record.reason


@pytest.mark.parametrize(
    ("benchmark", "why"),
    [
        (Benchmark(name="ethercat/edge-jitter", samples=9), "and not ethercat/edge-jitter"),
        (
            Benchmark(name="control/lateness", samples=9, params={"skip": [1, 2]}),
            "control/lateness has 2 points",
        ),
    ],
)
def test_a_program_has_one_benchmark_and_one_point(
    benchmark: Benchmark, why: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=why):
        measured(RT, tmp_path, benchmark=benchmark, program="/bin/true")


def sender_of(folder: Path, period_ns: int) -> Path:
    """The program that sends a frame with process data in each period."""
    sender = folder / "sender"
    source = Path(__file__).parent / "programs/sender.c"
    compiler = inventory.compiler("x86_64", "x86_64")
    options = ["-O2", "-static", f"-DPERIOD_NS={period_ns}L"]
    subprocess.run([compiler, *options, str(source), "-o", str(sender)], check=True)
    return sender


def ring_of_61(folder: Path, tick_us: int) -> Path:
    inputs = '[[device]]\nname = "inputs{}"\nkind = "digital-input"\nchannels = 4\n'
    coupler = f'[ring]\ntick_us = {tick_us}\n[[device]]\nname = "coupler"\nkind = "coupler"\n'
    ring = folder / "ring.toml"
    ring.write_text(coupler + "".join(inputs.format(place) for place in range(60)))
    return ring


def test_a_ring_that_takes_much_of_the_processor_is_named(tmp_path: Path) -> None:
    ring = ring_of_61(tmp_path, tick_us=25)
    run = run_of(f"{sender_of(tmp_path, 100_000)} 50", tmp_path / "runs", period_us=100, ring=ring)
    said = [warning.message for warning in run.manifest.warnings]
    share = re.compile(r"the ring takes \d+ % of the processor \(\d+ µs of a period of 100 µs\)")
    assert any(share.fullmatch(message) for message in said), said


def test_a_ring_that_leaves_nothing_of_the_processor_ends_and_is_named(tmp_path: Path) -> None:
    ring = ring_of_61(tmp_path, tick_us=10)
    run = run_of(f"{sender_of(tmp_path, 100_000)} 50", tmp_path / "runs", period_us=100, ring=ring)
    (record,) = [r for r in run.manifest.records if r.bench == "control/lateness"]
    assert record.status == "failed"
    said = r"the ring takes \d+ % of the processor and falls behind: give it fewer devices or a"
    assert re.match(said, record.reason), record.reason


def test_a_sender_lends_its_priority_to_a_timers_callback_and_waits_for_its_end(
    tmp_path: Path,
) -> None:
    """What docs/explanation/edges.md says of PREEMPT_RT up to 6.12, by the kernel's own events."""
    sender = sender_of(tmp_path, 1_000_000)
    run = run_of(f"{sender} 250", tmp_path / "runs", samples=5000, disturbance="timer:1200us/1s")
    events = [line for line in console_of(run) if line.startswith("sender: ")]
    order = [
        "a frame 9",  # 9.. µs late: the rest of 1,200 after 250
        "function=on_timer [disturbance]",
        "next_comm=program",
        "sched_pi_setprio: comm=ktimers/0",
        "prev_state=D ==> next_comm=ktimers/0",
        "timer_expire_exit",
        "sched_pi_setprio: comm=ktimers/0",
        "next_comm=program",
        "net_dev_start_xmit: dev=eth0",
    ]
    assert len(events) == len(order), events
    assert all(part in line for part, line in zip(order, events, strict=True)), events


def console_of(run: Run) -> list[str]:
    return (run.path / "console.txt").read_text().splitlines()


def test_what_a_program_said_is_kept_when_it_fails(tmp_path: Path) -> None:
    run = run_of("/bin/sh -c 'echo no licence for $KADENZ_INTERFACE; exit 3'", tmp_path)
    (record,) = [r for r in run.manifest.records if r.bench == "control/lateness"]
    assert "sh ended by itself (exit status: 3)" in record.reason
    assert "sh: no licence for eth0" in [warning.message for warning in run.manifest.warnings]
