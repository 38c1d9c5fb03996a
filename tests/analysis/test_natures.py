# SPDX-License-Identifier: Apache-2.0
"""What a sample is decides how it is described and judged, whatever the benchmark is called."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.answers import answer
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.gating import gate
from kadenz.analysis.results import RunResult
from kadenz.config.manifest import Nature
from kadenz.report.overlays import at_top
from kadenz.store import Run, read_run
from tests.synthetic import LINUX, STM32F4, Point, manifest, write_run

NATURES: tuple[Nature, ...] = get_args(Nature)
USER_BENCH = "my/thing"
PERIOD_US = 1000


def measured(
    parent: Path,
    nature: Nature | None,
    *,
    bench: str = USER_BENCH,
    scale: float = 1.0,
    named: str = "a",
) -> Run:
    """A run of 2,000 samples of a benchmark, on this Linux."""
    rng = np.random.default_rng(7)
    samples = (scale * (20_000 + rng.integers(0, 3000, 2000))).astype("<u4")
    if nature == "edges":
        samples = (np.arange(2000) * 1e6 + rng.normal(0, 500, 2000)).astype("<f8")
    point = Point(bench, {"all": samples}, params={"period_us": PERIOD_US}, nature=nature)
    return read_run(write_run(parent / named, manifest(LINUX, id=named), [point]))


def described(parent: Path, nature: Nature | None, bench: str = USER_BENCH) -> RunResult:
    return analyse(measured(parent, nature, bench=bench))


@pytest.mark.parametrize("nature", NATURES)
def test_periodic_releases_and_edges_have_a_jitter(tmp_path: Path, nature: Nature) -> None:
    lane = described(tmp_path, nature).records[0].lanes[0]
    assert (lane.jitter is not None) == (nature in ("periodic", "edges"))
    if lane.jitter is not None:
        assert lane.jitter.source == {"periodic": "wake-ups", "edges": "edges"}[nature]


@pytest.mark.parametrize("nature", ["span", "periodic"])
def test_a_met_period_is_an_answer_for_periodic_work_alone(tmp_path: Path, nature: Nature) -> None:
    run = measured(tmp_path, nature)
    (deadline,) = answer([run], [analyse(run)]).deadlines
    assert deadline.of_interest == (nature == "periodic")


@pytest.mark.parametrize("nature", ["span", "periodic", "context"])
def test_no_system_is_judged_by_a_context(tmp_path: Path, nature: Nature) -> None:
    """A planted change of 50 %, in two runs of each side."""
    sides = [
        [measured(tmp_path, nature, scale=scale, named=f"{word}{number}") for number in range(2)]
        for word, scale in (("old", 1.0), ("new", 1.5))
    ]
    compared = compare_sides(*sides)
    outcomes = {point.outcome for point in compared.points}
    assert (outcomes == {"context"}) == (nature == "context")
    assert (compared.regressions > 0) == (nature != "context")
    assert compared.notes == (), "a context has no note that would have to be shown"
    checks = gate(sides[1], sides[0]).checks
    assert any(check.bench == USER_BENCH for check in checks) == (nature != "context")


@pytest.mark.parametrize("nature", ["span", "context"])
def test_a_context_stands_neither_in_the_table_nor_on_top(tmp_path: Path, nature: Nature) -> None:
    rng = np.random.default_rng(1)
    point = Point(USER_BENCH, {"all": rng.integers(100, 200, 400).astype("<u4")}, nature=nature)
    other = STM32F4 | {"name": "zephyr/stm32f4@emulated", "kernel": "zephyr"}
    runs = [
        read_run(write_run(tmp_path / word, manifest(of, id=word), [point]))
        for word, of in (("a", STM32F4), ("b", other))
    ]
    results = [analyse(run) for run in runs]
    rows = [row.bench for group in answer(runs, results).groups for row in group.rows]
    assert rows == ([] if nature == "context" else [USER_BENCH])
    assert bool(at_top([(run.name, run) for run in results])) == (nature == "span")


@pytest.mark.parametrize(
    ("bench", "nature"),
    [
        ("clock/resolution", "context"),
        ("cyclic/wakeup-latency", "periodic"),
        ("ethercat/edge-jitter", "edges"),
        ("itc/queue", "span"),
        (USER_BENCH, "span"),
    ],
)
def test_a_run_from_before_has_the_natures_of_its_time(
    tmp_path: Path, bench: str, nature: Nature
) -> None:
    run = measured(tmp_path, None, bench=bench)
    assert run.manifest.records[0].declared is None
    assert run.manifest.records[0].nature == nature


@pytest.mark.parametrize("nature", NATURES)
def test_the_name_does_not_decide_against_the_benchmark(tmp_path: Path, nature: Nature) -> None:
    assert described(tmp_path, nature, "clock/x").records[0].nature == nature
