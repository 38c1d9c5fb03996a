# SPDX-License-Identifier: Apache-2.0
"""The maxima with their context, and the common causes of the worst samples in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import RunResult, analyse
from kadenz.analysis.outliers import Outliers, sentences
from kadenz.store import read_run
from tests.synthetic import HIFIVE1, LINUX, Point, Samples, manifest, nanoseconds, write_run

N = 20_000


def measured(folder: Path, *, planted: bool = True) -> RunResult:
    """A wake-up latency with companions; if `planted`, an involuntary switch costs 200 µs."""
    rng = np.random.default_rng(21)
    latency = np.minimum(nanoseconds(20_000, N, rng), 60_000)
    switches = (rng.random(N) < 0.004).astype(np.uint32)
    struck = np.linspace(700, N - 900, 28).astype(int)
    if planted:
        latency[struck] += 200_000 + 50_000 * np.arange(28, dtype=np.uint32)
        switches[struck] += 1
    cycle = np.arange(N, dtype=np.uint32)
    cycle[5000:] += 3
    lanes: dict[str, Samples] = {
        "core0": latency,
        "core0:cycle": cycle,
        "core0:cpu": np.zeros(N, np.uint32),
        "core0:involuntary-switches": switches,
        "core0:interrupts": rng.poisson(3.0, N).astype(np.uint32),
    }
    point = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000}, cold=5, missed=3)
    return analyse(read_run(write_run(folder, manifest(LINUX), [point])))


def of(result: RunResult) -> Outliers:
    lane = result.records[0].lanes[0]
    assert lane.outliers is not None
    return lane.outliers


def test_a_planted_cause_is_named_first_and_in_words(tmp_path: Path) -> None:
    outliers = of(measured(tmp_path))
    assert outliers.causes is not None
    assert outliers.causes.common[0].name == "involuntary-switches"
    first = sentences(outliers)[0]
    assert first.startswith("20 of 20 of the worst 0.1 % had an involuntary context switch; 0.4")
    assert first.endswith("% of the others did")


def test_no_common_cause_is_reported_as_such(tmp_path: Path) -> None:
    outliers = of(measured(tmp_path, planted=False))
    (only,) = sentences(outliers)
    assert only.startswith("nothing in common: neither the recorded context (cpu, inv")


@pytest.mark.parametrize("numbered", [True, False])
def test_a_period_that_a_person_sees_is_shown(tmp_path: Path, numbered: bool) -> None:
    """11 of the 20 worst at cycles 18 to 20 of each 100."""
    rng = np.random.default_rng(23)
    latency = np.minimum(nanoseconds(20_000, N, rng), 60_000)
    periodic = 100 * rng.choice(N // 100, 11, replace=False) + rng.integers(18, 21, 11)
    latency[np.append(periodic, rng.choice(N, 9))] += 200_000
    lanes: dict[str, Samples] = {"core0": latency}
    if numbered:
        lanes["core0:cycle"] = np.arange(N, dtype=np.uint32)
    point = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000})
    outliers = of(analyse(read_run(write_run(tmp_path, manifest(LINUX), [point]))))
    unit = "cycle" if numbered else "sample"
    (only,) = sentences(outliers)
    assert only == f"11 of the 20 come every 100 {unit}s, up to a {unit} early or late"


def test_maxima_come_with_cycle_time_value_and_context(tmp_path: Path) -> None:
    result = measured(tmp_path)
    outliers = of(result)
    worst = outliers.maxima[0]
    assert len(outliers.maxima) == 10
    assert worst.index == N - 900
    assert worst.cycle == N - 900 + 3  # three cycles were missed before it
    assert worst.seconds == pytest.approx((N - 897) / 1000)
    summary = result.records[0].lanes[0].summary
    assert summary is not None and worst.value == summary.max
    assert worst.context["involuntary-switches"] >= 1
    assert set(worst.context) == {"cpu", "involuntary-switches", "interrupts"}
    assert [maximum.value for maximum in outliers.maxima] == sorted(
        (maximum.value for maximum in outliers.maxima), reverse=True
    )


def test_companions_are_not_series_of_samples(tmp_path: Path) -> None:
    assert [lane.name for lane in measured(tmp_path).records[0].lanes] == ["core0"]


def test_the_sample_after_a_missed_cycle_is_tested_as_a_cause(tmp_path: Path) -> None:
    rng = np.random.default_rng(22)
    latency, cycle = nanoseconds(20_000, N, rng), np.arange(N, dtype=np.uint32)
    for at in rng.choice(np.arange(100, N), 25, replace=False):
        cycle[at:] += 1
        latency[at] = 4_000_000
    lanes: dict[str, Samples] = {"core0": latency, "core0:cycle": cycle}
    point = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000})
    outliers = of(analyse(read_run(write_run(tmp_path, manifest(LINUX), [point]))))
    assert "came right after a missed cycle" in sentences(outliers)[0]


def test_without_cycle_numbers_missed_cycles_leave_the_time_unknown(tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {"all": np.arange(N, dtype=np.uint32)}
    for missed, seconds in ((0, (N - 1) / 100), (2, None)):
        point = Point("itc/queue", lanes, {"period_us": 10_000}, missed=missed)
        document = manifest(LINUX, id=f"missed-{missed}")
        worst = of(analyse(read_run(write_run(tmp_path, document, [point])))).maxima[0]
        assert (worst.cycle, worst.seconds) == (None, seconds)


def test_equal_samples_have_no_maxima_with_a_reason(tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {"all": np.full(N, 300, np.uint32)}
    result = analyse(read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("itc/queue", lanes)])))
    outliers = of(result)
    assert outliers.maxima == ()
    assert "none stands out" in sentences(outliers)[0]


def test_another_share_of_worst_samples_can_be_chosen(tmp_path: Path) -> None:
    path = measured(tmp_path).path
    causes = of(analyse(read_run(path), worst_share=0.01)).causes
    assert causes is not None
    assert causes.count == 200
