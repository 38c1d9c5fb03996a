# SPDX-License-Identifier: Apache-2.0
"""Guards the output streams: a closed pipe is ignored, a full disk is an error."""

from __future__ import annotations

import _thread
import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import click

from kadenz.errors import StoreError


class _Output(io.FileIO):
    """Writes until a write fails. Then it drops all data; a failure is raised once."""

    def __init__(self, descriptor: int, *, report: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._report = report
        self._failed = False

    def write(self, data: Any, /) -> int:
        """Writes `data`; drops it if the reader has left. StoreError if it cannot be written."""
        if not self._failed:
            try:
                return super().write(data) or 0
            except BrokenPipeError:  # `kadenz list | head`
                self._failed = True
            except OSError as error:
                self._failed = True
                if self._report:
                    raise StoreError(
                        f"standard output cannot be written: {error.strerror}",
                        remedy="Free some disk space, or write elsewhere",
                    ) from None
        return len(data)


def guard_output() -> None:
    """Guards both streams of this process. A command then ends with its own exit code even if
    its reader has left."""
    sys.stdout = _guarded(sys.stdout, report=True)
    sys.stderr = _guarded(sys.stderr, report=False)


def say_in_handler(text: str) -> None:
    """Writes a line to standard error from a signal handler. The code that the signal interrupted
    may be writing there, and a stream refuses a second call of the same thread.

    A display that redraws itself would erase a line that it does not know: it gets the line from
    another thread.
    """
    with contextlib.suppress(OSError, RuntimeError):  # no reader, or no room for a thread
        if isinstance(sys.stderr, io.TextIOWrapper):
            os.write(sys.stderr.fileno(), f"{text}\n".encode())
        else:
            _thread.start_new_thread(click.echo, (text,), {"err": True})


def _guarded(stream: Any, *, report: bool) -> Any:
    if stream is None:  # closed by the parent process: `>&-`
        return Path(os.devnull).open("w", encoding="utf-8")
    raw = _Output(stream.fileno(), report=report)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )
