# SPDX-License-Identifier: Apache-2.0
"""Figures of kadenz on Linux next to those of cyclictest, pmqtest, ptsematest and svsematest, whose
timed regions [the Linux target](kernels/linux.md) describes.

    .venv/bin/python benchmarks/linux_vs_rt_tests.py [--seconds 20] [--rounds 3] [--cpu 0]

Needs root (or the right to SCHED_FIFO and to lock memory) and the package rt-tests. Runs are
interleaved. The peers sleep for 1 ms between exchanges and ours do not, so that the peers' caches
are colder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
from kadenz.wire.kept import KeptRecord, keep

TITLE = "Linux and rt-tests"
RUNS = ("--seconds 8 --rounds 3",)

PERIOD_US = 1000
HISTOGRAM_NS = 1_000_000  # cyclictest's maximum number of buckets
# Figures beyond these are implausible: no system call returns in 0.2 us, and no median or mean here
# is as long as ten periods.
SENSE_US = (0.2, 10.0 * PERIOD_US)


@dataclass
class Pair:
    """A benchmark of kadenz and its peer; both return a figure in microseconds and a remark."""

    title: str
    statistic: str
    tolerance: float
    ours: Callable[[], tuple[float, str]]
    peer: Callable[[], tuple[float, str]]


def measure(program: Path, line: str) -> KeptRecord:
    """Runs one plan line in a new process. Exits with the error, if any."""
    answer = subprocess.run(
        [program], input=f"{line}\nend\n".encode(), capture_output=True, check=False
    )
    try:
        return keep(answer.stdout).only_record()
    except ValueError as error:
        sys.exit(f"{line}: {error}: {answer.stderr.decode()}")


def ours(program: Path, line: str, statistic: str) -> tuple[float, str]:
    """The median or the mean of a record in us, and its accounting."""
    record = measure(program, line)
    values = record.together()
    value = np.median(values) if statistic == "median" else values.mean()
    counts = ", ".join(f"{record.count(what)} {what}" for what in ("taken", "missed", "overrun"))
    return float(value) / 1e3, counts


def cyclictest(seconds: int) -> tuple[float, str]:
    """The median over all threads, from the histogram in nanoseconds."""
    command = ["cyclictest", "-m", "-S", "-p97", f"-i{PERIOD_US}", "-d0", "-q", "-N"]
    answer = _run([*command, f"-D{seconds}", f"-h{HISTOGRAM_NS - 1}"])
    rows = np.array(
        [line.split() for line in answer.splitlines() if re.match(r"\d", line)], dtype=np.int64
    )
    counts = rows[:, 1:].sum(axis=1)
    over = re.search(r"Histogram Overflows: ([\d ]+)", answer)
    beyond = sum(map(int, over.group(1).split())) if over else 0
    total = counts.sum() + beyond
    median_ns = rows[np.searchsorted(np.cumsum(counts), total / 2), 0]
    return float(median_ns) / 1e3, f"{total} taken; it does not report skipped cycles"


def receiver_mean(command: list[str]) -> tuple[float, str]:
    """pmqtest, ptsematest and svsematest: `avg` of the only receiver, from their JSON."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        _run([*command, f"--json={file.name}"])
        thread = json.loads(Path(file.name).read_text())["thread"]["0"]
    return float(thread["receiver"]["avg"]), f"{thread['sender']['samples']} taken"


def _run(command: list[str]) -> str:
    program = shutil.which(command[0])
    if program is None:
        sys.exit(f"{command[0]} is not installed: apt-get install rt-tests")
    # svsematest derives its semaphores from the file named by the shell's variable `_`. If that
    # does not exist, it ends with exit code 0 and an empty file.
    answer = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "_": program}
    )
    if answer.returncode != 0:
        sys.exit(f"{' '.join(command)}: {answer.stderr or answer.stdout}")
    return answer.stdout


