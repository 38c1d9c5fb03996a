# SPDX-License-Identifier: Apache-2.0
"""The process between kadenz and a load. It owns the load, and outlives kadenz to end it.

A program that only needs Python's standard library. Standard input carries one line of JSON (a
`Spec`) and stays open: its end means that kadenz has ended for any reason, even SIGKILL. Processes
of the load become children of this process when their own parents die (PR_SET_CHILD_SUBREAPER), so
that none escapes. If this process is killed, the kernel ends its direct children
(PR_SET_PDEATHSIG). Folder and control group are removed last.

Each answer on standard output is a line of JSON: `started`, `ended` (a program ended unexpectedly),
`failed` (nothing runs), `stopped`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_GRACE_S = 1.0  # between SIGTERM and SIGKILL
_GROUP_S = 5.0  # timeout for a control group to become empty
_SAID_BYTES = 2000  # of a program's last output
_WORST_VICTIM = 1000  # oom_score_adj: if memory runs out, the load is killed first

Spec = dict[str, Any]
# {"folder": where scratch files and logs go; made here, removed at the end,
#  "groups": [{"folder", "limit_file", "limit"}]: memory control groups, the first that works,
#  "cpus": [0, 1],
#  "programs": [{"part": "paging", "argv": [...], "grouped": true}]}
# In an argument, {limited} stands for "group" or "own": whether the kernel limits its memory.


class Supervisor:
    """Starts the programs of a specification, and ends all their descendants."""

    def __init__(self, spec: Spec, tell: Callable[..., None]) -> None:
        self._spec = spec
        self._tell = tell
        self._running: dict[int, tuple[subprocess.Popen[bytes], str, Path]] = {}  # by pidfd
        self._group = ""

    def start(self) -> None:
        """Starts every program. Raises OSError if one does not start."""
        folder = Path(self._spec["folder"])
        folder.mkdir(mode=0o700)
        if any(program["grouped"] for program in self._spec["programs"]):
            usable = (group["folder"] for group in self._spec["groups"] if _usable(group))
            self._group = next(usable, "")
        pids: dict[str, list[int]] = {}
        for number, program in enumerate(self._spec["programs"]):
            log = folder / f"{program['part']}-{number}.log"
            process = self._one(program, log)
            self._running[os.pidfd_open(process.pid)] = process, program["part"], log
            pids.setdefault(program["part"], []).append(process.pid)
        self._tell("started", pids=pids, group=self._group)

    def watch(self, commands: int, wake: int) -> None:
        """Waits for the end of standard input, a signal or a stop request; reports ended
        programs."""
        poll = select.poll()
        for descriptor in (commands, wake, *self._running):
            poll.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    return
                if descriptor == commands:
                    return  # kadenz has ended or requests a stop
                poll.unregister(descriptor)
                process, part, log = self._running.pop(descriptor)
                os.close(descriptor)
                code = process.wait()
                self._tell("ended", part=part, code=code, output=_tail(log))

    def clean(self) -> None:
        """Ends all descendants, then removes the control group and the folder."""
        for process, _, _ in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        until = time.monotonic() + _GRACE_S
        while time.monotonic() < until and descendants(os.getpid()):
            _reap()
            time.sleep(0.01)
        # A process may fork between two checks: repeat until none is left.
        while alive := descendants(os.getpid()):
            kill(alive)
            _reap()
            time.sleep(0.01)
        _reap()
        remove(self._spec)

    def _one(self, program: dict[str, Any], log: Path) -> subprocess.Popen[bytes]:
        grouped = bool(self._group and program["grouped"])
        limited = "group" if grouped else "own"
        with log.open("wb") as output:
            return subprocess.Popen(
                [word.replace("{limited}", limited) for word in program["argv"]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._spec["folder"],
                start_new_session=True,
                # No threads here.
                preexec_fn=_prepared(  # noqa: PLW1509
                    self._spec["cpus"], self._group if grouped else ""
                ),
            )


def _prepared(cpus: list[int], group: str) -> Callable[[], None]:
    """Runs in a child: dies with the supervisor; sets ordinary priority, CPUs and control group."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def in_child() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        if group:
            (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
        os.sched_setaffinity(0, cpus)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        with contextlib.suppress(OSError):  # a user may have started kadenz with nice
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(str(_WORST_VICTIM))

    return in_child


def _usable(group: dict[str, str]) -> bool:
    """Creates a memory control group; False if it cannot be created, limited or joined."""
    folder = Path(group["folder"])
    try:
        folder.mkdir()
        (folder / group["limit_file"]).write_text(group["limit"])
    except OSError:
        _remove_group(folder)
        return False
    child = os.fork()
    if child == 0:
        try:
            (folder / "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        _remove_group(folder)
    return status == 0


def remove(spec: Spec) -> None:
    """Removes a load's files and control group. Never raises."""
    shutil.rmtree(spec["folder"], ignore_errors=True)
    for group in spec["groups"]:
        _remove_group(Path(group["folder"]))


def _remove_group(folder: Path) -> None:
    """Removes a control group once the kernel has released its last process."""
    until = time.monotonic() + _GROUP_S
    while folder.is_dir() and time.monotonic() < until:
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.02)


def descendants(pid: int) -> list[int]:
    """Every living process below `pid`."""
    children: dict[int, list[int]] = {}
    for process, parent, _ in processes():
        children.setdefault(parent, []).append(process)
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def of_sessions(sessions: Iterable[int]) -> list[int]:
    """Every living process of these sessions."""
    wanted = set(sessions)
    return [pid for pid, _, session in processes() if session in wanted]


def processes() -> list[tuple[int, int, int]]:
    """Every process that has not ended: (pid, parent, session)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if stat[0] not in "ZX":
            found.append((int(folder.name), int(stat[1]), int(stat[3])))
    return found


def kill(pids: Iterable[int]) -> None:
    """Sends SIGKILL to each process that still exists."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _tail(log: Path) -> str:
    try:
        return log.read_bytes()[-_SAID_BYTES:].decode(errors="replace").strip()
    except OSError:
        return ""


def _say(event: str, **fields: Any) -> None:
    """Writes a line to kadenz, if it still runs."""
    with contextlib.suppress(OSError):
        os.write(1, (json.dumps({"event": event, **fields}) + "\n").encode())


def main() -> None:
    """Reads the specification, runs the load until kadenz ends or stops it, cleans up."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    line = b""
    while not line.endswith(b"\n"):  # unbuffered: `watch` reads the rest
        piece = os.read(0, 1)
        if not piece:
            return
        line += piece
    supervisor = Supervisor(json.loads(line), _say)
    try:
        supervisor.start()
        supervisor.watch(0, woken)
    except (OSError, subprocess.SubprocessError) as error:
        _say("failed", message=str(error))
    finally:
        supervisor.clean()
    _say("stopped")


if __name__ == "__main__":
    main()
    sys.exit(0)
