# SPDX-License-Identifier: Apache-2.0
"""What executions in a process of this machine share: their folder, and a file that grows."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from kadenz.owner import mark, name_space, started

# Followed by its creator (name space, PID, start time) and a number.
_PREFIX = "kadenz-"
_numbers = itertools.count()  # each once: a target may remove its folder twice
_READ_BYTES = 1 << 18
_POLL_S = 0.01


def new_folder() -> Path:
    """A folder for one execution. Removes those of a killed kadenz first: its processes died with
    it (`die_with_parent`).
    """
    parent, ours = Path(tempfile.gettempdir()), f"{_PREFIX}{name_space()}-"
    for folder in parent.glob(f"{ours}*-*-*"):
        pid, begun, _ = folder.name.removeprefix(ours).split("-", 2)
        if pid.isdigit() and started(int(pid)) != begun:
            shutil.rmtree(folder, ignore_errors=True)
    stem = f"{_PREFIX}{mark()}"
    while True:
        folder = parent / f"{stem}-{next(_numbers)}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            return folder


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
