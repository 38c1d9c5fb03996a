# SPDX-License-Identifier: Apache-2.0
"""An interface that is down, goes away or is served twice: the segment says so, and how it ends."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import RING, Veth

pytestmark = pytest.mark.machine

ETHERCAT = 0x88A4

Segment = subprocess.Popen[str]
Start = Callable[..., Segment]


@pytest.fixture
def start(segment_program: Path, veth: Veth) -> Iterator[Start]:
    """Starts a segment on one end of the pair; whatever still runs at the end is killed."""
    running: list[Segment] = []

    def begin(interface: str = veth.segment, *, wait: bool = True) -> Segment:
        command = [str(segment_program), "run", "--interface", interface, "--ring", str(RING)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        running.append(process)
        if wait:
            assert process.stdout is not None
            assert "devices on" in process.stdout.readline()
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def read_status(index: int) -> bytes:
    """A master's frame: every device reads its AL status (BRD of 0x0130)."""
    datagram = struct.pack("<BBHHHH2xH", 7, index, 0, 0x0130, 2, 0, 0)
    header = b"\xff" * 6 + b"\x02\x00\x00\x00\x00\x01" + struct.pack(">H", ETHERCAT)
    return (header + struct.pack("<H", 0x1000 | len(datagram)) + datagram).ljust(60, b"\0")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def ended(process: Segment) -> tuple[int, str]:
    """Exit code and standard error of a segment that has to end by itself."""
    _, error = process.communicate(timeout=20)
    return process.returncode, error


def heard(process: Segment, text: str, act: Callable[[], None]) -> str:
    """The line on standard error with these words that follows an act."""
    lines: list[str] = []
    assert process.stderr is not None
    stream = process.stderr

    def listen() -> None:
        for line in stream:
            lines.append(line)
            if text in line:
                return

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    act()
    listener.join(20)
    assert lines and text in lines[-1], lines
    return lines[-1]


def test_an_interface_that_is_down_is_refused_with_the_remedy(start: Start, veth: Veth) -> None:
    ip("link", "set", veth.segment, "down")
    code, error = ended(start(wait=False))
    assert code == 1
    assert f"cannot serve interface {veth.segment}" in error
    assert "ip link set" in error


def test_a_link_that_goes_and_comes_back_is_reported_and_served_again(
    start: Start, veth: Veth
) -> None:
    segment = start()
    heard(segment, "has no link", lambda: ip("link", "set", veth.master, "down"))
    heard(segment, "has a link", lambda: ip("link", "set", veth.master, "up"))
    heard(segment, "is down", lambda: ip("link", "set", veth.segment, "down"))
    heard(segment, "has a link", lambda: ip("link", "set", veth.segment, "up"))
    pysoem = pytest.importorskip("pysoem", reason="pysoem is not installed: pip install -e .[dev]")
    soem = pysoem.Master()
    soem.open(veth.master)
    deadline = time.monotonic() + 10
    while soem.config_init() != 9:
        assert time.monotonic() < deadline, "the segment does not answer again"
    soem.close()
    assert segment.poll() is None


def test_an_interface_that_is_removed_ends_the_segment(start: Start, veth: Veth) -> None:
    segment = start()
    ip("link", "del", veth.master)
    code, error = ended(segment)
    assert code == 1
    assert f"cannot continue to serve interface {veth.segment}: it was removed" in error
    # The fixture removes the pair at its end.
    ip("link", "add", veth.master, "type", "veth", "peer", "name", veth.segment)


def test_a_second_segment_on_an_interface_is_refused_and_names_the_first(
    start: Start, veth: Veth
) -> None:
    first = start()
    code, error = ended(start(wait=False))
    assert code == 1
    assert f"process {first.pid} (kadenz-segment) answers on it already" in error
    assert first.poll() is None
    first.kill()
    first.wait()
    start()


def test_a_master_s_second_port_at_the_only_interface_is_refused(start: Start, veth: Veth) -> None:
    segment = start()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ETHERCAT) as wire:
        wire.bind((veth.master, ETHERCAT))
        frame = read_status(0)
        # SOEM's second port; its first one has 01:01:01:01:01:01.
        wire.send(frame[:6] + bytes.fromhex("010104040101") + frame[12:])
    code, error = ended(segment)
    assert code == 1
    assert "a master has its second port here, at the only interface of the segment" in error
    assert "--interface A --interface B" in error


def test_a_second_segment_at_the_other_end_ends_both_instead_of_a_storm(
    start: Start, veth: Veth
) -> None:
    ends = [start(), start(veth.master)]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ETHERCAT) as wire:
        wire.bind((veth.master, ETHERCAT))
        deadline = time.monotonic() + 20
        index = 0
        while all(segment.poll() is None for segment in ends):
            assert time.monotonic() < deadline, "neither segment has noticed the other"
            wire.send(read_status(index % 256))
            index += 1
            time.sleep(0.002)
    code, error = ended(next(segment for segment in ends if segment.poll() is not None))
    assert code == 1
    assert "a second segment is at the other end of the cable" in error
