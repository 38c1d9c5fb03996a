# SPDX-License-Identifier: Apache-2.0
"""A segment inside a test in Python: frames and their times go through a pipe to `embed`.

`python embed.py RING [PROGRAM]` counts the devices of the ring, asks all of them for INIT, and
prints what came of it. Nothing here needs a network or a right."""

from __future__ import annotations

import struct
import subprocess
import sys

BRD, BWR = 7, 8
AL_CONTROL, AL_STATUS = 0x0120, 0x0130
FATES = ("ignored", "returned", "lost", "doubled", "late")


class Segment:
    """A ring of devices in a process of its own, whose time is what the caller says."""

    def __init__(self, ring: str, *faults: str, program: str = "kadenz-segment") -> None:
        """Starts at time 0; `faults` as `--fault` of the command line takes them."""
        command = [program, "embed", "--ring", ring]
        for fault in faults:
            command += ["--fault", fault]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def process(self, frame: bytes, at_ns: int) -> tuple[str, bytes]:
        """Passes a frame through the devices; gives its fate, and the frame as it left them."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(struct.pack("<IQ", 8 + len(frame), at_ns) + frame)
        self._process.stdin.flush()
        head = self._process.stdout.read(4)
        if len(head) < 4:
            raise RuntimeError(f"the segment has ended with {self._process.wait()}")
        body = self._process.stdout.read(int.from_bytes(head, "little"))
        return FATES[body[0]], body[9:]

    def close(self) -> None:
        """Ends the segment."""
        self._process.communicate()


def datagram(command: int, register: int, data: bytes) -> bytes:
    """A frame with one datagram to all devices."""
    body = struct.pack("<BBHHHH", command, 0, 0, register, len(data), 0) + data + b"\0\0"
    header = struct.pack("<H", len(body) | 0x1000)
    return b"\xff" * 6 + b"\x10" * 6 + b"\x88\xa4" + header + body


def main() -> int:
    """Counts devices and asks them for a state; the working counters decide the exit code."""
    program = sys.argv[2] if len(sys.argv) > 2 else "kadenz-segment"
    segment = Segment(sys.argv[1], "lose-frame@frame=4", program=program)
    _, back = segment.process(datagram(BRD, 0, b"\0"), 0)
    devices = int.from_bytes(back[-2:], "little")
    _, back = segment.process(datagram(BWR, AL_CONTROL, b"\x01\0"), 100_000)
    _, back = segment.process(datagram(BRD, AL_STATUS, b"\0\0"), 200_000)
    states = back[26]
    fate, _ = segment.process(datagram(BRD, AL_STATUS, b"\0\0"), 300_000)
    segment.close()
    print(f"{devices} devices, AL status {states:#04x}, the fourth frame was {fate}")
    return 0 if devices > 0 and states == 1 and fate == "lost" else 1


if __name__ == "__main__":
    sys.exit(main())
