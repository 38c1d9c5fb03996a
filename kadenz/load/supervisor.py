# SPDX-License-Identifier: Apache-2.0
"""The process between kadenz and a load. It owns the load, and outlives kadenz to end it.

A program that only needs Python's standard library. Standard input carries one line of JSON (a
`Spec`) and stays open: its end means that kadenz has ended for any reason, even SIGKILL. Processes
of the load become children of this process when their own parents die (PR_SET_CHILD_SUBREAPER), so
that none escapes. If this process is killed, the kernel ends its direct children
(PR_SET_PDEATHSIG). Folder and control group are removed last. A program of root's runs as another
user, to whom the folder belongs: nothing in it is believed, and no link there is followed.

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
from typing import IO, Any

_PR_SET_PDEATHSIG = 1
_PR_SET_KEEPCAPS = 8
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAPABILITY_VERSION = 0x20080522  # capget(2), version 3: two words for each set
_READ_CAPABILITIES = (2, 1)  # CAP_DAC_READ_SEARCH, else CAP_DAC_OVERRIDE: capabilities(7)
_GRACE_S = 1.0  # between SIGTERM and SIGKILL
_GROUP_S = 5.0  # timeout for a control group to become empty
_SAID_BYTES = 2000  # of a program's last output
_WORST_VICTIM = 1000  # oom_score_adj: if memory runs out, the load is killed first

Spec = dict[str, Any]
# {"folder": where scratch files and logs go; made here, removed at the end,
#  "groups": [{"folder", "limit_file", "limit"}]: memory control groups, the first that works,
#  "cpus": [0, 1],
#  "user": [uid, gid] of the programs, null: as this process,
#  "programs": [{"part": "paging", "argv": [...], "grouped": true, "reads": true}]}
# In an argument, {limited} stands for "group" or "own": whether the kernel limits its memory.


class Supervisor:
    """Starts the programs of a specification, and ends all their descendants."""

    def __init__(self, spec: Spec, tell: Callable[..., None]) -> None:
        self._spec = spec
        self._tell = tell
        # By pidfd: process, part, its output.
        self._running: dict[int, tuple[subprocess.Popen[bytes], str, IO[bytes]]] = {}
        self._group = ""
        self._user: tuple[int, int] | None = None

    def start(self) -> None:
        """Starts every program. Raises OSError if one does not start."""
        folder = Path(self._spec["folder"])
        folder.mkdir(mode=0o700)
        refused = self._hand_over(folder)
        if any(program["grouped"] for program in self._spec["programs"]):
            usable = (group["folder"] for group in self._spec["groups"] if _usable(group))
            self._group = next(usable, "")
        pids: dict[str, list[int]] = {}
        for number, program in enumerate(self._spec["programs"]):
            log = (folder / f"{program['part']}-{number}.log").open("x+b")
            process = self._start_program(program, log)
            self._running[os.pidfd_open(process.pid)] = process, program["part"], log
            pids.setdefault(program["part"], []).append(process.pid)
        self._tell("started", pids=pids, group=self._group, refused=refused)

    def _hand_over(self, folder: Path) -> str:
        """Gives the folder to the user of the programs. Returns why they keep this one, or ""."""
        refused = _refusal(self._spec["user"])
        if not refused and self._spec["user"]:
            try:
                os.chown(folder, *self._spec["user"], follow_symlinks=False)
            except OSError as error:
                return f"chown: {error.strerror}"
            self._user = self._spec["user"]
        return refused

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

    def _start_program(self, program: dict[str, Any], log: IO[bytes]) -> subprocess.Popen[bytes]:
        grouped = bool(self._group and program["grouped"])
        limited = "group" if grouped else "own"
        parent = os.getpid()

        def in_child() -> None:
            _prepare(self._spec["cpus"], self._group if grouped else "")
            drop_rights(self._user, reads=program["reads"])
            # A change of user clears it.
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

        return subprocess.Popen(
            [word.replace("{limited}", limited) for word in program["argv"]],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self._spec["folder"],
            start_new_session=True,
            preexec_fn=in_child,  # noqa: PLW1509  no threads here
        )


def _prepare(cpus: list[int], group: str) -> None:
    """Gives this process ordinary priority, its CPUs and its control group."""
    if group:
        (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    os.sched_setaffinity(0, cpus)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with contextlib.suppress(OSError):  # a user may have started kadenz with nice
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_WORST_VICTIM))


def drop_rights(user: tuple[int, int] | None, *, reads: bool) -> str:
    """Leaves this process no right of root's, and no way to gain one. Returns a refusal, or "".

    It becomes `user` (uid, gid). With `reads` it may still read every file, if it could before,
    until it gives that up.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)  # effective, permitted, inheritable; then of capabilities from 32 on
    may = [right for right in _READ_CAPABILITIES if reads and sets[1] >> right & 1][:1]
    libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    refused = ""
    if user:
        try:
            os.setgroups([])
            os.setgid(user[1])
            os.setuid(user[0])
        except OSError as error:
            refused = f"another user: {error.strerror}"
    kept = sum(1 << right for right in may)
    if libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, kept)) != 0:
        refused = refused or f"capset: {os.strerror(ctypes.get_errno())}"
    for right in may:  # what another user than root keeps across execve(2)
        libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, right, 0, 0)
    # From here on execve(2) adds nothing, so that the bounding set does not matter.
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        refused = refused or f"no_new_privs: {os.strerror(ctypes.get_errno())}"
    return refused


def _refusal(user: tuple[int, int] | None) -> str:
    """The refusal that `drop_rights` meets on this machine, found out by a child."""
    answer, ask = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(ask, drop_rights(user, reads=False).encode())
        os._exit(0)
    os.close(ask)
    with os.fdopen(answer, encoding="utf-8") as pipe:
        refused = pipe.read()
    os.waitpid(child, 0)
    return refused


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
    pids, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        pids += below
        todo += below
    return pids


def of_sessions(sessions: Iterable[int]) -> list[int]:
    """Every living process of these sessions."""
    wanted = set(sessions)
    return [pid for pid, _, session in processes() if session in wanted]


def processes() -> list[tuple[int, int, int]]:
    """Every process that has not ended: (pid, parent, session)."""
    living = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if stat[0] not in "ZX":
            living.append((int(folder.name), int(stat[1]), int(stat[3])))
    return living


def kill(pids: Iterable[int]) -> None:
    """Sends SIGKILL to each process that still exists."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _tail(log: IO[bytes]) -> str:
    with log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _SAID_BYTES))
        return log.read(_SAID_BYTES).decode(errors="replace").strip()


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
