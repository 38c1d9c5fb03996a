# SPDX-License-Identifier: Apache-2.0
"""A tuning is applied, verified, and restored without a trace, even after a crash."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadenz.config import inventory
from kadenz.errors import KadenzError, StoreError
from kadenz.tuning import change, journal, lifecycle
from kadenz.tuning.plan import Plan, make_plan

from . import machine as machines
from .machine import FileMachine

RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
INTERRUPT = "/proc/irq/25/smp_affinity_list"


def plan_of(machine: FileMachine, name: str) -> Plan:
    return make_plan(machine, name, inventory.read_tuning(name)[0])


def states(machine: FileMachine, folder: Path) -> set[str]:
    there = lifecycle.in_force(machine, folder)
    assert there is not None
    return {check.state for check in lifecycle.verify(machine, there.journal)}


@pytest.mark.parametrize("cgroups", [0, 1, 2])
@pytest.mark.parametrize("name", sorted(inventory.tuning_files()))
def test_restore_leaves_the_machine_exactly_as_it_was(
    name: str, cgroups: int, tmp_path: Path
) -> None:
    machine, state = machines.make(tmp_path / "m", cgroups=cgroups), tmp_path / "state"
    before = machine.snapshot()
    plan = plan_of(machine, name)
    lifecycle.apply(machine, plan, folder=state)
    assert machine.snapshot() != before
    assert states(machine, state) == {"holds"}
    assert make_plan(machine, name, plan.tuning).changes() == []
    taken = lifecycle.restore(machine, folder=state)
    assert {value.result for value in taken} <= {"restored", "already so"}
    assert machine.snapshot() == before
    assert lifecycle.in_force(machine, state) is None


@pytest.mark.parametrize(("attempts", "result"), [(3, "restored"), (10_000, "failed")])
def test_a_briefly_busy_group_is_removed(
    attempts: int, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs may start others while they are moved out of the group."""
    machine, state = machines.make(tmp_path / "m", cgroups=1), tmp_path / "state"
    before, remove = machine.snapshot(), machine.remove_folder
    lifecycle.apply(machine, plan_of(machine, "isolated"), folder=state)
    left = [OSError(errno.EBUSY, "busy") for _ in range(attempts)]

    def busy(path: str) -> None:
        if left:
            raise left.pop()
        remove(path)

    monkeypatch.setattr(machine, "remove_folder", busy)
    monkeypatch.setattr(change, "_EMPTY_S", 60.0 if result == "restored" else 0.2)
    monkeypatch.setattr(change, "_EMPTY_RETRY_S", 0.001)
    group = [
        value for value in lifecycle.restore(machine, folder=state) if value.change.kind == "group"
    ]
    assert [value.result for value in group] == [result]
    assert (machine.snapshot() == before) is (result == "restored")
    assert (lifecycle.in_force(machine, state) is None) is (result == "restored")


