# SPDX-License-Identifier: Apache-2.0
"""A ring with cable redundancy over two veth pairs: a master with two interfaces stays in OP."""

from __future__ import annotations

import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.waiting import wait_for

from .test_interface import ETHERCAT, ip

pytestmark = pytest.mark.machine

BRD, BWR, APWR, FPWR, LRW = 7, 8, 2, 5, 12
MARK = 0x02
OP = 8
KINDS = ("coupler", "digital-output", "digital-output", "digital-input", "digital-output")
RING = "".join(
    f'[[device]]\nname = "d{at}"\nkind = "{kind}"\n'
    + ("channels = 8\n" if kind != "coupler" else "")
    + ("stamped_channels = 0\n" if kind == "digital-input" else "")
    for at, kind in enumerate(KINDS)
)
# An output writes (2), an input reads (1).
WHOLE = 3 * 2 + 1
# A frame that is not back after this time is lost: the machine may be busy.
PATIENCE_S = 0.2


def datagram_frame(source: int, index: int, command: int, address: int, data: bytes) -> bytes:
    datagram = struct.pack("<BBIHH", command, index, address, len(data), 0) + data + b"\0\0"
    header = b"\xff" * 6 + bytes([source, 0, 0, 0, 0, 1]) + struct.pack(">H", ETHERCAT)
    return (header + struct.pack("<H", 0x1000 | len(datagram)) + datagram).ljust(60, b"\0")


@dataclass
class Master:
    """Sends every frame at both interfaces, and adds up what comes back at either."""

    wires: list[socket.socket]
    index: int = 0
    lost: list[int] = field(default_factory=list)

    def exchange(self, command: int, address: int, data: bytes) -> tuple[bytes, int]:
        """The data of both frames merged by OR, and the sum of their working counters."""
        self.index = (self.index + 1) % 256
        # Sources 0x10 and 0x14 tell the two apart; 0x02 is the mark of a device.
        sources = (0x10, 0x14)[: len(self.wires)]
        for source, wire in zip(sources, self.wires, strict=True):
            wire.send(datagram_frame(source, self.index, command, address, data))
        counter, merged, missing = 0, bytes(len(data)), set(sources)
        deadline = time.monotonic() + PATIENCE_S
        while missing and (left := deadline - time.monotonic()) > 0:
            for wire in select.select(self.wires, [], [], left)[0]:
                frame, (_, _, kind, *_) = wire.recvfrom(1514)
                source = frame[6] & ~MARK
                if kind == socket.PACKET_OUTGOING or frame[17] != self.index:
                    continue
                missing.discard(source)
                end = 26 + len(data)
                counter += int.from_bytes(frame[end : end + 2], "little")
                worked = frame[26:end] if frame[6] & MARK else bytes(len(data))
                merged = bytes(a | b for a, b in zip(merged, worked, strict=True))
        self.lost += missing
        return merged, counter

    def write(self, device: int, register: int, data: bytes) -> None:
        _, counter = self.exchange(FPWR, 0x1001 + device | register << 16, data)
        assert counter == 1, f"device {device}, register {register:#06x}"

    def bring_up(self) -> None:
        for device in range(len(KINDS)):
            self.exchange(APWR, -device & 0xFFFF | 0x0010 << 16, struct.pack("<H", 0x1001 + device))
        for device, kind in enumerate(KINDS):
            if kind == "coupler":
                continue
            is_output = kind == "digital-output"
            start, control = (0x1100, 0x64) if is_output else (0x1500, 0x20)
            # One byte each: sync manager 0 and FMMU 0. The watchdog waits 5 s for a busy machine.
            self.write(device, 0x0420, struct.pack("<H", 50_000))
            self.write(device, 0x0800, struct.pack("<HHBBBB", start, 1, control, 0, 1, 0))
            fmmu = struct.pack("<IHBBHBBB3x", device, 1, 0, 7, start, 0, 2 if is_output else 1, 1)
            self.write(device, 0x0600, fmmu)
        for state in (2, 4, 8):
            self.exchange(BWR, 0x0120 << 16, struct.pack("<H", state))
            self.cycle()
            assert self.states() == state

    def cycle(self) -> int:
        return self.exchange(LRW, 0, bytes(len(KINDS)))[1]

    def states(self) -> int:
        """The AL states of all devices, merged; every device has to answer."""
        status, counter = self.exchange(BRD, 0x0130 << 16, b"\0\0")
        assert counter == len(KINDS)
        return status[0]


@dataclass
class Ring:
    """A segment between two veth pairs, and its master."""

    master: Master
    process: subprocess.Popen[str]
    log: Path
    pairs: list[tuple[str, str]]


Opener = Callable[..., Ring]


