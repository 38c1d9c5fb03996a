# SPDX-License-Identifier: Apache-2.0
"""kadenz tune on the command line: output, exit codes, completion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.config import inventory
from kadenz.errors import KadenzError
from kadenz.tuning import machine as real_machine

from . import machine as machines
from .machine import FileMachine

RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileMachine:
    """The machine of the commands, made of files."""
    file_machine = machines.make(tmp_path / "m")
    monkeypatch.setenv("KADENZ_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(real_machine, "Machine", lambda: file_machine)
    return file_machine


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["tune", *arguments], standalone_mode=False)


def plain_text(result: Result) -> str:
    return " ".join(result.output.split())


def test_list_shows_every_profile_and_the_findings_it_removes(machine: FileMachine) -> None:
    text = plain_text(kadenz("list"))
    for name in inventory.tuning_files():
        assert name in text
    assert "removes: " in text and "no tuning is in force" in text
    answer = json.loads(kadenz("list", "--json").output)
    assert {entry["name"] for entry in answer["profiles"]} == set(inventory.tuning_files())
    assert answer["in_force"] is None


def test_plan_shows_values_reasons_risks_and_missing_features(machine: FileMachine) -> None:
    before = machine.snapshot()
    text = plain_text(kadenz("plan", "isolated"))
    assert f"{RUNTIME}: 950000 → -1" in text
    assert "1 interrupt" not in text and "interrupts" in text
    assert "why: real-time threads are no longer stopped" in text
    assert "a real-time thread that never sleeps hangs its processor until power-off" in text
    assert "risk: if the fair server is off as well" in text
    assert "Not available on this machine thread rcub/*" in text
    assert "Nothing was changed" in text
    assert machine.snapshot() == before


def test_plan_apply_verify_restore(machine: FileMachine) -> None:
    before = machine.snapshot()
    assert kadenz("apply", "isolated,cpus=2-3").return_value == 0
    assert machine.read("/proc/irq/25/smp_affinity_list") == "0-1"
    listed = json.loads(kadenz("list", "--json").output)["in_force"]
    assert (listed["profile"], listed["cpus"], listed["complete"]) == ("isolated", "2-3", True)
    held = kadenz("verify")
    assert held.return_value == 0, held.output
    machine.write(RUNTIME, "123")
    changed = kadenz("verify", "--json")
    assert changed.return_value == 1
    answer = json.loads(changed.output)
    assert answer["holds"] is False
    assert [c["what"] for c in answer["checks"] if c["state"] == "changed"] == [RUNTIME]
    refused = kadenz("restore")
    assert refused.return_value == 1
    assert "before the tuning it was 950000" in plain_text(refused)
    assert kadenz("restore", "--changed-by-others", "overwrite").return_value == 0
    assert machine.snapshot() == before


def test_verify_fails_without_a_tuning(machine: FileMachine) -> None:
    wrong = kadenz("verify").exception
    assert isinstance(wrong, KadenzError)
    assert wrong.exit_code == 1


def test_verify_names_new_threads(machine: FileMachine) -> None:
    kadenz("apply", "cereia2011-case1")
    machines.add_task(machine, 300, "irq/30-eth1", machines.KTHREAD, "fifo:40", "0-3")
    new = kadenz("verify")
    assert new.return_value == 1
    assert "irq/30-eth1 (300) is new, with fifo:40 instead of fifo:50" in plain_text(new)


def test_failed_changes_are_reported_and_set_the_exit_code(machine: FileMachine) -> None:
    machine.refuse = {RUNTIME: 30}
    half = kadenz("apply", "latency")
    assert half.return_value == 1
    assert f"{RUNTIME} stays 950000: Read-only file system" in plain_text(half)
    assert "kadenz tune restore" in plain_text(half)


def test_restore_after_a_reboot_reports_nothing_to_restore(
    machine: FileMachine,
) -> None:
    kadenz("apply", "latency")
    machine.path("/proc/sys/kernel/random/boot_id").write_text("another")
    before = machine.snapshot()
    assert "a reboot undid" in plain_text(kadenz("list"))
    after = kadenz("restore")
    assert after.return_value == 0
    assert "the last reboot undid" in plain_text(after)
    assert machine.snapshot() == before


@pytest.mark.parametrize(
    ("typed", "number", "offered"),
    [
        ("kadenz tu", 1, "tune"),
        ("kadenz tune re", 2, "restore"),
        ("kadenz tune apply cereia", 3, "cereia2011-case2"),
        ("kadenz tune restore --changed-by-others o", 4, "overwrite"),
        ("kadenz run demo --tuning la", 4, "latency"),
        ("kadenz run demo --tuning no", 4, "none"),
        ("kadenz doctor --require m", 3, "medians"),
    ],
)
def test_shells_complete_profiles(typed: str, number: int, offered: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", "from kadenz.cli import cli; cli.main(prog_name='kadenz')"],
        env={
            **os.environ,
            "_KADENZ_COMPLETE": "bash_complete",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(number),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert offered in [line.partition(",")[2] for line in answer.stdout.splitlines()]


def test_an_unwritable_state_folder_is_named(
    machine: FileMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = machine.snapshot()
    monkeypatch.setenv("KADENZ_STATE_DIR", "/proc/nowhere")
    wrong = kadenz("apply", "latency").exception
    assert isinstance(wrong, KadenzError)
    assert "KADENZ_STATE_DIR" in wrong.remedy
    assert machine.snapshot() == before
