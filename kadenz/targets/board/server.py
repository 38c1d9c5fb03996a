# SPDX-License-Identifier: Apache-2.0
"""A debug server as a process: started for one execution, or one that runs already."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from kadenz import tools
from kadenz.config.debug_server import DebugServer, filled
from kadenz.errors import TargetFailed, ToolMissing
from kadenz.targets.base import die_with_parent
from kadenz.targets.board.process import end_process, how_ended
from kadenz.targets.board.simulated import SimulatedBoard

_READY_S = 10.0  # OpenOCD examines the chip before it listens
_POLL_S = 0.02
_LAST_LINES = 40  # last lines of a server that an error shows


def program_of(server: DebugServer) -> Path:
    """The server's program. ToolMissing if it is not installed."""
    if server.program in {need.name for need in tools.NEEDS}:
        return tools.require(server.program)
    # One that pip installed is beside this Python, which may not be in PATH.
    beside = Path(sys.executable).parent
    program = shutil.which(server.program) or shutil.which(server.program, path=beside)
    if program is None:
        raise ToolMissing(
            f"{server.program} is not installed (debug server of a board)",
            remedy=f"{server.remedy}. Or name another server: --board server=NAME",
        )
    return Path(program)


class ServerProcess:
    """A server that was started for one execution."""

    def __init__(
        self,
        server: DebugServer,
        command: Sequence[str],
        folder: Path,
        board: SimulatedBoard | None = None,
    ) -> None:
        """`command` has `{port}` where the protocol's port goes; `folder` is the working folder.

        A simulated board is started first, and ended last.
        """
        self._server, self._folder, self._board = server, folder, board
        self._port = _free_port()
        self._command = [filled(word, {"port": str(self._port)}) for word in command]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Host and port where the server listens: "127.0.0.1:3333"."""
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts it and waits until it listens. TargetFailed with its own words."""
        if self._board is not None:
            self._board.start()
        with (self._folder / "server").open("wb") as log:
            try:
                self._process = subprocess.Popen(
                    self._command,
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # the lab handles Ctrl-C and ends the server
                    preexec_fn=die_with_parent(),  # noqa: PLW1509 (one system call, loaded before)
                )
            except OSError as error:
                raise ToolMissing(
                    f"{self._command[0]} does not start: {error.strerror}",
                    remedy=self._server.remedy,
                ) from None
        end, listens = time.monotonic() + _READY_S, False
        while not listens:
            listens = self._listens()  # before its words are read, so that none of them is missed
            fatal = any(line in self.last_lines() for line in self._server.fatal)
            if self.ended() or fatal or time.monotonic() > end:
                raise self._failed()
            time.sleep(0 if listens else _POLL_S)

    def ended(self) -> bool:
        """Whether it has ended by itself, or its board has."""
        if self._board is not None and self._board.how_it_ended():
            return True
        return self._process is not None and self._process.poll() is not None

    def last_lines(self) -> str:
        """The last lines it printed, and how it ended."""
        try:
            text = (self._folder / "server").read_text(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.strip().splitlines()[-_LAST_LINES:])

    def end(self) -> str:
        """Ends it. Returns how it died if it had died before, else ""."""
        how = self.how_it_ended()
        process, self._process = self._process, None
        if process is not None:
            end_process(process)
        if self._board is not None:
            self._board.end()
        return how

    def how_it_ended(self) -> str:
        """In words, of the board first; "" while both run."""
        board = self._board.how_it_ended() if self._board is not None else ""
        if board:
            return board
        code = self._process.poll() if self._process is not None else None
        return "" if code is None else f"{self._server.title} {how_ended(code)}"

    def _failed(self) -> TargetFailed:
        return TargetFailed(
            self.how_it_ended() or f"{self._server.title} is not ready",
            remedy="Its words are below. Check the probe's cable, the board's power, and what the "
            "chip is called in this server: [tier.board.chip]",
            detail=self.last_lines(),
        )

    def _listens(self) -> bool:
        """Whether the port is open, seen in /proc: a connection would be taken for a debugger.

        TargetFailed if other machines reach it.
        """
        addresses = _listening(self._port)
        if not all(address.is_loopback for address in addresses):
            self.end()
            raise TargetFailed(
                f"{self._server.title} listens to other machines, and whoever reaches it controls "
                "the board; it was ended",
                remedy="Give it an option in `command` with which it listens on 127.0.0.1 alone, "
                "or use another server",
            )
        return bool(addresses)


class RunningServer:
    """A server that somebody else started, at an address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def start(self) -> None:
        """Nothing: it runs already."""

    def ended(self) -> bool:
        """Unknown, so False: GDB notices."""
        return False

    def last_lines(self) -> str:
        """They are on its own terminal."""
        return ""

    def how_it_ended(self) -> str:
        """Always "": its end is not seen from here."""
        return ""

    def end(self) -> str:
        """Leaves the server running: others may use it."""
        return ""


def _listening(port: int) -> list[IPv4Address | IPv6Address]:
    """The addresses of this machine at which somebody listens to a TCP port."""
    pattern = re.compile(rf"^\s*\d+: ([0-9A-F]+):{port:04X} [0-9A-F]+:0000 0A ", re.M)
    addresses: list[IPv4Address | IPv6Address] = []
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            seen = pattern.findall(Path("/proc/net", table).read_text())
            addresses += [_address(bytes.fromhex(text)) for text in seen]
    return addresses


def _address(raw: bytes) -> IPv4Address | IPv6Address:
    """An address of /proc/net: words of this machine's byte order."""
    count = len(raw) // 4
    packed = struct.pack(f"!{count}I", *struct.unpack(f"={count}I", raw))
    address = ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _free_port() -> int:
    with socket.socket() as tcp_socket:
        tcp_socket.bind(("127.0.0.1", 0))
        port: int = tcp_socket.getsockname()[1]
        return port
