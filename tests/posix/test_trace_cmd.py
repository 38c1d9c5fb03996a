# SPDX-License-Identifier: Apache-2.0
"""`kadenz trace FILE.dat`: a recording of trace-cmd becomes a timeline.

The recording is real: this machine's kernel traces a program in an instance of its own, and
trace-cmd writes the file from it.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from kadenz.analysis.linux_timeline import recorded_timeline
from kadenz.capture import trace_cmd
from kadenz.config import inventory
from kadenz.errors import ToolMissing, UsageError
from kadenz.ftrace import events_of
from tests.waiting import PATIENCE_S

# trace-cmd extract removes the instance after it has read it.
RECORD = """
set -e
mount -t tracefs nodev /sys/kernel/tracing
cd /sys/kernel/tracing/instances
mkdir "kdz-dat-$$" && cd "kdz-dat-$$"
trap 'cd .. && rmdir "kdz-dat-$$" 2>/dev/null || true' EXIT
echo 1 >options/event-fork
echo "$$" >set_event_pid
echo mono >trace_clock
for one in sched/sched_switch sched/sched_process_fork sched/sched_process_exec irq syscalls; do
    [ ! -e "events/$one/enable" ] || echo 1 >"events/$one/enable"
done
sleep 0.02
echo 0 >tracing_on
cd ..
trace-cmd extract -B "kdz-dat-$$" -o "$1" >/dev/null
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace.dat of `sleep 0.02`."""
    if shutil.which("trace-cmd") is None:
        pytest.skip("no trace-cmd here")
    file = tmp_path_factory.mktemp("recording") / "trace.dat"
    command = ["unshare", "-m", "sh", "-c", RECORD, "record", str(file)]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    if answer.returncode != 0:
        pytest.skip(f"no tracefs here, or no right to use it: {answer.stderr.strip()}")
    return file


def kadenz(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from kadenz.cli import main; main()", *map(str, arguments)]
    root = inventory.root()
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd=root
    )


@pytest.mark.machine
def test_the_program_executes_sleeps_and_executes(recording: Path, tmp_path: Path) -> None:
    answer = kadenz("trace", recording, "--output", tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "sleep" in answer.stdout
    stem = tmp_path / "timelines" / "00000-trace-dat"
    assert all(Path(f"{stem}{end}").is_file() for end in (".trace.json", ".vcd", ".svg"))
    timeline = recorded_timeline(events_of(trace_cmd.reported(recording)), "trace.dat")
    assert timeline is not None
    (thread,) = (track for track in timeline.tracks if track.kind == "thread")
    assert thread.name == "sleep"
    pauses = [b.begin - a.end for a, b in zip(thread.slices, thread.slices[1:], strict=False)]
    assert max(pauses) >= 19_000_000, pauses  # ns
    drawn = json.loads(Path(f"{stem}.trace.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" and event["cat"] == "thread" for event in drawn) == len(
        thread.slices
    )


@pytest.mark.machine
def test_the_call_in_which_it_sleeps_is_named(recording: Path) -> None:
    if not any(": sys_" in line for line in trace_cmd.reported(recording)):
        pytest.skip("this Linux has no events of system calls (CONFIG_FTRACE_SYSCALLS)")
    timeline = recorded_timeline(events_of(trace_cmd.reported(recording)), "trace.dat")
    assert timeline is not None
    calls = [call for track in timeline.tracks if track.kind == "call" for call in track.slices]
    (slept,) = (call for call in calls if call.name == "clock_nanosleep")
    assert slept.end - slept.begin >= 19_000_000  # ns
    assert {"openat", "mmap", "close"} <= {call.name for call in calls}


@pytest.mark.machine
@pytest.mark.parametrize("kept", [0.001, 0.5, 0.9])
def test_a_file_that_is_cut_off_is_refused_with_its_place(
    recording: Path, kept: float, tmp_path: Path
) -> None:
    whole = recording.read_bytes()
    cut = tmp_path / "cut.dat"
    cut.write_bytes(whole[: int(kept * len(whole))])
    answer = kadenz("trace", cut)
    assert answer.returncode == 2
    assert "before its index at byte" in answer.stderr, answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["cut.dat"]


def test_calls_are_named_as_in_tracefs() -> None:
    lines = {
        " sleep-7 [000] 1.000000001: sys_enter_read:       fd: 0x3, count: 1": "sys_read",
        " sleep-7 [000] 1.000000002: sys_exit_exit_group:  0x0": "sys_exit_group",
        " sleep-7 [000] 1.000000003: sys_exit:             NR 262 = -2": "",
    }
    for line, name in lines.items():
        changed = trace_cmd._CALL.sub(trace_cmd._as_in_tracefs, line)
        assert "".join(event.name for event in events_of([changed])) == name


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.dat").write_text("text")
    with pytest.raises(UsageError, match=r"other\.dat: not a recording of trace-cmd"):
        list(trace_cmd.reported(tmp_path / "other.dat"))
    with pytest.raises(UsageError, match="No such file"):
        list(trace_cmd.reported(tmp_path / "none.dat"))


def test_a_file_whose_index_is_missing_is_refused_with_its_place(tmp_path: Path) -> None:
    """As one that trace-cmd did not finish: the head names a place beyond the end."""
    file = tmp_path / "cut.dat"
    head = b"\x17\x08\x44tracing7\0" + b"\0" + b"\x08" + b"\0\x10\0\0" + b"none\0\0"
    file.write_bytes(head + struct.pack("<Q", 4096) + bytes(100))
    with pytest.raises(UsageError, match=f"ends at byte {file.stat().st_size}, .* at byte 4096"):
        list(trace_cmd.reported(file))
    file.write_bytes(head[:12])
    with pytest.raises(UsageError, match="before its index at byte"):
        list(trace_cmd.reported(file))


def test_without_trace_cmd_the_error_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "old.dat"
    file.write_bytes(b"\x17\x08\x44tracing6\0")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="apt-get install trace-cmd"):
        list(trace_cmd.reported(file))


def test_a_recording_has_no_target(tmp_path: Path) -> None:
    answer = kadenz("trace", tmp_path / "trace.dat", "--target", "posix/linux@host")
    assert answer.returncode == 2
    assert "a recording takes no target" in answer.stderr
