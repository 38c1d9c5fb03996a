# SPDX-License-Identifier: Apache-2.0
"""`kadenz run --tuning` on this Linux, with a harmless value: the interval of folding counters."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.store import read_run
from kadenz.tuning import lifecycle
from kadenz.tuning.machine import Machine
from tests.e2e.conftest import KADENZ, LINUX, kadenz
from tests.waiting import wait_for

VALUE = Path("/proc/sys/vm/stat_interval")
WAKE_UP = "cyclic/wakeup-latency"


def may_change() -> bool:
    try:
        VALUE.write_text(VALUE.read_text())
    except OSError:
        return False
    return lifecycle.in_force(Machine()) is None


pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(not may_change(), reason="this machine does not allow changing its values"),
]


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The previous value, restored directly after each test."""
    monkeypatch.setenv("KADENZ_STATE_DIR", str(tmp_path / "state"))
    was = VALUE.read_text()
    yield was
    VALUE.write_text(was)


@pytest.fixture
def profile(before: str, tmp_path: Path) -> Path:
    file = tmp_path / "folding.toml"
    file.write_text(f'title = "folding"\n[memory]\nstat_interval_s = {int(before) + 7}\n')
    return file


def test_tuned_and_untuned_runs_are_interleaved_and_compared(
    before: str, profile: Path, tmp_path: Path
) -> None:
    arguments = ["run", WAKE_UP, "--target", LINUX, "--set", "samples=100", "--rounds", "2"]
    output = tmp_path / "runs"
    answer = kadenz(*arguments, "--tuning", "none", "--tuning", profile, "--output", output)
    assert answer.returncode == 0, answer.stderr
    assert VALUE.read_text() == before
    (rounds,) = output.iterdir()
    runs = [read_run(folder).manifest for folder in rounds.iterdir()]
    runs.sort(key=lambda manifest: (manifest.round, manifest.place))
    assert [manifest.variant for manifest in runs] == [
        "tuning none",
        "tuning folding",
        "tuning folding",
        "tuning none",
    ]
    for manifest in runs:
        assert "tuning-changed" not in [warning.code for warning in manifest.warnings]
        assert f"-tuning-{manifest.condition_values['tuning']}-round-" in manifest.id
        if manifest.tuning is None:
            assert manifest.condition_values["tuning"] == "none"
            continue
        assert manifest.condition_values["tuning"] == "folding"
        (item,) = manifest.tuning.items
        assert (item.was, item.value) == (before.strip(), str(int(before) + 7))
        assert manifest.tuning.at_start == manifest.tuning.at_end == []
    compared = kadenz("compare", rounds)
    assert "condition: tuning" in compared.stdout and compared.returncode in (0, 3, 4)


def test_restore_repairs_a_kill_9_during_a_measurement(
    before: str, profile: Path, tmp_path: Path
) -> None:
    command = [KADENZ, "run", WAKE_UP, "--target", LINUX, "--set", "samples=200000"]
    command += ["--tuning", str(profile), "--output", str(tmp_path / "runs")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:

        def measuring() -> bool:
            return any(tmp_path.glob("runs/*.partial/samples/*clock-resolution*.npy"))

        try:
            wait_for(lambda: measuring() or process.poll() is not None)
            assert process.poll() is None and VALUE.read_text() != before
        finally:
            process.kill()
    refused = kadenz("run", WAKE_UP, "--target", LINUX, "--tuning", "none", "--output", tmp_path)
    assert refused.returncode == 1 and "kadenz tune restore" in refused.stderr
    assert kadenz("tune", "restore").returncode == 0
    assert VALUE.read_text() == before


def test_without_the_right_it_is_refused_before_anything_is_measured(
    before: str, profile: Path, tmp_path: Path
) -> None:
    output = tmp_path / "runs"
    answer = kadenz(
        *("run", WAKE_UP, "--target", LINUX, "--tuning", profile, "--output", output),
        env={"KADENZ_STATE_DIR": "/proc/nowhere", "COLUMNS": "200"},
    )
    assert answer.returncode == 1 and "KADENZ_STATE_DIR" in answer.stderr
    assert not output.exists() and VALUE.read_text() == before
    assert "Traceback" not in answer.stderr
