# SPDX-License-Identifier: Apache-2.0
"""A billion samples in an archive: percentiles by system and month, time and memory.

    python benchmarks/archive.py --runs 1000 --samples 1000000 --folder /var/tmp/archive

Each run is made up (a skewed latency in ns, with a tail) and goes through `kadenz archive add`. The
query runs in a process of its own, whose largest memory is printed. The folder is kept, so that a
second call only queries.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kadenz.archive.adding import add
from kadenz.archive.place import open_archive
from kadenz.store import read_run
from tests.synthetic import LINUX, STM32F4, Point, manifest, nanoseconds, write_run

TITLE = "Archive of a billion samples"
RUNS = ("--runs 1000 --samples 1000000",)

SQL = 'SELECT target, bench, lane, month, n, median, p99, "p99.9", max, unit FROM percentiles'


def fill(folder: Path, runs: int, samples: int) -> None:
    place = open_archive(str(folder), create=True)
    rng = np.random.default_rng(1)
    started = time.monotonic()
    for number in range(runs):
        target = (LINUX, STM32F4)[number % 2]
        document = manifest(target, id=f"run-{number:05d}")
        document.created = (
            f"{2024 + number % 24 // 12}-{number % 12 + 1:02d}-01T00:00:{number % 60:02d}Z"
        )
        lanes = {f"core{lane}": nanoseconds(21_000, samples // 4, rng) for lane in range(4)}
        with tempfile.TemporaryDirectory() as scratch:
            run = write_run(Path(scratch), document, [Point("cyclic/wakeup-latency", lanes)])
            add(place, read_run(run), label="main")
        if number % 50 == 49:
            print(f"{number + 1} runs added, {time.monotonic() - started:.0f} s", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch) / "archive"
        if not (folder / "archive.json").exists():
            fill(folder, options.runs, options.samples)
        size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
        took = []
        for sql in (SQL, "SELECT count(*) AS runs, sum(samples) AS samples FROM runs"):
            started = time.monotonic()
            program = str(Path(sys.executable).with_name("kadenz"))
            command = [program, "archive", "query", sql, "--archive", str(folder)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            took.append(time.monotonic() - started)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print("| | |\n|---|---|")
        print(f"| exact percentiles by system, lane and month | {took[0]:.2f} s |")
        print(f"| number of runs and samples | {took[1]:.2f} s |")
        print(f"| largest memory of a query | {memory:.2f} GB |\n| archive | {size / 1e9:.2f} GB |")
        print(f"\nanswer: percentiles by system and month in {took[0]:.1f} s")


if __name__ == "__main__":
    main()
