# SPDX-License-Identifier: Apache-2.0
"""Tier `host`: the image is a program of this Linux; plan on its input, frames from its output.

The program may come from anywhere: the suite's own, or any other that speaks the wire format.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from kadenz.config.manifest import EmulatorEntry
from kadenz.errors import TargetFailed
from kadenz.targets.base import die_with_parent

_READ_BYTES = 1 << 18
_EXIT_S = 1.0  # between its last frame and its end
_GRACE_S = 2.0  # between asking a program to end and ending it


class ProcessTarget:
    """A process that writes frames to standard output."""

    def __init__(
        self, command: Sequence[str], *, folder: Path | None = None, suite: bool = False
    ) -> None:
        """`suite`: it reads its plan line by line, and maps a file for its samples."""
        self.suite = suite
        self.storage = -1  # descriptor of that file
        self._lines: list[bytes] = []  # of the plan, not handed over yet
        self._command = list(command)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def open(self, plan: str) -> None:
        """Starts the program and hands it the plan: of the suite the first line, see `go_on`."""
        handed = {"KADENZ_STORAGE": str(self.storage)} if self.storage >= 0 else {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=self._folder,
                env=os.environ | handed,
                pass_fds=[self.storage] if handed else [],
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for the lab, which then ends the program
                preexec_fn=die_with_parent(),  # noqa: PLW1509 (one system call, loaded before)
            )
        except OSError as error:
            raise TargetFailed(
                f"{self._command[0]} does not start: {error.strerror}",
                remedy="Remove the build folder and run again",
            ) from None
        self._lines = plan.encode().splitlines(keepends=True) if handed else [plan.encode()]
        self.go_on()

    def go_on(self) -> None:
        """The next line of the plan: what the last one brought is stored.

        The storage of the suite is free for the next record only then, and while one is measured
        nothing of the last is left to do.
        """
        assert self._process is not None and self._process.stdin is not None
        try:
            if self._lines:
                self._process.stdin.write(self._lines.pop(0))
            if not self._lines:
                self._process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass  # it ended before it read the plan: its output says why

    def read(self, timeout_s: float) -> bytes | None:
        """The next bytes of its standard output."""
        assert self._process is not None and self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        ready, _, _ = select.select([pipe], [], [], timeout_s)
        if not ready:
            return b""
        return os.read(pipe, _READ_BYTES) or None

    def stop(self) -> bool:
        """SIGTERM: the suite ends its record, hands over its samples and says DONE."""
        assert self._process is not None
        self._process.terminate()
        return True

    def post_mortem(self) -> str:
        """Where its threads stand, and what it wrote to standard error."""
        words = self._said()
        return "\n".join(part for part in (self._threads(), words) if part)

    def close(self) -> str:
        """Asks it to end, then ends it; how it ended when that was not by itself and well."""
        if self._process is None:
            return ""
        process = self._process
        ended_itself = process.poll()
        if ended_itself is None:
            try:  # it may be between its last frame and its exit
                ended_itself = process.wait(_EXIT_S)
            except subprocess.TimeoutExpired:
                self._end(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        said = self._said()
        if ended_itself is not None and ended_itself < 0:
            said = f"ended by {signal.Signals(-ended_itself).name}\n{said}".strip()
        if self._errors is not None:
            self._errors.close()
        self._process = self._errors = None
        return said

    def emulator(self) -> EmulatorEntry | None:
        """None: the machine itself."""
        return None

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _said(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip()

    def _threads(self) -> str:
        assert self._process is not None
        lines = []
        for task in sorted(Path(f"/proc/{self._process.pid}/task").glob("*")):
            try:
                name = (task / "comm").read_text().strip()
                state = (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
                where = (task / "wchan").read_text().strip()
            except OSError:
                continue
            waits = f" in {where}" if where not in ("", "0") else ""
            lines.append(f"thread {task.name} {name}: state {state}{waits}")
        return "\n".join(lines)
