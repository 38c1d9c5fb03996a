# SPDX-License-Identifier: Apache-2.0
"""Tier `board`: silicon on a serial line. Written from the wire format; not verified on hardware.

The plan is sent over the line after reset, as a person would type it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from kadenz.config.board import BoardTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.errors import TargetFailed, UsageError


class BoardTarget:
    """A board whose image is flashed, and which then communicates over a serial port."""

    def __init__(self, tier: BoardTier, elf: Path, port: str) -> None:
        if not port:
            raise UsageError(
                "a board requires a serial port",
                remedy="Pass it with --port, e.g. --port /dev/ttyUSB0",
            )
        self._tier = tier
        self._elf = elf
        self._port = port
        self._line: Any = None

    def open(self, plan: str) -> None:
        """Flashes the image if board.toml has a command, opens the port, sends the plan."""
        import serial

        try:
            self._line = serial.Serial(self._port, self._tier.baud, timeout=0, exclusive=True)
        except (serial.SerialException, OSError) as error:
            raise TargetFailed(
                f"{self._port}: {error}",
                remedy="Check the cable, the port's name, and that you are in group dialout",
            ) from None
        if self._tier.flash:
            self._flash()
        self._line.reset_input_buffer()
        self._line.write(plan.encode())
        self._line.flush()

    def read(self, timeout_s: float) -> bytes | None:
        """The next bytes of the line; None if the port no longer exists."""
        import serial

        self._line.timeout = timeout_s
        try:
            first: bytes = self._line.read(1)
            return first + self._line.read(self._line.in_waiting) if first else b""
        except (serial.SerialException, OSError):
            return None  # the cable was disconnected

    def stop(self) -> bool:
        """The board cannot be asked to end early."""
        return False

    def post_mortem(self) -> str:
        """Only a hint: the state is not visible without a debugger."""
        return f"{self._port} is silent; reset the board, or use a debugger"

    def close(self) -> str:
        """Closes the port."""
        if self._line is not None:
            self._line.close()
            self._line = None
        return ""

    def emulator(self) -> EmulatorEntry | None:
        """None: silicon."""
        return None

    def _flash(self) -> None:
        command = [part.replace("{elf}", str(self._elf)) for part in self._tier.flash]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise TargetFailed(
                f"{command[0]} does not start: {error.strerror}",
                remedy="Install it, or change [tier.board] flash in board.toml",
            ) from None
        if answer.returncode:
            raise TargetFailed(
                f"{command[0]} did not flash the board",
                remedy="Check the probe's cable and power",
                detail=(answer.stdout + answer.stderr).strip(),
            )
