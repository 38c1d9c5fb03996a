# SPDX-License-Identifier: Apache-2.0
"""A sample of a timing model is the middle of an interval: what is inside it is not decided."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.deadlines import Misses, parse_deadline
from kadenz.analysis.gating import gate
from kadenz.analysis.limits import parse_limit
from kadenz.cli import cli
from kadenz.cli.run_figures import Running
from kadenz.config.manifest import DeadlineEntry
from kadenz.store import Run, read_run
from tests.synthetic import EMULATED_CLOCK, STM32F4, Point, Samples, manifest, write_run

CLOCK = msgspec.structs.replace(
    EMULATED_CLOCK, clock_class="cycle-model", unit="cycle", hz=168_000_000
)
CYCLES = np.arange(2000, dtype=np.uint32)


def run_of(
    folder: Path, low: float, high: float, *, ends: bool = True, rare: int = 0, cold: int = 0
) -> Run:
    """Wake-ups of 1 ms in model cycles, the last `rare` and the first `cold` ten times as late."""
    factor = np.ones(CYCLES.size)
    factor[CYCLES.size - rare :] = 10
    factor[:cold] = 10

    def cycles(value: float) -> Samples:
        return np.rint(value * factor).astype(np.uint32)

    lanes: dict[str, Samples] = {"core0": cycles((low + high) / 2), "core0:cycle": CYCLES}
    if ends:
        lanes |= {"core0:low": cycles(low), "core0:high": cycles(high)}
    point = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000}, cold=cold)
    return read_run(write_run(folder, manifest(STM32F4, clock=CLOCK), [point]))


def judged(run: Run, deadline: str) -> Misses:
    misses = analyse(run, deadlines=[parse_deadline(deadline)]).records[0].misses
    assert misses is not None
    return misses


@pytest.mark.parametrize(
    ("deadline", "late", "undecided"),
    [
        ("5us", 2000, 0),
        ("10us", 0, 2000),
        ("20us", 0, 0),
        ("1600 cycles", 0, 2000),
        ("900 cycles", 2000, 0),
    ],
)
def test_a_deadline_inside_the_interval_is_not_judged(
    tmp_path: Path, deadline: str, late: int, undecided: int
) -> None:
    """10 µs have 1,680 cycles: between 1,400 and 2,900 the chip may keep them or not."""
    misses = judged(run_of(tmp_path, 1400, 2900), deadline)
    assert (misses.late, misses.undecided) == (late, undecided)
    inside = "is inside the model's interval"
    assert (inside in misses.sentence, inside in misses.line) == (bool(undecided),) * 2
    assert (misses.rate is None) == (misses.share is None) == bool(undecided)
    assert ("0 to 100 %" in misses.line) == bool(undecided)


def test_cycles_that_are_late_at_both_ends_are_late_whatever_is_undecided(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1400, 2900, rare=3)
    misses = judged(run, "2000 cycles")
    assert (misses.late, misses.undecided, misses.share) == (3, 1997, None)
    assert "3 ended after" in misses.sentence and "1,997 undecided" in misses.sentence
    misses = judged(run, "20000 cycles")
    assert (misses.late, misses.undecided) == (0, 3)
    assert misses.share_text == "0 to 0.15 %"


def test_cold_cycles_leave_nothing_open(tmp_path: Path) -> None:
    """The first one takes 14,000 to 29,000 cycles, and is excluded."""
    misses = judged(run_of(tmp_path, 1400, 2900, cold=1), "20000 cycles")
    assert (misses.late, misses.undecided, misses.cold, misses.cold_late) == (0, 0, 1, 0)


def test_the_period_is_kept_by_both_ends(tmp_path: Path) -> None:
    """The default deadline, 168,000 cycles."""
    ends = ((1400, 2900), (169_000, 171_000), (1400, 400_000))
    every = [
        analyse(run_of(tmp_path / str(high), low, high)).records[0].misses for low, high in ends
    ]
    assert [misses and (misses.late, misses.undecided) for misses in every] == [
        (0, 0),
        (2000, 0),
        (0, 2000),
    ]


def test_every_output_says_that_cycles_are_undecided(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1400, 2900)
    options = [str(run.path), "--deadline", "10us"]
    shown = " ".join(CliRunner().invoke(cli, ["show", *options]).stdout.split())
    assert "2,000 undecided, 0 to 100 %" in shown and "ok;" not in shown
    said = CliRunner().invoke(cli, ["show", "--json", *options]).stdout
    (record,) = json.loads(said)["runs"][0]["records"]
    assert (record["late"], record["undecided"], record["misses_share"]) == (0, 2000, None)
    page = tmp_path / "page.html"
    CliRunner().invoke(cli, ["report", *options, "--output", str(page)])
    assert "0 of 2,000, 0 to 100 %" in page.read_text() and "2,000 undecided" in page.read_text()


def test_a_model_without_ranges_is_judged_by_its_samples(tmp_path: Path) -> None:
    """Ibex: every parameter has one value, so a sample is exact within the model."""
    run = run_of(tmp_path, 1400, 2900, ends=False)
    assert judged(run, "2149 cycles").late == 2000 and judged(run, "2150 cycles").late == 0


@pytest.mark.parametrize("statistic", ["max", "median", "p99"])
@pytest.mark.parametrize(
    ("limit", "outcome"), [("1300", "fail"), ("2000", "inconclusive"), ("3000", "pass")]
)
def test_a_limit_inside_the_interval_is_not_judged(
    tmp_path: Path, statistic: str, limit: str, outcome: str
) -> None:
    text = f"cyclic/* {statistic} <= {limit} cycles"
    answer = gate([run_of(tmp_path, 1400, 2900)], [], limits=[parse_limit(text)])
    assert answer.outcome == outcome
    assert answer.checks
    interval = "the model's interval, 1,400 to 2,900, contains the limit"
    assert [check.reason == interval for check in answer.checks] == [outcome == "inconclusive"]


def test_a_maximum_that_fails_counts_the_samples_that_are_certainly_beyond_it(
    tmp_path: Path,
) -> None:
    """Of 2,000 samples of 1,400 to 2,900 cycles, three have 14,000 to 29,000."""
    asked = [parse_limit("cyclic/* max <= 2000 cycles")]
    (check,) = gate([run_of(tmp_path, 1400, 2900, rare=3)], [], limits=asked).checks
    assert (check.outcome, check.reason) == ("fail", "3 of 2,000 samples exceed the limit")


def test_undecided_cycles_are_counted_once_over_all_lanes(tmp_path: Path) -> None:
    """Cycles of a period, which are no cycles of the clock, and of every core."""
    lanes: dict[str, Samples] = {}
    for core in ("core0", "core1"):
        ends = {"": 2150, ":low": 1400, ":high": 2900}
        lanes |= {core + end: np.full(500, ticks, np.uint32) for end, ticks in ends.items()}
    point = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000})
    run = read_run(write_run(tmp_path, manifest(STM32F4, clock=CLOCK), [point]))
    misses = judged(run, "10us")
    assert misses.undecided == 1000
    said = "1,000 undecided: 10 µs (command line) is inside the model's interval"
    assert misses.sentence == said


def test_a_limit_on_misses_is_not_judged_inside_the_interval(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1400, 2900)
    limits = [parse_limit("cyclic/* misses = 0")]
    outcomes = [
        gate([run], [], limits=limits, deadlines=[parse_deadline(deadline)]).outcome
        for deadline in ("5us", "10us", "20us")
    ]
    assert outcomes == ["fail", "inconclusive", "pass"]


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [
        ("misses = 0", "fail"),
        ("misses <= 3", "inconclusive"),
        ("misses <= 2000", "pass"),
        ("misses < 0.1%", "fail"),
        ("misses < 10%", "inconclusive"),
        ("misses <= 100%", "pass"),
    ],
)
def test_a_limit_on_misses_fails_by_those_that_are_certain(
    tmp_path: Path, limit: str, outcome: str
) -> None:
    """3 cycles are late at both ends, 1,997 at one."""
    run = run_of(tmp_path, 1400, 2900, rare=3)
    asked = [parse_limit(f"cyclic/* {limit}")]
    answer = gate([run], [], limits=asked, deadlines=[parse_deadline("2000 cycles")])
    assert answer.outcome == outcome


def test_repetitions_are_judged_at_both_ends(tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, 1400, 2900) for name in ("a", "b")]
    outcomes = [
        gate(runs, [], limits=[parse_limit(f"cyclic/* median <= {most} cycles")]).outcome
        for most in (1300, 2000, 3000)
    ]
    assert outcomes == ["fail", "inconclusive", "pass"]


def test_a_running_figure_names_no_misses_of_an_interval(tmp_path: Path) -> None:
    deadline = DeadlineEntry(quantity="10us", origin="campaign")
    texts = []
    for ends in (True, False):
        run = run_of(tmp_path / str(ends), 1400, 2900, ends=ends)
        record = msgspec.structs.replace(run.manifest.records[0], deadline=deadline)
        running = Running(record, CLOCK)
        running.add(0, run.samples(record))
        texts.append(running.text)
    assert ["missed" in text for text in texts] == [False, True]
