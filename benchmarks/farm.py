# SPDX-License-Identifier: Apache-2.0
"""Speed of a campaign on a simulated core over one worker and over several, on this machine.

    .venv/bin/python benchmarks/farm.py [--workers 1 2] [--points 16] [--samples 400] [--rounds 3]

Each worker executes one order at a time. Rounds are interleaved. The time is that of `kadenz run`
from its first record to its last, by the manifest: without building the image.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TITLE = "A campaign over workers"

KADENZ = str(Path(sys.executable).with_name("kadenz"))
TARGET = "freertos/ibex@rtl"


class Farm:
    """A scheduler with `workers` workers, one execution each."""

    def __init__(self, folder: Path, workers: int) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        self.config = folder / f"farm-{workers}.toml"
        self.config.write_text(f'[dask]\nscheduler = "{address}"\n')
        self._all = [self._start("scheduler", "--port", str(port), until="scheduler at")]
        for _ in range(workers):
            self._all.append(self._start("worker", address, "--processors", "1", until="worker at"))

    def close(self) -> None:
        for process in self._all:
            process.send_signal(signal.SIGTERM)
        for process in self._all:
            process.wait()

    def _start(self, *arguments: str, until: str) -> subprocess.Popen[str]:
        process = subprocess.Popen([KADENZ, "farm", *arguments], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        for line in process.stderr:
            if until in line:
                return process
        raise SystemExit(f"kadenz farm {' '.join(arguments)} ended")


def seconds(farm: Farm, output: Path, points: int, samples: int) -> float:
    """The length of the measurement in `run.json`."""
    sizes = ",".join(str(8 * (1 + number)) for number in range(points))
    call = ["run", "itc/queue", "--fresh", "--target", TARGET, "--farm", str(farm.config)]
    call += ["--set", f"size_bytes={sizes}", "--set", f"samples={samples}", "--output", str(output)]
    subprocess.run([KADENZ, *call], check=True, capture_output=True)
    newest = max(output.glob("*/run.json"), key=lambda file: file.stat().st_mtime)
    return float(json.loads(newest.read_text())["duration_s"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--points", type=int, default=16)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        farms = {count: Farm(folder, count) for count in asked.workers}
        try:
            times: dict[int, list[float]] = {count: [] for count in farms}
            for _ in range(asked.rounds):
                for count, farm in farms.items():
                    taken = seconds(farm, folder / "runs", asked.points, asked.samples)
                    times[count].append(taken)
                    time.sleep(0.1)  # a run's name is its second
        finally:
            for farm in farms.values():
                farm.close()
    first = statistics.median(times[asked.workers[0]])
    print(f"{asked.points} points of {asked.samples} samples, load before {load:.1f}\n")
    print("| workers | median | best | speed |\n|---|---|---|---|")
    for count, durations in times.items():
        middle = statistics.median(durations)
        print(f"| {count} | {middle:.1f} s | {min(durations):.1f} s | {first / middle:.2f} |")
    print(f"\nanswer: {count} workers: {first / middle:.2f} times the speed of one")


if __name__ == "__main__":
    main()
