# SPDX-License-Identifier: Apache-2.0
"""Tier `host`: the image is a program of this Linux; plan on its input, frames from its output.

It is the suite, or any other program with the same wire format.
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

from kadenz.blas import users_environment
from kadenz.config.manifest import EmulatorEntry
from kadenz.errors import TargetFailed
from kadenz.targets.base import die_with_parent
from kadenz.targets.seen import Seen

_READ_BYTES = 1 << 18
_EXIT_S = 1.0  # between the last frame and the end of the program
_GRACE_S = 2.0  # between SIGTERM and SIGKILL


class ProcessTarget:
    """A process that writes frames to standard output."""

    def __init__(
        self, command: Sequence[str], *, folder: Path | None = None, suite: bool = False
    ) -> None:
        """`suite`: the program reads its plan line by line, and maps a file for its samples."""
        self.suite = suite
        self.storage = -1  # descriptor of that file
        self._lines: list[bytes] = []  # of the plan, not sent yet
        self._command = list(command)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def open(self, plan: str) -> None:
        """Starts the program and sends the plan; for the suite only the first line, see `go_on`."""
        handed = {"KADENZ_STORAGE": str(self.storage)} if self.storage >= 0 else {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=self._folder,
                env=users_environment() | handed,
                pass_fds=[self.storage] if handed else [],
                bufsize=0,
                start_new_session=True,  # the lab handles Ctrl-C and ends the program
                preexec_fn=die_with_parent(),  # noqa: PLW1509 (one system call, loaded before)
            )
        except OSError as error:
            raise TargetFailed(
                f"{self._command[0]} does not start: {error.strerror}",
                remedy="Remove the build folder and retry",
            ) from None
        self._lines = plan.encode().splitlines(keepends=True) if handed else [plan.encode()]
        self.go_on()

    def go_on(self) -> None:
        """Sends the next line of the plan, once the previous record is stored.

        Only then the suite's storage is free for the next record, and no work on the previous
        record remains during the measurement.
        """
        if self._process is None:
            return  # closed: this was its last record
        assert self._process.stdin is not None
        try:
            if self._lines:
                self._process.stdin.write(self._lines.pop(0))
            if not self._lines:
                self._process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass  # it ended before reading the plan: its output shows why

    def read(self, timeout_s: float) -> bytes | None:
        """The next bytes of its standard output."""
        assert self._process is not None and self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        ready, _, _ = select.select([pipe], [], [], timeout_s)
        if not ready:
            return b""
        return os.read(pipe, _READ_BYTES) or None

    def stop(self) -> bool:
        """Sends SIGTERM: the suite ends its record, delivers its samples and reports DONE."""
        assert self._process is not None
        self._process.terminate()
        return True

    def post_mortem(self) -> Seen:
        """The state of its threads, and its standard error."""
        output = self._output()
        return Seen("\n".join(part for part in (self._threads(), output) if part))

    def close(self) -> str:
        """Requests the end, then kills it. Returns how it ended unless it exited successfully."""
        if self._process is None:
            return ""
        process = self._process
        ended_itself = process.poll()
        if ended_itself is None:
            try:  # it may still be exiting after its last frame
                ended_itself = process.wait(_EXIT_S)
            except subprocess.TimeoutExpired:
                self._end(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        output = self._output()
        if ended_itself is not None and ended_itself < 0:
            output = f"ended by {signal.Signals(-ended_itself).name}\n{output}".strip()
        if self._errors is not None:
            self._errors.close()
        self._process = self._errors = None
        return output

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

    def _output(self) -> str:
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