@pytest.fixture
def pairs() -> Iterator[list[tuple[str, str]]]:
    number = os.getpid() % 100000
    names = [(f"kra{number}", f"krs{number}"), (f"krb{number}", f"krt{number}")]
    if os.geteuid() != 0:
        pytest.skip("cannot make veth pairs: run as root")
    try:
        for master, segment in names:
            ip("link", "add", master, "type", "veth", "peer", "name", segment)
            for end in (master, segment):
                Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", "ascii")
                ip("link", "set", end, "up")
        yield names
    finally:
        for master, _ in names:
            subprocess.run(["ip", "link", "del", master], check=False, capture_output=True)


@pytest.fixture
def open_ring(
    segment_program: Path, pairs: list[tuple[str, str]], tmp_path: Path
) -> Iterator[Opener]:
    rings: list[Ring] = []

    def begin(*arguments: str) -> Ring:
        ring, log = tmp_path / "ring.toml", tmp_path / "log"
        ring.write_text(RING, "utf-8")
        command = [str(segment_program), "run", "--ring", str(ring)]
        for _, segment in pairs:
            command += ["--interface", segment]
        with log.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                [*command, *arguments], stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert process.stdout is not None
        assert "5 devices on" in process.stdout.readline()
        wires = []
        for master, _ in pairs:
            wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERCAT))
            wire.bind((master, ETHERCAT))
            wires.append(wire)
        rings.append(Ring(Master(wires), process, log, pairs))
        return rings[-1]

    yield begin
    for ring in rings:
        ring.process.kill()
        ring.process.communicate()
        for wire in ring.master.wires:
            wire.close()


def breaks(places: range, *more: str) -> list[str]:
    """Breaks one cable after the other, 6 of 12 cycles each; place k is in front of device k."""
    last = len(KINDS)
    cables = [f"device=d{k}" if k < last else f"device=d{last - 1},port=1" for k in places]
    # Three cycles are of the bring-up.
    faults = [
        ",".join([f"break-cable@cycle={12 * at + 10},count=6", cable, *more])
        for at, cable in enumerate(cables)
    ]
    return [part for fault in faults for part in ("--fault", fault)]


def test_a_break_at_any_place_loses_no_cycle_of_a_master_with_two_ends(open_ring: Opener) -> None:
    places = range(len(KINDS) + 1)
    ring = open_ring(*breaks(places))
    ring.master.bring_up()
    counters = [ring.master.cycle() for _ in range(12 * len(places) + 10)]
    assert set(counters) == {WHOLE}, counters
    assert ring.master.states() == OP
    # Nothing comes back from the end whose own cable is broken: 6 frames at each end.
    assert sorted(ring.master.lost) == [0x10] * 6 + [0x14] * 6
    # A thread of the segment's writes the log.
    wait_for(lambda: ring.log.read_text("utf-8").count("stands again") == len(places))
    log = ring.log.read_text("utf-8")
    assert log.count("is broken") == len(places), log
    assert "the cable at port 1 of d4 is broken" in log


def test_a_break_under_a_frame_loses_that_cycle_alone(open_ring: Opener) -> None:
    places = range(2, len(KINDS))
    # A hop takes 600 ns: the frame is in front of the first of these cables.
    ring = open_ring(*breaks(places, "after_ns=100"))
    ring.master.bring_up()
    counters = [ring.master.cycle() for _ in range(12 * len(places) + 10)]
    wrong = [at for at, counter in enumerate(counters) if counter < WHOLE]
    assert wrong == [12 * at + 6 for at in range(len(places))], counters
    assert ring.master.states() == OP
    wait_for(lambda: "was lost under way" in ring.log.read_text("utf-8"))


def test_an_interface_that_goes_down_is_a_break_at_that_end(open_ring: Opener) -> None:
    ring = open_ring()
    ring.master.bring_up()
    master, segment = ring.pairs[1]
    ip("link", "set", segment, "down")
    ring.master.wires.pop().close()
    wait_for(lambda: "is down" in ring.log.read_text("utf-8"))
    # The frame comes back to the first end, with the work of all devices.
    assert ring.master.cycle() == WHOLE
    assert ring.master.lost == []
    assert ring.process.poll() is None


def test_a_recording_of_a_ring_replays(
    open_ring: Opener, segment_program: Path, tmp_path: Path
) -> None:
    capture, faults = tmp_path / "ring.pcapng", breaks(range(len(KINDS) + 1))
    ring = open_ring("--record", str(capture), *faults)
    ring.master.bring_up()
    for _ in range(80):
        ring.master.cycle()
    ring.process.terminate()
    assert ring.process.wait(10) == 0
    command = [str(segment_program), "replay", str(capture), "--ring", str(tmp_path / "ring.toml")]
    done = subprocess.run([*command, *faults], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "all as recorded" in done.stdout


def test_the_same_interface_twice_is_refused(segment_program: Path, tmp_path: Path) -> None:
    ring = tmp_path / "ring.toml"
    ring.write_text(RING, "utf-8")
    for names, message in ((["a", "a"], "--interface a twice"), (["a", "b", "c"], "3 interfaces")):
        command = [str(segment_program), "run", "--ring", str(ring)]
        for name in names:
            command += ["--interface", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert message in done.stderr
