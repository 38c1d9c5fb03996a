# SPDX-License-Identifier: Apache-2.0
"""Standard output and standard error: a reader that left is no failure, a full disk is one."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from kadenz.errors import StoreError


class _Output(io.FileIO):
    """Writes until that fails. Then nothing more is written, and a failure is raised once."""

    def __init__(self, descriptor: int, *, tell: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._tell = tell
        self._over = False

    def write(self, data: Any, /) -> int:
        """All of `data`, or nothing where nobody reads. StoreError where it cannot be written."""
        if not self._over:
            try:
                return super().write(data) or 0
            except BrokenPipeError:  # `kadenz list | head`
                self._over = True
            except OSError as error:
                self._over = True
                if self._tell:
                    raise StoreError(
                        f"standard output cannot be written: {error.strerror}",
                        remedy="Free some space, or write to another place",
                    ) from None
        return len(data)


def guard_output() -> None:
    """Makes both streams of this process behave so. A command then ends with its own exit code,
    whoever stopped to read."""
    sys.stdout = _guarded(sys.stdout, tell=True)
    sys.stderr = _guarded(sys.stderr, tell=False)


def _guarded(stream: Any, *, tell: bool) -> Any:
    if stream is None:  # closed by whoever started us: `>&-`
        return Path(os.devnull).open("w", encoding="utf-8")
    raw = _Output(stream.fileno(), tell=tell)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )
