# SPDX-License-Identifier: Apache-2.0
"""The history of kadenz's own speed: benches of counted work, kept in an archive by commit.

    python benchmarks/speed.py [--rounds 5] [--archive PLACE]
    kadenz history 'speed/*' --archive PLACE

A sample is the processor time of a bench over that of a fixed peer, measured before and after it:
other work and another clock rate of the machine change both. The figure is a time at the speed at
which the peer takes a second. Exit code 1: a bench takes more than its limit.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from segment import PACKAGE, bench_program

from kadenz import __version__
from kadenz.config.manifest import (
    SCHEMA_VERSION,
    CampaignEntry,
    ClockEntry,
    LaneEntry,
    Manifest,
    ProofEntry,
    RecordEntry,
    TargetEntry,
)
from kadenz.host.facts import read_host
from kadenz.images.provenance import describe
from kadenz.store import RunWriter

TITLE = "The history of kadenz's own speed"

HERE = Path(__file__).resolve().parent
PEER = "sum(number * number % 7 for number in range(12_000_000))"  # about a second
KADENZ = (sys.executable, "-c", "from kadenz.cli import main; main()")
BOARDS = ("freertos/hifive1-revb@emulated", "freertos/stm32f4@emulated")


def measuring(command: str, *arguments: str) -> tuple[str, ...]:
    """`kadenz run` or `kadenz profile`; nothing comes from the store."""
    return (*KADENZ, command, *arguments, "--fresh", "--output", "runs")


def segment() -> Sequence[str]:
    """300,000 frames of each master; the bench works in its package."""
    return ("env", f"--chdir={PACKAGE}", bench_program(), "--bench", "--frames", "300000")


class Bench(NamedTuple):
    """A command; it may have to be compiled first."""

    limit: float  # times the peer: half as much again as when it was written
    command: Callable[[], Sequence[str]]


ITC = ("itc/queue", "--target")
BENCHES = {
    "speed/campaign": Bench(
        6.5, lambda: measuring("run", "yoo2024", "--quick", *(f"--target={b}" for b in BOARDS))
    ),
    "speed/rtl": Bench(
        3.9, lambda: measuring("run", *ITC, "freertos/ibex@rtl", "--set", "samples=100")
    ),
    "speed/profile": Bench(
        5.3, lambda: measuring("profile", *ITC, BOARDS[1], "--set", "samples=1000")
    ),
    "speed/statistics": Bench(
        4.1, lambda: (sys.executable, str(HERE / "analysis_28m.py"), "--samples", "200000")
    ),
    "speed/segment": Bench(7.2, segment),
}


def processor_time(command: Sequence[str]) -> float:
    """Seconds of a command and its children, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(names: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Times of the peer that each bench takes, by round."""
    peer = (sys.executable, "-c", PEER)
    commands = {name: BENCHES[name].command() for name in names}
    for command in commands.values():
        processor_time(command)  # compiles images
    ratios: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        before = processor_time(peer)
        for name, command in commands.items():
            taken, after = processor_time(command), processor_time(peer)
            ratios[name].append(taken / ((before + after) / 2))
            before = after
    return ratios


def record(number: int, name: str, taken: Sequence[float]) -> RecordEntry:
    """A bench as a benchmark of a run."""
    lane = LaneEntry(
        name="all", file="", dtype="<f8", planned=len(taken), taken=0, missed=0, overrun=0
    )
    return RecordEntry(
        id=number,
        bench=name,
        params={},
        ranks={},
        begins="start of the command",
        ends="end of the command and its children",
        source="benchmarks/speed.py",
        status="ok",
        reason="",
        unit="ticks",
        cold=0,
        drains=[],
        lanes=[lane],
        proof=ProofEntry(checked=len(taken), failed=0),
    )


def manifest() -> Manifest:
    """A run of kadenz itself on this Linux."""
    now = datetime.now(UTC)
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version=__version__,
        kadenz_describe=describe(Path(__file__)),
        id=f"{now:%Y%m%d-%H%M%S}-kadenz-speed",
        created=now.isoformat(timespec="seconds"),
        duration_s=0.0,
        partial=False,
        partial_reason="",
        campaign=CampaignEntry(name="speed", file="", sha256="", quick=False),
        target=TargetEntry(
            name="kadenz/linux@host",
            kernel="kadenz",
            board="linux",
            tier="host",
            instrument="counter",
            arch=os.uname().machine,
            kernel_name="kadenz",
            kernel_version=__version__,
            capabilities=[],
            settings={"python": sys.version.split()[0]},
            cores=len(os.sched_getaffinity(0)),
            tick_hz=0,
            title="kadenz itself",
        ),
        clock=ClockEntry(
            clock_class="hosted",
            name="processor time over the peer's",
            hz=1_000_000_000,
            bits=64,
            unit="ns",
        ),
        build=None,
        host=read_host().entry,
        emulator=None,
        conditions=[],
        warnings=[],
        records=[],
        name="",
    )


def keep(taken: Mapping[str, Sequence[float]], archive: str) -> None:
    """Adds a run to the archive, with the commit of this checkout."""
    with tempfile.TemporaryDirectory() as folder:
        with RunWriter(Path(folder), manifest()) as writer:
            for number, (name, times) in enumerate(taken.items(), 10):
                writer.open_record(record(number, name, times))
                writer.append(number, 0, np.array(times) * 1e9)
                writer.close_record(number)
            run = writer.finish("")
        commit = writer.manifest.kadenz_describe
        add = (*KADENZ, "archive", "add", str(run), "--archive", archive)
        subprocess.run([*add, "--label", "speed", "--commit", commit], check=True)


def main() -> int:
    """Measures, prints, keeps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=list(BENCHES), help="one bench")
    parser.add_argument("--archive", default="", help="folder or URL; default: nothing is kept")
    asked = parser.parse_args()
    taken = measured([asked.only] if asked.only else list(BENCHES), asked.rounds)
    print("| bench | times the peer, median | least | most | limit |\n|---|---|---|---|---|")
    for name, times in taken.items():
        values = " | ".join(f"{value:.2f}" for value in (median(times), min(times), max(times)))
        print(f"| {name} | {values} | {BENCHES[name].limit:g} |")
    if asked.archive:
        keep(taken, asked.archive)
    slow = [name for name, times in taken.items() if min(times) > BENCHES[name].limit]
    print(f"\nanswer: {', '.join(slow) + ' above' if slow else 'all within'} the limit")
    return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main())
