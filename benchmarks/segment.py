"""What the simulated EtherCAT segment costs: a frame in process, and 10 kHz over a veth pair.

Run as root: `python benchmarks/segment.py [--seconds 10]`. Prints Markdown for docs/performance.md.
The second part sends the cyclic frame of SOEM (LRW of all process data, FRMW of the clock) every
100 us from a raw socket and counts what comes back; both programs block between frames.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

FIELDBUS = Path(__file__).resolve().parents[1] / "fieldbus"
RING = FIELDBUS / "kadenz-segment" / "rings" / "eight.toml"
ETHERTYPE = 0x88A4
PERIOD_NS = 100_000


def cargo(*arguments: str) -> str:
    """Runs cargo in the workspace and gives what it printed."""
    done = subprocess.run(
        ["cargo", *arguments], cwd=FIELDBUS, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def frame(image_bytes: int) -> bytes:
    """The cyclic frame: LRW of the image, FRMW of the reference's time."""
    lrw = struct.pack("<BBIHH", 12, 0, 0, image_bytes | 0x8000, 0) + bytes(image_bytes + 2)
    frmw = struct.pack("<BBHHHH", 14, 1, 0x1001, 0x0910, 8, 0) + bytes(8 + 2)
    body = lrw + frmw
    head = b"\xff" * 6 + b"\x10" * 6 + struct.pack(">H", ETHERTYPE)
    return head + struct.pack("<H", len(body) | 0x1000) + body


def sustain(interface: str, seconds: float) -> tuple[int, int, list[int]]:
    """Sends every 100 us and waits for the answer: sent, lost, round trips in ns."""
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    link.bind((interface, 0))
    link.settimeout(0.1)
    packet = frame(236)
    count = int(seconds * 1e9 / PERIOD_NS)
    lost, trips = 0, []
    due = time.monotonic_ns() + 1_000_000
    for _ in range(count):
        wait = due - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        start = time.monotonic_ns()
        link.send(packet)
        try:
            # Our own frame comes by as well, as an outgoing one.
            while link.recvfrom(1514)[1][2] == socket.PACKET_OUTGOING:
                pass
            trips.append(time.monotonic_ns() - start)
        except TimeoutError:
            lost += 1
        due += PERIOD_NS
    return count, lost, trips


def over_veth(program: Path, seconds: float) -> None:
    """10 kHz over a veth pair, and what the segment says about it."""
    ends = (f"kzb{os.getpid() % 100000}", f"kzc{os.getpid() % 100000}")
    subprocess.run(
        ["ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1]], check=True
    )
    try:
        for end in ends:
            Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", encoding="ascii")
            subprocess.run(["ip", "link", "set", end, "up"], check=True)
        time.sleep(0.5)
        segment = subprocess.Popen(
            [str(program), "run", "--interface", ends[1], "--ring", str(RING)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert segment.stdout is not None
        segment.stdout.readline()
        began = time.monotonic()
        sent, lost, trips = sustain(ends[0], seconds)
        took = time.monotonic() - began
        segment.send_signal(signal.SIGINT)
        said = segment.stdout.read()
        segment.wait()
    finally:
        subprocess.run(["ip", "link", "del", ends[0]], check=True)
    trips.sort()
    processing = re.search(r"mean ([\d.]+) us, longest ([\d.]+) us", said)
    assert processing is not None
    print("| 10 kHz over veth, 284-byte frames | |\n|---|---|")
    print(f"| frames sent, lost | {sent}, {lost} |")
    print(f"| rate reached | {sent / took:.0f} Hz |")
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)):
        trip = trips[int((len(trips) - 1) * share)] / 1000
        print(f"| round trip {name}, Python and two socket passes included | {trip:.1f} us |")
    mean, longest = processing.groups()
    print(f"| segment a frame, system calls not included: mean, longest | {mean}, {longest} us |")


def main() -> int:
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    print(cargo("bench", "--quiet", "-j2", "-p", "kadenz-segment", "--bench", "segment"))
    cargo("build", "--release", "--quiet", "-j2", "-p", "kadenz-segment")
    if os.geteuid() != 0:
        print("The veth part needs root", file=sys.stderr)
        return 1
    target = Path(os.environ.get("CARGO_TARGET_DIR", str(FIELDBUS / "target")))
    over_veth(target / "release" / "kadenz-segment", arguments.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
