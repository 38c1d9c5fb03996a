# SPDX-License-Identifier: Apache-2.0
"""`run --tuning` applies a tuning for one run and always restores it."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kadenz.analysis.variants import two_variants
from kadenz.config.manifest import HostEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import ConfigError, KadenzError, StoreError, TargetFailed, UsageError
from kadenz.host import facts
from kadenz.host.facts import Host
from kadenz.lab import tuning_around, tuning_in_force
from kadenz.lab.condition import Running
from kadenz.lab.conditions.tuning import Tuning, TuningChoice
from kadenz.lab.job import Job, Result
from kadenz.lab.progress import Progress
from kadenz.lab.schedule import run
from kadenz.lab.tuning_around import check_tunings, tuning_applied
from kadenz.lab.variants import interleaved
from kadenz.store import Run, read_run
from kadenz.tuning import lifecycle
from kadenz.tuning.plan import plan_of
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said

from . import machine as machines
from .machine import FileMachine
from .test_applying import killed_at

HOST = TargetName("posix", "linux", "host")
GUEST = TargetName("linux-rt", "virt-arm64", "guest")
BOARD = TargetName("freertos", "stm32f4", "emulated")
RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileMachine:
    """The machine of runs and of `tune`: made of files that root may change."""
    file_machine = machines.make(tmp_path / "m")
    monkeypatch.setenv("KADENZ_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(tuning_around, "Machine", lambda: file_machine)
    monkeypatch.setattr(tuning_in_force, "Machine", lambda: file_machine)
    monkeypatch.setattr(facts, "read_host", lambda: host(file_machine))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return file_machine


def host(machine: FileMachine) -> Host:
    """Reads one fact, so that a test can tell when it was read."""
    facts = {"rt_runtime_us": machine.read(RUNTIME) or ""}
    entry = HostEntry(os="", kernel="", preempt="", cpu="", cpus=4, virtual="", facts=facts)
    return Host(entry, [])


def host_job(folder: Path, machine: FileMachine, tuning: str, runs: int = 1, cpus: str = "") -> Job:
    whole = said(record(10), record(11), record(12))
    boots = [script for _ in range(runs) for script in (Scripted([whole]), Scripted([]))]
    conditions = (Tuning(tuning, cpus),) if tuning else ()
    return dataclasses.replace(
        job(folder, boots[:-1]), name=HOST, host=host(machine), conditions=conditions
    )


def measured(folder: Path, jobs: list[Job]) -> list[Result | KadenzError]:
    return run(jobs, folder / "out", Progress(), threading.Event())


def runs_of(results: list[Result | KadenzError]) -> list[Run]:
    assert all(isinstance(result, Result) and result.failures == [] for result in results), results
    return [read_run(result.folder) for result in results if isinstance(result, Result)]


def test_each_run_is_measured_under_its_own_tuning_and_says_which(
    machine: FileMachine, tmp_path: Path
) -> None:
    before = machine.snapshot()
    names = ("none", "latency", "isolated", "none")
    runs = runs_of(measured(tmp_path, [host_job(tmp_path, machine, name) for name in names]))
    assert machine.snapshot() == before
    assert [run.manifest.condition_values["tuning"] for run in runs] == list(names)
    profiles = [run.manifest.tuning.profile if run.manifest.tuning else "" for run in runs]
    assert profiles == ["", "latency", "isolated", ""]
    assert [run.manifest.warnings for run in runs] == [[]] * 4
    # The facts of the machine are those of the tuned one.
    facts = [run.manifest.host.facts["rt_runtime_us"] for run in runs]
    assert facts == ["950000", "-1", "-1", "950000"]


def test_tuned_and_untuned_runs_are_interleaved_and_compared(
    machine: FileMachine, tmp_path: Path
) -> None:
    jobs = [host_job(tmp_path, machine, name, runs=2) for name in ("none", "latency")]
    ordered = interleaved(jobs, 2)
    assert [entry.origin.turn.variant for entry in ordered if entry.origin.turn] == [
        "tuning none",
        "tuning latency",
        "tuning latency",
        "tuning none",
    ]
    assert [entry.label for entry in ordered][:2] == [
        "posix/linux@host, tuning none, round 1",
        "posix/linux@host, tuning latency, round 1",
    ]
    plain, latency = two_variants(runs_of(measured(tmp_path, ordered)))
    assert [run.manifest.tuning for run in plain] == [None, None]
    assert [run.manifest.round for run in latency] == [1, 2]
    assert all(run.manifest.tuning is not None for run in latency)


def test_a_profile_on_other_processors_is_another_condition(
    machine: FileMachine, tmp_path: Path
) -> None:
    jobs = [host_job(tmp_path, machine, "isolated", cpus=cpus) for cpus in ("", "2", "2-3")]
    runs = runs_of(measured(tmp_path, jobs))
    values = [run.manifest.condition_values["tuning"] for run in runs]
    assert values == ["isolated", "isolated,cpus=2", "isolated,cpus=2-3"]
    assert [run.manifest.tuning.cpus for run in runs if run.manifest.tuning][1:] == ["2", "2-3"]
    assert [job.label for job in jobs[1:]] == [
        "posix/linux@host, tuning isolated,cpus=2",
        "posix/linux@host, tuning isolated,cpus=2-3",
    ]
    assert "-tuning-isolated-cpus-2-3" in runs[2].path.name


def test_without_the_option_the_machine_is_unchanged(machine: FileMachine, tmp_path: Path) -> None:
    lifecycle.apply(machine, plan_of(machine, "latency")[0])
    before = machine.snapshot()
    (run,) = runs_of(measured(tmp_path, [host_job(tmp_path, machine, "")]))
    assert (
        run.manifest.condition_values["tuning"] == "latency"
    )  # applied manually, and recorded as usual
    assert machine.snapshot() == before


def test_a_manually_applied_tuning_is_neither_replaced_nor_called_none(
    machine: FileMachine, tmp_path: Path
) -> None:
    lifecycle.apply(machine, plan_of(machine, "quiet")[0])
    before = machine.snapshot()
    for name in ("none", "latency"):
        with pytest.raises(TargetFailed, match="quiet of .* is in force already") as wrong:
            check_tunings([(name, "")], [HOST], machine)
        assert "kadenz tune restore" in wrong.value.remedy
        (late,) = measured(tmp_path, [host_job(tmp_path, machine, name)])  # applied meanwhile
        assert isinstance(late, TargetFailed)
    assert machine.snapshot() == before


def test_missing_rights_are_reported_before_anything_is_measured(
    machine: FileMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_tunings([("none", ""), ("latency", "")], [HOST], machine)
    monkeypatch.setenv("KADENZ_STATE_DIR", "/proc/nowhere")
    with pytest.raises(StoreError, match="journal"):
        check_tunings([("latency", "")], [HOST], machine)
    check_tunings([("none", "")], [HOST], machine)
    monkeypatch.undo()
    monkeypatch.setenv("KADENZ_STATE_DIR", str(machine.root / "state"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(TargetFailed, match="no right to change") as wrong:
        check_tunings([("latency", "")], [HOST], machine)
    assert "as root" in wrong.value.remedy


def test_a_tuning_without_changes_is_not_a_variant(machine: FileMachine, tmp_path: Path) -> None:
    file = tmp_path / "same.toml"
    file.write_text('title = "same"\n[memory]\nswappiness = 60\n')
    with pytest.raises(UsageError, match="same changes nothing"):
        check_tunings([(str(file), "")], [HOST], machine)


def test_mistakes_are_found_before_anything_is_built(machine: FileMachine) -> None:
    with pytest.raises(UsageError, match="no tuning profile `latenzy`"):
        check_tunings([("latenzy", "")], [HOST], machine)
    with pytest.raises(ConfigError, match="`cpus` 9: not on this machine"):
        check_tunings([("isolated", "9")], [HOST], machine)
    with pytest.raises(UsageError, match="none,cpus=2: nothing is tuned"):
        check_tunings([("none", "2")], [HOST], machine)


def test_an_unaffected_target_is_measured_once_without() -> None:
    assert TuningChoice().variants(HOST) == TuningChoice().variants(BOARD) == []
    some = TuningChoice((Tuning("none"), Tuning("latency"), Tuning("none")))
    assert some.variants(HOST) == [Tuning("none"), Tuning("latency")]
    assert some.variants(BOARD) == []
    with pytest.raises(UsageError, match="is unaffected by it") as wrong:
        TuningChoice((Tuning("latency"),)).variants(GUEST)
    assert "--guest tuning=" in wrong.value.remedy


# ---- interruptions -------------------------------------------------------------------------------
def running(machine: FileMachine, folder: Path) -> Running:
    return Running(str(HOST), folder, Progress(), threading.Event(), host(machine))


@pytest.mark.parametrize("name", ["isolated", "cereia2011-case2"])
def test_killed_at_any_step_everything_can_be_restored(
    name: str, machine: FileMachine, tmp_path: Path
) -> None:
    """During apply, measurement and restore."""
    before, run = machine.snapshot(), running(machine, tmp_path)
    point = half_done = 0

    def work() -> None:
        with tuning_applied(name, "", run):
            pass

    while killed_at(point, machine, work):
        if lifecycle.in_force(machine) is not None:
            # The next `run --tuning` refuses with a remedy.
            with pytest.raises(TargetFailed) as wrong:
                check_tunings([("none", "")], [HOST], machine)
            assert "kadenz tune restore" in wrong.value.remedy
            lifecycle.restore(machine)
            half_done += 1
        assert machine.snapshot() == before, f"killed at step {point}"
        point += 5
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None
    assert half_done > 10


def killed_while_it_measures(number: int, run: Running) -> int:
    """The exit status of a child that receives a signal while its tuning is in force."""
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup makes children ignore it
            with tuning_applied("isolated", "", run):
                os.kill(os.getpid(), number)
                raise AssertionError("still alive")
        except KeyboardInterrupt:
            os._exit(7)
        finally:
            os._exit(1)  # in any case the child must not continue with the tests
    return os.waitpid(child, 0)[1]


def test_killed_while_it_measures_everything_can_be_restored(
    machine: FileMachine, tmp_path: Path
) -> None:
    before, run = machine.snapshot(), running(machine, tmp_path)
    assert os.WTERMSIG(killed_while_it_measures(signal.SIGKILL, run)) == signal.SIGKILL
    assert machine.snapshot() != before
    lifecycle.restore(machine)
    assert machine.snapshot() == before


def test_a_closed_terminal_restores_the_tuning(machine: FileMachine, tmp_path: Path) -> None:
    before, run = machine.snapshot(), running(machine, tmp_path)
    assert os.WEXITSTATUS(killed_while_it_measures(signal.SIGHUP, run)) == 7
    assert machine.snapshot() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), KadenzError("the disk is full")])
def test_an_interruption_or_an_error_restores_the_tuning(
    error: BaseException, machine: FileMachine, tmp_path: Path
) -> None:
    before = machine.snapshot()
    with pytest.raises(type(error)), tuning_applied("isolated", "", running(machine, tmp_path)):
        assert machine.snapshot() != before
        raise error
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def meanwhile(machine: FileMachine, folder: Path, act: Callable[[], object]) -> Running:
    run = running(machine, folder)
    with tuning_applied("latency", "", run):
        act()
    return run


def test_a_value_changed_by_others_is_reported_and_nothing_more_is_tuned(
    machine: FileMachine, tmp_path: Path
) -> None:
    run = meanwhile(machine, tmp_path, lambda: machine.write(RUNTIME, "123"))
    (failure,) = run.failures
    assert f"is not fully restored: {RUNTIME}: changed by others" in failure.message
    assert machine.read(RUNTIME) == "123"
    (late,) = measured(tmp_path, [host_job(tmp_path, machine, "none")])
    assert isinstance(late, TargetFailed) and "half restored" in late.message


def test_a_tuning_restored_manually_is_not_restored_twice(
    machine: FileMachine, tmp_path: Path
) -> None:
    before = machine.snapshot()
    assert meanwhile(machine, tmp_path, lambda: lifecycle.restore(machine)).failures == []
    assert machine.snapshot() == before
