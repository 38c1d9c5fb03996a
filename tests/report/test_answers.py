# SPDX-License-Identifier: Apache-2.0
"""The page opens with the answer that the data give, on runs with known differences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.answers import MOST_PAIRS, answer
from kadenz.cli import cli
from kadenz.cli.run_summary import write_tables
from kadenz.report import labels
from kadenz.report.answers import LONGER, MORE_ROUNDS, MOST_POINTS, Sentence, sentences
from kadenz.store import Run, read_run
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    STM32F4,
    Point,
    board_points,
    manifest,
    under,
    write_run,
)

PERIOD_NS = 1_000_000


def cyclic(
    rng: np.random.Generator, n: int, *, late: float = 0.0, centre: float = 20_000.0
) -> Point:
    """Wake-ups of a 1 ms task; each is independently late with probability `late`."""
    values = centre * rng.lognormal(0.0, 0.1, n)
    values[rng.random(n) < late] += 1.5 * PERIOD_NS
    return Point("cyclic/wakeup-latency", {"core0": values.astype(np.uint32)}, {"period_us": 1000})


def two_loads(folder: Path, points: Sequence[Sequence[Point]]) -> list[Run]:
    """Rounds of two loads; `points[i]` alternate between load none and load disk."""
    runs = []
    for number, (none, disk) in enumerate(points, 1):
        for place, (load, point) in enumerate((("none", none), ("disk", disk)), 1):
            document = msgspec.structs.replace(
                manifest(LINUX, id=f"{number}-{place}-{load}"),
                variant=f"load {load}",
                round=number,
                place=place,
                conditions=under(load=load),
            )
            runs.append(read_run(write_run(folder, document, [point])))
    return runs


def said(runs: Sequence[Run]) -> list[Sentence]:
    results = [analyse(run) for run in runs]
    return sentences(answer(runs, results), labels.variant_names(results))


def test_misses_are_reported_with_their_interval_for_each_variant(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(1)
    rounds = [[cyclic(rng, 6000), cyclic(rng, 6000, late=0.18)] for _ in range(3)]
    first = said(two_loads(tmp_path, rounds))[0]
    assert first.question == "Does it meet its deadline of 1 ms?"
    kept, missed = first.answer.split("; ")
    bound = re.fullmatch(
        r"cyclic/wakeup-latency, every 1 ms: A \(load none\) misses none of 18,000 cycles "
        r"\(at most ([\d.]+) %\)",
        kept,
    )
    assert bound is not None and 0.01 < float(bound[1]) < 0.05
    match = re.fullmatch(
        r"B \(load disk\) misses ([\d.]+) % \[([\d.]+), ([\d.]+)\] of 18,000 cycles\.", missed
    )
    assert match is not None
    value, low, high = map(float, match.groups())
    assert low <= 18.0 <= high and low <= value <= high and high - low < 5.0


def test_a_difference_is_a_factor_with_its_interval(tmp_path: Path) -> None:
    """Every quantile differs by a factor of five; rounds differ by a few percent."""
    rng = np.random.default_rng(2)
    rounds = [
        [
            cyclic(rng, 4000, centre=20_000.0 * rng.lognormal(0.0, 0.02)),
            cyclic(rng, 4000, centre=100_000.0 * rng.lognormal(0.0, 0.02)),
        ]
        for _ in range(4)
    ]
    sentence = said(two_loads(tmp_path, rounds))[-1]
    assert sentence.question == "Which is faster, A (load none) or B (load disk)?"
    for statistic in ("p99", "median"):
        factor = re.search(rf"A’s {statistic} is ([\d.]+) ± ([\d.]+) times lower", sentence.answer)
        assert factor is not None, sentence.answer
        value, far = map(float, factor.groups())
        assert abs(value - 5.0) <= far < 1.0
    assert "undecided" not in sentence.answer and MORE_ROUNDS not in sentence.answer


def test_the_faster_variant_is_named_on_either_side(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rounds = [[cyclic(rng, 4000, centre=30_000.0), cyclic(rng, 4000)] for _ in range(4)]
    assert "B’s p99 is 3" in said(two_loads(tmp_path, rounds))[-1].answer.replace("33 %", "3")


def test_an_undecided_question_comes_with_a_remedy(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rounds = [
        [
            cyclic(rng, 2000, centre=20_000.0 * rng.lognormal(0.0, 0.5)),
            cyclic(rng, 2000, centre=20_000.0 * rng.lognormal(0.0, 0.5)),
        ]
        for _ in range(2)
    ]
    text = said(two_loads(tmp_path, rounds))[-1].answer
    assert "p99 undecided" in text and "median undecided" in text
    assert text.endswith(MORE_ROUNDS) and "lower" not in text


def test_a_target_that_repeats_itself_is_not_asked_for_more_rounds(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    runs = []
    for word in ("pinned", "edited"):
        document = msgspec.structs.replace(manifest(STM32F4, id=word), variant=f"kernel {word}")
        values = rng.integers(1_000, 2_000, 40).astype(np.uint32)
        point = Point("itc/queue", {"all": values}, {"size_bytes": 4})
        runs.append(read_run(write_run(tmp_path, document, [point])))
    text = " ".join(sentence.answer for sentence in said(runs))
    assert "undecided" in text and LONGER in text and MORE_ROUNDS not in text


def test_too_few_misses_for_an_interval_are_reported(tmp_path: Path) -> None:
    """A burst counts as one occasion, whatever its length."""
    rng = np.random.default_rng(5)
    burst = cyclic(rng, 5000)
    burst.lanes["core0"][1000:1100] += np.uint32(2 * PERIOD_NS)
    text = said(two_loads(tmp_path, [[cyclic(rng, 5000), burst]]))[0].answer
    assert "B (load disk) misses 2.0 % of 5,000 cycles" in text
    assert "the long-run rate is undecided" in text


def test_systems_of_two_units_are_not_compared_in_pairs(tmp_path: Path) -> None:
    """Two instruction sets, and two clock classes: they are groups of the table."""
    rng = np.random.default_rng(6)
    runs = [
        read_run(write_run(tmp_path, manifest(target), board_points(rng, 200)))
        for target in (HIFIVE1, STM32F4, LINUX)
    ]
    results = [analyse(run) for run in runs]
    of = answer(runs, results)
    assert of.pairs == () and [group.members for group in of.groups] == [(0,), (1,), (2,)]
    text = " ".join(sentence.answer for sentence in sentences(of, labels.variant_names(results)))
    assert "verdict" not in text and "lower" not in text and "faster" not in text


def test_many_points_are_counted_each_benchmark_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    runs = []
    for word, factor in (("pinned", 1.0), ("edited", 4.0)):
        points = [
            Point(
                "itc/queue",
                {"all": (factor * 5000.0 * rng.lognormal(0.0, 0.1, 3000)).astype(np.uint32)},
                {"size_bytes": size},
            )
            for size in (4, 64, 256, 512)
        ]
        document = msgspec.structs.replace(manifest(STM32F4, id=word), variant=f"kernel {word}")
        runs.append(read_run(write_run(tmp_path, document, points)))
    results = [analyse(run) for run in runs]
    of = answer(runs, results)
    (pair,) = of.pairs
    text = sentences(of, labels.variant_names(results))[-1].answer
    assert len(pair.points) == 8 and pair.benchmarks() == {"itc/queue": "worse"}
    assert text == (
        "By the medians of 1 benchmark: B takes fewer instructions at 0, A at 1, 0 equal within "
        "5 %, 0 undecided."
    )


def test_points_of_one_benchmark_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    """Both have the period, and one of them has its thread on any core."""
    rng = np.random.default_rng(12)
    points = [
        Point(point.bench, point.lanes, {**point.params, "migrate": where, "rank": 8})
        for where in ("watch", "move")
        for point in [cyclic(rng, 3000)]
    ]
    run = read_run(write_run(tmp_path, manifest(LINUX), points))
    text = said([run])[0].answer
    assert "cyclic/wakeup-latency, every 1 ms, cores watched: it" in text
    assert "cyclic/wakeup-latency, every 1 ms, moved: it" in text


def test_a_single_run_answers_only_its_deadline(tmp_path: Path) -> None:
    run = read_run(
        write_run(tmp_path, manifest(LINUX), [cyclic(np.random.default_rng(9), 3000, late=0.05)])
    )
    answers = said([run])
    assert len(answers) == 1 and ": it misses 5" in answers[0].answer


def test_met_periods_are_counted_without_a_sentence_each(tmp_path: Path) -> None:
    points = board_points(np.random.default_rng(10), 100)
    answers = said([read_run(write_run(tmp_path / "a", manifest(LINUX), points))])
    assert len(answers) <= MOST_POINTS
    assert "met their periods in all" in answers[-1].answer
    # Counted instructions keep no time: there is nothing to say.
    assert said([read_run(write_run(tmp_path / "b", manifest(STM32F4), points))]) == []


def test_the_page_opens_with_the_sentences(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    rounds = [[cyclic(rng, 3000), cyclic(rng, 3000, late=0.1)] for _ in range(2)]
    two_loads(tmp_path / "runs", rounds)
    file = tmp_path / "report.html"
    result = CliRunner().invoke(
        cli, ["report", str(tmp_path / "runs"), "--output", str(file)], standalone_mode=False
    )
    assert result.exception is None
    text = file.read_text()
    places = [
        text.index(sentence)
        for sentence in (
            "Does it meet its deadline of 1 ms?",
            "B (load disk) misses 1",
            "Which is faster, A (load none) or B (load disk)?",
            '<ul class="legend"',
            '<figure class="over">',
            "At a glance",
        )
    ]
    assert places == sorted(places)


def test_run_with_several_variants_ends_with_the_same_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(12)
    runs = two_loads(tmp_path, [[cyclic(rng, 3000), cyclic(rng, 3000, late=0.1)] for _ in range(2)])
    write_tables([run.path for run in runs])
    printed = " ".join(capsys.readouterr().out.split())
    for sentence in said(runs):
        assert f"{sentence.question} {sentence.answer}" in printed
    write_tables([runs[0].path])
    assert "Which is faster" not in capsys.readouterr().out


def test_compare_ends_with_the_sentence_of_the_report(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    runs = two_loads(
        tmp_path, [[cyclic(rng, 3000), cyclic(rng, 3000, centre=90_000.0)] for _ in range(3)]
    )
    result = CliRunner().invoke(
        cli, ["compare", str(tmp_path), "--threshold", "5%"], standalone_mode=False
    )
    assert result.exception is None and result.return_value == 3
    printed = " ".join(result.stdout.split())
    report = said(runs)[-1].answer
    assert report in printed and "Which is faster, A or B?" in printed


def test_the_first_few_variants_are_compared_with_the_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(14)
    runs = []
    for number in range(MOST_PAIRS + 3):
        document = manifest(LINUX, id=f"{number}")
        document.conditions = under(load=f"load{number}")
        runs.append(read_run(write_run(tmp_path, document, [cyclic(rng, 300)])))
    answers = said(runs)
    assert sum("Which is faster" in sentence.question for sentence in answers) == MOST_PAIRS
    assert answers[-1].answer == "2 more variants: name two to kadenz compare."
