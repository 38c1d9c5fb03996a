# SPDX-License-Identifier: Apache-2.0
"""A campaign over workers: the bytes of a local run, also if workers and the scheduler die."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.config.farm import read_farm
from kadenz.errors import ConfigError, UsageError
from kadenz.farm.pool import Pool
from kadenz.host.machine_lock import order_on_this_linux, without_orders
from kadenz.store import read_run
from tests.e2e.conftest import BOARDS, kadenz
from tests.e2e.test_interruptions import start
from tests.farm.machines import Machines
from tests.waiting import PATIENCE_S, wait_for

CALL = (
    *("run", "micro/task-switch-sampled", "--fresh", "--set", "samples=100000"),
    *("--target", BOARDS[1]),
)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    (tmp_path / "farm").mkdir()
    farm = Machines(tmp_path / "farm")
    try:
        yield farm
    finally:
        farm.close()


def files(output: Path) -> dict[str, bytes]:
    (folder,) = output.iterdir()
    run = read_run(folder)
    assert not run.manifest.partial
    assert {entry.status for entry in run.manifest.records} == {"ok"}
    return {file.name: file.read_bytes() for file in (folder / "samples").iterdir()}


@pytest.mark.counted
def test_a_campaign_survives_its_worker_and_its_scheduler_and_has_the_bytes_of_a_local_run(
    machines: Machines, tmp_path: Path
) -> None:
    answer = kadenz(*CALL, "--output", tmp_path / "local")
    assert answer.returncode == 0, answer.stderr
    process = start(*CALL, "--farm", machines.config, "--output", tmp_path / "far")
    wait_for(lambda: machines.busy() is not None)
    first = machines.busy()
    assert first is not None
    first.send_signal(signal.SIGKILL)
    wait_for(lambda: machines.busy() not in (None, first))
    machines.scheduler.send_signal(signal.SIGKILL)
    machines.scheduler.wait()
    machines.start_scheduler()
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert files(tmp_path / "far") == files(tmp_path / "local")


@pytest.mark.counted
def test_a_scheduler_that_stays_away_leaves_a_run_that_is_resumed_to_the_same_bytes(
    machines: Machines, tmp_path: Path
) -> None:
    call = [word.replace("100000", "20000") for word in CALL]
    answer = kadenz(*call, "--output", tmp_path / "local")
    assert answer.returncode == 0, answer.stderr
    impatient = tmp_path / "impatient.toml"
    impatient.write_text(f'[dask]\nscheduler = "{machines.address}"\npatience_s = 1\n')
    process = start(*call, "--farm", impatient, "--output", tmp_path / "far")
    wait_for(lambda: machines.busy() is not None)
    machines.scheduler.send_signal(signal.SIGKILL)
    machines.scheduler.wait()
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1 and "it disconnected during the campaign" in errors, errors
    (folder,) = (tmp_path / "far").iterdir()
    assert read_run(folder).manifest.partial
    machines.start_scheduler()
    wait_for(lambda: machines.log_text(1).count("1 at once") > 1)
    again = kadenz("run", "--resume", "latest", "--output", tmp_path / "far")
    assert again.returncode == 0, again.stderr
    assert files(tmp_path / "far") == files(tmp_path / "local")


@pytest.mark.counted
def test_a_killed_call_is_resumed_on_the_same_workers_to_the_same_bytes(
    machines: Machines, tmp_path: Path
) -> None:
    """Its workers notice that nobody waits, and are free for the next call."""
    call = [word.replace("100000", "20000") for word in CALL]
    answer = kadenz(*call, "--output", tmp_path / "local")
    assert answer.returncode == 0, answer.stderr
    process = start(*call, "--farm", machines.config, "--output", tmp_path / "far")
    wait_for(lambda: machines.busy() is not None)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    again = kadenz("run", "--resume", "latest", "--output", tmp_path / "far")
    assert again.returncode == 0, again.stderr
    assert files(tmp_path / "far") == files(tmp_path / "local")
    (folder,) = (tmp_path / "far").iterdir()
    assert len(read_run(folder).manifest.resumed) == 1
    wait_for(lambda: machines.busy() is None)


@pytest.mark.counted
def test_a_simulated_core_on_a_worker_has_the_bytes_of_a_local_run(
    machines: Machines, tmp_path: Path
) -> None:
    call = ["run", "itc/queue", "--quick", "--fresh", "--set", "samples=20"]
    call += ["--target", "freertos/ibex@rtl"]
    for folder, more in (("local", ()), ("far", ("--farm", machines.config))):
        answer = kadenz(*call, *more, "--output", tmp_path / folder)
        assert answer.returncode == 0, answer.stderr
    far = files(tmp_path / "far")
    assert far == files(tmp_path / "local") and any("queue" in name for name in far)


def test_a_farm_that_cannot_be_used_is_named_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "farm.toml"
    config.write_text("[dusk]\n")
    with pytest.raises(ConfigError, match="dusk"):
        read_farm(config)
    config.write_text("")
    with pytest.raises(ConfigError, match="names no farm"):
        read_farm(config)
    config.write_text('[dask]\nscheduler = "tcp://127.0.0.1:9"\n')
    table = read_farm(config).dask
    assert table is not None
    monkeypatch.setattr("kadenz.farm.pool._CONNECT_S", 0.2)
    with pytest.raises(UsageError, match="tcp://127.0.0.1:9 cannot be reached"):
        Pool(table)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError) as missing:
        Pool(table)
    assert "kadenz[farm]" in missing.value.remedy


def test_workers_and_a_measurement_of_this_linux_wait_for_each_other(
    machines: Machines, tmp_path: Path
) -> None:
    call = ("run", "micro/task-switch-sampled", "--set", "samples=100", "--target", BOARDS[1])
    with without_orders(waiting=print, stopped=lambda: False):
        process = start(*call, "--farm", machines.config, "--output", tmp_path / "far")
        said = f"order waits: this Linux is being measured by process {os.getpid()}"
        wait_for(lambda: any(said in machines.log_text(number) for number in (1, 2)))
        assert machines.busy() is None
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    files(tmp_path / "far")

    here = ("run", "clock/read-cost", "--quick", "--target", "posix/linux@host")
    said = ""
    # Another test may measure: it waits for the order as well, and this one for that test.
    while "a worker of a farm executes orders on this Linux" not in said:
        assert not said or "this Linux is being measured by" in said, said
        output = Path(tempfile.mkdtemp(dir=tmp_path))
        with order_on_this_linux(print):
            process = start(*here, "--allow", "no-realtime", "--output", output)
            assert process.stderr is not None
            said = next((line for line in process.stderr if "waiting: " in line), "")
            assert said, "it measured beside an order"
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, errors
