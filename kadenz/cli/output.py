# SPDX-License-Identifier: Apache-2.0
"""Guards the output streams: a closed pipe is ignored, a full disk is an error, and no text of
others moves the cursor, hides or turns."""

from __future__ import annotations

import _thread
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from kadenz.errors import StoreError
from kadenz.visible_text import visible


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


class Filtered:
    """A text stream that makes every control character visible.

    `styled` is the stream itself, for the consoles of `cli.console`, whose colours are their own.
    """

    def __init__(self, stream: Any) -> None:
        self.styled = stream

    def write(self, text: str) -> int:
        """Writes `text` with visible characters."""
        self.styled.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes would pass
            raise AttributeError(name)
        return getattr(self.styled, name)


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
        if isinstance(getattr(sys.stderr, "styled", sys.stderr), io.TextIOWrapper):
            os.write(sys.stderr.fileno(), f"{visible(text)}\n".encode())
        else:
            _thread.start_new_thread(click.echo, (text,), {"err": True})


def _guarded(stream: Any, *, report: bool) -> Any:
    if stream is None:  # closed by the parent process: `>&-`
        return Path(os.devnull).open("w", encoding="utf-8")
    raw = _Output(stream.fileno(), report=report)
    return Filtered(
        io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors="backslashreplace",  # what its encoding lacks is visible, too
            line_buffering=stream.line_buffering,
        )
    )


def write_json(answer: Any, *, indent: int = 1) -> None:
    """Prints a value as JSON, a key or an element a line."""
    click.echo(json_text(answer, indent=indent))


def json_text(answer: Any, *, indent: int = 1) -> str:
    """A value as JSON, a key or an element a line."""
    import msgspec

    try:
        return msgspec.json.format(msgspec.json.encode(answer), indent=indent).decode()
    except UnicodeEncodeError:  # the name of a file that is no UTF-8
        return json.dumps(msgspec.to_builtins(answer), indent=indent, ensure_ascii=False)
