# SPDX-License-Identifier: Apache-2.0
"""Any end of a guest is named, and its last output is kept."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kadenz.config import inventory
from kadenz.errors import TargetFailed
from kadenz.images.cpio import File, archive
from kadenz.lab.boot import Execution, run_plan
from kadenz.targets.guest import GuestTarget, kernel_errors
from kadenz.wire.records import Assembler, NoRecords
from tests.guest.conftest import Machine, machine
from tests.waiting import wait_for

pytestmark = pytest.mark.counted

GUEST = "linux-rt/x86_64@guest"  # whose kernel every set-up has
PLAN = archive({"plan": File(b"list\nend\n")})


@pytest.fixture
def guest() -> Machine:
    return machine(GUEST)


def end_of(target: GuestTarget, *, silence_s: float = 60.0) -> TargetFailed:
    execution = Execution(target, GUEST, "", lambda: silence_s)
    outcome = run_plan(execution, Assembler(NoRecords()), threading.Event())
    assert outcome.failure is not None
    return outcome.failure


def test_a_kernel_panic_is_recognised_with_its_last_lines(guest: Machine) -> None:
    told = end_of(guest.target(b"", parameters="rdinit=/none init=/none"))
    assert "its kernel panicked: " in told.message
    assert "Kernel panic - not syncing" in told.detail
    assert told.remedy


def test_a_killed_emulator_is_named(guest: Machine) -> None:
    target: Any = guest.target(guest.initrd() + PLAN)

    def kill() -> None:
        while target._process is None:
            time.sleep(0.01)
        os.kill(target._process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    told = end_of(target)
    killer.join()
    assert "ended before its first message" in told.message
    assert "ended by signal 9" in told.detail


def test_a_guest_that_hangs_shows_its_console_and_registers(guest: Machine, tmp_path: Path) -> None:
    source = tmp_path / "hang.c"
    source.write_text(
        "#include <unistd.h>\n"
        'int main(void) { (void)!write(2, "I wait\\n", 7); for (;;) { pause(); } }\n'
    )
    compiler = inventory.compiler(guest.name.board, inventory.board(guest.name.board).arch)
    subprocess.run([compiler, "-static", source, "-o", tmp_path / "hang"], check=True)
    hang = archive({"suite": File((tmp_path / "hang").read_bytes(), 0o755)})
    told = end_of(guest.target(guest.initrd() + PLAN + hang), silence_s=30.0)
    assert re.search(r"(hangs|runs) before its first message(:|, but is) silent for", told.message)
    assert "I wait" in told.detail
    assert "RIP=" in told.detail


def test_a_suite_that_does_not_start_is_reported(guest: Machine) -> None:
    broken = archive({"suite": File(b"not a program", 0o755)})
    told = end_of(guest.target(guest.initrd() + PLAN + broken))
    assert "/suite does not start" in f"{told.message} {told.detail}"


def test_what_the_kernel_says_of_its_interrupts_and_its_memory_is_known(
    guest: Machine, tmp_path: Path
) -> None:
    """A child that takes all memory; and the sentence of an interrupt, through Linux's own log."""
    source = tmp_path / "greedy.c"
    source.write_text(
        "#include <fcntl.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/wait.h>\n"
        "#include <unistd.h>\n"
        "int main(void)\n{\n"
        '    const char *said = "<3>irq 3: nobody cared (try booting with irqpoll)";\n'
        '    int log = open("/dev/kmsg", O_WRONLY);\n'
        "    if (write(log, said, strlen(said)) < 0) { return 1; }\n"
        "    if (fork() == 0) { for (;;) { memset(malloc(1 << 20), 1, 1 << 20); } }\n"
        "    return wait(NULL) < 0;\n}\n"
    )
    compiler = inventory.compiler(guest.name.board, inventory.board(guest.name.board).arch)
    # -O0: a compiler may take a block that nobody reads away.
    subprocess.run([compiler, "-O0", "-static", source, "-o", tmp_path / "greedy"], check=True)
    greedy = archive({"suite": File((tmp_path / "greedy").read_bytes(), 0o755)})
    target: Any = guest.target(guest.initrd() + PLAN + greedy)
    end_of(target)
    interrupt, memory = target.kernel_errors
    assert interrupt == "irq 3: nobody cared"
    assert re.fullmatch(r"Out of memory: Killed process \d+ \(suite\)", memory)


@pytest.mark.parametrize(
    "said",
    [
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "rcu: INFO: rcu_preempt self-detected stall on CPU",
        "watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [program:110]",
        "INFO: task kadenz-load:99 blocked for more than 120 seconds",
    ],
)
def test_a_stall_that_the_kernel_reports_is_known_once(said: str) -> None:
    line = f"{said}\n"
    assert kernel_errors(f"kadenz-init: {line}[   12.345678] {line}{line}") == [said]


def test_a_guest_leaves_nothing_behind(guest: Machine) -> None:
    target: Any = guest.target(b"", parameters="rdinit=/none init=/none")
    end_of(target)
    assert not target._folder.exists()


def test_kill_9_of_kadenz_leaves_no_machine_and_no_folder(guest: Machine, tmp_path: Path) -> None:
    guest.initrd()  # built beforehand
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [str(Path(sys.executable).with_name("kadenz")), "run", "cyclic/wakeup-latency"]
    command += ["--target", GUEST, "--set", "samples=100000", "--fresh"]
    command += ["--output", str(tmp_path / "runs")]
    kadenz = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)})
    wait_for(lambda: machines(scratch) > 0 or kadenz.poll() is not None)
    assert kadenz.poll() is None
    kadenz.kill()
    kadenz.wait()
    wait_for(lambda: machines(scratch) == 0)
    assert list(scratch.iterdir())
    subprocess.run(
        [
            sys.executable,
            "-c",
            "from kadenz.targets.scratch import new_folder; new_folder().rmdir()",
        ],
        env={**os.environ, "TMPDIR": str(scratch)},
        check=True,
    )
    assert not list(scratch.iterdir())


def machines(folder: Path) -> int:
    """Processes that work in a folder of `folder`."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += folder in (process / "cwd").readlink().parents
    return count
