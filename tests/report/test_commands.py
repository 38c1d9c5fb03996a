# SPDX-License-Identifier: Apache-2.0
"""show, report, compare and export as a user calls them: output, errors, exit codes."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.config.params import Params
from kadenz.errors import KadenzError, StoreError, UsageError
from kadenz.store import read_run
from tests.synthetic import (
    HIFIVE1,
    LINUX,
    Point,
    board_points,
    linux_points,
    manifest,
    nanoseconds,
    write_run,
)


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(a) for a in arguments], standalone_mode=False)


def answer(*arguments: str | Path) -> str:
    result = call(*arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    return write_run(folder, manifest(HIFIVE1), board_points(np.random.default_rng(1), 120))


@pytest.fixture(scope="module")
def linux(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linux")
    return write_run(folder, manifest(LINUX), linux_points(np.random.default_rng(1), 200))


def mutex(folder: Path, centre: float, seed: int, n: int = 4000) -> Path:
    values = nanoseconds(centre, n, np.random.default_rng(seed))
    return write_run(folder, manifest(LINUX), [Point("itc/mutex", {"all": values})])


# ---- show --------------------------------------------------------------------------------------


def test_show_prints_figures_with_unit_class_and_status(board: Path) -> None:
    text = answer("show", board)
    queue = next(line for line in text.splitlines() if "60 bytes" in line and "itc/queue" in line)
    assert "1,026" in queue and "instructions" in queue and "ok" in queue
    assert "n/a: no pipes here" in text
    assert "class instruction" in text and "not subtracted" in text


def test_show_reports_misses(linux: Path) -> None:
    text = " ".join(answer("show", linux).split())
    assert "all 2 lanes: 7 of 1,996 missed 1,000 µs (period), 0.351 %" in text


def test_show_as_json_contains_every_record(board: Path, linux: Path) -> None:
    runs = json.loads(answer("show", "--json", board, linux))["runs"]
    assert [run["clock_class"] for run in runs] == ["instruction", "hosted"]
    assert len(runs[0]["records"]) == len(read_run(board).manifest.records)
    assert runs[0]["sweeps"][0]["per_byte"] == pytest.approx(2.1, rel=0.01)


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no run"):
        answer("show", tmp_path)
    with pytest.raises(UsageError, match="nowhere"):
        answer("show", tmp_path / "nowhere")


def test_a_folder_stands_for_all_runs_in_it_also_those_of_rounds(
    board: Path, linux: Path, tmp_path: Path
) -> None:
    rounds = tmp_path / "runs" / "20261126-120000-rounds"
    shutil.copytree(board, rounds / "one")
    assert len(json.loads(answer("show", "--json", tmp_path / "runs"))["runs"]) == 1
    shutil.copytree(linux, tmp_path / "runs" / "two")
    assert len(json.loads(answer("show", "--json", tmp_path / "runs"))["runs"]) == 2


# ---- report ------------------------------------------------------------------------------------


def test_report_writes_one_small_page_and_its_parts(
    board: Path, linux: Path, tmp_path: Path
) -> None:
    out = tmp_path / "r.html"
    text = answer(
        "report", board, linux, "--output", out, "--figures", tmp_path / "f", "--tables", tmp_path
    )
    assert f"{out}: 2 runs" in text
    assert 50_000 < out.stat().st_size < 1_000_000
    assert len(list((tmp_path / "f").glob("*.svg"))) > 10
    assert (tmp_path / "tables.md").exists() and (tmp_path / "results-itc-queue.csv").exists()


def test_report_into_a_folder_of_runs(board: Path, tmp_path: Path) -> None:
    answer("report", board.parent, "--output", tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()


def test_a_report_that_cannot_be_written_says_so(board: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        answer("report", board, "--output", tmp_path / "file" / "r.html")


def test_a_damaged_run_is_an_error_and_not_a_report(linux: Path, tmp_path: Path) -> None:
    copy = write_run(tmp_path, manifest(LINUX), linux_points(np.random.default_rng(1), 60))
    next((copy / "samples").iterdir()).unlink()
    with pytest.raises(StoreError, match="No such file"):
        answer("report", copy, "--output", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


# The machine's spread between runs; without it, one run per side decides nothing.
SPREAD = "--between-runs=0.1%"


# ---- compare -----------------------------------------------------------------------------------


def test_compare_passes_when_nothing_got_worse(tmp_path: Path) -> None:
    result = call(
        "compare", mutex(tmp_path, 3000, 1), mutex(tmp_path, 3000, 2), "--threshold=20%", SPREAD
    )
    assert result.return_value == 0, result.output
    assert (
        "no difference within 20 %" in result.output
        and "configurations are the same" in result.output
    )


def test_compare_fails_on_a_regression(tmp_path: Path) -> None:
    result = call("compare", mutex(tmp_path, 3000, 1), mutex(tmp_path, 4000, 2), SPREAD)
    assert result.return_value == 3
    assert "worse" in result.output


def test_compare_reports_an_undecided_difference(tmp_path: Path) -> None:
    result = call("compare", mutex(tmp_path, 3000, 1, 60), mutex(tmp_path, 3050, 2, 60))
    assert result.return_value == 4
    assert "inconclusive" in result.output


def test_compare_shows_differing_configurations_first(tmp_path: Path) -> None:
    values = {"all": nanoseconds(3000, 500, np.random.default_rng(1))}
    left, right = (
        write_run(
            tmp_path, manifest(LINUX, settings={"asserts": word}), [Point("itc/mutex", values)]
        )
        for word in ("on", "off")
    )
    text = call("compare", left, right).output
    assert 0 < text.index("setting: asserts") < text.index("itc/mutex")


def test_compare_shows_two_clock_classes_side_by_side(board: Path, linux: Path) -> None:
    result = call("compare", board, linux, "--json")
    points = json.loads(result.stdout)["points"]
    assert result.return_value == 4
    assert {p["outcome"] for p in points} == {"not-comparable"}
    assert all("change" not in p and p["units"] == ["instructions", "us"] for p in points)


def test_the_summary_counts_every_outcome(tmp_path: Path) -> None:
    def side(slow: int, noted: bool) -> Path:
        values = np.full(500, 100, np.uint32)
        points = [
            Point("clock/read-cost", {"all": values}),
            Point("cyclic/wakeup-latency", {"all": values + np.uint32(slow)}),
            Point("itc/mutex", {"all": values + np.uint32(slow)}),
            Point("itc/pipe", {"all": values - np.uint32(slow)}),
            Point("itc/queue", {"all": values}),
        ]
        document = manifest(HIFIVE1)
        if noted:
            document.benchmark_notes = {"cyclic/wakeup-latency": "the timer's grid"}
        return write_run(tmp_path, document, points)

    sides = [side(slow, True) for slow in (0, 50)]
    result = call("compare", *sides, "--statistic", "median")
    assert result.return_value == 3
    text = " ".join(result.output.split())
    assert "5 comparisons at 5 %: 1 better, 1 worse, 1 equal, 0 undecided, 2 not judged" in text
    assert "note cyclic/wakeup-latency: the timer's grid" in text
    counts = json.loads(call("compare", *sides, "--statistic", "median", "--json").stdout)["counts"]
    assert (counts["better"], counts["worse"], counts["not judged"]) == (1, 1, 2)


def test_show_marks_a_figure_that_carries_a_note(tmp_path: Path) -> None:
    document = manifest(HIFIVE1)
    document.benchmark_notes = {"cyclic/wakeup-latency": "the timer's grid"}
    values = np.full(500, 100, np.uint32)
    points = [Point(name, {"all": values}) for name in ("cyclic/wakeup-latency", "itc/mutex")]
    lines = call("show", write_run(tmp_path, document, points)).output.splitlines()
    marked = [line for line in lines if "see the warning above" in line]
    assert len(marked) == 1 and "itc/mutex" not in marked[0]


def test_compare_takes_several_runs_a_side(tmp_path: Path) -> None:
    for side, seeds in (("a", (1, 2, 3)), ("b", (4, 5))):
        for seed in seeds:
            mutex(tmp_path / side, 3000, seed)
    extra = mutex(tmp_path, 3000, 6)
    comparison = json.loads(
        call("compare", tmp_path / "a", tmp_path / "b", "--candidate", extra, "--json").stdout
    )
    assert comparison["points"][0]["runs"] == [3, 3]


@pytest.mark.parametrize(("option", "value"), [("--threshold", "much"), ("--statistic", "average")])
def test_compare_explains_options_it_does_not_know(linux: Path, option: str, value: str) -> None:
    with pytest.raises(UsageError, match=value):
        answer("compare", linux, linux, option, value)


# ---- export ------------------------------------------------------------------------------------


def test_csv_contains_every_sample_in_ticks_and_in_its_unit(linux: Path, tmp_path: Path) -> None:
    answer("export", linux, "--output", tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    run = read_run(linux)
    first = run.manifest.records[0]
    samples = run.samples(first)
    of_first = [row for row in rows if row["record"] == str(first.id)]
    assert [int(row["value_ticks"]) for row in of_first] == samples.tolist()
    assert [float(row["value_us"]) for row in of_first] == pytest.approx(samples / 1000)
    assert [row["cold"] for row in of_first].count("true") == first.cold
    assert of_first[0]["size_bytes"] == "4" and of_first[-1]["index"] == str(samples.size - 1)
    assert len(rows) == sum(lane.taken for r in run.manifest.records for lane in r.lanes)


def test_parquet_and_csv_contain_the_same(linux: Path, tmp_path: Path) -> None:
    answer("export", linux, "--output", tmp_path / "s.csv")
    answer("export", linux, "--format", "parquet", "--output", tmp_path / "s.parquet")
    table = pq.read_table(tmp_path / "s.parquet")
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.column_names == list(rows[0])
    assert table.num_rows == len(rows)
    for name in ("value_ticks", "size_bytes", "index"):
        read = ["" if v is None else str(v) for v in table.column(name).to_pylist()]
        assert read == [row[name] for row in rows]
    assert table.column("bench").to_pylist() == [row["bench"] for row in rows]


# What a parameter may be in the records of one run, and its column.
WORDS_AND_NUMBERS: dict[str, tuple[list[Params], list[int | str | None]]] = {
    "numbers": ([{"p": 4}, {"p": 60}], [4, 60]),
    "words": ([{"p": "fifo"}, {"p": "deadline"}], ["fifo", "deadline"]),
    "the same word": ([{"p": "fifo", "n": 1}, {"p": "fifo", "n": 2}], ["fifo", "fifo"]),
    "a number, then a word": ([{"p": 1000}, {"p": "deadline"}], ["1000", "deadline"]),
    "a word, then a number": ([{"p": "deadline"}, {"p": -1}], ["deadline", "-1"]),
    "nothing, then a word": ([{}, {"p": "deadline"}], [None, "deadline"]),
    "a number, then nothing": ([{"p": 7}, {}], [7, None]),
    "all": ([{"p": 7}, {}, {"p": "fifo"}], ["7", None, "fifo"]),
}


@pytest.mark.parametrize("case", WORDS_AND_NUMBERS)
@pytest.mark.parametrize("summary", [(), ("--summary",)], ids=["samples", "summary"])
def test_a_parameter_is_a_number_or_a_word_in_every_format(
    case: str, summary: tuple[str, ...], tmp_path: Path
) -> None:
    params, column = WORDS_AND_NUMBERS[case]
    values = np.arange(100, 103, dtype=np.uint32)
    points = [Point("itc/queue", {"all": values}, point_params) for point_params in params]
    run = write_run(tmp_path, manifest(LINUX), points)
    for kind in ("csv", "json", "parquet"):
        answer("export", run, *summary, "--output", tmp_path / f"s.{kind}")
    table = pq.read_table(tmp_path / "s.parquet")
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    each = 1 if summary else 3
    assert table.column("p").to_pylist() == [value for value in column for _ in range(each)]
    assert [row["p"] or None for row in rows] == [
        None if value is None else str(value) for value in column for _ in range(each)
    ]
    (document,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    series = document["records" if summary else "series"]
    assert [entry["params"] for entry in series] == params  # as they were: words stay words


def test_json_contains_every_series(board: Path) -> None:
    (exported,) = json.loads(answer("export", board, "--format", "json"))["runs"]
    run = read_run(board)
    assert exported["clock_class"] == "instruction"
    assert exported["series"][0]["values_ticks"] == run.samples(run.manifest.records[0]).tolist()
    assert {series["unit"] for series in exported["series"]} == {"instructions"}


def test_each_unit_has_its_own_column(tmp_path: Path) -> None:
    points = [
        Point("a/ticks", {"all": np.array([1, 2, 3], np.uint32)}),
        Point("a/angle", {"all": np.array([0.5, -0.25])}, unit="deg"),
    ]
    folder = write_run(tmp_path, manifest(HIFIVE1), points)
    rows = list(csv.DictReader(answer("export", folder).splitlines()))
    values = [(row["value_ticks"], row["value_instructions"], row["value_deg"]) for row in rows]
    assert values == [
        ("1", "1", ""),
        ("2", "2", ""),
        ("3", "3", ""),
        ("", "", "0.5"),
        ("", "", "-0.25"),
    ]


def test_a_summary_has_one_row_per_lane(linux: Path) -> None:
    rows = list(csv.DictReader(answer("export", linux, "--summary").splitlines()))
    records = read_run(linux).manifest.records
    assert len(rows) == sum(len(record.lanes) for record in records)
    assert {row["unit"] for row in rows} == {"us"}
    assert all(float(row["median"]) > 0 for row in rows)


def test_several_runs_are_one_table(linux: Path, board: Path, tmp_path: Path) -> None:
    whole = {folder: read_run(folder).manifest for folder in (linux, board)}
    for kind in ("csv", "json", "parquet"):
        answer("export", linux, board, "--output", tmp_path / f"s.{kind}")
    table = pq.read_table(tmp_path / "s.parquet")
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.column_names == list(rows[0])
    assert {"value_us", "value_instructions"} <= {*rows[0]}
    assert table.column("run").to_pylist() == [row["run"] for row in rows]
    taken = [lane.taken for m in whole.values() for r in m.records for lane in r.lanes]
    assert len(rows) == sum(taken)
    document = json.loads((tmp_path / "s.json").read_text())
    assert [entry["run"] for entry in document["runs"]] == [entry.id for entry in whole.values()]
    for folder, entry in whole.items():
        answer("export", folder, "--output", tmp_path / "one.csv")
        with (tmp_path / "one.csv").open(encoding="utf-8", newline="") as file:
            alone = list(csv.DictReader(file))
        of_run = [row for row in rows if row["run"] == entry.id]
        assert [{name: row[name] for name in alone[0]} for row in of_run] == alone
        assert {row[name] for row in of_run for name in {*rows[0]} - {*alone[0]}} <= {""}
    figures = list(csv.DictReader(answer("export", linux, board, "--summary").splitlines()))
    assert {row["run"]: row["target"] for row in figures} == {
        entry.id: entry.target.name for entry in whole.values()
    }


def test_parquet_without_a_file_is_refused(linux: Path) -> None:
    with pytest.raises(UsageError, match="parquet is a binary format"):
        answer("export", linux, "--format", "parquet")


def test_the_file_suffix_chooses_the_format(linux: Path, tmp_path: Path) -> None:
    answer("export", linux, "--output", tmp_path / "s.parquet")
    answer("export", linux, "--output", tmp_path / "s.JSON")
    answer("export", linux, "--output", tmp_path / "s.txt", "--format", "csv")
    assert (tmp_path / "s.parquet").read_bytes()[:4] == b"PAR1"
    assert json.loads((tmp_path / "s.JSON").read_text())["runs"]
    assert (tmp_path / "s.txt").read_text().startswith("run,target,")
    with pytest.raises(UsageError, match=r"the format is unclear.*\.csv, \.json or \.parquet"):
        answer("export", linux, "--output", tmp_path / "s.xlsx")
    assert not (tmp_path / "s.xlsx").exists()


def test_export_to_an_unwritable_path_is_an_error(linux: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for kind in ("csv", "parquet"):
        with pytest.raises(KadenzError, match="cannot be written"):
            answer("export", linux, "--format", kind, "--output", tmp_path / "file" / "x")