def pairs(program: Path, seconds: int, cpu: int) -> list[Pair]:
    """The compared pairs: both sides do the same work.

    In pmqtest, ptsematest and svsematest the receiver sleeps and then acknowledges. Their timed
    region starts right after that acknowledgement, a hand-over of the same kind in the opposite
    direction. Therefore their peer is a back-to-back hand-over of kadenz.
    """
    count = seconds * 1_000_000 // PERIOD_US
    equals = f"rank_a=8 rank_b=8 core_a={cpu} core_b={cpu}"
    peer_options = ["-p95", f"-a{cpu}", f"-i{PERIOD_US}", f"-D{seconds}", "-q"]

    # At most 0.2 s: a SCHED_FIFO thread that never sleeps is throttled after 0.95 s.
    back_to_back = f"id=1 samples=50000 period_us=0 {equals}"

    def against(name: str, params: str, *peer: str) -> Pair:
        return Pair(
            f"{name}, back to back : {' '.join(peer)}",
            "mean",
            0.15,
            lambda: ours(program, f"{name} {back_to_back} {params}", "mean"),
            lambda: receiver_mean([*peer, *peer_options]),
        )

    return [
        Pair(
            "cyclic/wakeup-latency : cyclictest",
            "median",
            0.10,
            lambda: ours(
                program,
                f"cyclic/wakeup-latency id=1 samples={count} period_us={PERIOD_US}",
                "median",
            ),
            lambda: cyclictest(seconds),
        ),
        against("itc/message-queue-one-way", "size_bytes=8", "pmqtest"),
        against("itc/semaphore-sysv-one-way", "", "svsematest"),
        against("itc/semaphore-sysv-one-way", "processes=1", "svsematest", "--fork"),
    ]


def without_a_peer(program: Path, seconds: int, cpu: int) -> list[tuple[str, float]]:
    """Figures without a peer: title and mean in us.

    Those of kadenz start right after a sleep. A waiter has to queue for a mutex, so it is never
    back to back; the timed region of ptsematest starts after an exchange.
    """
    count = seconds * 1_000_000 // PERIOD_US
    equals = f"rank_a=8 rank_b=8 core_a={cpu} core_b={cpu}"
    lines = (
        ("itc/message-queue-one-way", PERIOD_US, f"size_bytes=8 {equals}"),
        ("itc/mutex-plain-one-way", PERIOD_US, equals),
        ("itc/semaphore-counting-to-higher", PERIOD_US, f"core_a={cpu} core_b={cpu}"),
        ("itc/semaphore-counting-to-higher", 50, f"core_a={cpu} core_b={cpu}"),
    )
    medians = [
        (
            f"{name}, every {period} us, after the sleep",
            ours(program, f"{name} id=1 samples={count} period_us={period} {params}", "mean")[0],
        )
        for name, period, params in lines
    ]
    peer = ["ptsematest", "-p95", f"-a{cpu}", f"-i{PERIOD_US}", f"-D{seconds}", "-q"]
    return [*medians, ("ptsematest, every 1000 us, after an exchange", receiver_mean(peer)[0])]


def main() -> int:
    """Runs all pairs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=20, help="length of each run (default 20)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, A B A B … (default 3)")
    parser.add_argument("--cpu", type=int, default=0, help="CPU of the thread pairs (default 0)")
    arguments = parser.parse_args()
    program = build_image(parse_target("posix/linux@host"), "counter").elf.path

    print(f"{arguments.rounds} rounds of {arguments.seconds} s each, interleaved; microseconds\n")
    print("| ours : peer | statistic | ours | peer | ratio | limit | |")
    print("|---|---|---|---|---|---|---|")
    notes, answers = [], []
    for pair in pairs(program, arguments.seconds, arguments.cpu):
        figures: tuple[list[float], list[float]] = ([], [])
        for turn in range(arguments.rounds):
            for side, run in enumerate((pair.ours, pair.peer)):
                value, counts = run()
                if not SENSE_US[0] < value < SENSE_US[1]:
                    sys.exit(f"{pair.title}: {value:.2f} us is implausible")
                figures[side].append(value)
                notes.append(f"{pair.title}, round {turn + 1}, {('ours', 'peer')[side]}: {counts}")
        mine, theirs = (np.median(side) for side in figures)
        each = [" ".join(f"{value:.2f}" for value in side) for side in figures]
        sides = f"{mine:.2f} ({each[0]}) | {theirs:.2f} ({each[1]})"
        ratio = mine / theirs
        answers.append(f"{pair.title}: {ratio:.2f}")
        verdict = "within" if abs(ratio - 1) <= pair.tolerance else "outside: see the page"
        print(
            f"| {pair.title} | {pair.statistic} | {sides} "
            f"| {ratio:.3f} | ±{pair.tolerance:.0%} | {verdict} |",
            flush=True,
        )
    print("\n| without a peer | statistic | us |")
    print("|---|---|---|")
    for title, mean_us in without_a_peer(program, arguments.seconds, arguments.cpu):
        print(f"| {title} | mean | {mean_us:.2f} |", flush=True)
    print("\n" + "\n".join(f"- {note}" for note in notes))
    print(f"\nanswer: {', '.join(answers)} of the peer's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
