# SPDX-License-Identifier: Apache-2.0
"""A veth pair with the simulated segment at one end, for masters at the other."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from tests.e2e.segment import built_segment

ROOT = Path(__file__).resolve().parents[2]
FIELDBUS = ROOT / "fieldbus"
RING = FIELDBUS / "kadenz-segment" / "rings" / "eight.toml"


@pytest.fixture(scope="session")
def segment_program() -> Path:
    return built_segment()


@dataclass(frozen=True)
class Veth:
    """The two ends of a veth pair."""

    master: str
    segment: str


@pytest.fixture
def veth() -> Iterator[Veth]:
    """A veth pair of this test's own; skipped with the reason where it cannot be made."""
    pair = Veth(f"kzm{os.getpid() % 100000}", f"kzs{os.getpid() % 100000}")
    done = subprocess.run(
        ["ip", "link", "add", pair.master, "type", "veth", "peer", "name", pair.segment],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"cannot make a veth pair ({done.stderr.strip()}): run as root")
    try:
        for end in (pair.master, pair.segment):
            # Neighbour discovery of IPv6 would put foreign frames between ours.
            Path(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6").write_text("1", encoding="ascii")
            subprocess.run(["ip", "link", "set", end, "up"], check=True)
        for end in (pair.master, pair.segment):
            # Frames sent before the carrier has been noticed are dropped.
            state = Path(f"/sys/class/net/{end}/operstate")
            deadline = time.monotonic() + 5
            while state.read_text(encoding="ascii").strip() != "up" and time.monotonic() < deadline:
                time.sleep(0.01)
        yield pair
    finally:
        subprocess.run(["ip", "link", "del", pair.master], check=False)


Starter = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_segment(segment_program: Path, veth: Veth) -> Iterator[Starter]:
    """Starts the segment on the pair, with more arguments if given; stopped at the end. `log`
    takes standard error."""
    running: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str, ring: Path = RING, log: IO[str] | None = None
    ) -> subprocess.Popen[str]:
        command = [str(segment_program), "run", "--interface", veth.segment, "--ring", str(ring)]
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=log, text=True
        )
        running.append(process)
        assert process.stdout is not None
        # The first line comes when the socket is open.
        assert "devices on" in process.stdout.readline()
        return process

    yield start
    for process in running:
        stop(process)


def stop(process: subprocess.Popen[str]) -> str:
    """Ends the segment as Ctrl-C does and gives what it said."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    if process.poll() is None:
        process.kill()
    assert process.stdout is not None
    rest = "" if process.stdout.closed else process.stdout.read()
    process.stdout.close()
    process.wait()
    return rest
