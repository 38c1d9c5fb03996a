# SPDX-License-Identifier: Apache-2.0
"""A master inside a guest with network cards: each frame that orders an edge is seen outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.config import inventory
from kadenz.config.campaign import Benchmark
from kadenz.config.manifest import RecordEntry
from kadenz.config.target_name import parse_target
from kadenz.store import Run, read_run
from tests.guest.conftest import measured

pytestmark = [pytest.mark.counted, pytest.mark.usefixtures("program_runs_here")]

RT, PLAIN = "linux-rt/terminals-x86_64@guest", "linux/terminals-x86_64@guest"
N = 450  # two callbacks of 200 ms meet them
PERIOD_NS = 1_000_000


def run_of(
    text: str,
    output: Path,
    *phases: int,
    disturbance: str = "",
    load: str = "",
    fresh: bool = False,
    soft_timer: int = 0,
    acquisition: tuple[str, ...] = ("same",),
) -> Run:
    """One boot with a pulse train for each acquisition and phase, in µs."""
    benchmark = Benchmark(
        name="ethercat/edge-jitter",
        samples=N,
        params={
            "period_us": 1000,
            "phase_us": [*phases],
            "soft_timer": soft_timer,
            "acquisition": [*acquisition],
        },
    )
    result = measured(
        text, output, benchmark=benchmark, disturbance=disturbance, load=load, fresh=fresh
    )
    assert result.folder is not None
    return read_run(result.folder)


def records(run: Run) -> list[RecordEntry]:
    edges = [record for record in run.manifest.records if record.bench == "ethercat/edge-jitter"]
    assert all(record.status == "ok" for record in edges), [record.reason for record in edges]
    return edges


def times(run: Run, record: RecordEntry, lane: str) -> NDArray[np.float64]:
    """The times of a lane that has every pulse, ns (n,)."""
    (entry,) = [entry for entry in record.lanes if entry.name == lane]
    (number,) = [entry for entry in record.lanes if entry.name == f"{lane}:cycle"]
    assert (entry.taken, entry.missed) == (N, 0), (lane, entry)
    assert np.array_equal(run.samples(record, number), np.arange(N))
    return np.asarray(run.samples(record, entry), np.float64)


def lateness(run: Run, record: RecordEntry) -> NDArray[np.float64]:
    """Of each pulse's frame, ns (n,), against the usual one."""
    late = times(run, record, "departure") - np.arange(N) * PERIOD_NS
    return np.asarray(late - np.median(late))


@pytest.mark.parametrize("text", [RT, PLAIN])
def test_every_pulse_has_the_time_at_which_its_frame_left_the_card(
    text: str, tmp_path: Path
) -> None:
    run = run_of(text, tmp_path, 500)
    (record,) = records(run)
    assert np.abs(lateness(run, record)).max() < 5_000
    # The terminal's clock is off by 37 ppm, and its stamps wait for the thread of its own card.
    inside, outside = times(run, record, "rising"), times(run, record, "departure")
    difference = inside - outside * (1 + 37e-6)
    assert np.abs(difference - np.median(difference)).max() < 60_000
    emulator = run.manifest.emulator
    assert emulator is not None and "kadenz-tap,device=e1000e-mmio" in " ".join(emulator.arguments)


def test_two_boots_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = run_of(RT, tmp_path / "a", 500), run_of(RT, tmp_path / "b", 500, fresh=True)
    (left,), (right,) = records(first), records(second)
    for lane in ("departure", "rising"):
        assert times(first, left, lane).tobytes() == times(second, right, lane).tobytes()


@pytest.mark.parametrize("text", [RT, PLAIN])
def test_a_callback_longer_than_a_period_makes_pulses_late_and_loses_none(
    text: str, tmp_path: Path
) -> None:
    """As the flush of the routing cache in cereia2011 did, by up to 1.4 ms."""
    run = run_of(text, tmp_path, 250, disturbance="timer:1200us/200ms")
    (record,) = records(run)
    late = lateness(run, record)
    assert 700_000 < late.max() < 1_300_000
    assert 2 <= np.count_nonzero(late > 100_000) <= 8


def test_a_callback_that_one_phase_hides_is_found_at_another(tmp_path: Path) -> None:
    run = run_of(RT, tmp_path, 0, 250, disturbance="timer:400us/200ms")
    trains = records(run)  # one boot
    assert [record.params["phase_us"] for record in trains] == [0, 250]
    hidden, seen = (lateness(run, record).max() for record in trains)
    assert hidden < 10_000
    assert 100_000 < seen < 450_000


@pytest.mark.parametrize("load", ["io", "paging"])
def test_a_load_of_the_disk_does_work_inside(load: str, tmp_path: Path) -> None:
    run = run_of(RT, tmp_path, 500, load=load)
    (entry,) = run.manifest.loads
    assert entry.name == load and entry.verified and entry.rate > 0
    (record,) = records(run)
    assert times(run, record, "departure").size == N


def test_the_output_and_the_card_of_a_board_are_what_its_frames_are_read_for() -> None:
    for text in (RT, PLAIN):
        tier = inventory.board(parse_target(text).board).tier.guest
        assert tier is not None and tier.program is not None
        assert tier.program.card is not None and tier.program.output is not None
        assert tier.program.card.device in tier.program.modules


def test_a_timer_in_a_soft_interrupt_paces_every_pulse(tmp_path: Path) -> None:
    """PREEMPT_RT expires it in a thread: every pulse is there, and not when a sleep made it."""
    soft, sleep = (run_of(RT, tmp_path / str(chosen), 500, soft_timer=chosen) for chosen in (1, 0))
    (paced,), (slept,) = records(soft), records(sleep)
    assert (paced.params["soft_timer"], slept.params["soft_timer"]) == (1, 0)
    assert np.abs(lateness(soft, paced)).max() < 20_000
    assert not np.array_equal(times(soft, paced, "departure"), times(sleep, slept, "departure"))


def test_a_second_program_reads_every_stamp_from_a_ring_of_its_own(tmp_path: Path) -> None:
    """As in cereia2011: a terminal with a clock of its own, polled by another program."""
    run = run_of(RT, tmp_path, 500, acquisition=("second", "same"))
    second, same = records(run)
    assert [record.params["acquisition"] for record in (second, same)] == ["second", "same"]
    # Edges of the output and stamps that were read are as many: every lane is whole.
    inside, outside = times(run, second, "rising"), times(run, second, "departure")
    # The clock of the second ring is 200 ppm off, that of the first one 37.
    slope = np.polyfit(outside, inside, 1)[0] - 1
    assert abs(slope - 200e-6) < 20e-6
    slope = np.polyfit(times(run, same, "departure"), times(run, same, "rising"), 1)[0] - 1
    assert abs(slope - 37e-6) < 20e-6
    # The measured master is not the later for it.
    assert np.abs(lateness(run, second)).max() < 20_000
    assert np.abs(lateness(run, same)).max() < 20_000
