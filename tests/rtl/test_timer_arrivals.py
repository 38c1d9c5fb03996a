# SPDX-License-Identifier: Apache-2.0
"""kadenz worst where a timer of the board raises the interrupt, judged by the exact sweep."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.structures import has_population
from kadenz.cli.folders import find_runs
from kadenz.config.manifest import ARRIVALS
from kadenz.config.target_name import parse_target
from kadenz.errors import EXIT_FAILED, UsageError
from kadenz.images.image import build_image
from kadenz.lab import arrivals
from kadenz.store import Run
from tests.rtl.test_arrivals import GIVE, WAITER, curve, population, record_of, worst
from tests.rtl.test_cores import IBEX, kadenz

pytestmark = pytest.mark.counted
BY_TIMER = ("--instrument", "counter")
MPS2 = "freertos/mps2-an386@emulated"


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Run:
    (run,) = worst(tmp_path_factory.mktemp("exact"), GIVE, *WAITER, "--target", IBEX)
    return run


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("timed")
    (run,) = worst(folder, GIVE, *WAITER, "--target", IBEX, *BY_TIMER)
    return run


def test_the_extremes_are_those_of_the_bench_and_a_constant(exact: Run, timed: Run) -> None:
    """The constant is what the image itself does: it reads two counters, and writes three words."""
    by_bench, by_timer = population(exact, GIVE), population(timed, GIVE)
    for lane in ARRIVALS:
        true, seen = getattr(by_bench, lane), getattr(by_timer, lane)
        constant = seen.min - true.min
        assert 0 < constant < 100
        assert seen.max - constant == true.max
        assert abs(seen.phase - true.phase) < 10


def test_the_curve_is_that_of_the_bench(exact: Run, timed: Run) -> None:
    """BEGIN is some cycles earlier, and an instruction more may be in the way: two cycles."""
    true, seen = curve(exact, GIVE), curve(timed, GIVE)
    shift = population(exact, GIVE).task.phase - population(timed, GIVE).task.phase
    by_phase = dict(zip(true["phase"].tolist(), range(true["phase"].size), strict=True))
    for lane in ARRIVALS:
        off = Counter(
            int(value) - int(true[lane][by_phase[phase + shift]])
            for phase, value in zip(seen["phase"].tolist(), seen[lane], strict=True)
            if phase + shift in by_phase
        )
        usual = off.most_common(1)[0][0]
        near = sum(times for each, times in off.items() if abs(each - usual) <= 2)
        assert off.total() > 1200 and near > 0.99 * off.total()


def test_every_phase_is_tried_once_and_they_are_a_population(timed: Run) -> None:
    record = record_of(timed, GIVE)
    phase = curve(timed, GIVE)["phase"]
    samples = timed.samples(record, record.series[0])
    assert record.raised is not None
    assert (record.raised.by, record.raised.resolution, record.raised.step) == ("line", 1, 1)
    assert record.raised.exact and has_population(record)
    assert phase.tolist() == list(range(1, phase.size + 1))
    assert samples.tolist() == [phase.size] * 4
    assert population(timed, GIVE).exhaustive


def test_a_step_misses_no_more_of_the_handler_than_itself_and_the_way_into_it(
    timed: Run, tmp_path: Path
) -> None:
    step, entry = 50, 10
    (run,) = worst(tmp_path, GIVE, *WAITER, "--target", IBEX, *BY_TIMER, "--step", str(step))
    every, some = population(timed, GIVE), population(run, GIVE)
    assert (np.diff(curve(run, GIVE)["phase"]) == step).all()
    assert every.handler.max - step - entry <= some.handler.max <= every.handler.max
    assert some.task.max <= every.task.max + 2
    assert not has_population(record_of(run, GIVE))
    assert "later by up to 50 cycles" in some.premise


@pytest.mark.parametrize("target", [IBEX, MPS2])
def test_two_executions_have_the_same_rows(target: str, tmp_path: Path) -> None:
    chosen = (GIVE, "--target", target, *BY_TIMER, "--step", "2", "--fresh")
    first, second = (
        worst(tmp_path / name, *chosen, "--name", name)[0] for name in ("first", "second")
    )
    for name, values in curve(first, GIVE).items():
        assert values.tolist() == curve(second, GIVE)[name].tolist()


def test_a_timer_of_an_arm_board_raises_it_in_qemu(tmp_path: Path) -> None:
    """One count of the clock is 40 instructions, so phases repeat: they are samples."""
    (run,) = worst(tmp_path, GIVE, *WAITER, "--target", MPS2, *BY_TIMER)
    record = record_of(run, GIVE)
    seen = population(run, GIVE)
    assert record.raised is not None and record.raised.by == "timer0"
    assert not record.raised.exact and not has_population(record)
    assert seen.moment == "count" and seen.tried > 10
    assert 0 <= seen.handler.min < seen.task.min < seen.task.max


@pytest.mark.parametrize(
    "option, target, why",
    [
        ("--with tick", IBEX, "--with tick needs a simulated core"),
        ("--why", IBEX, "cannot be watched there"),
        ("", "freertos/ibex2@rtl", "no `timer`"),
        ("", "freertos/microbit@emulated", "instrument `counter`"),
        ("", "freertos/stm32f4@emulated", "no `timer`"),
        ("", "rtic/ibex@rtl", "in Rust"),
        ("", "posix/linux@host", "no `timer`"),
    ],
)
def test_what_no_timer_can_try_is_refused(
    option: str, target: str, why: str, tmp_path: Path
) -> None:
    asked = [GIVE, "--target", target, *BY_TIMER, "--output", str(tmp_path)]
    answer = kadenz("worst", *asked, *option.split())
    assert isinstance(answer.exception, UsageError)
    assert why in answer.exception.message and answer.exception.remedy


def test_an_image_of_another_build_arms_no_timer(tmp_path: Path) -> None:
    image = build_image(parse_target(IBEX), "counter").elf.path
    asked = (GIVE, "--image", str(image), "--target", "ibex@rtl", *BY_TIMER)
    answer = kadenz("worst", *asked, "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError)
    assert "arms no timer" in answer.exception.message
    assert "freertos/ibex@rtl" in answer.exception.remedy


def test_a_board_on_silicon_needs_a_timer_and_no_instrument_to_be_named(tmp_path: Path) -> None:
    target = "freertos/hifive1-revb@board"
    answer = kadenz("worst", GIVE, "--target", target, "--output", str(tmp_path))
    assert isinstance(answer.exception, UsageError)
    assert "no `timer` in its board.toml" in answer.exception.message


@pytest.mark.parametrize(
    "bench, why",
    [
        ("irq/to-handler", "it uses the interrupt itself"),
        ("micro/preemption", "several lanes"),
    ],
)
def test_a_service_that_cannot_have_them_is_not_applicable(
    bench: str, why: str, tmp_path: Path
) -> None:
    (run,) = worst(tmp_path, bench, "--target", IBEX, *BY_TIMER)
    record = record_of(run, bench)
    assert record.status == "n/a" and why in record.reason
    assert record.raised is None


def test_too_few_samples_name_the_step_that_suffices(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(arrivals, "FURTHER", 400)
    asked = ("worst", GIVE, *WAITER, "--target", IBEX, *BY_TIMER, "--output", str(tmp_path))
    answer = kadenz(*asked)
    record = record_of(find_runs([tmp_path])[0], GIVE)
    assert answer.return_value == EXIT_FAILED and record.status == "invalid"
    step = record.reason.rpartition("--step ")[2]
    assert kadenz(*asked, "--step", step).return_value == 0
