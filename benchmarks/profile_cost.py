# SPDX-License-Identifier: Apache-2.0
"""The cost of `kadenz profile` against the same run without a profile.

    python benchmarks/profile_cost.py

Processor time of the command and of its emulator or simulator, which other programs on the machine
change little. The images are built before; each command runs in turn, and its best time counts.
Exit code 1 if a profile takes more than LIMIT times the plain run.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile

TITLE = "Profiles"

LIMIT = 3.0
# Benchmark, samples, iterations in one (0: it has none).
POINTS = (
    ("itc/queue", 1000, 0),
    ("itc/queue", 10000, 0),
    ("irq/to-task", 1000, 0),
    ("thread-metric/cooperative-sampled", 1000, 0),
    ("micro/task-switch", 10, 5000),
)
# A simulated core takes seconds for a hundred samples.
MOST_SIMULATED = 100
TARGETS = ("freertos/hifive1-revb@emulated", "freertos/stm32f4@emulated", "freertos/ibex@rtl")


def seconds(command: str, arguments: list[str]) -> float:
    """Processor time of one call and its children."""
    program = [
        sys.executable,
        "-c",
        "from kadenz.cli import main; main()",
        command,
        "--fresh",
        *arguments,
    ]
    with tempfile.TemporaryDirectory() as folder:
        begin = _children()
        subprocess.run([*program, "--output", folder], check=True, capture_output=True)
        return _children() - begin


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def points(target: str, most: int) -> list[tuple[str, int, int]]:
    """The points of a target; `most`: samples and iterations of one, at most."""
    simulated = target.endswith("@rtl")
    samples = min(most, MOST_SIMULATED) if simulated else most
    reduced = [
        (bench, min(count, samples), min(iterations, samples))
        for bench, count, iterations in POINTS
    ]
    return list(dict.fromkeys(reduced))


def measured(target: str, point: tuple[str, int, int], rounds: int) -> float:
    """Prints the row of a point; the ratio."""
    bench, samples, iterations = point
    arguments = [bench, "--target", target, "--set", f"samples={samples}"]
    arguments += ["--set", f"iterations={iterations}"] if iterations else []
    best = {"run": 1e9, "profile": 1e9}
    for _ in range(rounds):
        for command, known in best.items():
            best[command] = min(known, seconds(command, arguments))
    plain, profile = best["run"], best["profile"]
    name = f"`{bench}`" + (f", {iterations} iterations" if iterations else "")
    print(
        f"| {name} | {target} | {samples:,} | {plain:.1f} s | {profile:.1f} s "
        f"| {profile / plain:.1f} |",
        flush=True,
    )
    return profile / plain


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=10_000, help="samples or iterations, at most")
    parser.add_argument("--target", action="append", help=f"default: {', '.join(TARGETS)}")
    names = sorted({bench for bench, _, _ in POINTS})
    parser.add_argument("--benchmark", choices=names, action="append", help="default: all")
    options = parser.parse_args()
    print("| benchmark | target | samples | run | profile | ratio |\n|---|---|---|---|---|---|")
    ratios = []
    for target in options.target or TARGETS:
        for command in ("run", "profile"):  # builds the image
            seconds(command, ["itc/queue", "--target", target, "--set", "samples=1"])
        ratios += [
            measured(target, point, options.rounds)
            for point in points(target, options.most)
            if point[0] in (options.benchmark or names)
        ]
    print(f"\nanswer: at most {max(ratios):.1f} times the plain run; limit {LIMIT:.0f}")
    return int(max(ratios) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
