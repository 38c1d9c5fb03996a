# SPDX-License-Identifier: Apache-2.0
"""A serial line at another machine: the port is a URL of RFC 2217, pyserial serves it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import serial
from serial import rfc2217

from kadenz.errors import TargetFailed
from tests.board.bench import PLAN, Line, on_bench, session, whole

pytestmark = pytest.mark.counted
_ENOUGH = 3000  # bytes: the first record has arrived by then


class Pty(serial.Serial):  # type: ignore[misc]
    """A pseudo terminal has no modem lines."""

    cts = dsr = ri = cd = False

    def _update_rts_state(self) -> None:
        pass

    _update_dtr_state = _update_rts_state


class Far:
    """Serves a serial port by RFC 2217, for one caller."""

    harmful = False

    def __init__(self, port: str) -> None:
        self.port = Pty(port, timeout=0.05)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"rfc2217://127.0.0.1:{self._server.getsockname()[1]}"
        self._caller: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Answers of the port's manager to the caller."""
        assert self._caller is not None
        self._caller.sendall(data)

    def unplug(self) -> None:
        """The network is gone."""
        with contextlib.suppress(OSError):
            assert self._caller is not None
            self._caller.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self.unplug()
        self._thread.join()
        self._server.close()
        self.port.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            self._caller = self._server.accept()[0]
            manager = rfc2217.PortManager(self.port, self)
            back = threading.Thread(target=self._back, args=(manager,), daemon=True)
            back.start()
            while data := self._caller.recv(1000):
                self.port.write(b"".join(manager.filter(data)))
            back.join()

    def _back(self, manager: rfc2217.PortManager) -> None:
        with contextlib.suppress(OSError, serial.SerialException):
            while self._caller is not None and self._caller.fileno() >= 0:
                data = self.port.read(1) + self.port.read(self.port.in_waiting)
                self.write(b"".join(manager.escape(data)))


@pytest.fixture
def far(tmp_path: Path) -> Iterator[tuple[Line, Far]]:
    """A line with a far end, which is unplugged in a test that asks for it."""
    ends: list[Far] = []

    def harm(data: bytes, count: int) -> bytes:
        if ends and ends[0].harmful and count > _ENOUGH:
            ends[0].unplug()
        return data

    line = Line(tmp_path, harm)
    ends.append(Far(line.port))
    try:
        yield line, ends[0]
    finally:
        ends[0].close()
        line.close()


def test_a_board_behind_a_network_line_gives_a_whole_session(far: tuple[Line, Far]) -> None:
    line, end = far
    board_session = session(on_bench(replace(line.reach(), port=end.url)), PLAN)
    assert board_session.outcome.failure is None and board_session.statuses == ["ok", "ok"]
    assert end.port.baudrate == 115200  # as the caller asked
    assert board_session.taken() == 2200


def test_a_network_line_that_goes_is_named_and_costs_nothing_that_arrived(
    far: tuple[Line, Far],
) -> None:
    line, end = far
    end.harmful = True
    board_session = session(on_bench(replace(line.reach(), port=end.url)), PLAN)
    assert f"{end.url} is gone" in board_session.told
    assert board_session.statuses[0] == "ok" and board_session.taken() >= 200


def test_a_network_line_without_a_server_is_named(tmp_path: Path) -> None:
    line = Line(tmp_path, whole)
    try:
        way = replace(line.reach(), port="rfc2217://127.0.0.1:9")
        with pytest.raises(TargetFailed, match="rfc2217://127.0.0.1:9: .*refused"):
            session(on_bench(way))
    finally:
        line.close()
