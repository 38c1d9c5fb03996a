# SPDX-License-Identifier: Apache-2.0
"""A simulated EtherCAT segment in its own process, at one end of a virtual cable."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kadenz.images.program import build_program

ROOT = Path(__file__).resolve().parents[2]
WORKSPACE = ROOT / "fieldbus"
LAYOUTS = WORKSPACE / "kadenz-motion" / "layouts"


def built_segment() -> Path:
    """The program that serves a ring on an interface; KADENZ_SEGMENT may name a built one."""
    named = os.environ.get("KADENZ_SEGMENT")
    return Path(named) if named else build_program("kadenz-segment")[0].path


@contextmanager
def cable() -> Iterator[tuple[str, str]]:
    """Two connected interfaces, up; requires root. Names are unique to this process."""
    ends = f"kdzcard{os.getpid()}"[-15:], f"kdzring{os.getpid()}"[-15:]
    ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
    try:
        for end in ends:
            quiet = Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6")
            if quiet.exists():  # no other packets on the bus
                quiet.write_text("1")
            ip("link", "set", end, "up")
        yield ends
    finally:
        ip("link", "delete", ends[0])


@contextmanager
def segment(program: Path, interface: str, *options: str) -> Iterator[None]:
    """The robot's ring, on the processor of the master's tasks like the built-in simulation: on
    another one, every frame would wake up an idle processor. Its priority is above every task:
    hardware does not wait for software."""
    last = str(max(os.sched_getaffinity(0)))
    ring = str(LAYOUTS / "indy7-ring.toml")
    command = [str(program), "run", "--interface", interface, "--ring", ring, "--priority", "98"]
    process = subprocess.Popen(
        ["taskset", "--cpu-list", last, *command, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def ip(*arguments: str) -> None:
    """iproute2."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
