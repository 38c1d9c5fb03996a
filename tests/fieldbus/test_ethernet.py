# SPDX-License-Identifier: Apache-2.0
"""Ethernet over EtherCAT: Linux's TCP reaches a device's web page by TAP and mailbox."""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.rights import ROOT_ONLY

from .conftest import Starter, Veth, stop
from .test_interface import ETHERCAT, ip
from .test_redundancy import datagram_frame

pytestmark = [pytest.mark.machine, ROOT_ONLY]

APWR, FPRD, FPWR = 2, 4, 5
STATION = 0x1001
MAILBOX_OUT, MAILBOX_IN, MAILBOX_LENGTH = 0x1000, 0x1080, 128
EOE = 2
UNIT = 32
ROOM = (MAILBOX_LENGTH - 10) // UNIT * UNIT
# linux/if_tun.h
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
NETWORK, HOST, DEVICE = "10.211.47", "10.211.47.1", "10.211.47.2"
RING = f'[[device]]\nname = "axis-1"\nkind = "drive"\nethernet = {{ address = "{DEVICE}/24" }}\n'


@dataclass
class Master:
    """Carries Ethernet frames to and from the mailbox of one device."""

    wire: socket.socket
    index: int = 0
    counter: int = 0
    frame_number: int = 0
    partial: bytearray = field(default_factory=bytearray)

    def exchange(self, command: int, address: int, data: bytes) -> tuple[bytes, int]:
        """One datagram: its data and working counter; sent again if it does not come back."""
        while True:
            self.index = (self.index + 1) % 256
            self.wire.send(datagram_frame(0x10, self.index, command, address, data))
            while select.select([self.wire], [], [], 1.0)[0]:
                frame, (_, _, kind, *_) = self.wire.recvfrom(1514)
                if kind != socket.PACKET_OUTGOING and frame[17] == self.index:
                    end = 26 + len(data)
                    return frame[26:end], int.from_bytes(frame[end : end + 2], "little")

    def write(self, register: int, data: bytes) -> int:
        return self.exchange(FPWR, STATION | register << 16, data)[1]

    def read(self, register: int, length: int) -> tuple[bytes, int]:
        return self.exchange(FPRD, STATION | register << 16, bytes(length))

    def bring_to_pre_op(self) -> None:
        self.exchange(APWR, 0x0010 << 16, struct.pack("<H", STATION))
        for number, (start, control) in enumerate([(MAILBOX_OUT, 0x26), (MAILBOX_IN, 0x22)]):
            manager = struct.pack("<HHBBBB", start, MAILBOX_LENGTH, control, 0, 1, 0)
            assert self.write(0x0800 + 8 * number, manager) == 1
        self.write(0x0120, struct.pack("<H", 2))
        assert self.read(0x0130, 2)[0] == b"\x02\0"

    def send(self, frame: bytes) -> None:
        """A frame in fragments; the mailbox is asked until it has place for each."""
        parts = [frame[at : at + ROOM] for at in range(0, len(frame), ROOM)]
        for fragment, part in enumerate(parts):
            units = -(-len(frame) // UNIT) if fragment == 0 else fragment * ROOM // UNIT
            place = fragment | units << 6 | self.frame_number << 12
            is_last = fragment == len(parts) - 1
            self.counter = self.counter % 7 + 1
            header = struct.pack("<HHBB", 4 + len(part), 0, 0, EOE | self.counter << 4)
            body = struct.pack("<HH", is_last << 8, place) + part
            while self.write(MAILBOX_OUT, (header + body).ljust(MAILBOX_LENGTH, b"\0")) != 1:
                pass
        self.frame_number = (self.frame_number + 1) % 16

    def fetch(self) -> bytes | None:
        """A whole frame, once its last fragment has come."""
        mailbox, counter = self.read(MAILBOX_IN, MAILBOX_LENGTH)
        if counter != 1 or mailbox[5] & 0x0F != EOE:
            return None
        length = int.from_bytes(mailbox[:2], "little")
        kind, place = struct.unpack_from("<HH", mailbox, 6)
        if place & 0x3F == 0:
            self.partial.clear()
        else:
            assert (place >> 6 & 0x3F) * UNIT == len(self.partial)
        self.partial += mailbox[10 : 6 + length]
        return bytes(self.partial) if kind & 0x0100 else None


@contextmanager
def tap() -> Iterator[int]:
    """A TAP device of this test's own, with an address in the device's network."""
    handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    try:
        name = f"kzt{os.getpid() % 100000}"
        fcntl.ioctl(handle, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
        ip("addr", "add", f"{HOST}/24", "dev", name)
        ip("link", "set", name, "up")
        yield handle
    finally:
        os.close(handle)


def carry(master: Master, handle: int, is_over: Callable[[], bool]) -> None:
    """Frames between Linux and the device until `is_over`."""
    while not is_over():
        if select.select([handle], [], [], 0)[0]:
            master.send(os.read(handle, 2048))
        frame = master.fetch()
        if frame is not None:
            os.write(handle, frame)


def test_linux_reads_the_web_page_of_a_device(
    start_segment: Starter, segment_program: Path, veth: Veth, tmp_path: Path
) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("this machine has no /dev/net/tun")
    ring, recording = tmp_path / "ring.toml", tmp_path / "session.pcapng"
    ring.write_text(RING, encoding="utf-8")
    process = start_segment("--record", str(recording), ring=ring)
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERCAT)) as wire,
        tap() as handle,
    ):
        wire.bind((veth.master, ETHERCAT))
        master = Master(wire)
        master.bring_to_pre_op()
        ended = threading.Event()
        carrier = threading.Thread(target=carry, args=(master, handle, ended.is_set))
        carrier.start()
        try:
            with urllib.request.urlopen(f"http://{DEVICE}/", timeout=30) as answer:
                page = answer.read().decode()
        finally:
            ended.set()
            carrier.join()
    assert "0 lost by faults" in stop(process)
    assert "<h1>axis-1</h1>" in page
    assert "<th>State<td>PRE-OP" in page
    assert "statusword" in page
    replayed = replay(segment_program, recording, ring)
    assert "all as recorded" in replayed


def replay(program: Path, recording: Path, ring: Path) -> str:
    """The same frames get the same bytes, also from the network stack."""
    command = [str(program), "replay", str(recording), "--ring", str(ring)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
