# SPDX-License-Identifier: Apache-2.0
"""A program under watch: started here, or running already; recorded until something ends it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from kadenz.errors import UsageError
from kadenz.host.family import family_of, is_alive
from kadenz.watching.live_process import LiveProcess, Shown
from kadenz.watching.machines import Machine, this_linux
from kadenz.watching.overhead import Overhead, overhead
from kadenz.watching.recorder import Recorder, recorder
from kadenz.watching.selection import Selection
from kadenz.watching.threads import Observed, Observer

_POLL_S = 0.05
_PATIENCE_S = 5.0  # for a program that was asked to end


@dataclass(frozen=True)
class Wanted:
    """What to watch: a command, a process, or (neither) all threads of the selection's names."""

    command: Sequence[str]
    pid: int | None
    seconds: float | None
    names: Sequence[str]
    apart: bool = False  # what the command prints goes to standard error

    @property
    def title(self) -> str:
        """ "./controller --rate 1000", "process 4711"."""
        if self.command:
            return shlex.join(self.command)
        return f"process {self.pid}" if self.pid is not None else "all processes"


@dataclass(frozen=True)
class Recording:
    """What was observed. `problem`: why the program's work is not whole, "" if nothing was wrong.
    `lacking`: events that the kernel does not have. `full`: why it ended by itself. `title`: what
    was watched, in words. `file`: the name of a recording. `console`: what a guest's program wrote.
    `live_s`: processor time of the figures that were shown meanwhile."""

    observed: Observed
    selection: Selection
    ended: str
    problem: str
    stopped: bool
    overhead: Overhead | None
    lacking: Sequence[str]
    full: str
    bytes: int
    machine: Machine
    title: str
    file: str = ""
    console: str = ""
    live_s: float | None = None


def record(
    wanted: Wanted,
    stopped: Callable[[], bool],
    say: Callable[[str], None],
    shown: Shown | None = None,
) -> Recording:
    """Watches until the program ends, the time is over, or `stopped`; with figures meanwhile if
    they are to be `shown`.

    UsageError for a command or a process that is not there; ToolMissing without tracefs.
    """
    _check(wanted)
    with recorder() as recording:
        say("measuring what recording an event costs")
        cost = overhead(recording)
        program = _Program(wanted)
        with LiveProcess(recording, shown) if shown else nullcontext() as live:
            recording.start()
            try:
                program.start()
                say(f"watching {wanted.title}")
                if live:
                    live.follow(sorted(program.selection.roots))
                _wait(program, wanted, recording, stopped)
            finally:
                recording.stop()
                program.end()
        say("reading the recording")
        observed = Observer(program.selection.keeps).observe(recording.events())
        return Recording(
            observed=observed,
            selection=program.selection,
            ended=_ending(program, wanted, recording, stopped()),
            problem="" if stopped() else program.problem,
            stopped=stopped(),
            overhead=cost,
            lacking=recording.lacking,
            full=recording.full,
            bytes=recording.bytes,
            machine=this_linux(observed.cpus),
            title=wanted.title,
            live_s=live.seconds if live else None,
        )


def _check(wanted: Wanted) -> None:
    if wanted.pid is not None and not Path(f"/proc/{wanted.pid}/task").is_dir():
        raise UsageError(
            f"--pid {wanted.pid}: there is no such process", remedy="See `ps -e` or `pgrep -l NAME`"
        )


def _wait(
    program: _Program, wanted: Wanted, recording: Recorder, stopped: Callable[[], bool]
) -> None:
    until = time.monotonic() + wanted.seconds if wanted.seconds is not None else None
    while recording.running and program.lives and not stopped():
        left = _POLL_S if until is None else min(_POLL_S, until - time.monotonic())
        if left <= 0.0:
            return
        time.sleep(left)


def _ending(program: _Program, wanted: Wanted, recording: Recorder, stopped: bool) -> str:
    if recording.full:
        return recording.full
    if stopped:
        return "interrupted (Ctrl-C)"
    if not program.lived_on:
        return program.ending
    return f"after {wanted.seconds:g} s" if wanted.seconds is not None else "the recording ended"


class _Program:
    """The processes whose threads are watched."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._process: subprocess.Popen[bytes] | None = None
        self._status: int | None = None
        self.lived_on = False  # at the end of the recording
        self.selection = Selection((), wanted.names, everything=not wanted.command)

    def start(self) -> None:
        """Starts the command, or looks for the threads of the process."""
        wanted = self._wanted
        if wanted.command:
            try:
                self._process = subprocess.Popen(
                    wanted.command, stdout=sys.stderr.fileno() if wanted.apart else None
                )
            except OSError as error:
                raise UsageError(
                    f"{wanted.command[0]}: {error.strerror}",
                    remedy="Give its path: kadenz watch -- ./program ARGUMENT…",
                ) from None
            self.selection = Selection((self._process.pid,), wanted.names)
        elif wanted.pid is not None:
            self.selection = Selection(_threads_of(wanted.pid), wanted.names)

    @property
    def lives(self) -> bool:
        """Whether it still runs."""
        if self._process is not None:
            return self._process.poll() is None
        return self._wanted.pid is None or Path(f"/proc/{self._wanted.pid}").is_dir()

    def end(self) -> None:
        """Asks a command that still runs to end, with all that it started, then kills them;
        another's process is left alone."""
        self.lived_on = self.lives
        if self._process is None:
            return
        family = family_of(self._process.pid) if self.lived_on else []
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in family:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            until = time.monotonic() + _PATIENCE_S
            while (family := [pid for pid in family if is_alive(pid)]) and time.monotonic() < until:
                self._process.poll()
                time.sleep(_POLL_S)
        self._status = self._process.wait()

    @property
    def ending(self) -> str:
        """How it ended by itself."""
        if self._status is None:
            return "the process ended"
        if self._status < 0:
            return f"the program was killed by {signal.Signals(-self._status).name}"
        return f"the program ended with exit status {self._status}"

    @property
    def problem(self) -> str:
        """Why its work is not whole: it ended by itself, with an error."""
        return self.ending if self._status and not self.lived_on else ""


def _threads_of(pid: int) -> tuple[int, ...]:
    try:
        return tuple(int(path.name) for path in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return (pid,)
