# SPDX-License-Identifier: Apache-2.0
"""The YAML of docs/how-to/gate-in-ci.md: valid, and its shell steps followed in order.

A pull request before the main branch has a baseline, the main branch, and a pull request after it.
tests/setup has the steps with an installed wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.ci import ACTION, JOB, action, blocks, cached, inputs_of, pipeline, read, workflow
from tests.docs.pages import ROOT

QUICK = "itc/queue --quick --target freertos/stm32f4@emulated"
LIMIT = "itc/queue max < 2000 instructions"


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        (ACTION, "vendor.github-actions"),
        (JOB, "vendor.gitlab-ci"),
        ("0", "vendor.github-workflows"),
        ("1", "vendor.gitlab-ci"),
    ],
)
def test_the_files_and_the_page_for_ci_are_valid(name: str, schema: str, tmp_path: Path) -> None:
    """Under the schemas of SchemaStore, which check-jsonschema carries."""
    file = ROOT / name
    if name.isdigit():
        file = tmp_path / "page.yml"
        file.write_text(blocks()[int(name)])
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(
        [*command, "--data-transform", "gitlab-ci"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()


def test_the_page_has_no_other_yaml() -> None:
    assert len(blocks()) == 2


def test_the_workflow_keeps_what_it_reads() -> None:
    jobs = workflow()["jobs"]
    saved, restored = cached(jobs["baseline"], "save"), cached(jobs["gate"], "restore")
    measured, gated = inputs_of(jobs["baseline"]), inputs_of(jobs["gate"])
    assert saved["path"] == restored["path"] == measured["output"]
    assert saved["key"].startswith(restored["restore-keys"])
    assert gated["baseline"] == f"{measured['output']}/runs"
    assert measured["measure"] == gated["measure"] == "${{ env.MEASURE }}"
    assert measured["package"] == gated["package"] and "MEASURE" in workflow()["env"]


def test_the_pipeline_keeps_what_it_reads() -> None:
    job, page = read(JOB)[".kadenz"], pipeline()
    (cache,) = (entry for entry in job["cache"] if "policy" in entry)
    measured, gated = (page[name]["variables"] for name in ("baseline", "gate"))
    assert cache["paths"] == [measured["KADENZ_OUTPUT"]]
    assert gated["KADENZ_BASELINE"] == f"{measured['KADENZ_OUTPUT']}/runs"
    assert (
        cache["policy"] == "$KADENZ_BASELINE_CACHE" and measured["KADENZ_BASELINE_CACHE"] == "push"
    )
    assert job["variables"]["KADENZ_BASELINE_CACHE"] == "pull"
    used = {name for job in page.values() if isinstance(job, dict) for name in job["variables"]}
    assert used <= set(job["variables"])


def shell(folder: Path, lines: str, environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and output of the lines as a CI system runs them, with the kadenz of this test."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    summary = folder / "summary.md"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", lines],
        cwd=folder,
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(summary), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def on_github(folder: Path, job: str) -> tuple[int, str]:
    """The steps of a job of the page's workflow that measure and gate."""
    inputs = inputs_of(workflow()["jobs"][job]) | {"measure": QUICK}
    steps = action(inputs)
    for name in ("Measure", "Gate") if "baseline" in inputs else ("Measure",):
        code, output = shell(folder, *steps[name])
        if code:
            break
    return code, output


def on_gitlab(folder: Path, job: str) -> tuple[int, str]:
    """The script of a job of the page's pipeline."""
    page = pipeline()
    variables = read(JOB)[".kadenz"]["variables"] | page[".timing"]["variables"]
    variables |= page[job]["variables"] | {"KADENZ_MEASURE": QUICK}
    del variables["XDG_CACHE_HOME"]
    lines = "\n".join(read(JOB)[".kadenz"]["script"])
    return shell(folder, lines, {name: str(value) for name, value in variables.items()})


@pytest.mark.counted
@pytest.mark.parametrize("system", [on_github, on_gitlab])
def test_the_first_pull_request_is_undecided_and_the_second_one_decided(
    system: object, tmp_path: Path
) -> None:
    assert callable(system)
    results = tmp_path / "kadenz-results"
    code, output = system(tmp_path, "gate")
    says = f"kadenz run {QUICK} --output baseline/runs"
    assert code == 4 and says in " ".join(output.split()), output
    assert says in (results / "gate.xml").read_text()
    if system is on_github:
        assert says in (tmp_path / "summary.md").read_text()
    results.rename(tmp_path / "first")
    assert system(tmp_path, "baseline")[0] == 0
    assert (tmp_path / "baseline" / "runs").is_dir()
    code, output = system(tmp_path, "gate")
    assert code == 0, output
    assert "inconclusive" not in (results / "gate.xml").read_text()
