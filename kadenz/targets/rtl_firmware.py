# SPDX-License-Identifier: Apache-2.0
"""Tier `rtl` for a firmware without the suite: its calls are counted in cycles of the core."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import IO

from kadenz.config.board import RtlTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.errors import TargetFailed, UsageError
from kadenz.targets import rtl_core
from kadenz.targets.calls import ROW, Calls
from kadenz.targets.counted import SELF_END_S, CountedProcess, Process, Start, times_of
from kadenz.targets.firmware import Ended, Watching
from kadenz.targets.flows import read_flows, symbols, symbols_text
from kadenz.targets.processor import ThreadTimes
from kadenz.targets.rtl import check_map, machine_arguments
from kadenz.targets.scratch import new_folder, read_growing
from kadenz.values import program
from kadenz.values.program import Program

_IMAGE, _FUNCTIONS, _TEXT, _CALLS = "image", "functions", "text", "calls"
_SYMBOLS, _FLOWS = "symbols", "flows"
_CONSOLE, _MESSAGES = "console", "words"


def check_calls(board: str, tier: RtlTier, cores: int) -> None:
    """UsageError unless calls can be counted on this board's core."""
    core = rtl_core.core_file(tier.core)
    why = ""
    if cores > 1:
        why = f"it has {cores} cores, and a thread may go on another one in the middle of a call"
    elif not core.calls:
        why = f"{core.title} does not show the registers that tell calls apart"
    if why:
        raise UsageError(
            f"--board {board}: calls are not counted on it: {why}",
            remedy="Use a board with one core, as ibex@rtl or vexriscv@rtl",
        )


class RtlFirmwareTarget(CountedProcess):
    """One run of a firmware on a simulated core."""

    asked = ""  # a core asks nothing of this machine

    def __init__(self, tier: RtlTier, elf: Elf, watching: Watching) -> None:
        """Compiles the core unless it is in the cache. Raises UsageError for an image that it
        cannot execute, and the errors of `rtl_core.build`."""
        rtl_core.check_image(tier.core, elf)
        check_map(tier, elf)
        self._tier, self._elf, self._watching = tier, elf, watching
        self._core = rtl_core.build(tier.core)
        self._process: Process | None = None
        self._by_itself: Process | None = None
        self._output: IO[bytes] | None = None

    @cached_property
    def _folder(self) -> Path:
        return new_folder()

    def boot(self) -> None:
        """Starts the core with the firmware."""
        inputs: dict[str, Path | None] = {_IMAGE: self._elf.path, _FUNCTIONS: None, _SYMBOLS: None}
        (self._folder / _FUNCTIONS).write_text(self._watching.places())
        (self._folder / _SYMBOLS).write_text(symbols_text(symbols(self._elf)))
        if self._watching.until_text:
            inputs[_TEXT] = None
            (self._folder / _TEXT).write_text(self._watching.until_text)
        start = Start(
            program=self._core.program,
            arguments=[*self._arguments(), *self._files()],
            folder=self._folder,
            inputs=inputs,
            output=_CONSOLE,
            errors=_MESSAGES,
        )
        self._process = self._begin(start)
        self._output = (self._folder / _CONSOLE).open("rb")

    def read(self, timeout_s: float) -> bytes | None:
        """New output of the console since the last call."""
        assert self._output is not None and self._process is not None
        process = self._process
        return read_growing(self._output, lambda: process.poll() is not None, timeout_s)

    @property
    def calls_so_far(self) -> int:
        """About how many calls are written."""
        file = self._folder / _CALLS
        return file.stat().st_size // ROW.itemsize if file.is_file() else 0

    @property
    def virtual_ns(self) -> None:
        """It ends by itself when its core executes nothing more."""

    def thread_times(self) -> ThreadTimes:
        """Seconds that its thread ran, and that it was ready and had no processor."""
        return times_of(self._process)

    def ask_to_end(self) -> None:
        """Lets the core end, without waiting for it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> Ended:
        """Ends the core if it still runs. Its folder stays until `close`."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.wait(SELF_END_S)
                self._by_itself = process
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        status = self._by_itself.poll() if self._by_itself is not None else None
        messages = self._messages(status)
        try:
            calls = Calls(self._folder / _CALLS)
            flows = read_flows(self._folder / _FLOWS) if calls.end is not None else []
            return Ended(status, messages, calls, flows)
        except TargetFailed as error:
            error.detail = messages
            raise

    def close(self) -> None:
        """Ends it and removes its folder."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._output is not None:
            self._output.close()
            self._settle(self._folder, self._by_itself)
        if "_folder" in self.__dict__:
            shutil.rmtree(self._folder, ignore_errors=True)

    def emulator(self) -> EmulatorEntry:
        """The core, what it was made from, and its machine."""
        return EmulatorEntry(
            name=self._core.file.title, version=self._core.version, arguments=self._arguments()
        )

    def _arguments(self) -> list[str]:
        cycles = max(1, round(self._watching.limit_s * self._tier.hz))
        arguments = ["--cores", "1", *machine_arguments(self._tier, {})]
        # The limit is of cycles alone: a firmware may have no console.
        arguments += ["--cycle-limit", str(cycles), "--silence-limit", str(cycles + 1)]
        if self._watching.until is not None:
            arguments += ["--until", hex(self._watching.until)]
        return arguments

    def _files(self) -> list[str]:
        arguments = ["--elf", _IMAGE, "--calls", _CALLS, "--functions", _FUNCTIONS]
        arguments += ["--symbols", _SYMBOLS, "--flows", _FLOWS]
        return [*arguments, *(("--text", _TEXT) if self._watching.until_text else ())]

    def _messages(self, status: int | None) -> str:
        how = ""
        if status is not None and status < 0:
            how = f"the simulator was ended by signal {-status}\n"
        with contextlib.suppress(OSError):
            how += (self._folder / _MESSAGES).read_text(errors="replace")
        return how.strip()

    def _really(self, program_file: Path, environment: Mapping[str, str]) -> Program | None:
        return program.core(program_file, environment)
