# SPDX-License-Identifier: Apache-2.0
"""The display during a measurement: running figures of cyclic work, and the remaining time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from kadenz.cli.run_display import LineDisplay, LiveDisplay
from kadenz.cli.run_figures import Running, TimeLeft, time_text
from kadenz.config.manifest import DeadlineEntry, LaneEntry, ProofEntry, RecordEntry
from kadenz.lab.plan import Point
from kadenz.targets.arrivals import Sweep
from tests.synthetic import EMULATED_CLOCK, LINUX_CLOCK

BENCH = "cyclic/wakeup-latency"


def lane(name: str, planned: int) -> LaneEntry:
    return LaneEntry(
        name=name,
        file="",
        dtype="<u4",
        planned=planned,
        taken=0,
        missed=0,
        overrun=0,
        not_measured=planned,
        companion_of=name.partition(":")[0] if ":" in name else "",
    )


def cyclic(planned: int = 4000, deadline: str = "") -> RecordEntry:
    return RecordEntry(
        id=10,
        bench=BENCH,
        params={"period_us": 1000},
        ranks={},
        begins="",
        ends="",
        source="",
        status="failed",
        reason="",
        unit="ticks",
        cold=1,
        drains=[],
        lanes=[lane("core0", planned), lane("core0:cycle", planned)],
        proof=ProofEntry(checked=0, failed=0),
        deadline=DeadlineEntry(quantity=deadline, origin="campaign") if deadline else None,
    )


def test_running_figures_describe_the_received_samples() -> None:
    running = Running(cyclic(deadline="100us"), LINUX_CLOCK)
    assert running.text == ""
    rng = np.random.default_rng(1)
    values = (8_000 * rng.lognormal(0, 0.5, 3000)).astype(np.uint32)
    values[0], values[700] = 9_000_000, 250_000  # a cold one and a late one
    for part in np.array_split(values, 7):
        running.add(0, part)
    running.add(1, np.arange(3000, dtype=np.uint32) + 5)  # five cycles did not happen
    assert running.taken == 3000 and running.missed == 6
    parts = running.text.split()
    least, median, most = (float(parts[i].rstrip(",")) for i in (1, 3, 5))
    warm = values[1:] / 1000.0
    assert least == pytest.approx(warm.min(), rel=1e-3)
    assert median == pytest.approx(float(np.median(warm)), rel=0.05)
    assert most == pytest.approx(250.0)
    assert running.text.endswith("µs, 6 missed")


def test_running_figures_of_an_instruction_clock_are_in_its_unit() -> None:
    running = Running(cyclic(), EMULATED_CLOCK)
    running.add(0, np.array([900, 10, 12, 14], np.uint32))
    assert running.text == "min 10, median 12, max 14 instructions, 0 missed"


def test_the_remaining_time_is_that_of_the_remaining_periods() -> None:
    points = [Point(10, BENCH, 4000, 1, {"period_us": 1000}), Point(11, BENCH, 2000)]
    left = TimeLeft(points)
    assert left.seconds(0.0) is None  # the period of the second point is still unknown
    left = TimeLeft(points[:1])
    assert left.seconds(0.0) == 4.0
    left.opened(10, {"period_us": 1000}, 100.0)
    assert left.seconds(101.0) == 3.0
    assert left.seconds(105.0) == 0.0
    left.closed(10, 105.0)
    assert left.seconds(106.0) == 0.0


def test_points_without_a_period_use_the_pace_of_earlier_points() -> None:
    left = TimeLeft([Point(i, "itc/queue", 1000) for i in (10, 11, 12)])
    assert left.seconds(0.0) is None
    left.opened(10, {}, 0.0)
    assert left.seconds(1.0) is None
    left.closed(10, 2.0)
    assert left.seconds(2.0) == 4.0
    left.opened(11, {}, 2.0)
    assert left.seconds(3.0) == 3.0
    assert left.seconds(3.0, share=0.25) == pytest.approx(3.0 + 2.0)
    left.closed(12, 3.0)  # lost before it began
    assert time_text(left.seconds(3.0)) == "ETA 0:00"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "ETA –"), (0.0, "ETA 0:00"), (64.2, "ETA 1:05"), (3600.0, "ETA 1:00:00")],
)
def test_the_remaining_time_as_text(seconds: float | None, text: str) -> None:
    assert time_text(seconds) == text


def test_lines_show_the_remaining_time_and_unmeasured_samples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = LineDisplay()
    points = [Point(number, BENCH, 4000, 1, {"period_us": 1000}) for number in (10, 11)]
    display.started("a", points, LINUX_CLOCK)
    record = cyclic()
    display.opened("a", record)
    for lane in record.lanes:
        lane.account(1000, 2)
    display.closed("a", record)
    said = capsys.readouterr().err
    assert "a: measuring 2 points, ETA 0:08" in said
    assert "1000 taken, 2 missed, 2998 not measured" in said and said.endswith("ETA 0:04\n")


def test_a_bar_shows_running_figures_and_the_remaining_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "screen").open("w") as screen:
        console = Console(file=screen, force_terminal=True, width=200)
        monkeypatch.setattr("kadenz.cli.console.screen_of", lambda _: console)
        with LiveDisplay() as display:
            display.started("a", [Point(10, BENCH, 4000, 1, {"period_us": 1000})], LINUX_CLOCK)
            display.opened("a", cyclic())
            display.samples("a", cyclic(), 0, np.full(1500, 8000, np.uint32))
    text = (tmp_path / "screen").read_text()
    assert "1,500 of 4,000 samples; min 8, median 8, max 8 µs, 0 missed" in text
    assert "ETA 0:04" in text


def test_a_bar_shows_the_arrivals_of_a_sweep_and_counts_its_time_from_where_it_went_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = [0.0]
    monkeypatch.setattr("kadenz.cli.run_display.time.monotonic", lambda: clock[0])
    with (tmp_path / "screen").open("w") as screen:
        console = Console(file=screen, force_terminal=True, width=200)
        monkeypatch.setattr("kadenz.cli.console.screen_of", lambda _: console)
        with LiveDisplay() as display:
            display.started("a", [Point(10, BENCH, 4)], LINUX_CLOCK)
            display.opened("a", cyclic())
            clock[0] = 10.0
            display.swept("a", cyclic(), Sweep(planned=1400, tried=1000, earlier=1000))
            assert display.eta("a") == "ETA –"
            display.swept("a", cyclic(), Sweep(planned=1400, tried=1100, earlier=1000))
    text = (tmp_path / "screen").read_text()
    assert "1,100 of 1,400 arrivals" in text
    assert "ETA 0:30" in text
