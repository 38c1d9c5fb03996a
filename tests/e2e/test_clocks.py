# SPDX-License-Identifier: Apache-2.0
"""A clock that cannot be trusted ends the run with the reason, as kioxia2019 met two of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.tools import require
from tests.e2e.conftest import LINUX, campaign, kadenz, runs_in

REASONS = {
    "step": "the clock steps by 1000: every sample would be 0 or 1000",
    "back": "the clock ran backwards: no time taken by it can be trusted",
}


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("clock") / "clock.so"
    source = Path(__file__).parent / "targets" / "clock.c"
    command = [str(require("gcc")), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    return library


@pytest.mark.parametrize("fault", REASONS)
def test_an_unsound_clock_ends_the_run_with_the_reason(
    fault: str, clock: Path, tmp_path: Path
) -> None:
    file = campaign(tmp_path, {"itc/pipe": 20, "perf/wake": 20, "perf/sleep": 20}, [LINUX])
    answer = kadenz(
        *("run", file, "--allow", "no-realtime", "--output", tmp_path),
        env={"LD_PRELOAD": str(clock), "KDZ_TEST_CLOCK": fault},
    )
    assert answer.returncode == 1
    assert REASONS[fault] in answer.stdout + answer.stderr
    (run,) = runs_in(tmp_path).values()
    by_bench = {record.bench: record for record in run.manifest.records}
    assert by_bench["itc/pipe"].status != "failed"  # measured before, and kept
    assert (by_bench["perf/wake"].status, by_bench["perf/wake"].reason) == (
        "failed",
        REASONS[fault],
    )
    assert all(lane.taken == 0 for lane in by_bench["perf/wake"].lanes)
    assert "perf/sleep" not in by_bench or by_bench["perf/sleep"].status != "ok"
    assert run.manifest.partial
    assert REASONS[fault] in run.manifest.partial_reason
