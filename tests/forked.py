# SPDX-License-Identifier: Apache-2.0
"""`kadenz` in a process that is forked, where a test reads what the command prints.

Importing takes longer than most commands do. A server of the standard library imports the commands
once; each command is forked from it, with its own arguments, environment, folder and streams. What
the imports cost and how the program starts is not tested in this way: tests of that start the
installed program.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any

import kadenz as package

MODULES = [module.name for module in pkgutil.walk_packages(package.__path__, "kadenz.")]
PRELOADED = [name for name in MODULES if not name.endswith("__main__")]
LATE = ["scipy.stats"]  # kadenz imports it where it is needed


def kadenz(
    *arguments: str | Path, stdout: int | IO[Any] | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end. `stdout` takes its output instead of the answer."""
    command = ["kadenz", *map(str, arguments)]
    environment = {**os.environ, **(env or {})}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given = out if stdout is None else stdout
        number = given if isinstance(given, int) else given.fileno()
        process = _server().Process(
            target=_run, args=(command, str(Path.cwd()), environment, Streams(number, err.fileno()))
        )
        process.start()
        process.join()
        texts = [_text(stream) for stream in (out, err)]
    assert process.exitcode is not None
    return subprocess.CompletedProcess(command, process.exitcode, *texts)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode()


@cache
def _server() -> ForkServerContext:
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__, *PRELOADED, *LATE])
    return context


class Streams:
    """Output and errors of a command; pickled when its process starts."""

    def __init__(self, out: int, err: int) -> None:
        self.out, self.err = out, err

    def __getstate__(self) -> tuple[Any, Any]:
        return DupFd(self.out), DupFd(self.err)

    def __setstate__(self, state: tuple[Any, Any]) -> None:
        self.out, self.err = (stream.detach() for stream in state)


def _run(command: list[str], folder: str, environment: dict[str, str], streams: Streams) -> None:
    """Ends this process as the program ends."""
    code: object = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, number in ((nothing, 0), (streams.out, 1), (streams.err, 2)):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = command
        _open_streams()
        from kadenz.cli import main

        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _open_streams() -> None:
    """As Python opens them when it starts. The second names keep them open."""
    sys.stdin = sys.__stdin__ = os.fdopen(0, "r", encoding="utf-8")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(  # type: ignore[misc]
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1
    )
