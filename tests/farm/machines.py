# SPDX-License-Identifier: Apache-2.0
"""Schedulers and workers of a farm as processes of this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

from tests.e2e.conftest import KADENZ
from tests.processes import children
from tests.waiting import wait_for


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Machines:
    """A scheduler and two workers, with one processor each."""

    def __init__(self, folder: Path, keys: Path | None = None) -> None:
        self.folder, self.port = folder, free_port()
        self._keys = ("--keys", str(keys)) if keys else ()
        self.address = f"{'tls' if keys else 'tcp'}://127.0.0.1:{self.port}"
        self.config = folder / "farm.toml"
        table = f'[dask]\nscheduler = "{self.address}"\npatience_s = 60\n'
        self.config.write_text(table + (f'keys = "{keys}"\n' if keys else ""))
        self._all: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()
        self.workers = [self._start("worker", self.address, "--processors", "1") for _ in range(2)]
        for number in (1, 2):
            self.wait_for_log(number, "1 at once")

    def start_scheduler(self) -> None:
        number = len(self._all)
        self.scheduler = self._start("scheduler", "--port", str(self.port))
        self.wait_for_log(number, "scheduler at")

    def busy(self) -> subprocess.Popen[bytes] | None:
        """A worker that executes something."""
        alive = [worker for worker in self.workers if worker.poll() is None]
        return next((worker for worker in alive if children(worker.pid)), None)

    def log_text(self, number: int) -> str:
        return (self.folder / f"{number}.log").read_text()

    def wait_for_log(self, number: int, text: str) -> None:
        wait_for(lambda: text in self.log_text(number))

    def close(self) -> None:
        for process in self._all:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{len(self._all)}.log").open("wb") as log:
            self._all.append(
                subprocess.Popen(
                    [KADENZ, "farm", *arguments, *self._keys],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                )
            )
        return self._all[-1]
