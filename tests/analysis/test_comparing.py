# SPDX-License-Identifier: Apache-2.0
"""Two sides of runs: how they are matched, and which verdicts follow."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.config.manifest import Distribution, Manifest, ModelEntry
from kadenz.errors import UsageError
from kadenz.store import Run, read_run
from kadenz.store.manifest_file import write_manifest
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    LINUX_CLOCK,
    STM32F4,
    Point,
    Samples,
    manifest,
    nanoseconds,
    write_run,
)


def run_of(parent: Path, document: Manifest, centre: float, seed: int = 1, n: int = 2000) -> Run:
    values = nanoseconds(centre, n, np.random.default_rng(seed))
    return read_run(write_run(parent, document, [Point("itc/mutex", {"all": values})]))


def test_a_slower_candidate_is_worse(tmp_path: Path) -> None:
    comparison = compare_sides(
        [run_of(tmp_path, manifest(LINUX), 3000)],
        [run_of(tmp_path, manifest(LINUX), 3600, 2)],
        between_runs=0.001,
    )
    median = next(p for p in comparison.points if p.statistic == "median")
    assert median.outcome == "worse" and comparison.regressions >= 1
    assert median.comparison is not None and median.comparison.ratio is not None
    assert median.comparison.ratio.low > 1.05


def test_the_same_distribution_is_equivalent(tmp_path: Path) -> None:
    sides = [run_of(tmp_path, manifest(LINUX), 3000, seed, 20_000) for seed in (1, 2)]
    comparison = compare_sides([sides[0]], [sides[1]], statistics=["median"], between_runs=0.001)
    assert [p.outcome for p in comparison.points] == ["equivalent"]
    assert comparison.regressions == comparison.inconclusive == 0


def test_figures_of_a_side_are_in_its_unit(tmp_path: Path) -> None:
    sides = [run_of(tmp_path, manifest(LINUX), 3000, seed) for seed in (1, 2)]
    point = compare_sides([sides[0]], [sides[1]], statistics=["median"]).points[0]
    assert point.units[0].label == "µs"
    assert point.figures[0] == pytest.approx(3.0, rel=0.03)


def test_two_clock_classes_are_shown_without_ratio_or_verdict(tmp_path: Path) -> None:
    board, linux = (
        run_of(tmp_path, manifest(HIFIVE1), 900),
        run_of(tmp_path, manifest(LINUX), 900),
    )
    comparison = compare_sides([board], [linux])
    assert {p.outcome for p in comparison.points} == {"not-comparable"}
    assert all(p.comparison is None and None not in p.figures for p in comparison.points)
    assert all(p.effect is None for p in comparison.points)
    assert "instruction and hosted" in comparison.points[0].reason
    assert comparison.inconclusive == len(comparison.points)


def test_instructions_of_two_instruction_sets_have_no_ratio(tmp_path: Path) -> None:
    sides = [run_of(tmp_path, manifest(target), 900) for target in (HIFIVE1, STM32F4)]
    comparison = compare_sides(sides[:1], sides[1:])
    assert {p.outcome for p in comparison.points} == {"not-comparable"}
    assert all(p.comparison is None and None not in p.figures for p in comparison.points)
    assert "riscv and armv7m" in comparison.points[0].reason


def test_cycles_of_two_timing_models_have_no_ratio(tmp_path: Path) -> None:
    sides = []
    for name in ("ibex", "cortex-m4"):
        document = manifest(HIFIVE1)
        document.clock.clock_class = "cycle-model"
        document.clock.model = ModelEntry(name=name, title=name, parameters={}, checked="")
        sides.append(run_of(tmp_path, document, 900))
    comparison = compare_sides(sides[:1], sides[1:])
    assert {p.outcome for p in comparison.points} == {"not-comparable"}
    assert "models ibex and cortex-m4" in comparison.points[0].reason


def test_the_clocks_own_figures_are_context(tmp_path: Path) -> None:
    sides = []
    for cost in (20, 90):
        values = np.full(500, cost, np.uint32)
        points = [Point("clock/read-cost", {"all": values}), Point("itc/mutex", {"all": values})]
        sides.append(read_run(write_run(tmp_path, manifest(HIFIVE1), points)))
    comparison = compare_sides(sides[:1], sides[1:], statistics=["median"])
    assert [(p.bench, p.outcome) for p in comparison.points] == [
        ("clock/read-cost", "context"),
        ("itc/mutex", "worse"),
    ]
    assert comparison.points[0].figures == (20, 90) and comparison.points[0].comparison is None
    assert comparison.count("context") == 1 and comparison.judged and not comparison.notes


@pytest.mark.parametrize("side", [0, 1])
def test_a_benchmark_with_a_note_on_either_side_is_not_judged(tmp_path: Path, side: int) -> None:
    sides = [run_of(tmp_path, manifest(HIFIVE1), centre) for centre in (900, 1900)]
    sides[side].manifest.benchmark_notes = {"itc/mutex": "the timer's grid"}
    comparison = compare_sides(sides[:1], sides[1:])
    assert {p.outcome for p in comparison.points} == {"context"} and not comparison.judged
    assert comparison.notes == (("itc/mutex", "the timer's grid"),)
    assert all(None not in p.figures for p in comparison.points)


def test_runs_of_several_targets_are_matched_by_target(tmp_path: Path) -> None:
    left = [run_of(tmp_path, manifest(t), 900) for t in (HIFIVE1, STM32F4)]
    right = [run_of(tmp_path, manifest(t), 900) for t in (STM32F4, HIFIVE1)]
    comparison = compare_sides(left, right, statistics=["median"])
    assert {p.target.split(" ")[0] for p in comparison.points} == {HIFIVE1["name"], STM32F4["name"]}
    assert [configuration.differences for configuration in comparison.configurations] == [(), ()]


def test_one_board_against_another_is_matched_point_by_point(tmp_path: Path) -> None:
    comparison = compare_sides(
        [run_of(tmp_path, manifest(HIFIVE1), 900)], [run_of(tmp_path, manifest(STM32F4), 700)]
    )
    assert comparison.points[0].target == f"{HIFIVE1['name']} → {STM32F4['name']}"
    (configuration,) = comparison.configurations
    assert ("target", "board") in {(d.group, d.key) for d in configuration.differences}


def test_sides_without_a_common_target_are_refused(tmp_path: Path) -> None:
    left = [run_of(tmp_path, manifest(t), 900) for t in (HIFIVE1, STM32F4)]
    with pytest.raises(UsageError, match="no target in common"):
        compare_sides(left, [run_of(tmp_path, manifest(LINUX), 900)])


def test_several_runs_per_side_count_as_runs(tmp_path: Path) -> None:
    left = [run_of(tmp_path, manifest(LINUX), 3000, seed) for seed in (1, 2, 3)]
    right = [run_of(tmp_path, manifest(LINUX), 3000, seed) for seed in (4, 5, 6)]
    comparison = compare_sides(left, right, statistics=["median"]).points[0].comparison
    assert comparison is not None
    assert (comparison.baseline_runs, comparison.candidate_runs) == (3, 3)


def test_an_invalid_record_has_no_verdict(tmp_path: Path) -> None:
    good = run_of(tmp_path, manifest(LINUX), 3000)
    values = nanoseconds(3000, 100, np.random.default_rng(1))
    bad = read_run(
        write_run(
            tmp_path,
            manifest(LINUX),
            [Point("itc/mutex", {"all": values}, status="invalid", reason="not proved")],
        )
    )
    comparison = compare_sides([good], [bad])
    assert {p.outcome for p in comparison.points} == {"not-comparable"}
    assert "not proved" in comparison.points[0].reason


def test_points_of_only_one_side_are_listed(tmp_path: Path) -> None:
    values = nanoseconds(3000, 100, np.random.default_rng(1))
    more = write_run(
        tmp_path,
        manifest(LINUX),
        [Point("itc/mutex", {"all": values}), Point("itc/pipe", {"all": values})],
    )
    comparison = compare_sides([run_of(tmp_path, manifest(LINUX), 3000)], [read_run(more)])
    assert not comparison.only_baseline and "itc/pipe" in comparison.only_candidate[0].name


def test_identical_runs_of_an_emulator_are_equivalent_even_in_the_tail(tmp_path: Path) -> None:
    values = np.full(1000, 9, np.uint32)
    values[::120] = 132  # too few for an interval of p99
    sides = [
        read_run(write_run(tmp_path, manifest(HIFIVE1), [Point("a/b", {"all": values})]))
        for _ in range(2)
    ]
    comparison = compare_sides([sides[0]], [sides[1]])
    assert {p.outcome for p in comparison.points} == {"equivalent"}


def test_identical_samples_of_real_time_prove_nothing(tmp_path: Path) -> None:
    values = nanoseconds(3000, 150, np.random.default_rng(1))
    sides = [
        read_run(write_run(tmp_path, manifest(LINUX), [Point("a/b", {"all": values})]))
        for _ in range(2)
    ]
    comparison = compare_sides([sides[0]], [sides[1]], statistics=[0.99])
    assert comparison.points[0].outcome == "inconclusive"


def test_a_nonlinear_sweep_names_the_size_and_the_deviation(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    points = [
        Point(
            "itc/pipe",
            {"all": nanoseconds(3000 + size * size / 40, 400, rng)},
            {"size_bytes": size},
        )
        for size in (4, 200, 400, 600)
    ]
    (sweep,) = analyse(read_run(write_run(tmp_path, manifest(LINUX), points))).sweeps
    assert sweep.fit is not None and not sweep.fit.linear
    assert " µs off it at " in sweep.reason


def test_identical_batches_of_an_emulator_need_no_ten_samples(tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {
        "batch": np.full(5, 6_450_758, np.uint32),
        "empty-loop": np.full(5, 250_017, np.uint32),
    }
    point = Point("micro/task-switch", lanes, {"iterations": 50_000})
    sides = [read_run(write_run(tmp_path, manifest(HIFIVE1), [point])) for _ in range(2)]
    (median,) = compare_sides([sides[0]], [sides[1]], statistics=["median"]).points
    assert (median.outcome, median.lane) == ("equivalent", "per iteration")
    assert median.figures == ((6_450_758 - 250_017) / 50_000,) * 2


def test_a_slower_batch_of_five_is_found(tmp_path: Path) -> None:
    sides = []
    for ticks in (6_450_758, 7_000_000):
        lanes: dict[str, Samples] = {
            "batch": np.full(5, ticks, np.uint32),
            "empty-loop": np.full(5, 9, np.uint32),
        }
        point = Point("micro/task-switch", lanes, {"iterations": 50_000})
        sides.append(read_run(write_run(tmp_path, manifest(HIFIVE1), [point])))
    comparison = compare_sides([sides[0]], [sides[1]], statistics=["median"])
    assert comparison.regressions == 1 and "exact" in comparison.points[0].reason
    assert comparison.points[0].figures[1] == (7_000_000 - 9) / 50_000


def test_a_slower_empty_loop_alone_is_not_a_slower_switch(tmp_path: Path) -> None:
    sides = []
    for loop in (100_000, 900_000):
        lanes: dict[str, Samples] = {
            "batch": np.full(5, 6_000_000 + loop, np.uint32),
            "empty-loop": np.full(5, loop, np.uint32),
        }
        point = Point("micro/task-switch", lanes, {"iterations": 50_000})
        sides.append(read_run(write_run(tmp_path, manifest(HIFIVE1), [point])))
    (median,) = compare_sides([sides[0]], [sides[1]], statistics=["median"]).points
    assert (median.outcome, median.figures) == ("equivalent", (120.0, 120.0))


def test_unaccounted_samples_are_not_compared(tmp_path: Path) -> None:
    good, bad = (run_of(tmp_path, manifest(LINUX), 3000, seed) for seed in (1, 2))
    bad.manifest.records[0].lanes[0].planned += 5
    write_manifest(bad.path, bad.manifest, sync=False)
    bad = read_run(bad.path)
    (median,) = compare_sides([good], [bad], statistics=["median"]).points
    assert median.outcome == "not-comparable" and "unaccounted" in median.reason


def struck(folder: Path, extra: int, document: Manifest | None = None, n: int = 5_000) -> Run:
    """A series that repeats itself, with six strikes: p99.9 depends on a single one."""
    values = (7_400 + 300 * (np.arange(n) % 4)).astype(np.uint32)
    values[n // 12 :: n // 6] += np.uint32(extra)
    return read_run(
        write_run(folder, document or manifest(HIFIVE1), [Point("cyclic/x", {"all": values})])
    )


def test_exact_figures_decide_if_no_interval_does(
    tmp_path: Path,
) -> None:
    comparison = compare_sides(
        [struck(tmp_path, 300)], [struck(tmp_path, 195_000)], statistics=[0.999]
    )
    (tail,) = comparison.points
    assert tail.outcome == "worse" and tail.exact and comparison.regressions == 1
    assert tail.figures[1] is not None and tail.figures[1] > 200_000
    assert tail.reason.startswith("exact for this plan")
    short = [struck(tmp_path, extra, n=1_500) for extra in (300, 195_000)]
    (tail,) = compare_sides(short[:1], short[1:], statistics=[0.999]).points
    assert tail.exact and tail.reason.endswith("too few samples for an interval")
    back = compare_sides([struck(tmp_path, 195_000)], [struck(tmp_path, 300)], statistics=[0.999])
    assert [point.outcome for point in back.points] == ["better"]


def test_without_repetition_it_stays_undecided(tmp_path: Path) -> None:
    sides = [struck(tmp_path, extra, manifest(LINUX)) for extra in (300, 195_000)]
    (tail,) = compare_sides(sides[:1], sides[1:], statistics=[0.999]).points
    assert tail.outcome == "inconclusive" and not tail.exact


def test_emulated_runs_that_differ_have_no_exact_figures(
    tmp_path: Path,
) -> None:
    left = [struck(tmp_path, extra) for extra in (300, 400)]
    (tail,) = compare_sides(left, [struck(tmp_path, 195_000)], statistics=[0.999]).points
    assert not tail.repeats and not tail.exact


def test_an_exact_change_needs_no_holm_correction(tmp_path: Path) -> None:
    """Twelve emulated points, one of them slower only in its tail."""

    def side(extra: int) -> Run:
        rng = np.random.default_rng(4)
        points = []
        for number in range(12):
            values = rng.geometric(0.02, 600).astype(np.uint32) + np.uint32(1_000)
            points.append(
                Point(f"itc/p{number}", {"all": values + np.uint32(extra * (number == 0))})
            )
        return read_run(write_run(tmp_path, manifest(HIFIVE1), points))

    comparison = compare_sides([side(0)], [side(90)], statistics=[0.99])
    outcomes = [point.outcome for point in comparison.points]
    assert outcomes[0] == "worse" and set(outcomes[1:]) == {"equivalent"}


@pytest.mark.parametrize("step", [69.841279, 41.666667])
def test_the_step_of_a_host_clock_shows_although_its_readings_are_rounded(
    tmp_path: Path, step: float
) -> None:
    """Readings of whole nanoseconds, as of a clock at 14.3 MHz: their common divisor is 1."""
    clock = msgspec.structs.replace(
        LINUX_CLOCK, resolution=Distribution(n=9, min=float(int(step)), median=step, max=99.0)
    )
    rng = np.random.default_rng(5)
    sides = []
    for side in range(2):
        runs = []
        for number in range(3):
            steps = rng.integers(6, 12, 500) + 2 * (rng.random(500) < 0.05 * side)
            values = np.round(steps * step).astype(np.uint32)
            document = manifest(LINUX, clock=clock, id=f"{side}-{number}")
            runs.append(read_run(write_run(tmp_path, document, [Point("a/b", {"all": values})])))
        sides.append(runs)
    (point,) = compare_sides(*sides, statistics=["median"]).points
    assert point.statistic == "mean"  # instead of a median that the step hides
