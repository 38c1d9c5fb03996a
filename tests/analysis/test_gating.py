# SPDX-License-Identifier: Apache-2.0
"""Passes, failures, and cases that must never pass by accident."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.gating import Gate, gate
from kadenz.analysis.limits import parse_limit
from kadenz.errors import UsageError
from kadenz.store import Run, read_run
from tests.synthetic import HIFIVE1, LINUX, Point, Samples, manifest, nanoseconds, write_run

TOLD = 0.001  # the spread between runs; without it one run per side decides nothing


def run_of(
    parent: Path, centre: float, seed: int = 1, *, bench: str = "itc/mutex", missed: int = 0
) -> Run:
    values = nanoseconds(centre, 4000, np.random.default_rng(seed))
    point = Point(bench, {"all": values}, {"size_bytes": 4}, missed=missed)
    return read_run(write_run(parent, manifest(LINUX), [point]))


def against(tmp_path: Path, centre: float) -> Gate:
    base = run_of(tmp_path, 3000)
    return gate(
        [run_of(tmp_path, centre, 2)],
        [base],
        max_worse=0.05,
        statistics=["median"],
        between_runs=TOLD,
    )


def limited(run: Run, *limits: str) -> Gate:
    return gate([run], [], limits=[parse_limit(text) for text in limits])


@pytest.mark.parametrize(
    ("centre", "outcome"),
    [(3000, "pass"), (2000, "pass"), (3090, "pass"), (3150, "inconclusive"), (3400, "fail")],
)
def test_against_a_baseline(tmp_path: Path, centre: float, outcome: str) -> None:
    assert against(tmp_path, centre).outcome == outcome


def test_one_failure_outweighs_the_rest(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)

    def side(factor: float) -> Run:
        points = [
            Point(f"itc/p{i}", {"all": nanoseconds(3000 * (factor if i == 0 else 1), 4000, rng)})
            for i in range(4)
        ]
        return read_run(write_run(tmp_path, manifest(LINUX), points))

    verdict = gate([side(1.3)], [side(1.0)], statistics=["median"], between_runs=TOLD)
    assert (verdict.outcome, verdict.count("fail"), verdict.count("pass")) == ("fail", 1, 3)


def test_a_point_that_was_not_measured_does_not_pass(tmp_path: Path) -> None:
    base = run_of(tmp_path, 3000), run_of(tmp_path, 3000, bench="itc/pipe")
    verdict = gate([run_of(tmp_path, 3000, 2)], base, statistics=["median"], between_runs=TOLD)
    assert verdict.outcome == "inconclusive"
    assert any("not measured" in check.reason for check in verdict.checks)


def test_a_partial_run_does_not_pass(tmp_path: Path) -> None:
    run = run_of(tmp_path, 3000)
    run.manifest.partial, run.manifest.partial_reason = True, "interrupted"
    verdict = limited(run, "itc/mutex median < 1ms")
    assert (verdict.outcome, verdict.count("pass")) == ("inconclusive", 1)


def test_an_invalid_record_does_not_pass(tmp_path: Path) -> None:
    run = run_of(tmp_path, 3000)
    run.manifest.records[0].status = "invalid"
    assert limited(run, "itc/mutex median < 1ms").outcome == "inconclusive"


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [
        ("itc/mutex median < 100us", "pass"),
        ("itc/* median<2.9us", "fail"),
        ("itc/mutex median < 3000ns", "inconclusive"),
        ("itc/mutex size_bytes=4 p99 < 0.1ms", "pass"),
        ("itc/mutex max < 3us", "fail"),
        ("itc/mutex max < 10s", "pass"),
        ("itc/mutex p99.99 < 10s", "inconclusive"),  # 36,887 samples are needed
    ],
)
def test_a_limit(tmp_path: Path, limit: str, outcome: str) -> None:
    assert limited(run_of(tmp_path, 3000), limit).outcome == outcome


def test_a_missed_cycle_has_no_maximum(tmp_path: Path) -> None:
    verdict = limited(run_of(tmp_path, 3000, missed=1), "itc/mutex max < 10s")
    assert verdict.outcome == "inconclusive"
    assert "missed" in verdict.checks[0].reason


def test_each_lane_is_checked_against_the_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lanes: dict[str, Samples] = {
        f"core{i}": nanoseconds(3000 + 5000 * i, 4000, rng) for i in (0, 1)
    }
    run = read_run(write_run(tmp_path, manifest(LINUX), [Point("cyclic/x", lanes)]))
    verdict = limited(run, "cyclic/x median < 5us")
    assert [(c.lane, c.outcome) for c in verdict.checks] == [("core0", "pass"), ("core1", "fail")]


def test_byte_identical_runs_pass_even_in_the_tail(tmp_path: Path) -> None:
    values = np.full(1000, 9, np.uint32)
    values[::105] = 132  # whether p99 is 9 or 132 depends on one sample
    sides = [
        read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("a/b", {"all": values})]))
        for _ in range(2)
    ]
    assert gate(sides[:1], sides[1:]).outcome == "pass"


def test_the_clock_of_a_run_is_not_judged(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    sides = [
        read_run(
            write_run(
                tmp_path,
                manifest(LINUX),
                [
                    Point("clock/read-cost", {"all": nanoseconds(cost, 2000, rng)}),
                    Point("itc/mutex", {"all": nanoseconds(3000, 4000, rng)}),
                ],
            )
        )
        for cost in (30, 60)
    ]
    verdict = gate(sides[1:], sides[:1], statistics=["median"], between_runs=TOLD)
    assert [check.bench for check in verdict.checks] == ["itc/mutex"]
    assert verdict.outcome == "pass"


def test_emulation_is_exact(tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {"all": np.full(5, 120, np.uint32)}
    run = read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("micro/x", lanes)]))
    assert limited(run, "micro/x median < 121 instructions").outcome == "pass"
    assert limited(run, "micro/x median < 120 instructions").outcome == "fail"


@pytest.mark.parametrize(
    "limit",
    [
        "itc/mutex",
        "itc/mutex median 100us",
        "itc/mutex p100 < 5us",
        "itc/mutex mode < 5us",
        "itc/mutex median < 5",
        "itc/mutex p9.9.9 < 5us",
        "itc/mutex median < 5 parsecs",
        "itc/mutx median < 5us",
        "itc/mutex size_bytes=8 median < 5us",
    ],
)
def test_a_meaningless_limit_is_refused(tmp_path: Path, limit: str) -> None:
    with pytest.raises(UsageError, match="--limit"):
        limited(run_of(tmp_path, 3000), limit)


def test_a_count_is_not_compared_with_a_time(tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {"all": np.full(5, 120, np.uint32)}
    run = read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("micro/x", lanes)]))
    with pytest.raises(UsageError, match="instructions"):
        limited(run, "micro/x median < 5us")


def test_many_points_at_the_limit_do_not_fail_by_chance(tmp_path: Path) -> None:
    """Every point is exactly at the limit: one in forty is beyond it on its own."""
    rng = np.random.default_rng(0)
    sides = [
        read_run(
            write_run(
                tmp_path,
                manifest(LINUX),
                [Point(f"itc/p{i}", {"all": nanoseconds(centre, 300, rng)}) for i in range(40)],
            )
        )
        for centre in (30_000, 31_500)
    ]
    verdict = gate([sides[1]], [sides[0]], max_worse=0.05, statistics=["median"], between_runs=TOLD)
    assert verdict.outcome == "inconclusive"
    assert any("on its own" in check.reason for check in verdict.checks)


@pytest.mark.parametrize(("extra", "outcome"), [(300, "pass"), (800, "pass"), (195_000, "fail")])
def test_limits_and_baselines_agree_on_exact_figures(
    tmp_path: Path, extra: int, outcome: str
) -> None:
    """The p99.9 of 5000 emulated samples has no interval, but is the same every time."""

    def run(more: int) -> Run:
        values = (7_400 + 300 * (np.arange(5_000) % 4)).astype(np.uint32)
        values[416::833] += np.uint32(more)
        return read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("a/b", {"all": values})]))

    base, candidate = run(250), run(extra)
    figure = float(np.quantile(candidate.samples(candidate.manifest.records[0], 0), 0.999))
    assert figure > 8_000
    held = gate([candidate], [base], max_worse=0.1, statistics=[0.999])
    assert (held.outcome, limited(candidate, "a/b p99.9 < 9350 instructions").outcome) == (
        outcome,
        outcome,
    )
    assert ("exact for this plan" in held.checks[0].reason) == (extra != 300)


def test_one_run_per_side_of_a_varying_machine_fails_no_gate(tmp_path: Path) -> None:
    base, slow = (run_of(tmp_path / str(c), c, c) for c in (3000, 3300))
    verdict = gate([slow], [base], max_worse=0.05, statistics=["median"])
    assert verdict.outcome == "inconclusive"
    assert "--rounds 3" in verdict.checks[0].reason
