# SPDX-License-Identifier: Apache-2.0
"""The kernel's trace around a sample above the limit is kept, and its instance removed afterwards.

Runs in its own mount namespace, because tracefs is often not mounted. Instances belong to the
kernel and would be visible outside. What the program itself does to a trace is tested in a guest:
tests/guest/test_wake_ups.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kadenz.analysis.kept_traces import kept_traces
from kadenz.analysis.timelines import timelines_of
from kadenz.config import inventory
from kadenz.config.timeline import Timeline
from kadenz.store import read_run
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.machine

MOUNT = (
    "{ mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing; } "
    '&& exec "$0" "$@"'
)


def inside(*command: str | Path, **options: object) -> subprocess.Popen[str]:
    """A command that sees tracefs in its usual place."""
    environment = os.environ | {"PYTHONPATH": str(inventory.root())}
    process: subprocess.Popen[str] = subprocess.Popen(
        ["unshare", "-m", "sh", "-c", MOUNT, *map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        **options,  # type: ignore[call-overload]
    )
    return process


def instances() -> set[str]:
    with inside("ls", "/sys/kernel/tracing/instances") as process:
        return set(process.communicate()[0].split())


@pytest.fixture(autouse=True)
def tracefs() -> None:
    with inside("test", "-w", "/sys/kernel/tracing/instances") as process:
        process.communicate()
        if process.returncode != 0:
            pytest.skip("no tracefs here, or no right to mount it")


STOP = """
import subprocess, sys
from pathlib import Path
from kadenz.host.tracefs import traced

with traced(True) as trace:
    assert trace is not None and not trace.stopped and not trace.keep(Path("early"))
    subprocess.run([sys.argv[1]], input=sys.argv[2].encode(), stdout=subprocess.DEVNULL, check=True)
    assert trace.stopped and trace.keep(Path("trace-00001.txt"))
"""


def test_the_trace_is_kept_and_shows_the_late_thread(program: Path, tmp_path: Path) -> None:
    before = instances()
    plan = "cyclic/wakeup-latency id=1 samples=100000 threads=1 core=0 stop_above_us=1\nend\n"
    with inside(sys.executable, "-c", STOP, program, plan, cwd=tmp_path) as process:
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert not (tmp_path / "early").exists()
    (kept,) = kept_traces(tmp_path, None)
    assert kept.lane == "thread0" and kept.cycle is not None
    assert kept.blame is not None and kept.blame.thread == "cyclic"
    assert instances() == before


HOLD = """
import time
from kadenz.host.tracefs import traced

with traced(True) as trace:
    print(trace.folder.name, flush=True)
    time.sleep(600)
"""


def test_a_killed_lab_leaves_no_trace_running() -> None:
    with inside(sys.executable, "-c", HOLD) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert name in instances()
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_for(lambda: name not in instances())


def traced_run(bench: str, output: Path) -> Path:
    """The folder of a run of five samples, traced on this Linux."""
    command = [sys.executable, "-c", "from kadenz.cli import main; main()", "trace"]
    arguments = [bench, "--target", "posix/linux@host", "--set", "samples=5"]
    with inside(*command, *arguments, "--output", output, stderr=subprocess.PIPE) as process:
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert "task 1" in said
    (folder,) = [file.parent for file in output.glob("*/run.json")]
    return folder


def timeline_with_samples_of(folder: Path) -> Timeline:
    """The only timeline. Its samples are those of the run, to the nanosecond."""
    run = read_run(folder)
    (timeline,) = timelines_of(run)
    (samples,) = [track.slices for track in timeline.tracks if track.kind == "sample"]
    shown = [sample.end - sample.begin for sample in samples]
    (record,) = [entry for entry in run.manifest.records if not entry.bench.startswith("clock/")]
    assert shown == run.samples(record, 0).tolist()
    return timeline


def test_a_timeline_of_this_linux_has_the_threads_of_the_benchmark(tmp_path: Path) -> None:
    before = instances()
    folder = traced_run("itc/message-queue", tmp_path)
    timeline = timeline_with_samples_of(folder)
    executed = {thread.name: thread.slices for thread in timeline.tracks if thread.kind == "thread"}
    assert len(executed["task 1"]) >= 5 and len(executed["task 2"]) >= 5
    calls = {
        call.name for track in timeline.tracks if track.kind == "call" for call in track.slices
    }
    assert {"mq_timedsend", "mq_timedreceive"} <= calls
    assert read_run(folder).manifest.target.instrument == "ftrace"
    files = {file.name.partition(".")[2] for file in (folder / "timelines").iterdir()}
    assert files == {"ftrace.txt", "trace.json", "vcd", "svg"}
    assert instances() == before


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="this machine lets the tests use one processor"
)
def test_a_tick_that_is_read_between_two_stamps_is_no_end_of_a_sample(tmp_path: Path) -> None:
    """While task 2 wakes up, task 1 reads the tick, which on this Linux is the clock of stamps."""
    timeline_with_samples_of(traced_run("smp/wake-up", tmp_path))
