# SPDX-License-Identifier: Apache-2.0
"""`kadenz` as a process that is forked, where a test reads what the command prints.

Importing takes longer than most commands do. A server imports every module of kadenz once and runs
no command itself: each command gets a process of its own, forked from it, with its own
arguments, environment, folder and streams. What the imports cost and how the program starts is not
tested in this way: tests of that start the installed program.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import IO, Any

LONGEST_S = 900.0  # cargo may wait for another build of the workspace
PR_SET_PDEATHSIG = 1
_REQUEST = 1 << 20  # bytes
# Not by -m: click would print `python -m` in a usage line.
_START = "import sys; from tests.forked import serve; serve(sys.argv[1], int(sys.argv[2]))"
ROOT = Path(__file__).resolve().parents[1]
# A program that only asks the server: isolated and without site-packages, it starts in 20 ms.
_ASKING = """\
#!{python} -IS
import json, os, socket, sys
request = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "env": dict(os.environ)}}
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {most})
server.connect({address!r})
socket.send_fds(server, [json.dumps(request).encode()], [1, 2])
sys.exit(int(server.recv(64) or "-1"))
"""


def kadenz(
    *arguments: str | Path, stdout: int | IO[Any] | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end. `stdout` takes its output instead of the answer."""
    words = [str(argument) for argument in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, _connected() as server:
        request = {
            "arguments": words,
            "folder": str(Path.cwd()),
            "env": {**os.environ, **(env or {})},
        }
        given = out if stdout is None else stdout
        streams = [given if isinstance(given, int) else given.fileno(), err.fileno()]
        socket.send_fds(server, [json.dumps(request).encode()], streams)
        server.settimeout(LONGEST_S)
        code = int(server.recv(64) or "-1")
        out.seek(0)
        err.seek(0)
        texts = [stream.read().decode() for stream in (out, err)]
        return subprocess.CompletedProcess(["kadenz", *words], code, *texts)


def program(folder: Path) -> Path:
    """Writes the program `kadenz` into `folder`, for a shell: its commands are forked, too."""
    file = folder / "kadenz"
    file.write_text(_ASKING.format(python=sys.executable, most=_REQUEST, address=_server()))
    file.chmod(0o755)
    return file


def _connected() -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _REQUEST)
    connection.connect(_server())
    return connection


@functools.cache
def _server() -> str:
    """Starts the server of this process; its abstract address."""
    address = f"\0kadenz-tests-{os.getpid()}"
    process = subprocess.Popen(
        [sys.executable, "-c", _START, address[1:], str(os.getpid())],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    atexit.register(process.kill)
    assert process.stdout is not None
    assert process.stdout.readline(), "the server of forked commands did not start"
    return address


# ---- the server's side ---------------------------------------------------------------------------
def _import_everything() -> None:
    import kadenz as package

    for module in pkgutil.walk_packages(package.__path__, "kadenz."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    importlib.import_module("scipy.stats")  # kadenz imports it where it is needed


def serve(address: str, parent: int) -> None:
    """Forks a process for each command until its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    _import_everything()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{address}")
        listener.listen()
        print(flush=True)  # ready
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(connection)
            connection.close()
            _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _answer(connection: socket.socket) -> None:
    """Waits for the command in a process of its own, and sends its exit code."""
    message, streams, _, _ = socket.recv_fds(connection, _REQUEST, 2)
    command = os.fork()
    if command == 0:
        connection.close()
        _run(json.loads(message), *streams)
    _, status = os.waitpid(command, 0)
    connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _run(request: dict[str, Any], out: int, err: int) -> None:
    """Ends this process as the program ends."""
    code: object = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for stream, number in ((nothing, 0), (out, 1), (err, 2)):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = ["kadenz", *request["arguments"]]
        _open_streams()
        from kadenz.cli import main

        try:
            main()
        except SystemExit as end:
            code = end.code
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
