# SPDX-License-Identifier: Apache-2.0
"""`kadenz run --load` with the real stress-ng: measured, shown, and always cleaned up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadenz.store import Run, read_run
from tests.e2e.conftest import BOARDS, KADENZ, LINUX, kadenz
from tests.load.machine import left_behind, names_in, on_a_disk, working_in
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(shutil.which("stress-ng") is None, reason="stress-ng is not installed"),
]
WAKE_UP = "cyclic/wakeup-latency"
Start = Callable[[Path, str], "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a long run under a load; it ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def launch(folder: Path, load: str) -> subprocess.Popen[str]:
        started.append(_start(folder, load, 200_000))
        return started[-1]

    yield launch
    for process in started:
        process.kill()
        process.communicate()


def _start(folder: Path, load: str, samples: int) -> subprocess.Popen[str]:
    command = [KADENZ, "run", WAKE_UP, "--target", LINUX, "--output", str(folder), "--load", load]
    return subprocess.Popen(
        [*command, "--set", f"samples={samples}", "--allow", "weak-load"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def measuring(process: subprocess.Popen[str], folder: Path) -> None:
    """Waits until the load is effective and the clock was measured, just before the long record."""

    def begun() -> bool:
        return any(folder.glob("*.partial/samples/*clock-resolution*.npy"))

    wait_for(lambda: begun() or process.poll() is not None)
    assert process.poll() is None, process.communicate()[1]
    time.sleep(1.0)


def only_run(folder: Path) -> Run:
    (file,) = folder.glob("*/run.json")
    return read_run(file.parent)


def test_a_campaign_is_measured_under_each_of_its_loads(tmp_path: Path) -> None:
    output = on_a_disk(tmp_path) / "runs"
    file = tmp_path / "loads.toml"
    file.write_text(
        f'name = "loads"\ntitle = "loads"\ntargets = ["{LINUX}"]\n'
        f'loads = ["none", "interrupt+paging"]\n[conditions]\nload = "words"\n[load]\nworkers = 1\n'
        f'[[benchmark]]\nname = "{WAKE_UP}"\nsamples = 3000\n'
    )
    answer = kadenz("run", file, "--output", output)
    assert answer.returncode == 0, answer.stderr
    assert "load effective: interrupt: " in answer.stderr
    runs = {run.manifest.condition_values["load"]: run for run in map(read_run, output.iterdir())}
    assert set(runs) == {"none", "interrupt+paging,workers=1"}
    assert runs["none"].manifest.loads == []
    entries = {entry.name: entry for entry in runs["interrupt+paging,workers=1"].manifest.loads}
    assert set(entries) == {"interrupt", "paging"}
    for entry in entries.values():
        assert entry.workers == 1
        # rates that a machine reaches without pauses
        assert entry.verified, entry.reason
        assert entry.rate > 2 * entry.idle_rate and entry.rate >= entry.least
        assert set(entry.record_rates) >= {10}
    assert entries["paging"].settings["pages"] and entries["interrupt"].command[0] == "stress-ng"
    assert left_behind(output) == []

    shown = kadenz("show", *(run.path for run in runs.values())).stdout
    assert "load interrupt+paging,workers=1" in shown and "load none" in shown
    compared = kadenz(
        "compare", *(runs[name].path for name in ("none", "interrupt+paging,workers=1"))
    )
    assert "interrupt+paging,workers=1" in compared.stdout


def test_nothing_is_left_after_kadenz_is_killed_under_load(start: Start, tmp_path: Path) -> None:
    """SIGKILL while all kinds of load begin: seven programs of three origins."""
    folder = on_a_disk(tmp_path)
    process = start(folder, "all+io")

    def begun() -> bool:
        names = names_in(folder)
        origins = (("dd", "sh"), ("stress-ng",), ("python",))
        return all(any(name.startswith(origin) for name in names) for origin in origins)

    wait_for(begun)
    process.kill()
    process.communicate()
    wait_for(lambda: left_behind(folder, process.pid) == [])


def test_a_run_killed_under_load_names_it_and_leaves_nothing(start: Start, tmp_path: Path) -> None:
    folder = on_a_disk(tmp_path)
    process = start(folder, "cpu")
    measuring(process, folder)
    process.kill()
    process.communicate()
    wait_for(lambda: left_behind(folder, process.pid) == [])
    assert read_run(next(folder.glob("*.partial"))).manifest.loads != []


def test_ctrl_c_ends_the_load_and_keeps_the_run(start: Start, tmp_path: Path) -> None:
    folder = on_a_disk(tmp_path)
    process = start(folder, "cpu")
    measuring(process, folder)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in errors
    assert left_behind(folder, process.pid) == []
    run = only_run(folder)
    assert run.manifest.partial_reason == "interrupted (Ctrl-C)"
    assert run.manifest.condition_values["load"] == "cpu"


def test_a_load_that_dies_ends_the_run_and_is_reported(start: Start, tmp_path: Path) -> None:
    folder = on_a_disk(tmp_path)
    process = start(folder, "cpu")
    measuring(process, folder)
    for pid in working_in(folder):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "load `cpu` ended unexpectedly" in errors
    run = only_run(folder)
    assert run.manifest.partial and "load `cpu` ended" in run.manifest.partial_reason
    record = run.manifest.records[-1]
    assert record.status in ("failed", "invalid") and "load `cpu` ended" in record.reason
    assert left_behind(folder, process.pid) == []


def test_a_load_that_cannot_affect_a_target_is_refused(tmp_path: Path) -> None:
    answer = kadenz(
        "run", "itc/queue", "--target", BOARDS[1], "--load", "disk", "--output", tmp_path
    )
    assert answer.returncode == 2
    assert "runs on this Linux: freertos/stm32f4@emulated is unaffected by it" in answer.stderr
    answer = kadenz("run", "itc/queue", "--target", LINUX, "--load", "dsik", "--output", tmp_path)
    assert answer.returncode == 2
    assert "Did you mean `disk`?" in answer.stderr