# ---- killed at every step ------------------------------------------------------------------------
def killed_at(point: int, machine: FileMachine, work: Callable[[], Any]) -> bool:
    """Runs `work` in a child that is killed at step `point`; False if it had fewer steps.

    Steps: before and after each change of the machine, and within each line of the journal.
    """
    child = os.fork()
    if child == 0:
        try:
            _count_steps(point, machine)
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _count_steps(point: int, machine: FileMachine) -> None:
    left = point

    def step() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    def around(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            step()
            answer = call(*arguments)
            step()
            return answer

        return wrapped

    for name in ("write", "set_policy", "set_affinity", "make_folder", "remove_folder"):
        setattr(machine, name, around(getattr(machine, name)))
    append = journal.Writer._append

    def torn(self: journal.Writer, line: bytes, *, sync: bool = True) -> None:
        nonlocal left
        step()
        if left == 0:
            os.write(self._number, line[: len(line) // 2])
        step()
        append(self, line, sync=sync)

    journal.Writer._append = torn  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("name", "cgroups", "stride"),
    [("isolated", 1, 1), ("isolated", 2, 7), ("cereia2011-case2", 0, 3)],
)
def test_killed_at_any_step_of_apply_it_can_be_restored(
    name: str, cgroups: int, stride: int, tmp_path: Path
) -> None:
    machine, state = machines.make(tmp_path / "m", cgroups=cgroups), tmp_path / "state"
    before, plan = machine.snapshot(), plan_of(machine, name)
    point = half_done = 0
    while killed_at(point, machine, lambda: lifecycle.apply(machine, plan, folder=state)):
        if lifecycle.in_force(machine, state) is not None:
            with pytest.raises(KadenzError, match="partly applied|is in force"):
                lifecycle.apply(machine, plan, folder=state)
            results = {value.result for value in lifecycle.restore(machine, folder=state)}
            assert results <= {"restored", "already so"}
            half_done += "restored" in results
        assert machine.snapshot() == before, f"killed at step {point}"
        point += stride
    lifecycle.restore(machine, folder=state)
    assert machine.snapshot() == before
    assert point > 2 * len(plan.changes())
    assert half_done > len(plan.changes()) // stride


def test_killed_during_restore_it_can_be_restored_again(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    before, plan = machine.snapshot(), plan_of(machine, "isolated")
    point = 0
    while True:
        lifecycle.apply(machine, plan, folder=state)
        if not killed_at(point, machine, lambda: lifecycle.restore(machine, folder=state)):
            break
        if lifecycle.in_force(machine, state) is not None:
            lifecycle.restore(machine, folder=state)
        assert machine.snapshot() == before, f"killed at step {point}"
        point += 13
    assert point > len(plan.changes())
    assert machine.snapshot() == before


def test_an_interruption_reverts_all_changes(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    before, plan = machine.snapshot(), plan_of(machine, "isolated")

    def after_ten(step: journal.Step) -> None:
        if step.number > 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lifecycle.apply(machine, plan, folder=state, told=after_ten)
    assert machine.snapshot() == before
    assert lifecycle.in_force(machine, state) is None


# ---- failures ------------------------------------------------------------------------------------
def test_refused_changes_are_reported_and_the_others_are_in_force(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    before = machine.snapshot()
    machine.refuse = {RUNTIME: errno.EROFS, INTERRUPT: errno.EIO, "policy:14": errno.EPERM}
    journal = lifecycle.apply(machine, plan_of(machine, "isolated"), folder=state)
    failed = {step.change.what: step.why for step in journal.steps if step.outcome == "failed"}
    assert len(failed) == 3
    assert "read-only, as in a container" in failed[RUNTIME]
    assert "the kernel manages it" in failed[f"{INTERRUPT} (nvme0q1)"]
    assert "no right" in failed["priority of ksoftirqd/0 (14)"]
    assert states(machine, state) == {"holds", "failed"}
    machine.refuse = {}
    lifecycle.restore(machine, folder=state)
    assert machine.snapshot() == before


def test_if_nothing_can_be_changed_no_tuning_is_in_force(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    machine.refuse = {f"policy:{tid}": errno.EPERM for tid in machines.KERNEL_THREADS}
    machines.add_task(machine, 20, "irq/24-eth0", machines.KTHREAD, "fifo:49", "0-3")
    with pytest.raises(KadenzError, match="nothing of cereia2011-case1 could be applied") as wrong:
        lifecycle.apply(machine, plan_of(machine, "cereia2011-case1"), folder=state)
    assert "ksoftirqd/0" in wrong.value.detail
    assert lifecycle.in_force(machine, state) is None


def test_a_value_that_the_kernel_alters_is_reverted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    put = machine.write

    def clamp(path: str, text: str) -> None:
        put(path, "20" if path.endswith("swappiness") and text == "10" else text)

    monkeypatch.setattr(machine, "write", clamp)
    journal = lifecycle.apply(machine, plan_of(machine, "quiet"), folder=state)
    (failed,) = [step for step in journal.steps if step.outcome == "failed"]
    assert failed.why == "the kernel changed it to 20: reverted"
    assert machine.read("/proc/sys/vm/swappiness") == "60"


def test_a_second_tuning_is_refused_until_the_first_is_restored(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "quiet"), folder=state)
    with pytest.raises(KadenzError, match="the tuning quiet is in force since") as wrong:
        lifecycle.apply(machine, plan_of(machine, "latency"), folder=state)
    assert "kadenz tune restore" in wrong.value.remedy
    lifecycle.restore(machine, folder=state)
    lifecycle.apply(machine, plan_of(machine, "latency"), folder=state)


def test_every_change_is_on_the_disk_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    events: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda number: events.append("on disk"))
    put = machine.write

    def write(path: str, text: str) -> None:
        events.append("change")
        put(path, text)

    monkeypatch.setattr(machine, "write", write)
    plan = plan_of(machine, "latency")
    lifecycle.apply(machine, plan, folder=state)
    assert events.count("change") == len(plan.changes())
    assert all(events[at - 1] == "on disk" for at, what in enumerate(events) if what == "change")


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    with journal.alone(state), pytest.raises(KadenzError, match="another `kadenz tune`"):
        lifecycle.apply(machine, plan_of(machine, "quiet"), folder=state)


def test_restore_without_a_tuning_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KadenzError, match="no tuning is in force"):
        lifecycle.restore(machines.make(tmp_path / "m"), folder=tmp_path / "state")


def test_a_journal_from_before_a_reboot_is_not_restored(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "latency"), folder=state)
    machine = machines.make(
        tmp_path / "rebooted", {"/proc/sys/kernel/random/boot_id": "2", RUNTIME: "123"}
    )
    before = machine.snapshot()
    there = lifecycle.in_force(machine, state)
    assert there is not None and there.stale
    assert lifecycle.describe(machine, state) is None
    assert lifecycle.restore(machine, folder=state) == []
    assert machine.snapshot() == before
    assert lifecycle.in_force(machine, state) is None


def test_a_stale_journal_does_not_block_a_new_tuning(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "quiet"), folder=state)
    machine = machines.make(tmp_path / "new", {"/proc/sys/kernel/random/boot_id": "2"})
    before = machine.snapshot()
    lifecycle.apply(machine, plan_of(machine, "latency"), folder=state)
    lifecycle.restore(machine, folder=state)
    assert machine.snapshot() == before


def test_a_damaged_journal_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "quiet"), folder=state)
    file = state / "journal.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], "{broken\n", *lines[2:]]))
    before = machine.snapshot()
    with pytest.raises(StoreError, match="damaged"):
        lifecycle.restore(machine, folder=state)
    assert machine.snapshot() == before


# ---- others --------------------------------------------------------------------------------------
def test_values_changed_by_others_are_not_overwritten_silently(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    before = machine.snapshot()
    lifecycle.apply(machine, plan_of(machine, "latency"), folder=state)
    machine.write(RUNTIME, "800000")
    assert states(machine, state) == {"holds", "changed"}
    taken = lifecycle.restore(machine, folder=state)
    (theirs,) = [value for value in taken if value.result == "changed by others"]
    assert (theirs.change.path, theirs.now) == (RUNTIME, "800000")
    assert machine.read(RUNTIME) == "800000"
    # Everything else is restored, and the journal still has the old value.
    assert {k for k, v in machine.snapshot().items() if before.get(k) != v} == {RUNTIME}
    assert lifecycle.in_force(machine, state) is not None


@pytest.mark.parametrize(("others", "value"), [("keep", "800000"), ("overwrite", "950000")])
def test_the_user_decides_about_values_changed_by_others(
    others: lifecycle.Others, value: str, tmp_path: Path
) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "latency"), folder=state)
    machine.write(RUNTIME, "800000")
    lifecycle.restore(machine, folder=state)
    lifecycle.restore(machine, others, folder=state)
    assert machine.read(RUNTIME) == value
    assert lifecycle.in_force(machine, state) is None


