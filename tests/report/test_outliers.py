# SPDX-License-Identifier: Apache-2.0
"""The worst samples in the terminal, as JSON and in the report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kadenz.analysis import analyse
from kadenz.analysis.kept_traces import kept_traces
from kadenz.analysis.outliers import sentences
from kadenz.cli import cli
from kadenz.errors import UsageError
from kadenz.report import outlier_tables
from kadenz.store import read_run
from tests.analysis.test_outliers import measured
from tests.synthetic import LINUX, Point, linux_points, manifest, write_run

TRACE = Path(__file__).parents[1] / "analysis" / "traces" / "preempted.txt"
MARK = (
    "          cyclic-13387   [001] .....   796.460345: tracing_mark_write: "
    "kadenz lane=core0 cycle=10 latency_ns=3424206\n"
)


def show(*arguments: str | Path, columns: int = 80) -> str:
    result = CliRunner().invoke(
        cli, ["show", *map(str, arguments)], standalone_mode=False, env={"COLUMNS": str(columns)}
    )
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a known cause, and the trace of a wake-up delayed by a thread."""
    folder = measured(tmp_path_factory.mktemp("run")).path
    shutil.copy(TRACE, folder / "trace.txt")
    with (folder / "trace.txt").open("a") as file:
        file.write(MARK)
    return folder


def test_the_common_cause_is_shown_below_the_maxima(run: Path) -> None:
    text = show(run, "--outliers", columns=200)
    assert "20 of 20 of the worst 0.1 % had an involuntary context switch; 0.4" in text
    assert text.index("1,568") < text.index("20 of 20")
    assert "CPU 0, 1 involuntary context switch" in text
    assert "Left out: cpu (0 at every sample)." in text


def test_a_kept_trace_names_the_thread(run: Path) -> None:
    text = show(run, "--outliers", columns=300)
    assert "trace.txt: core0, cycle 10: of the 3,424 µs" in text
    assert "went to the thread planted hog (pid 13428)" in text


def test_a_trace_without_a_mark_belongs_to_the_largest_sample(tmp_path: Path) -> None:
    shutil.copy(TRACE, tmp_path / "trace.txt")
    (trace,) = kept_traces(tmp_path, 3.4e-3)
    assert trace.blame is not None and trace.blame.culprit is not None
    assert trace.blame.culprit.name == "planted hog"
    assert trace.blame.ran - trace.blame.due == pytest.approx(3.4e-3)


def test_a_trace_that_shows_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text("# tracer: nop\n")
    (trace,) = kept_traces(tmp_path, None)
    assert "does not show" in trace.sentence


def test_json_contains_maxima_factors_and_traces(run: Path) -> None:
    (answer,) = json.loads(show("--json", run))["runs"]
    (lane,) = answer["outliers"]
    assert (lane["worst_n"], lane["n"], lane["lane"]) == (20, 19_995, "core0")
    assert lane["factors"][0]["name"] == "involuntary-switches"
    assert lane["factors"][0]["in_common"] is True
    assert lane["maxima"][0]["beside"]["cpu"] == 0
    assert answer["traces"][0]["occupants"][0]["name"] == "planted hog"


def test_the_share_of_the_worst_can_be_chosen(run: Path) -> None:
    assert "of 200 of the worst 1 %" in show(run, "--outliers", "--worst", "1%", columns=200)
    with pytest.raises(UsageError, match="not a percentage"):
        show(run, "--outliers", "--worst", "half")


def test_the_report_lists_events_with_yes_and_no(run: Path) -> None:
    named = [("this", analyse(read_run(run)))]
    table = outlier_tables.common("cyclic/wakeup-latency", named)
    assert table is not None
    answers = {row[3].text: row[4].text for row in table.rows}
    assert answers.pop("had an involuntary context switch") == "yes"
    assert len(answers) >= 3 and set(answers.values()) == {"no"}
    assert any("planted hog" in note for note in table.notes)
    maxima = outlier_tables.maxima("cyclic/wakeup-latency", named)
    assert maxima is not None and len(maxima.rows) == 10


def test_benchmarks_without_companions_have_no_such_table(tmp_path: Path) -> None:
    points = linux_points(np.random.default_rng(3), 300)
    named = [("this", analyse(read_run(write_run(tmp_path, manifest(LINUX), points))))]
    assert outlier_tables.common("itc/mutex", named) is None
    assert outlier_tables.maxima("itc/mutex", named) is None


def test_the_lanes_of_a_run_share_its_false_alarms(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    lanes = {f"core{core}": rng.integers(1000, 2000, 2000).astype(np.uint32) for core in range(8)}
    result = analyse(read_run(write_run(tmp_path, manifest(LINUX), [Point("cyclic/x", lanes)])))
    for lane in result.records[0].lanes:
        assert lane.outliers is not None and lane.outliers.causes is not None
        assert lane.outliers.causes.limit == pytest.approx(0.8 * 0.05 / 8)
        assert lane.outliers.causes.smallest_p < lane.outliers.causes.limit / 3


def test_too_few_samples_for_the_number_of_series_are_not_reported_as_clean(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    lanes = {f"core{core}": rng.integers(0, 10**6, 210).astype(np.uint32) for core in range(40)}
    result = analyse(read_run(write_run(tmp_path, manifest(LINUX), [Point("cyclic/x", lanes)])))
    outliers = result.records[0].lanes[0].outliers
    assert outliers is not None
    assert sentences(outliers)[0].startswith("undecided: 210 samples")
