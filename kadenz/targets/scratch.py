# SPDX-License-Identifier: Apache-2.0
"""What executions in a process of this machine share: their folder, and a file that grows."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

_PREFIX = "kadenz-target-"  # followed by the PID of its creator
_READ_BYTES = 1 << 18
_POLL_S = 0.01


def new_folder() -> Path:
    """A folder for one execution. Removes those of a killed kadenz first: its processes died with
    it (`die_with_parent`).
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}[0-9]*-*"):
        process = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def read_growing(file: IO[bytes], ended: Callable[[], bool], timeout_s: float) -> bytes | None:
    """New bytes of `file` since the last call: b"" if none came in time, None at the end.

    `ended` says whether its writer has ended.
    """
    end = time.monotonic() + timeout_s
    while True:
        over = ended()  # before reading, so that no byte is missed
        data = file.read(_READ_BYTES)
        if data:
            return data
        if over:
            return None
        if time.monotonic() >= end:
            return b""
        time.sleep(_POLL_S)
