# SPDX-License-Identifier: Apache-2.0
"""The cost of `kadenz profile` against the same run without a profile.

    python benchmarks/profile_cost.py

Processor time of the command and of QEMU, which other programs on the machine change little. The
images are built before; each command runs in turn, and its best time counts.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile

POINTS = (("itc/queue", 1000, 0), ("itc/queue", 10000, 0), ("micro/task-switch", 10, 5000))
TARGETS = ("freertos/hifive1-revb@emulated", "freertos/stm32f4@emulated")


def seconds(command: str, words: list[str]) -> float:
    """Processor time of one call and its children."""
    program = [sys.executable, "-c", "from kadenz.cli import main; main()", command, *words]
    with tempfile.TemporaryDirectory() as folder:
        begin = _children()
        subprocess.run([*program, "--output", folder], check=True, capture_output=True)
        return _children() - begin


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Prints the table of docs/performance.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=10_000, help="samples or iterations, at most")
    options = parser.parse_args()
    print("| benchmark | target | samples | run | profile | ratio |\n|---|---|---|---|---|---|")
    for target in TARGETS:
        for bench, wanted, in_a_sample in POINTS:
            samples, iterations = min(wanted, options.most), min(in_a_sample, options.most)
            words = [bench, "--target", target, "--set", f"samples={samples}"]
            words += ["--set", f"iterations={iterations}"] if iterations else []
            best = {"run": 1e9, "profile": 1e9}
            for _ in range(options.rounds):
                for command, known in best.items():
                    best[command] = min(known, seconds(command, words))
            plain, profile = best["run"], best["profile"]
            name = f"`{bench}`" + (f", {iterations} iterations" if iterations else "")
            print(
                f"| {name} | {target} | {samples:,} | {plain:.1f} s | {profile:.1f} s "
                f"| {profile / plain:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
