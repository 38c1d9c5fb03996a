# SPDX-License-Identifier: Apache-2.0
"""`kadenz budget`: exit codes, JSON, Markdown, and the set as a workload on an emulated board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli.budget import budget
from kadenz.config.params import Params
from kadenz.errors import KadenzError, UsageError
from tests.analysis.test_blocking import BOUND, LEAST, TRIED, Tried, tried_run
from tests.analysis.test_budget import RESOURCE, SET, counts, overhead_points, run_of
from tests.synthetic import Point

TIGHT = SET.replace('deadline = "9 ms"', 'deadline = "1 ms"')


def call(folder: Path, *options: str | Path, text: str = SET) -> Result:
    """`kadenz budget FILE OPTIONS…` with a run of overheads."""
    (folder / "set.toml").write_text(text)
    run = run_of(folder / "runs", overhead_points()) if not (folder / "runs").is_dir() else None
    path = run.path if run else next((folder / "runs").iterdir())
    arguments = [str(folder / "set.toml"), str(path), *map(str, options)]
    return CliRunner().invoke(budget, arguments, standalone_mode=False)


def test_a_schedulable_set_passes_and_is_explained(tmp_path: Path) -> None:
    result = call(tmp_path, "--markdown", tmp_path / "budget.md")
    assert result.return_value == 0, result.output
    assert "every deadline is met" in result.output
    assert "breaks first: period of fast, at 2,000,000" in result.output
    page = (tmp_path / "budget.md").read_text()
    assert page.startswith("# two\n")
    assert "| fast | 1,000,000 | 4,000,000 | 4,000,000 | 192 |" in page


def test_a_set_that_may_be_late_ends_with_1(tmp_path: Path) -> None:
    result = call(tmp_path, text=TIGHT.replace("0.5 kernel ticks", "0.9999 kernel ticks"))
    assert result.return_value == 1
    assert "not schedulable: slow" in result.output


def test_an_undecided_set_ends_with_4_until_its_remedy_is_followed(tmp_path: Path) -> None:
    text = SET + RESOURCE
    result = call(tmp_path, text=text)
    assert result.return_value == 4
    assert "undecided for fast: the blocking may be longer than 192 instructions" in result.output
    assert "emulated: every deadline is met" not in result.output
    report = json.loads(call(tmp_path, "--json", text=text).stdout)
    assert report["schedulable"] is None
    assert report["undecided"].startswith("its tasks lock resources")
    by_hand = text.replace("[[task]]", '[overheads]\nblocking = "900 instructions"\n[[task]]', 1)
    assert call(tmp_path, text=by_hand).return_value == 0
    late = TIGHT.replace("0.5 kernel ticks", "0.9999 kernel ticks") + RESOURCE
    assert call(tmp_path, text=late).return_value == 1


def test_either_end_of_the_interval_is_taken_by_its_name(tmp_path: Path) -> None:
    """The bound decides; what was tried does not; what no RUN has is a usage error."""
    service = Tried([LEAST, TRIED], BOUND)
    run = tried_run(tmp_path / "bounded", {"critical/semaphore-give": service})
    answers = {
        basis: call(tmp_path, run.path, "--blocking", basis)
        for basis in ("bound", "tried", "section")
    }
    assert [answer.return_value for answer in answers.values()] == [0, 4, None]
    assert isinstance(answers["section"].exception, UsageError)
    assert "premise: one interrupt comes in a service" in answers["bound"].output
    page = tmp_path / "budget.md"
    assert call(tmp_path, run.path, "--markdown", page).return_value == 0
    assert "| fast | 1,000,000 | 4,000,000 | 4,000,000 | 1,038 | bound |" in page.read_text()


def test_json_has_every_figure(tmp_path: Path) -> None:
    report = json.loads(call(tmp_path, "--json").stdout)
    assert report["schedulable"] is True
    assert report["unit"] == "instructions"
    fast, slow = report["tasks"]
    assert fast["margin"] == fast["deadline"] - fast["bound"] > 0
    assert slow["period_kernel_ticks"] == 10
    assert report["overheads"]["blocking"] == {
        "value": 192,
        "source": "interference/blocking tasks=6",
        "basis": "sleep",
        "premises": ["tasks call no service of the kernel but their sleep"],
    }
    assert (fast["basis"], slow["basis"]) == ("sleep", None)
    assert report["breaks_first"] in {change["what"] for change in report["changes"]}


def test_an_unknown_run_and_a_wrong_file_are_usage_errors(tmp_path: Path) -> None:
    wrong = call(tmp_path, text=SET.replace('"4 ms"', '"4"'))
    assert isinstance(wrong.exception, KadenzError)
    assert wrong.exception.exit_code == 2
    missing = CliRunner().invoke(
        budget, [str(tmp_path / "set.toml"), str(tmp_path / "nothing")], standalone_mode=False
    )
    assert isinstance(missing.exception, KadenzError)
    assert missing.exception.exit_code == 2


def test_an_observed_response_above_its_bound_is_an_error(tmp_path: Path) -> None:
    params: Params = {key: 0 for n in range(1, 7) for key in (f"period{n}_ticks", f"work{n}")}
    params |= {"period1_ticks": 4, "work1": 1_000_000, "period2_ticks": 10, "work2": 500_000}
    lanes = {"all": counts(1_100_000), "all:task": counts(1), "all:job": counts(3)}
    run = run_of(tmp_path / "observed", [Point("workload/taskset", lanes, params)])
    result = call(tmp_path, run.path)
    assert isinstance(result.exception, KadenzError)
    assert result.exception.exit_code == 1
    assert "observed above the bound: fast" in result.exception.message
    assert "job 3 took 1,100,000 instructions, above the bound" in result.output


@pytest.mark.counted
def test_the_set_runs_as_a_workload_beside_its_bounds(tmp_path: Path) -> None:
    options = ["--target", "freertos/stm32f4@emulated", "--output", str(tmp_path / "new"), "--json"]
    result = call(tmp_path, *options)
    assert result.return_value == 0, result.output
    fast, slow = json.loads(result.output[result.output.index("{\n") :])["tasks"]
    assert (fast["observed"]["jobs"], slow["observed"]["jobs"]) == (5, 2)
    assert fast["execution"] < fast["observed"]["most"] <= fast["bound"]
    # The slow task waits for one job of the fast one.
    assert 1_500_000 < slow["observed"]["most"] <= slow["bound"]


def test_a_set_that_the_workload_cannot_carry_is_refused(tmp_path: Path) -> None:
    task = '[[task]]\nname = "t{}"\nperiod = "{} ms"\nexecution = "1000 instructions"\n'
    seven = 'name = "seven"\n' + "".join(task.format(n, n + 5) for n in range(7))
    (tmp_path / "runs").mkdir()
    points = overhead_points(tasks=8)
    run_of(tmp_path / "runs", points)
    result = call(tmp_path, "--target", "freertos/stm32f4@emulated", text=seven)
    assert isinstance(result.exception, UsageError)
    assert "7 tasks, and workload/taskset runs up to 6" in result.exception.message
