# SPDX-License-Identifier: Apache-2.0
"""Real programs under watch on this Linux: planted delays are named with their sizes.

Each call has a tracefs in a mount namespace of its own. The sizes are those that the program
measured itself; this machine may add to them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kadenz.config import inventory
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.machine

HERE = Path(__file__).parent
WITH_TRACEFS = 'mount -t tracefs nodev /sys/kernel/tracing && exec "$@"'
NAMESPACE = ["unshare", "-m", "sh", "-c", WITH_TRACEFS, "watch"]
KADENZ = [sys.executable, "-c", "from kadenz.cli import main; main()", "watch", "--wait"]
RECORD = """
set -e
cd /sys/kernel/tracing/instances
mkdir "kdz-watch-$$" && cd "kdz-watch-$$"
trap 'cd .. && rmdir "kdz-watch-$$" 2>/dev/null || true' EXIT
echo mono >trace_clock
echo 8192 >buffer_size_kb
for event in sched/sched_switch sched/sched_waking irq_vectors/local_timer_entry \
    irq_vectors/local_timer_exit syscalls/sys_enter_clock_nanosleep \
    syscalls/sys_exit_clock_nanosleep syscalls/sys_enter_futex syscalls/sys_exit_futex; do
    [ ! -e "events/$event/enable" ] || echo 1 >"events/$event/enable"
done
"$2" locked 60 >"$3"
echo 0 >tracing_on
cd ..
trace-cmd extract -B "kdz-watch-$$" -o "$1" >/dev/null
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with planted delays, compiled."""
    program = tmp_path_factory.mktemp("planted") / "planted"
    source = str(HERE / "planted.c")
    compiler = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", source]
    subprocess.run([*compiler, "-o", str(program)], check=True)
    answer = subprocess.run(
        [*NAMESPACE, str(program), "none", "2"], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        pytest.skip(f"no tracefs or no SCHED_FIFO here: {answer.stderr.strip()}")
    return program


def watched(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*NAMESPACE, *KADENZ, "--json", "-o", folder, *arguments]
    return subprocess.run(
        [str(argument) for argument in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=inventory.root(),
    )


def delays(text: str) -> list[int]:
    """The ns of each planted delay, by the program's own clock."""
    return [int(ns) for ns in re.findall(r"^PLANTED \d+ (\d+)$", text, re.MULTILINE)]


def periods_of(name: str) -> int:
    """How often threads of this name have slept."""
    slept = 0
    for status in Path("/proc").glob("[0-9]*/task/*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if text.startswith(f"Name:\t{name}\n"):
            slept += int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[0])
    return slept


