# SPDX-License-Identifier: Apache-2.0
"""A full disk: no outcome can be logged, and every value is restored all the same."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.errors import KadenzError, StoreError
from kadenz.host import facts
from kadenz.lab import tuning_around
from kadenz.lab.condition import Running
from kadenz.lab.progress import Progress
from kadenz.lab.tuning_around import tuning_applied
from kadenz.tuning import lifecycle
from kadenz.tuning import machine as real_machine

from . import machine as machines
from .machine import FileMachine
from .test_applying import RUNTIME, plan_of
from .test_around_runs import host


class Disk:
    """The disk of the journal, with room for some writes. The next one leaves a torn line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = 1_000_000
        self.renames = True
        write, replace = os.write, Path.replace

        def limited(number: int, data: bytes) -> int:
            self.room -= 1
            if self.room >= 0:
                return write(number, data)
            if len(data) == 1:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(number, data[: len(data) // 2])

        def renamed(path: Path, target: Path) -> Path:
            if self.renames:
                return replace(path, target)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", limited)
        monkeypatch.setattr(Path, "replace", renamed)

    def fill(self, *, renames: bool = True) -> None:
        self.room, self.renames = 0, renames

    def empty(self) -> None:
        self.room, self.renames = 1_000_000, True


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileMachine:
    """The machine of runs and of `tune`."""
    file_machine = machines.make(tmp_path / "m")
    monkeypatch.setenv("KADENZ_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(tuning_around, "Machine", lambda: file_machine)
    monkeypatch.setattr(real_machine, "Machine", lambda: file_machine)
    monkeypatch.setattr(facts, "read_host", lambda: host(file_machine))
    return file_machine


def test_every_value_is_restored_and_the_error_says_what_was_not_written(
    machine: FileMachine, disk: Disk
) -> None:
    before = machine.snapshot()
    lifecycle.apply(machine, plan_of(machine, "isolated"))
    disk.fill()
    with pytest.raises(StoreError, match="isolated are restored, but .*No space left") as wrong:
        lifecycle.restore(machine)
    assert wrong.value.remedy.startswith("Nothing is left to restore")
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def test_a_journal_that_cannot_be_archived_is_archived_once_there_is_room(
    machine: FileMachine, disk: Disk
) -> None:
    before = machine.snapshot()
    lifecycle.apply(machine, plan_of(machine, "isolated"))
    disk.fill(renames=False)
    for _ in range(2):
        with pytest.raises(StoreError, match="No space left") as wrong:
            lifecycle.restore(machine)
        assert "kadenz tune restore" in wrong.value.remedy
        assert machine.snapshot() == before and lifecycle.in_force(machine) is not None
    disk.empty()
    assert {value.result for value in lifecycle.restore(machine)} == {"already so"}
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def test_the_error_names_values_that_were_left(machine: FileMachine, disk: Disk) -> None:
    before = machine.snapshot()
    lifecycle.apply(machine, plan_of(machine, "latency"))
    machine.write(RUNTIME, "800000")
    disk.fill()
    with pytest.raises(StoreError, match="latency, except for 1, are restored") as wrong:
        lifecycle.restore(machine)
    assert wrong.value.detail == f"{RUNTIME}: changed by others"
    disk.empty()
    lifecycle.restore(machine, "overwrite")
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def test_a_disk_that_fills_while_a_tuning_is_applied_reverts_it(
    machine: FileMachine, disk: Disk
) -> None:
    before, plan = machine.snapshot(), plan_of(machine, "isolated")
    for room in range(0, 2 * len(plan.changes()), 5):
        disk.room = room
        with pytest.raises(StoreError, match="No space left"):
            lifecycle.apply(machine, plan)
        disk.empty()
        assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def running(machine: FileMachine, folder: Path) -> Running:
    return Running("posix/linux@host", folder, Progress(), threading.Event(), host(machine))


def test_samples_that_fill_the_disk_do_not_leave_the_machine_tuned(
    machine: FileMachine, disk: Disk, tmp_path: Path
) -> None:
    before, run = machine.snapshot(), running(machine, tmp_path)
    with tuning_applied("isolated", "", run):
        disk.fill()
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None
    (failure,) = run.failures
    assert "isolated are restored, but" in failure.message
    disk.empty()
    with (
        pytest.raises(StoreError, match="of the samples"),
        tuning_applied("isolated", "", run),
    ):
        disk.fill()
        raise StoreError("of the samples")
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def test_any_other_error_of_restoring_says_that_the_machine_is_tuned(
    machine: FileMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(machine: FileMachine) -> None:
        raise OSError(errno.EIO, "Input/output error")

    run = running(machine, tmp_path)
    with monkeypatch.context() as patched, tuning_applied("quiet", "", run):
        patched.setattr(lifecycle, "restore", broken)
    (failure,) = run.failures
    assert type(failure) is KadenzError and "quiet is still in force" in failure.message
    assert "kadenz tune restore" in failure.remedy


def test_the_command_restores_on_a_full_disk(machine: FileMachine, disk: Disk) -> None:
    before = machine.snapshot()
    lifecycle.apply(machine, plan_of(machine, "isolated"))
    disk.fill(renames=False)
    command = CliRunner()
    full = command.invoke(cli, ["tune", "restore"], standalone_mode=False)
    assert isinstance(full.exception, StoreError) and machine.snapshot() == before
    disk.empty()
    assert command.invoke(cli, ["tune", "restore"], standalone_mode=False).return_value == 0
    assert lifecycle.in_force(machine) is None
