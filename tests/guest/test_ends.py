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
from kadenz.targets.guest import GuestTarget
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
