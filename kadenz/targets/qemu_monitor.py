# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor for people: its lines go through QEMU's main loop.

QEMU serves its machine protocol (QMP) in a thread of its own, which wakes up at each timer of the
virtual clock: it took a fifth of QEMU's processor time.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

_PROMPT = "(qemu) "


def options(file: Path) -> list[str]:
    """QEMU's options for a monitor at the socket `file`."""
    listening = f"socket,id=monitor,path={file},server=on,wait=off"
    return ["-chardev", listening, "-mon", "chardev=monitor,mode=readline"]


class Monitor:
    """A connection to the monitor; OSError if QEMU does not answer in time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answer()

    def ask(self, command: str) -> str:
        """What QEMU prints for the command."""
        self._connection.sendall(f"{command}\n".encode())
        _, _, text = self._answer().partition("\n")  # the first line is the command's echo
        return text

    def _answer(self) -> str:
        text = b""
        while not text.endswith(_PROMPT.encode()):
            piece = self._connection.recv(1 << 16)
            if not piece:
                raise ConnectionResetError("QEMU closed its monitor")
            text += piece
        return text.decode(errors="replace").replace("\r", "").removesuffix(_PROMPT)


@contextlib.contextmanager
def connected(file: Path, timeout_s: float) -> Iterator[Monitor]:
    """The monitor at the socket `file`; each answer may take `timeout_s`. Raises OSError."""
    folder = os.open(file.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            # The path of a socket has less than 108 bytes, whatever the folder's.
            connection.connect(f"/proc/self/fd/{folder}/{file.name}")
            yield Monitor(connection)
    finally:
        os.close(folder)
