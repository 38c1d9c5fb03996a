# SPDX-License-Identifier: Apache-2.0
"""Reversible values of this Linux, restored after each test."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli.tune import tune
from kadenz.config.processors import parse_cpus, show_cpus
from kadenz.config.tuning import Placement, Tuning
from kadenz.tuning import cpuset, lifecycle
from kadenz.tuning.machine import Machine, Task
from kadenz.tuning.plan import make_plan

RUNTIME = Path("/proc/sys/kernel/sched_rt_runtime_us")
THREAD = "ksoftirqd/0"


def may_change() -> bool:
    """True for root, outside a read-only container, and without a tuning in force."""
    if os.geteuid() != 0 or not os.access(RUNTIME, os.W_OK):
        return False
    number = thread()
    try:
        os.sched_setscheduler(number, os.sched_getscheduler(number), os.sched_getparam(number))
        RUNTIME.write_text(RUNTIME.read_text())
    except OSError:
        return False
    return lifecycle.in_force(Machine()) is None


def thread() -> int:
    return next((t.tid for t in Machine().tasks() if t.kernel and t.name == THREAD), 0)


@functools.cache
def movable_interrupt() -> Path | None:
    """An interrupt that the kernel allows moving: it accepts its current value."""
    for file in sorted(Path("/proc/irq").glob("*/smp_affinity_list")):
        try:
            file.write_text(file.read_text())
        except OSError:
            continue
        if len(parse_cpus(file.read_text())) > 1:
            return file
    return None


pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(not may_change(), reason="this machine does not allow changing its values"),
]


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The values changed by these tests, restored directly after each."""
    monkeypatch.setenv("KADENZ_STATE_DIR", str(tmp_path / "state"))
    irq, before = movable_interrupt(), _now()
    yield before
    if lifecycle.in_force(Machine()) is not None:
        lifecycle.restore(Machine(), "overwrite")
    RUNTIME.write_text(before["runtime"])
    Machine().set_policy(thread(), before["thread"])
    if irq is not None:
        irq.write_text(before["interrupt"])


def _now() -> dict[str, str]:
    irq = movable_interrupt()
    return {
        "runtime": RUNTIME.read_text().strip(),
        "thread": Machine().policy(thread()),
        "interrupt": irq.read_text().strip() if irq else "",
    }


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    file = tmp_path / "try.toml"
    text = 'title = "try"\n[scheduler]\nrt_runtime_us = -1\n'
    text += f'[[thread]]\nmatch = "{THREAD}"\npolicy = "fifo"\npriority = 1\n'
    irq = movable_interrupt()
    names = [p.name for p in irq.parent.iterdir() if p.is_dir()] if irq else []
    if names:
        text += f'[[interrupt]]\nmatch = "{names[0]}"\ncpus = "0"\n'
    file.write_text(text)
    return file


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(tune, list(arguments), standalone_mode=False)


def test_a_profile_is_planned_applied_verified_and_restored(
    values: dict[str, str], profile: Path
) -> None:
    answer = json.loads(kadenz("plan", str(profile), "--json").output)
    assert {item["key"] for item in answer["items"]} >= {"scheduler.rt_runtime_us"}
    assert _now() == values
    assert kadenz("apply", str(profile)).return_value == 0
    now = _now()
    assert (now["runtime"], now["thread"]) == ("-1", "fifo:1")
    assert now["interrupt"] in ("0", "")
    assert kadenz("verify").return_value == 0
    Machine().set_policy(thread(), "fifo:2")
    changed = kadenz("verify")
    assert changed.return_value == 1
    assert f"priority of {THREAD}" in changed.output and "is fifo:2, not fifo:1" in changed.output
    Machine().set_policy(thread(), "fifo:1")
    assert kadenz("restore").return_value == 0
    assert _now() == values


def test_a_value_changed_by_others_is_reported_and_decided_by_the_user(
    values: dict[str, str], profile: Path
) -> None:
    assert kadenz("apply", str(profile)).return_value == 0
    RUNTIME.write_text("970000")
    refused = kadenz("restore")
    assert refused.return_value == 1
    assert "is 970000: others changed it" in refused.output
    assert "--changed-by-others keep|overwrite" in refused.output
    assert {**_now(), "runtime": ""} == {**values, "runtime": ""}
    assert RUNTIME.read_text().strip() == "970000"
    assert kadenz("restore", "--changed-by-others", "overwrite").return_value == 0
    assert _now() == values


@pytest.mark.parametrize("step", [1, 2, 3])
def test_restore_repairs_a_kill_9_during_apply(
    step: int, values: dict[str, str], profile: Path
) -> None:
    program = f"""
import os, signal
from kadenz.tuning import lifecycle
from kadenz.cli.tune import tune
make, left = lifecycle.perform, {step}
def perform(*arguments):
    global left
    make(*arguments)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
lifecycle.perform = perform
tune.main(["apply", {str(profile)!r}], standalone_mode=False)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    if ended.returncode == 0:
        pytest.skip("this machine has fewer things to change")
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert _now() != values
    assert isinstance(kadenz("apply", str(profile)).exception, Exception)
    assert kadenz("restore").return_value == 0
    assert _now() == values


class OnlyOurs(Machine):
    """This machine, with the test's program as its only program."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self.ours = pid

    def tasks(self) -> list[Task]:
        return [task for task in super().tasks() if task.kernel or task.tid == self.ours]


def test_a_program_is_kept_off_a_processor_and_released(tmp_path: Path) -> None:
    """Uses this machine's cpuset controller in its mounted version."""
    controller = cpuset.find(Machine())
    cpus = Machine().online()
    if controller is None or len(cpus) < 2:
        pytest.skip("no cpuset controller, or one processor")
    if controller.version == 2 or Machine().glob(f"{controller.mount}/*/cgroup.procs"):
        pytest.skip("groups of other programs would be narrowed for the length of the test")
    with subprocess.Popen(["sleep", "60"]) as program:
        try:
            machine = OnlyOurs(program.pid)
            before = machine.affinity(program.pid)
            tuning = Tuning(
                title="apart", placement=Placement(realtime="last", user_tasks="housekeeping")
            )
            lifecycle.apply(machine, make_plan(machine, "apart", tuning), folder=tmp_path)
            try:
                assert machine.affinity(program.pid) == show_cpus(cpus - {max(cpus)})
                child = subprocess.run(
                    ["cat", "/proc/self/cgroup"], capture_output=True, text=True, check=True
                )
                assert cpuset.OUR_GROUP not in child.stdout
            finally:
                taken = lifecycle.restore(machine, folder=tmp_path)
            assert {value.result for value in taken} <= {"restored", "already so"}
            assert machine.affinity(program.pid) == before
            assert not machine.exists(f"{controller.mount}/{cpuset.OUR_GROUP}")
        finally:
            program.kill()
