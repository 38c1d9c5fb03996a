# SPDX-License-Identifier: Apache-2.0
"""A serial line at another machine: whatever its server sends, the call ends and names it."""

from __future__ import annotations

import contextlib
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kadenz.errors import TargetFailed, UsageError
from kadenz.farm.places import Coordinator
from kadenz.targets.board.uart import Uart
from kadenz.targets.board.way import LineGone

IAC, SB, SE, WILL, DO = b"\xff", b"\xfa", b"\xf0", b"\xfb", b"\xfd"  # telnet, RFC 854
COM_PORT, SERVER = b"\x2c", 100  # RFC 2217: its option, and what an answer adds to a command
AGREED = b"".join(IAC + way + option for option in (COM_PORT, b"\0", b"\3") for way in (DO, WILL))
MEMORY_KIB = 100 << 10  # more than before

Attack = Callable[[socket.socket, threading.Event], None]  # set once the line is open


def agrees(line: socket.socket) -> None:
    """Accepts every setting, as a server should."""
    line.sendall(AGREED)
    threading.Thread(target=_answer, args=(line,), daemon=True).start()


def _answer(line: socket.socket) -> None:
    rest = b""
    with contextlib.suppress(OSError):
        while data := line.recv(4096):
            *whole, rest = (rest + data).split(IAC + SE)
            for negotiation in whole:
                _, separator, option = negotiation.partition(IAC + SB)
                if separator and option[:1] == COM_PORT:
                    reply = COM_PORT + bytes([option[1] + SERVER]) + option[2:]
                    line.sendall(IAC + SB + reply + IAC + SE)


def sends(data: bytes, *, first: bytes = b"", agreed: bool = False, forever: bool = True) -> Attack:
    """A server that sends `first`, then `data` without end."""

    def attack(line: socket.socket, opened: threading.Event) -> None:
        if agreed:
            agrees(line)
            opened.wait()
        line.sendall(first)
        while forever:
            line.sendall(data)

    return attack


REFUSED: dict[str, Attack] = {
    "says nothing": lambda line, _: None,
    "ends at once": lambda line, _: line.shutdown(socket.SHUT_RDWR),
    "zeros": sends(b"\0" * 65536),
    "offers without end": sends((IAC + WILL + b"\x55") * 20000),
    "an end without a beginning": sends(b"", first=IAC + SE, forever=False),
    "an empty option": sends(b"", first=IAC + SB + IAC + SE, forever=False),
    "an answer to no question": sends(
        b"", first=IAC + SB + COM_PORT + b"\x65" + IAC + SE, forever=False
    ),
    "agrees to nothing": sends(b"", first=AGREED, forever=False),
    "noise": sends(bytes(range(256)) * 256),
}
FLOODS: dict[str, Attack] = {
    "data without end": sends(b"x" * 65536, agreed=True),
    "an option without end": sends(b"x" * 65536, first=IAC + SB, agreed=True),
}


@pytest.fixture
def opened() -> threading.Event:
    return threading.Event()


@pytest.fixture
def served(opened: threading.Event) -> Iterator[Callable[..., Uart]]:
    """A line whose server attacks."""
    server = socket.create_server(("127.0.0.1", 0))
    callers: list[socket.socket] = []

    def serve(attack: Attack) -> None:
        with contextlib.suppress(OSError):
            callers.append(server.accept()[0])
            attack(callers[0], opened)

    def line(attack: Attack, scheme: str = "rfc2217", answer_s: int = 1) -> Uart:
        threading.Thread(target=serve, args=(attack,), daemon=True).start()
        wait = f"?timeout={answer_s}" if scheme == "rfc2217" else ""
        return Uart(f"{scheme}://127.0.0.1:{server.getsockname()[1]}{wait}", 115200)

    try:
        yield line
    finally:
        opened.set()
        for connection in [server, *callers]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


@pytest.mark.parametrize("attack", REFUSED)
def test_a_server_that_does_not_speak_the_protocol_is_named(
    attack: str, served: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TargetFailed, match=r"rfc2217://127\.0\.0\.1:\d+\S*: ") as e:
        served(REFUSED[attack]).open(None, tmp_path)
    assert "server of this protocol" in e.value.remedy
    assert "INACTIVE" not in e.value.message and "dict_values" not in e.value.message
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("attack", FLOODS)
def test_what_comes_without_end_ends_in_bounded_memory(
    attack: str, served: Any, opened: threading.Event, tmp_path: Path
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = served(FLOODS[attack], answer_s=3)
    with contextlib.suppress(TargetFailed, LineGone):  # that it is named is enough
        line.open(None, tmp_path)
        opened.set()
        line.begin("list\nend\n")
        for _ in range(20):
            line.read(0.1)
    line.close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY_KIB


def test_a_plain_socket_that_ends_is_named(served: Any, tmp_path: Path) -> None:
    line = served(REFUSED["ends at once"], "socket")
    with pytest.raises((LineGone, TargetFailed), match=r"socket://127\.0\.0\.1"):
        line.open(None, tmp_path)
        line.begin("")
        for _ in range(100):
            line.read(0.1)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"port": None},
        {"port": "4001?logging=debug"},
        {"port": 4001, "host": "a/b"},
        {"port": 4001, "host": "spy://x"},
        {"port": 4001, "host": "a\nb"},
        {"port": -1, "host": "bench"},
        {"port": "\x1b[2J", "host": "bench"},
    ],
)
def test_an_exporter_s_line_is_an_address(
    params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rack = Coordinator.__new__(Coordinator)
    monkeypatch.setattr(Coordinator, "_matched", lambda *_: iter([("shelf host", params)]))
    with pytest.raises(UsageError, match="offers no address of a line"):
        rack.line("shelf-1")


@pytest.mark.parametrize("host", ["bench", "bench.corp-1.local", "192.0.2.7", "[fe80::1]"])
def test_an_address_is_a_line(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rack = Coordinator.__new__(Coordinator)
    params = {"host": host, "port": 4001}
    monkeypatch.setattr(Coordinator, "_matched", lambda *_: iter([("x", params)]))
    assert rack.line("shelf-1") == f"rfc2217://{host}:4001"
