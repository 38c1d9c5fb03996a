# SPDX-License-Identifier: Apache-2.0
"""Processes that files alone decide: their output may come from the store instead.

Such a process works in its private folder and names every file there by a relative path, so that no
place reaches it; its inputs are links there.
"""

from __future__ import annotations

import contextlib
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config.manifest import ValueEntry
from kadenz.errors import TargetFailed
from kadenz.targets.base import die_with_parent
from kadenz.targets.processor import ThreadTimes, entering, free_processor, thread_times
from kadenz.values.environment import counted_environment
from kadenz.values.keeper import Keeper
from kadenz.values.key import Command
from kadenz.values.program import Program


class Ended:
    """Stands for a process that ended with success: its output is there."""

    def poll(self) -> int:
        """The exit code 0: a stored execution has ended well."""
        return 0

    def wait(self, timeout: float | None = None) -> int:
        """The exit code 0, at once."""
        return 0

    def terminate(self) -> None:
        """Does nothing: no process runs."""

    def kill(self) -> None:
        """Does nothing: no process runs."""

    def send_signal(self, number: int) -> None:
        """Does nothing: no process runs."""


# After a target is done, for it to end by itself: a large trace takes its time, and what was ended
# from outside is not kept.
SELF_END_S = 2.0
# Of each file that a process writes: an image that sends without end fills no disk.
FILE_BYTES = 8 << 30
Process = subprocess.Popen[bytes] | Ended


@dataclass(frozen=True)
class Start:
    """How a process is started: in `folder`, with files for its output there."""

    program: Path
    arguments: Sequence[str]
    folder: Path
    inputs: Mapping[str, Path | None]  # by name in `folder`: a link, or None for a file made there
    output: str  # for its standard output
    errors: str  # for its standard error; it may be the same
    reads: Sequence[Path] = ()  # files that `arguments` name elsewhere
    one_processor: bool = False  # its threads take turns
    begun: str = ""  # file in `folder` with what it has done, which a later execution goes on with


class CountedProcess:
    """Base of targets whose process may be replaced by what an equal one wrote."""

    keeper: Keeper | None = None  # None: it is always executed, and nothing is kept

    @property
    def value(self) -> ValueEntry | None:
        """Which value its output is, once it began."""
        return self.keeper.value if self.keeper is not None else None

    @property
    def difference(self) -> TargetFailed | None:
        """How it differed from an equal execution that is kept, once it is closed."""
        return self.keeper.difference if self.keeper is not None else None

    def vouch(self) -> None:
        """Its output was read to the end, and nothing was wrong with it: it may be kept."""
        if self.keeper is not None:
            self.keeper.vouch()

    def withdraw(self) -> None:
        """Something was wrong with its output after all."""
        if self.keeper is not None:
            self.keeper.withdraw()

    @property
    def _is_kept(self) -> bool:
        """Whether its output will be kept if it ends by itself."""
        return self.keeper is not None and self.keeper.vouched

    def _really(self, program_file: Path, environment: Mapping[str, str]) -> Program | None:
        """The program behind its wrapper, and what it reads; None if that is not known."""
        raise NotImplementedError

    def _begin(self, start: Start) -> Process:
        """Starts the process, or takes its output from the store."""
        for name, file in start.inputs.items():
            if file is not None:
                (start.folder / name).symlink_to(file.absolute())
        environment = counted_environment()
        really = self._really(start.program, environment) if self.keeper is not None else None
        if really is None:
            really = Program(start.program, (), environment, ())
            known = None
        else:
            known = Command(
                program=really.path,
                arguments=[*really.arguments, *start.arguments],
                environment=really.environment,
                folder=start.folder,
                inputs=tuple(start.inputs),
                reads=[*really.reads, *start.reads],
            )
        if self.keeper is not None and self.keeper.take(known):
            return Ended()
        if self.keeper is not None and start.begun:
            self.keeper.go_on(start.folder / start.begun)
        return _started(really, start)

    def _settle(self, folder: Path, process: Process | None, begun: str = "") -> None:
        """Keeps the output if the process ended by itself with success; nothing of the file
        `begun`, with which no other one goes on then."""
        if self.keeper is None or process is None or process.poll() != 0:
            return
        if begun:
            (folder / begun).unlink(missing_ok=True)
        self.keeper.settle(folder)
        if begun:
            self.keeper.complete()


def times_of(process: Process | None) -> ThreadTimes:
    """The times of the threads of a process; empty for one that does not run."""
    return thread_times(process.pid) if isinstance(process, subprocess.Popen) else {}


def _started(really: Program, start: Start) -> Process:
    processor = free_processor() if start.one_processor else None
    with contextlib.ExitStack() as opened:
        if processor is not None:
            opened.callback(processor.let_go)
        # Appended to: QEMU may write what a firmware prints to the same file in two ways.
        output = opened.enter_context((start.folder / start.output).open("ab"))
        errors = output
        if start.errors != start.output:
            errors = opened.enter_context((start.folder / start.errors).open("wb"))
        return subprocess.Popen(
            [str(really.path), *really.arguments, *start.arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=start.folder,
            env=dict(really.environment),
            pass_fds=[processor.inherited] if processor is not None else [],
            start_new_session=True,  # the lab handles Ctrl-C and ends the process
            # Few system calls, loaded before.
            preexec_fn=entering(processor, _bounded(die_with_parent())),  # noqa: PLW1509
        )


def _bounded(then: Callable[[], None]) -> Callable[[], None]:
    """What the process calls before it begins its program: a file of it gets no longer."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    bound = FILE_BYTES if hard == resource.RLIM_INFINITY else min(FILE_BYTES, hard)

    def in_child() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bound, hard))
        then()

    return in_child


def filled(folder: Path) -> str:
    """Which file of a process in `folder` reached its bound; "" if none."""
    full = [file.name for file in folder.iterdir() if file.lstat().st_size >= FILE_BYTES]
    return f"its file `{full[0]}` reached {FILE_BYTES:,} bytes" if full else ""
