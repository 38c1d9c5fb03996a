# SPDX-License-Identifier: Apache-2.0
"""QEMU as a process: start it, read its growing serial output, query it, end it.

The monitor is only used after the target has ended or hangs. A connection would not affect virtual
time, but is never needed earlier.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO

from kadenz import tools
from kadenz.config.manifest import EmulatorEntry
from kadenz.targets import qemu_monitor
from kadenz.targets.base import die_with_parent
from kadenz.targets.counted import SELF_END_S, CountedProcess, Process, Start, filled, times_of
from kadenz.targets.processor import ThreadTimes, on_every_processor
from kadenz.targets.scratch import new_folder, read_growing
from kadenz.targets.seen import looks_of
from kadenz.values import program
from kadenz.values.program import Program

_GRACE_S = 2.0  # between SIGTERM and SIGKILL
_EXIT_S = 0.3  # timeout for an image that ends QEMU
# By files of this machine that decide nothing: those of /etc/qemu, and of its sound system.
_UNAFFECTED = ("-no-user-config", "-audio", "none")
# An image reaches nothing of this machine: no device of QEMU is joined to its network, and QEMU
# itself can start no program and gain no right.
_NO_NETWORK = ("-nic", "none")
_SANDBOX = (
    "-sandbox",
    "on,obsolete=deny,spawn=deny,elevateprivileges=deny,resourcecontrol=deny",
)
_LOOKS = 10  # samples of a silent target
_LOOKS_MAX = 100  # while fewer than two are outside a handler of an interrupt
_BETWEEN_LOOKS_S = 0.005


class QemuProcess(CountedProcess):
    """Base of all targets in QEMU. A subclass provides the command line and its files."""

    _standard_output = "words"  # a file in its folder

    def __init__(self, qemu: str) -> None:
        self._name = qemu
        self._qemu = tools.require(qemu)
        self._process: Process | None = None
        self._by_itself: Process | None = None  # once it ended, unless it was quit
        self._serial: IO[bytes] | None = None

    @cached_property
    def _folder(self) -> Path:
        """The folder of this execution, created on first use."""
        return new_folder()

    def _start(self) -> None:
        """Starts QEMU; its file `serial` receives the target's output."""
        start = Start(
            program=self._qemu,
            arguments=[*_UNAFFECTED, *self._confined(), *self._command(Path())[1:]],
            folder=self._folder,
            inputs=self._inputs(),
            output=self._standard_output,
            errors="words",
            reads=self._reads(),
            one_processor=True,
        )
        self._process = self._begin(start)
        (self._folder / "serial").touch()
        self._serial = (self._folder / "serial").open("rb")

    def read(self, timeout_s: float) -> bytes | None:
        """New output of the serial line since the last call."""
        assert self._serial is not None
        return read_growing(self._serial, self._ended, timeout_s)

    def _ended(self) -> bool:
        """Whether the process has ended, and wrote all of its output."""
        assert self._process is not None
        return self._process.poll() is not None

    def thread_times(self) -> ThreadTimes:
        """Seconds that each of its threads ran, and that it was ready and had no processor."""
        return times_of(self._process)

    def stop(self) -> bool:
        """The target cannot be asked to end early."""
        return False

    def why_it_ended(self) -> str:
        """Whether it sent more than a file may have; "" if not."""
        return filled(self._folder)

    def close(self) -> str:
        """Quits QEMU. Returns QEMU's own messages, or how it died."""
        output = self._end()
        if self._serial is not None:
            self._serial.close()
            self._serial = None
            self._settle(self._folder, self._by_itself)
        if "_folder" in self.__dict__:
            shutil.rmtree(self._folder, ignore_errors=True)
        return output

    def emulator(self) -> EmulatorEntry | None:
        """QEMU's name, version, and arguments without temporary files."""
        return EmulatorEntry(
            name=self._name,
            version=tools.version(self._name),
            arguments=self._command(None)[1:],
        )

    def _confined(self) -> list[str]:
        """Options that keep what runs in QEMU away from this machine."""
        sandbox = _SANDBOX if tools.takes(self._qemu, *_SANDBOX) else ()  # it may be built without
        return [*_NO_NETWORK, *sandbox]

    def _command(self, folder: Path | None) -> list[str]:
        """The command line; without a folder, the part for the manifest."""
        raise NotImplementedError

    def _inputs(self) -> dict[str, Path | None]:
        """The files that the command line names in the folder: where they are, None for there."""
        raise NotImplementedError

    def _reads(self) -> list[Path]:
        """Other files that the command line names."""
        return []

    def _really(self, program_file: Path, environment: Mapping[str, str]) -> Program | None:
        return program.emulator(program_file, environment, die_with_parent)

    def _monitor(self, folder: Path) -> list[str]:
        """The options of the command line that open the monitor."""
        return qemu_monitor.options(folder / "monitor")

    def _looks(self) -> list[str]:
        """Registers at several moments. OSError if QEMU does not answer in time.

        They are consistent: with `counted_instructions` the processor stands still while the
        monitor answers. The monitor's `stop` would show another place, because it lets the
        processor enter the handler of the timer at whose expiry QEMU reads its monitor. On one
        processor QEMU reads it there, too.
        """
        if isinstance(self._process, subprocess.Popen):
            on_every_processor(self._process.pid)
        looks: list[str] = []
        with qemu_monitor.connected(self._folder / "monitor", _GRACE_S) as monitor:
            while len(looks) < _LOOKS or (len(looks) < _LOOKS_MAX and _all_handle(looks)):
                looks.append(monitor.ask("info registers"))
                time.sleep(_BETWEEN_LOOKS_S)
        return looks

    def _output(self) -> str:
        if "_folder" not in self.__dict__:
            return ""
        with contextlib.suppress(OSError):
            return (self._folder / "words").read_text(errors="replace").strip()
        return ""

    def _end(self) -> str:
        """Ends the process if it still runs. Returns its messages."""
        process, self._process = self._process, None
        if process is None:
            return ""
        try:
            # After the last frame the image ends QEMU (semihosting).
            died = process.wait(SELF_END_S if self._is_kept else _EXIT_S)
            self._by_itself = process
        except subprocess.TimeoutExpired:
            self._quit(process)
            died = 0
        how = f"{self._qemu.name} was ended by signal {-died}\n" if died < 0 else ""
        return (how + self._output()).strip()

    def _quit(self, process: Process) -> None:
        with (
            contextlib.suppress(OSError),  # it ends instead of answering
            qemu_monitor.connected(self._folder / "monitor", _GRACE_S) as monitor,
        ):
            monitor.ask("quit")
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()  # a plugin can make QEMU ignore SIGTERM
            process.wait()


def _all_handle(looks: Sequence[str]) -> bool:
    """Whether all looks but one at most found the processor in a handler of an interrupt."""
    return sum(not look.handles for look in looks_of(looks)) < 2


def counted_instructions(shift: int, *, served: bool = False) -> list[str]:
    """Options for 2**shift ns of virtual time per instruction, and byte-identical runs.

    `served`: while the processor stands still within a block, the main loop goes on.
    """
    # sleep=off: if everything waits, virtual time jumps to the next timer. rr=record: QEMU's main
    # loop and its processor alternate under one lock. Without it the main loop may see a processor
    # that has just halted before its last instructions are counted, and jump too far by that
    # number: on a busy machine, one tick in about 80,000 was late. Only the lock is needed; the
    # recording is discarded.
    record = "" if served else f",rr=record,rrfile={os.devnull}"
    return ["-icount", f"shift={shift},sleep=off{record}"]
