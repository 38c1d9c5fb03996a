# SPDX-License-Identifier: Apache-2.0
"""A core compiled from its Verilog, as a board with a JTAG connector: instruments/rtl/jtag.

Its memory is empty until a debugger loads it. OpenOCD reaches it by `remote_bitbang`.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from kadenz.config.board import RtlTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.targets import rtl_core
from kadenz.targets.base import die_with_parent
from kadenz.targets.board.process import end_process, how_ended
from kadenz.targets.rtl import machine_arguments

_READY_S = 10.0
_POLL_S = 0.01


class SimulatedBoard:
    """The board of one execution."""

    def __init__(self, tier: RtlTier, elf: Elf, folder: Path, socket: Path) -> None:
        """Its JTAG is at `socket`; it starts at the image's entry after a reset."""
        core = rtl_core.build(tier.core, rtl_core.BY_JTAG)
        self._title, self._folder, self._socket = core.file.title, folder, socket
        self._command = [str(core.program), "--socket", str(socket), "--entry", hex(elf.entry)]
        self._command += ["--idcode", hex(core.file.idcode), *machine_arguments(tier, {})]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits for its socket. TargetFailed with its own words."""
        with (self._folder / "board").open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # the lab handles Ctrl-C and ends the board
                preexec_fn=die_with_parent(),  # noqa: PLW1509 (one system call, loaded before)
            )
        end = time.monotonic() + _READY_S
        while not self._socket.exists():
            if self.how_it_ended() or time.monotonic() > end:
                raise TargetFailed(
                    self.how_it_ended() or f"the simulated {self._title} is not ready",
                    remedy="Its words are below",
                    detail=(self._folder / "board").read_text(errors="replace"),
                )
            time.sleep(_POLL_S)

    def how_it_ended(self) -> str:
        """In words; "" while it runs."""
        code = self._process.poll() if self._process is not None else None
        return "" if code is None else f"the simulated {self._title} {how_ended(code)}"

    def end(self) -> None:
        """Ends the simulator, if it was started."""
        process, self._process = self._process, None
        if process is not None:
            end_process(process)


def simulator(tier: RtlTier) -> EmulatorEntry:
    """The core, what it was made from, and its machine: for the manifest."""
    core = rtl_core.build(tier.core, rtl_core.BY_JTAG)
    return EmulatorEntry(
        name=core.file.title, version=core.version, arguments=machine_arguments(tier, {})
    )