def test_an_ended_thread_is_skipped_even_if_its_number_was_reused(
    tmp_path: Path,
) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "cereia2011-case2"), folder=state)
    machines.add_task(machine, 17, "other", machines.KTHREAD, "fifo:7", "0")
    stat = machine.path("/proc/17/stat")
    stat.write_text(stat.read_text().replace(" 170 0", " 999 0"))
    assert states(machine, state) == {"holds", "gone"}
    taken = lifecycle.restore(machine, folder=state)
    assert {value.result for value in taken} == {"restored", "gone", "already so"}
    assert machine.policy(17) == "fifo:7"


def test_a_thread_that_ends_before_its_change_is_not_a_failure(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    plan = plan_of(machine, "cereia2011-case2")
    shutil.rmtree(machine.path("/proc/17"))
    journal = lifecycle.apply(machine, plan, folder=state)
    outcomes = {step.outcome for step in journal.steps}
    assert outcomes == {"done", "gone"}
    assert states(machine, state) == {"holds", "gone"}
    taken = lifecycle.restore(machine, folder=state)
    assert {value.result for value in taken} <= {"restored", "gone", "already so"}
    assert lifecycle.in_force(machine, state) is None


def test_a_new_thread_is_found(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    plan = plan_of(machine, "cereia2011-case1")
    journal = lifecycle.apply(machine, plan, folder=state)
    assert lifecycle.appeared(machine, make_plan(machine, "", plan.tuning), journal) == []
    machines.add_task(machine, 300, "irq/30-eth1", machines.KTHREAD, "fifo:40", "0-3")
    (new,) = lifecycle.appeared(machine, make_plan(machine, "", plan.tuning), journal)
    assert (new.state, new.change.name, new.now) == ("new", "irq/30-eth1", "fifo:40")


def test_programs_started_meanwhile_are_confined_and_released(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    lifecycle.apply(machine, plan_of(machine, "isolated"), folder=state)
    machines.add_task(machine, 400, "make", 0, "other:0", "0-2")
    machine.path("/proc/400/cgroup").write_text("3:cpuset:/kadenz-housekeeping\n")
    procs = machine.path(f"{machines.V1}/kadenz-housekeeping/cgroup.procs")
    procs.write_text(f"{procs.read_text()} 400")
    lifecycle.restore(machine, folder=state)
    assert not machine.path(f"{machines.V1}/kadenz-housekeeping").exists()
    assert "400" in machine.path(f"{machines.V1}/cgroup.procs").read_text().split()


def test_an_interrupt_returns_to_its_processor(tmp_path: Path) -> None:
    """Restoring its list alone would leave every interrupt where the tuning moved it."""
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    effective = "/proc/irq/24/effective_affinity_list"
    assert machine.read(effective) == "3"
    lifecycle.apply(machine, plan_of(machine, "isolated"), folder=state)
    assert machine.read(effective) == "0"
    lifecycle.restore(machine, folder=state)
    assert machine.read(effective) == "3"


def test_a_slice_that_had_the_controller_regains_all_processors(tmp_path: Path) -> None:
    """The list of a group with programs cannot be cleared; all processors are equivalent."""
    machine, state = machines.make(tmp_path / "m", cgroups=2), tmp_path / "state"
    machine.write(f"{machines.V2}/cgroup.subtree_control", "+cpuset")
    cpus = f"{machines.V2}/system.slice/cpuset.cpus"
    assert machine.read(cpus) == ""
    lifecycle.apply(machine, plan_of(machine, "isolated"), folder=state)
    assert machine.read(cpus) == "0-2"
    taken = lifecycle.restore(machine, folder=state)
    assert {value.result for value in taken} <= {"restored", "already so"}
    assert machine.read(cpus) == "0-3"
    assert machine.affinity(102) == "2"


def test_an_affinity_forgotten_by_the_kernel_is_restored(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    machines.add_task(machine, 102, "database", 0, "other:0", "3")
    lifecycle.apply(machine, plan_of(machine, "isolated"), folder=state)
    assert machine.affinity(102) == "2"
    lifecycle.restore(machine, folder=state)
    assert machine.affinity(102) == "3"


# ---- for a run -----------------------------------------------------------------------------------
def test_a_run_records_the_tuning_in_force(tmp_path: Path) -> None:
    machine, state = machines.make(tmp_path / "m"), tmp_path / "state"
    assert lifecycle.describe(machine, state) is None
    machine.refuse = {INTERRUPT: errno.EIO}
    lifecycle.apply(machine, plan_of(machine, "isolated"), "abc", folder=state)
    entry = lifecycle.describe(machine, state)
    assert entry is not None and entry.complete
    assert (entry.profile, entry.sha256, entry.cpus) == ("isolated", "abc", "3")
    assert entry.at_start == []
    assert any(item.state.startswith("failed: ") for item in entry.items)
    governors = [item for item in entry.items if item.key == "processor.governor"]
    assert [(item.what, item.count, item.was) for item in governors] == [
        ("2 files", 2, "schedutil")
    ]
    assert lifecycle.verified_at_end(machine, entry, state) == []
    machine.write(RUNTIME, "1")
    assert f"scheduler.rt_runtime_us: {RUNTIME} is 1, not -1" in lifecycle.verified_at_end(
        machine, entry, state
    )
    lifecycle.restore(machine, "overwrite", folder=state)
    assert "the tuning was restored" in lifecycle.verified_at_end(machine, entry, state)[0]