def ctl_of(answer: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert answer.returncode == 0, answer.stderr
    (thread,) = json.loads(answer.stdout)["threads"]
    assert isinstance(thread, dict)
    return thread


@pytest.mark.parametrize(
    ("kind", "deadline", "cause"),
    [
        ("preempted", "1500us", "thread hog"),
        ("locked", "1500us", "for thread low"),
        ("faulting", "1500us", "its own execution, with page faults"),
        ("moved", "600us", "a migration to another processor"),
    ],
)
def test_a_planted_delay_is_named_with_its_size(
    planted: Path, tmp_path: Path, kind: str, deadline: str, cause: str
) -> None:
    answer = watched(
        tmp_path, "--thread", "ctl", "--deadline", deadline, "--", planted, kind, "200"
    )
    thread, planned = ctl_of(answer), delays(answer.stderr)
    assert len(planned) == 20
    causes = {each["cause"]: each for each in thread["causes"]}
    (named,) = (each for name, each in causes.items() if cause in name)
    print(kind, named, "by the program:", statistics.median(planned))
    assert named["late"] >= 15  # of 19: in the last one the thread ends
    # A move is partly execution of the thread itself.
    least = 0.3 if kind == "moved" else 0.7
    assert least * statistics.median(planned) < named["median"] < 1.2 * statistics.median(planned)
    (period,) = re.findall(r"period ([\d,.]+) µs", thread["period"])
    assert float(period.replace(",", "")) == pytest.approx(10_000, abs=5)


def test_nothing_planted_is_nothing_late(planted: Path, tmp_path: Path) -> None:
    thread = ctl_of(watched(tmp_path, "--thread", "ctl", "--", planted, "none", "100"))
    assert thread["response"]["jobs"] + thread["not_judged"] + thread["without_job"] == 100
    assert thread["response"]["median"] >= 200_000


def test_the_latency_of_cyclictest_is_below_its_own(tmp_path: Path) -> None:
    """The watch ends at the switch to the thread; cyclictest reads the clock behind it, and counts
    from the intended time."""
    if shutil.which("cyclictest") is None:
        pytest.skip("no cyclictest here")
    call = ["cyclictest", "-t1", "-p80", "-i1000", "-l3000", "-q"]
    answer = watched(tmp_path, "--thread", "cyclictest", "--", *call)
    assert answer.returncode == 0, answer.stderr
    threads = json.loads(answer.stdout)["threads"]
    thread = max(threads, key=lambda each: each["latency"]["jobs"])
    (line,) = re.findall(r"Min:\s+(\d+) Act:\s+\d+ Avg:\s+(\d+) Max:\s+(\d+)", answer.stderr)
    least, mean, most = map(int, line)
    print("watch:", thread["latency"], "cyclictest:", least, mean, most, "µs")
    assert thread["latency"]["min"] < (least + 1) * 1e3
    assert thread["latency"]["median"] < (mean + 1) * 1e3


def test_an_event_has_a_cost(planted: Path, tmp_path: Path) -> None:
    answer = watched(tmp_path, "--thread", "ctl", "--", planted, "none", "20")
    assert answer.returncode == 0, answer.stderr
    assert 0 < json.loads(answer.stdout)["event_ns"] < 20_000


def test_a_running_process_is_watched_and_left_running(planted: Path, tmp_path: Path) -> None:
    program = subprocess.Popen([planted, "preempted", "999"], stdout=subprocess.DEVNULL)
    try:
        call = ("--pid", str(program.pid), "--thread", "ctl", "--for", "1")
        thread = ctl_of(watched(tmp_path, *call))
        assert thread["response"]["jobs"] > 20
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()


def test_ctrl_c_ends_with_the_report(planted: Path, tmp_path: Path) -> None:
    command = [*NAMESPACE, *KADENZ, "--json", "-o", str(tmp_path), "--thread", "ctl", "--"]
    with subprocess.Popen(
        [*command, str(planted), "none", "999"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=inventory.root(),
    ) as watching:
        assert watching.stderr is not None and watching.stdout is not None
        for line in watching.stderr:
            if line.startswith("watching "):
                break
        wait_for(lambda: periods_of("ctl") > 20)
        watching.send_signal(signal.SIGINT)
        told = json.loads(watching.stdout.read())
    assert watching.returncode == 0
    assert told["ended"] == "interrupted (Ctrl-C)"
    assert told["threads"][0]["response"]["jobs"] > 3


def test_figures_are_shown_meanwhile_and_the_report_comes_by_ctrl_c(
    planted: Path, tmp_path: Path
) -> None:
    command = [*NAMESPACE, *KADENZ, "--live", "--json", "-o", str(tmp_path), "--thread", "ctl"]
    with subprocess.Popen(
        [*command, "--", str(planted), "none", "99999"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=inventory.root(),
        process_group=0,
    ) as watching:
        assert watching.stderr is not None and watching.stdout is not None
        jobs = 0
        for line in watching.stderr:
            if match := re.match(r"T: +\d+ ctl +P: 80 .* C: +([\d,]+) Min:", line):
                jobs = int(match[1].replace(",", ""))
                os.killpg(watching.pid, signal.SIGINT)
                break
        told = json.loads(watching.stdout.read())
        watching.stderr.read()
    assert watching.returncode == 0 and jobs > 0
    assert told["threads"][0]["response"]["jobs"] >= jobs
    assert told["live_s"] > 0


def test_what_a_program_started_ends_with_it(planted: Path, tmp_path: Path) -> None:
    """The end of a shell alone would leave its child running, with its priority."""
    call = f"{planted} none 999999 & wait"
    answer = watched(tmp_path, "--thread", "ctl", "--for", "0.2", "--", "sh", "-c", call)
    assert answer.returncode == 0, answer.stderr
    assert subprocess.run(["pgrep", "-f", f"{planted} none 999999"], check=False).returncode == 1


def test_a_program_without_real_time_is_said(tmp_path: Path) -> None:
    answer = watched(tmp_path, "--", "sleep", "0.1")
    assert answer.returncode == 1
    assert "no real-time thread" in answer.stderr and "sleep" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_fails_fails_the_watch(planted: Path, tmp_path: Path) -> None:
    call = f"{planted} none 20; exit 3"
    answer = watched(tmp_path, "--thread", "ctl", "--", "sh", "-c", call)
    assert answer.returncode == 1
    assert "the program ended with exit status 3" in answer.stderr
    assert len(list(tmp_path.iterdir())) == 1


def test_no_trace_instance_is_left(planted: Path, tmp_path: Path) -> None:
    call = "mount -t tracefs nodev /sys/kernel/tracing && ls /sys/kernel/tracing/instances"
    watched(tmp_path, "--thread", "ctl", "--", planted, "none", "10")
    answer = subprocess.run(
        ["unshare", "-m", "sh", "-c", call], capture_output=True, text=True, check=True
    )
    assert not [name for name in answer.stdout.split() if name.startswith("kadenz-")]


def test_a_recording_of_trace_cmd_gives_the_same_cause(planted: Path, tmp_path: Path) -> None:
    if shutil.which("trace-cmd") is None:
        pytest.skip("no trace-cmd here")
    file, printed = tmp_path / "trace.dat", tmp_path / "printed"
    command = [*NAMESPACE, "sh", "-c", RECORD, "record", file, planted, printed]
    answer = subprocess.run(
        [str(argument) for argument in command], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    thread = ctl_of(watched(tmp_path, file, "--thread", "ctl", "--deadline", "1500us"))
    (named,) = (each for each in thread["causes"] if "for thread low" in each["cause"])
    assert named["late"] >= 3
    assert named["median"] == pytest.approx(statistics.median(delays(printed.read_text())), rel=0.2)
