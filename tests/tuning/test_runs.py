# SPDX-License-Identifier: Apache-2.0
"""A run of this machine records the tuning in force without any option."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import msgspec
import pytest

from kadenz.config import inventory
from kadenz.config.manifest import Manifest
from kadenz.errors import TargetFailed
from kadenz.lab import tuning_in_force
from kadenz.tuning import lifecycle
from kadenz.tuning.plan import make_plan
from tests.store import manifests

from . import machine as machines
from .machine import FileMachine

RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileMachine:
    monkeypatch.setenv("KADENZ_STATE_DIR", str(tmp_path / "state"))
    return machines.make(tmp_path / "m")


def apply(machine: FileMachine, name: str) -> None:
    lifecycle.apply(machine, make_plan(machine, name, inventory.read_tuning(name)[0]))


def run(tier: str = "host") -> Manifest:
    document = manifests.manifest()
    document.target.tier = tier  # type: ignore[assignment]
    return document


def codes(document: Manifest) -> list[str]:
    return [warning.code for warning in document.warnings]


def test_a_run_without_a_tuning_records_none(machine: FileMachine) -> None:
    document = run()
    tuning_in_force.begin(document, machine)
    tuning_in_force.end(document, machine)
    assert document.tuning is None
    assert document.conditions == []
    assert document.warnings == []


def test_the_tuning_in_force_is_a_condition_verified_at_start_and_end(machine: FileMachine) -> None:
    apply(machine, "latency")
    document = run()
    tuning_in_force.begin(document, machine)
    tuning_in_force.end(document, machine)
    assert document.condition_values["tuning"] == "latency"
    assert document.tuning is not None
    assert document.tuning.at_start == document.tuning.at_end == []
    keys = {item.key: item for item in document.tuning.items}
    assert (keys["scheduler.rt_runtime_us"].was, keys["scheduler.rt_runtime_us"].value) == (
        "950000",
        "-1",
    )
    assert document.warnings == []
    again = msgspec.json.decode(msgspec.json.encode(document), type=Manifest)
    assert again.tuning == document.tuning


@pytest.mark.parametrize("tier", ["guest", "emulated", "board"])
def test_targets_on_other_machines_do_not_carry_this_machines_tuning(
    tier: str, machine: FileMachine
) -> None:
    apply(machine, "latency")
    document = run(tier)
    tuning_in_force.begin(document, machine)
    tuning_in_force.end(document, machine)
    assert document.tuning is None
    assert document.conditions == []


def test_values_that_failed_are_part_of_the_condition(machine: FileMachine) -> None:
    machine.refuse = {RUNTIME: errno.EROFS}
    apply(machine, "latency")
    document = run()
    tuning_in_force.begin(document, machine)
    assert document.condition_values["tuning"].startswith("latency, without 1 of ")


def test_a_tuning_not_in_effect_adds_a_warning(machine: FileMachine) -> None:
    apply(machine, "latency")
    machine.write(RUNTIME, "950000")
    document = run()
    tuning_in_force.begin(document, machine)
    assert codes(document) == ["tuning-changed"]
    assert RUNTIME in document.warnings[0].message
    tuning_in_force.end(document, machine)
    assert codes(document) == ["tuning-changed"]  # reported once


def test_a_tuning_restored_during_the_run_adds_a_warning(machine: FileMachine) -> None:
    apply(machine, "latency")
    document = run()
    tuning_in_force.begin(document, machine)
    lifecycle.restore(machine)
    tuning_in_force.end(document, machine)
    assert codes(document) == ["tuning-changed"]
    assert "the tuning was restored" in document.warnings[0].message


def test_a_tuning_applied_during_the_run_adds_a_warning(machine: FileMachine) -> None:
    document = run()
    tuning_in_force.begin(document, machine)
    apply(machine, "latency")
    tuning_in_force.end(document, machine)
    assert codes(document) == ["tuning-changed"]


def test_a_partly_applied_tuning_adds_a_warning(machine: FileMachine, tmp_path: Path) -> None:
    apply(machine, "latency")
    file = tmp_path / "state" / "tuning" / "journal.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    document = run()
    tuning_in_force.begin(document, machine)
    assert codes(document) == ["tuning-incomplete"]
    assert document.condition_values["tuning"] == "latency, half applied"


def test_a_damaged_journal_does_not_stop_a_run(machine: FileMachine, tmp_path: Path) -> None:
    apply(machine, "latency")
    (tmp_path / "state" / "tuning" / "journal.jsonl").write_text("{\n")
    document = run()
    tuning_in_force.begin(document, machine)
    tuning_in_force.end(document, machine)
    assert set(codes(document)) == {"tuning-unknown"}
    assert tuning_in_force.on_every_processor(["suite"], machine) == ["suite"]


def test_the_suite_leaves_the_housekeeping_group(machine: FileMachine) -> None:
    assert tuning_in_force.on_every_processor(["suite"], machine) == ["suite"]
    apply(machine, "isolated")
    command = tuning_in_force.on_every_processor(["/bin/sh", "-c", "echo $$ $0", "a b"], machine)
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert answer[1:] == ["a", "b"]
    # The PID written to the top group is that of the program.
    assert machine.path(f"{machines.V1}/cgroup.procs").read_text().strip() == answer[0]


def test_without_the_right_to_leave_the_group_the_run_does_not_start(
    machine: FileMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(machine, "isolated")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(TargetFailed, match="may not leave its group") as wrong:
        tuning_in_force.on_every_processor(["suite"], machine)
    assert "kadenz tune restore" in wrong.value.remedy


def test_an_older_manifest_can_be_read() -> None:
    document = msgspec.json.decode(msgspec.json.encode(run()))
    for key in ("tuning", "preflight"):
        del document[key]
    opened = msgspec.convert(document, Manifest)
    assert opened.tuning is None
    assert opened.preflight == []
