# SPDX-License-Identifier: Apache-2.0
"""arm2022 in the report: every published figure, ours beside it, and the explanations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse, published
from kadenz.config.params import Params
from kadenz.report.studies import arm2022, tables
from kadenz.report.table import Table
from kadenz.store import read_run
from tests.synthetic import LINUX, Point, Samples, manifest, write_run

SWITCH, WAKE_UP = "itc/semaphore-counting-to-higher", "smp/wake-up"
CYCLIC = "cyclic/wakeup-latency"


def periodic(migrate: str, cores: list[int]) -> Point:
    """101 wake-ups in ns, 20 us late, in cycles without a hole."""
    n = len(cores)
    return Point(
        CYCLIC,
        {
            "thread0": np.full(n, 20_000, np.uint32),
            "thread0:cycle": np.arange(n, dtype=np.uint32),
            "thread0:begin-core": np.array([cores[0], *cores[:-1]], np.uint32),
            "thread0:end-core": np.array(cores, np.uint32),
        },
        {"period_us": 10_000, "threads": 1, "core": 255, "migrate": migrate},
    )


@pytest.fixture
def two_cores(tmp_path: Path) -> RunResult:
    rng = np.random.default_rng(2)

    def near(value: int) -> dict[str, Samples]:
        return {"all": rng.integers(value, value + 900, 60).astype(np.uint32)}

    place = {"core_a": 0, "core_b": 0}
    wake = {"hold_us": 190_000, "period_us": 380_000, "core_a": 0, "core_b": 1}
    points = [
        Point(SWITCH, near(5_000), {**place}),
        Point(SWITCH, near(25_000), {**place, "core_b": 1}),
        Point("itc/semaphore-give", near(2_000), {**place, "waiter": 1}),
        Point(WAKE_UP, near(190_000_000), {**wake, "other_core": "above"}),
        Point(WAKE_UP, near(189_980_000), {**wake, "other_core": "poll"}),
        periodic("watch", [0] * 101),
        periodic("move", [0, 1] * 50 + [0]),
    ]
    return analyse(read_run(write_run(tmp_path, manifest(LINUX), points)))


def named(candidates: list[Table], name: str) -> Table:
    (table,) = [table for table in candidates if table.name == name]
    return table


def test_all_seventeen_published_figures_stand_above_ours(two_cores: RunResult) -> None:
    table = named(tables(published.load(), [("here", two_cores)]), "arm2022-section-4")
    printed = [row for row in table.rows if row[1].text == "published"]
    shown = [cell.raw for row in printed for cell in row[5:9] if cell.raw is not None]
    wanted = [figure.value for figure in published.load() if figure.paper == arm2022.PAPER]
    assert len(wanted) == 17 and sorted(map(float, shown)) == sorted(wanted)
    ours = [row[0].text for row in table.rows if row[1].text == "ours"]
    assert len(ours) == 5
    assert "moved while it sleeps, each period (100 migrations)" in ours[-1]


def test_counters_of_single_cores_give_the_published_figures(two_cores: RunResult) -> None:
    """From our spans, which are all of 25 us or 10 ms: 190.3 ms, 8957.8 ms and the extremes."""
    table = arm2022.explanations(published.load(), [("here", two_cores)])
    assert table is not None
    calculated = [row for row in table.rows if "calculated" in row[1].text]
    switch, periods = ([float(cell.raw or 0) for cell in row[2:5]] for row in calculated)
    assert switch[0] == pytest.approx(190.334, abs=0.02)
    assert periods == pytest.approx([8957.846, 213.006, 17_702.69], abs=0.01)
    assert all("by the published minimum" in row[0].text for row in calculated)
    assert "max +2.3" in calculated[1][-1].text  # ms: what the explanation leaves open
    measured = [row[0].text for row in table.rows]
    assert any("a more urgent thread" in text for text in measured)
    assert any("in step with the giver" in text for text in measured)


def test_a_run_of_something_else_has_none_of_it(tmp_path: Path) -> None:
    point = Point(SWITCH, {"all": np.full(60, 5_000, np.uint32)}, {"core_a": 0, "core_b": 0})
    run = analyse(read_run(write_run(tmp_path, manifest(LINUX), [point])))
    assert arm2022.core_table(published.load(), [("here", run)]) is None
    assert arm2022.explanations(published.load(), [("here", run)]) is None


def test_the_cost_of_a_call_is_shown_with_the_rate_that_was_met(tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {
        "all": np.full(50, 700, np.uint32),
        "all:other-calls": np.full(50, 3, np.uint32),
        "all:since": np.full(50, 1_500, np.uint32),  # ns
    }
    params: Params = {"call": "queue", "other_core": "own", "pause_us": 0}
    point = Point("smp/contention", lanes, params)
    run = analyse(read_run(write_run(tmp_path, manifest(LINUX), [point])))
    table = arm2022.contention([("here", run)])
    assert table is not None
    ((_, call, other, rate, median, *_),) = table.rows
    assert (call.text, other.text, rate.raw) == ("queue", "an object of its own", 2_000_000.0)
    assert median.raw == pytest.approx(0.7)
