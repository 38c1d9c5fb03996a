# SPDX-License-Identifier: Apache-2.0
"""Every bench of benchmarks/ runs, for about a second of what it measures.

Figures of so short a run mean nothing, and a verdict on them may be a miss (exit code 1 with its
table printed). What is held: the bench reads what today's programs write, and every figure of its
table is a finite number.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHES = sorted(file.name for file in (ROOT / "benchmarks").glob("*.py"))
# Arguments that make each benchmark short.
SHORT: dict[str, list[str]] = {
    "analysis_28m.py": ["--samples", "20000"],
    "archive.py": ["--runs", "3", "--samples", "400"],
    "bound_states.py": ["--states", "4", "--service", "critical/semaphore-take"],
    "captures.py": ["--changes", "4000000"],
    "compare_power.py": ["--pairs", "2", "--samples", "500", "--calls", "1"],
    "count_programs.py": [],
    "cycle_models.py": ["--samples", "3", "--rounds", "5", "--iterations", "2000"],
    "extreme_values.py": [
        *("--draws", "1", "--samples", "2000"),
        *("--service", "critical/semaphore-take", "--target", "freertos/ibex@rtl"),
    ],
    "farm.py": ["--workers", "1", "--points", "2", "--samples", "10", "--rounds", "1"],
    "first_executions.py": ["--samples", "5"],
    "gpd_table.py": ["--simulations", "20", "--excesses", "50"],
    "history.py": ["--series", "4"],
    "how_true.py": ["--samples", "3", "--optimisation=-O2"],
    "jitter.py": ["--rounds", "1"],
    "linux_vs_rt_tests.py": ["--seconds", "1", "--rounds", "1"],
    "loads.py": ["cpu"],
    "motion.py": ["--seconds", "1", "--rounds", "1"],
    "outlier_causes.py": ["2"],
    "perturbation.py": ["--seconds", "3", "--rounds", "1", "--pairs", "1"],
    "profile_cost.py": [
        *("--rounds", "1", "--most", "10"),
        *("--target", "freertos/stm32f4@emulated", "--benchmark", "irq/to-task"),
    ],
    "rtl_table.py": ["--samples", "3", "--board", "ibex"],
    "schedulability.py": ["--sets", "4"],
    "segment.py": ["--seconds", "1"],
    "site.py": ["--runs", "20"],
    "speed.py": ["--rounds", "1", "--only", "speed/profile"],
    "start_time.py": ["--rounds", "2"],
    "stats_coverage.py": ["--simulations", "4"],
    "watch_peers.py": [],
    "yoo2024_fit.py": ["--samples", "3", "--variant", "external data, bytes"],
}
# Its verdict needs more than a second of an idle machine.
MAY_MISS = {
    "compare_power.py",
    "motion.py",
    "perturbation.py",
    "start_time.py",
}
REAL_TIME = {"linux_vs_rt_tests.py", "loads.py", "motion.py", "perturbation.py", "segment.py"}


def marks(bench: str) -> pytest.MarkDecorator:
    """This machine decides the verdict of some; the others take long."""
    return pytest.mark.machine if bench in REAL_TIME | MAY_MISS else pytest.mark.long


def test_every_bench_is_here() -> None:
    assert sorted(SHORT) == BENCHES


@pytest.mark.parametrize("bench", [pytest.param(b, marks=marks(b)) for b in BENCHES])
def test_a_bench_runs_and_prints_figures(bench: str, tmp_path: Path) -> None:
    if bench in REAL_TIME and os.geteuid() != 0:
        pytest.skip("needs the right to SCHED_FIFO and network namespaces: run as root")
    if bench == "count_programs.py" and shutil.which("valgrind") is None:
        pytest.skip("no valgrind, the peer")
    if bench == "watch_peers.py" and shutil.which("rtla") is None:
        pytest.skip("no rtla, the peer")
    answer = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / bench), *SHORT[bench]],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = answer.stdout + answer.stderr
    assert "Traceback" not in said, said[-4000:]
    # Masters and drives stop on their own if a pause of the machine makes frames too late.
    assert answer.returncode in ((0, 1) if bench in MAY_MISS else (0,)), said[-4000:]
    assert re.search(r"^\s*\S.*\d", answer.stdout, re.M), said[-4000:]
    assert not re.search(r"\b(nan|inf)\b", answer.stdout), answer.stdout[-4000:]


@pytest.mark.long
def test_the_history_of_kadenz_own_speed_is_kept_by_commit(tmp_path: Path) -> None:
    speed = (str(ROOT / "benchmarks" / "speed.py"), *SHORT["speed.py"], "--archive", "kept")
    subprocess.run([sys.executable, *speed], cwd=tmp_path, check=True)
    history = [
        str(Path(sys.executable).with_name("kadenz")),
        "history",
        "--archive",
        "kept",
        "--json",
    ]
    answer = subprocess.run(history, cwd=tmp_path, check=True, capture_output=True, text=True)
    (series,) = json.loads(answer.stdout)
    assert series["bench"] == "speed/profile" and series["clock_class"] == "hosted"
    (point,) = series["points"]  # in µs
    assert point["commit"] and point["label"] == "speed" and 1e6 < point["value"] < 1e7
