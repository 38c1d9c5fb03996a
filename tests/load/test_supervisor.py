# SPDX-License-Identifier: Apache-2.0
"""The supervisor always cleans up, with real processes and kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kadenz.load import supervisor
from kadenz.load.control_groups import memory_groups
from kadenz.owner import user_without_rights
from tests.load.machine import left_behind, working_in
from tests.waiting import wait_for

# Starts the supervisor like kadenz, prints its answers, then waits to be killed.
OWNER = """
import subprocess, sys, time
process = subprocess.Popen([sys.executable, "-I", "-S", sys.argv[1]], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, start_new_session=True)
process.stdin.write(sys.argv[2].encode() + b"\\n")
process.stdin.flush()
print(process.pid, process.stdout.readline().decode(), flush=True)
time.sleep(600)
"""
# Stubborn workers: in their own session, ignoring SIGTERM, with a dead parent.
STUBBORN = (
    "trap '' TERM INT HUP; touch file;"
    "(setsid sh -c 'trap \"\" TERM; while :; do sleep 5; done' &);"
    "while :; do sleep 5; done"
)


def spec(folder: Path, *commands: list[str], grouped: bool = False) -> dict[str, Any]:
    name = f"{os.getpid()}-0-{folder.name}"
    return {
        "folder": str(folder / f".kadenz-load-{name}"),
        "groups": memory_groups(f"kadenz-load-{name}", 64 << 20) if grouped else [],
        "cpus": sorted(os.sched_getaffinity(0)),
        "user": user_without_rights(),
        "programs": [
            {"part": f"part{n}", "argv": argv, "grouped": grouped, "reads": False}
            for n, argv in enumerate(commands)
        ],
    }


def owner(what: dict[str, Any]) -> tuple[subprocess.Popen[str], int, dict[str, Any]]:
    """The owner's process, the supervisor's pid, its first answer."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, supervisor.__file__, json.dumps(what)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    pid, _, answer = process.stdout.readline().partition(" ")
    return process, int(pid), json.loads(answer)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    supervisor.kill(working_in(tmp_path))


def test_nothing_is_left_after_the_owner_is_killed(here: Path) -> None:
    what = spec(here, ["sh", "-c", STUBBORN], ["sh", "-c", STUBBORN], grouped=True)
    process, pid, answer = owner(what)
    assert answer["event"] == "started"
    wait_for(lambda: len(working_in(here)) >= 6)
    wait_for(lambda: any(here.glob(".kadenz-load-*/file")))
    assert answer["group"] == "" or Path(answer["group"]).is_dir()
    process.kill()
    process.wait()
    wait_for(lambda: left_behind(here) == [])
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_supervisor_cleans_up_on_request(here: Path, number: int) -> None:
    process, pid, _ = owner(spec(here, ["sh", "-c", STUBBORN]))
    wait_for(lambda: len(working_in(here)) >= 3)
    os.kill(pid, number)
    wait_for(lambda: left_behind(here) == [])
    process.kill()
    process.wait()


def test_programs_die_with_a_killed_supervisor(here: Path) -> None:
    process, pid, _ = owner(spec(here, ["sleep", "600"], ["sleep", "600"]))
    wait_for(lambda: len(working_in(here)) == 2)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: working_in(here) == [])
    process.kill()
    process.wait()


def test_a_program_that_ends_is_reported_with_its_last_output(here: Path) -> None:
    direct = subprocess.Popen(
        [sys.executable, "-I", "-S", supervisor.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert direct.stdin is not None and direct.stdout is not None
    commands = ["sh", "-c", "echo no space >&2; exit 3"], ["sleep", "600"]
    print(json.dumps(spec(here, *commands)), file=direct.stdin, flush=True)
    answers = [json.loads(direct.stdout.readline()) for _ in range(2)]
    assert [answer["event"] for answer in answers] == ["started", "ended"]
    assert answers[1] == {"event": "ended", "part": "part0", "code": 3, "output": "no space"}
    direct.stdin.close()
    assert json.loads(direct.stdout.readline()) == {"event": "stopped"}
    assert direct.wait() == 0
    direct.stdout.close()


def test_a_program_that_does_not_start_leaves_nothing(here: Path) -> None:
    process, _, answer = owner(spec(here, ["sleep", "600"], ["/no/such/program"]))
    assert answer["event"] == "failed"
    assert "/no/such/program" in answer["message"]
    wait_for(lambda: left_behind(here) == [])
    process.kill()
    process.wait()


def test_a_load_runs_at_ordinary_priority_and_is_first_to_be_killed(here: Path) -> None:
    process, _, answer = owner(spec(here, ["sleep", "600"]))
    (pid,) = answer["pids"]["part0"]
    wait_for(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")
    assert os.sched_getscheduler(pid) == os.SCHED_OTHER
    if os.geteuid() == 0:
        assert os.getpriority(os.PRIO_PROCESS, pid) == 0
    assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"
    assert os.getsid(pid) == pid
    process.kill()
    process.wait()
    wait_for(lambda: left_behind(here) == [])


def test_an_unusable_group_is_skipped(here: Path) -> None:
    what = spec(here, ["sleep", "600"], grouped=True)
    fake = here / "group"  # an ordinary folder is not a control group
    what["groups"] = [{"folder": "/proc/no", "limit_file": "x", "limit": "1"}]
    process, _, answer = owner(what)
    assert (answer["event"], answer["group"]) == ("started", "")
    process.kill()
    process.wait()
    wait_for(lambda: left_behind(here) == [])
    assert not fake.exists()
