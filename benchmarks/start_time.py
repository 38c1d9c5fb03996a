# SPDX-License-Identifier: Apache-2.0
"""Start time of `kadenz --help`, compared with that of Python: the limit is 150 ms.

    .venv/bin/python benchmarks/start_time.py [--rounds 20]

Runs are interleaved, so that both see the same machine; prints median and best of all rounds.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

TITLE = "Start"

LIMIT_MS = 150.0


def milliseconds(*command: str) -> float:
    """Wall time of one process."""
    before = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - before) * 1000


def main() -> None:
    """Measure and print; exits with 1 above the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    kadenz = str(Path(sys.executable).parent / "kadenz")
    milliseconds(kadenz, "--help")  # once, to write byte code
    pairs = [
        (milliseconds(sys.executable, "-c", "pass"), milliseconds(kadenz, "--help"))
        for _ in range(rounds)
    ]
    print("| | median | best |\n|---|---|---|")
    for name, times in zip(
        ("python -c pass", "kadenz --help"), zip(*pairs, strict=True), strict=True
    ):
        print(f"| `{name}` | {statistics.median(times):.1f} ms | {min(times):.1f} ms |")
    ours = statistics.median(pair[1] for pair in pairs)
    python = statistics.median(pair[0] for pair in pairs)
    print(f"\nanswer: {ours / python:.1f} times Python's own start; limit {LIMIT_MS:g} ms")
    sys.exit(ours >= LIMIT_MS)


if __name__ == "__main__":
    main()
