# SPDX-License-Identifier: Apache-2.0
"""Cost of measuring: wake-up latency by kadenz and by cyclictest with equal settings.

    .venv/bin/python benchmarks/perturbation.py [--seconds 20] [--rounds 3]

One SCHED_FIFO thread of priority 97 per CPU, every millisecond. The sides run alternately: without
context, cyclictest, cheap context, full context, and back. Then the first two run simultaneously on
the same CPUs, so that other work affects both equally. Needs root (or the right to SCHED_FIFO and
to lock memory) and the package rt-tests.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
from kadenz.wire.kept import keep

TITLE = "Perturbation: cost of measuring wake-ups"
RUNS = ("--seconds 5 --rounds 5 --pairs 6",)

PERIOD_US = 1000
CYCLICTEST = ["cyclictest", "-m", "-S", "-p97", f"-i{PERIOD_US}", "-d0", "-q", "-N", "-h999999"]
CONTEXTS = ("none", "cheap", "full")  # words of the parameter, by level
ATTEMPTS = 3
SIDES = ("context 0", "cyclictest", "context 1", "context 2")
# Exclude the start of a program and its end, when kadenz delivers its samples.
MARGIN_S = 1.0


@dataclass
class Turn:
    """One run of one side."""

    median_us: float
    busy: float  # processor time while measuring, as a share of one CPU
    whole_s: float  # processor time of the process from its start to its end
    reading_s: float = 0.0  # processor time of the lab for its frames
    samples: int = 0
    misses: str = ""


@dataclass
class Side:
    """All runs of a side."""

    turns: list[Turn] = field(default_factory=list)

    def middle(self, what: str) -> float:
        """The median of a figure over the runs."""
        return float(np.median([getattr(turn, what) for turn in self.turns]))

    def each(self, what: str, scale: float = 1.0, digits: int = 2) -> str:
        """The figure of every run, in order."""
        return " ".join(f"{scale * getattr(turn, what):.{digits}f}" for turn in self.turns)


def processor_ns(pid: int) -> int:
    """Processor time of all threads of a process so far (schedstat, first number)."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((task / "schedstat").read_text().split()[0])
    return total


@dataclass
class Job:
    """A program and its standard input."""

    command: Sequence[str]
    plan: str = ""


@dataclass
class Cost:
    """A program's output, its share of a CPU while measuring, and its total processor time."""

    stream: bytes
    busy: float
    whole_s: float


def run(jobs: Sequence[Job], seconds: int) -> list[Cost]:
    """Runs programs simultaneously, each for `seconds`. Retried if a busy machine delays one."""
    for _ in range(ATTEMPTS):
        costs = _once(jobs, seconds)
        if costs:
            return costs
    sys.exit(f"{' '.join(jobs[0].command)} was not running while it should have measured")


def _once(jobs: Sequence[Job], seconds: int) -> list[Cost]:
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in jobs]
        processes = [_start(job, file) for job, file in zip(jobs, files, strict=True)]
        time.sleep(MARGIN_S)
        marks = [[(time.monotonic_ns(), processor_ns(process.pid)) for process in processes]]
        time.sleep(seconds - 2 * MARGIN_S)
        marks.append([(time.monotonic_ns(), processor_ns(process.pid)) for process in processes])
        costs = []
        for number, (process, file) in enumerate(zip(processes, files, strict=True)):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"{' '.join(jobs[number].command)} ended with {process.returncode}")
            (began, before), (ended, after) = marks[0][number], marks[1][number]
            if not 0 < before < after:  # a busy machine: it had not started, or had ended
                return []
            file.seek(0)
            whole_s = usage.ru_utime + usage.ru_stime
            costs.append(Cost(file.read(), (after - before) / (ended - began), whole_s))
        return costs


def _start(job: Job, out: IO[bytes]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        job.command, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(job.plan.encode())
    process.stdin.close()
    return process


def our_job(program: Path, seconds: int, context: int) -> Job:
    """A record of kadenz."""
    samples = seconds * 1_000_000 // PERIOD_US
    word = CONTEXTS[context]
    line = f"cyclic/wakeup-latency id=1 samples={samples} period_us={PERIOD_US} context={word}"
    return Job([str(program)], f"{line}\nend\n")


def our_turn(cost: Cost) -> Turn:
    """Figures of a record; the lab's own reading and checking is timed separately."""
    stream = cost.stream
    before = resource.getrusage(resource.RUSAGE_SELF)
    kept = keep(stream)
    after = resource.getrusage(resource.RUSAGE_SELF)
    try:
        record = kept.only_record()
    except ValueError as error:
        sys.exit(f"cyclic/wakeup-latency: {error}")
    return Turn(
        median_us=float(np.median(record.together())) / 1e3,
        busy=cost.busy,
        whole_s=cost.whole_s,
        reading_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        samples=record.count("taken"),
        misses=f"{record.count('missed')} missed",
    )


def peer_turn(cost: Cost) -> Turn:
    """The median over all threads, from the histogram in nanoseconds."""
    answer = cost.stream.decode()
    rows = np.array(
        [line.split() for line in answer.splitlines() if re.match(r"\d", line)], dtype=np.int64
    )
    counts = rows[:, 1:].sum(axis=1)
    over = re.search(r"Histogram Overflows: ([\d ]+)", answer)
    total = int(counts.sum()) + (sum(map(int, over.group(1).split())) if over else 0)
    median_ns = rows[np.searchsorted(np.cumsum(counts), total / 2), 0]
    return Turn(
        float(median_ns) / 1e3,
        cost.busy,
        cost.whole_s,
        samples=total,
        misses="missed: not reported",
    )


def cost_table(sides: dict[str, Side], cpus: int) -> list[str]:
    """Rows of Markdown."""
    peer, bare = sides["cyclictest"], sides["context 0"]
    rows = [
        "| side | CPU while measuring, % of one | of cyclictest's | µs of CPU per sample | whole "
        "process, s | median, µs | of cyclictest's | the lab's reading, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, side in sides.items():
        busy, median = side.middle("busy"), side.middle("median_us")
        a_sample = busy * PERIOD_US / cpus
        more = f" (+{(busy - bare.middle('busy')) * PERIOD_US / cpus:.2f})"
        rows.append(
            f"| {name} | {100 * busy:.3f} ({side.each('busy', 100)}) "
            f"| {busy / peer.middle('busy'):.3f} "
            f"| {a_sample:.2f}{more if name in ('context 1', 'context 2') else ''} "
            f"| {side.middle('whole_s'):.3f} "
            f"| {median:.2f} ({side.each('median_us')}) "
            f"| {median / peer.middle('median_us'):.3f} "
            f"| {side.middle('reading_s'):.3f} |"
        )
    return rows


def main() -> int:
    """Runs everything and prints the table; returns 1 if a limit of the project is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=20, help="seconds of each run (default 20)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side (default 3)")
    parser.add_argument("--pairs", type=int, default=12, help="simultaneous runs (default 12)")
    arguments = parser.parse_args()
    program = build_image(parse_target("posix/linux@host"), "counter").elf.path
    seconds = arguments.seconds
    peer_job = Job([*CYCLICTEST, f"-D{seconds}"])
    sides = {name: Side() for name in SIDES}
    pair = {name: Side() for name in SIDES[:2]}
    for number in range(arguments.rounds):
        for name in SIDES if number % 2 == 0 else reversed(SIDES):
            theirs = name == SIDES[1]
            job = peer_job if theirs else our_job(program, seconds, int(name.split()[1]))
            (cost,) = run([job], seconds)
            sides[name].turns.append(peer_turn(cost) if theirs else our_turn(cost))
    for number in range(arguments.pairs):
        jobs = [our_job(program, seconds, 0), peer_job]
        first = number % 2  # the first program to start has the earlier phase more often
        costs = run([jobs[first], jobs[1 - first]], seconds)
        pair[SIDES[0]].turns.append(our_turn(costs[first]))
        pair[SIDES[1]].turns.append(peer_turn(costs[1 - first]))
    cpus = len(os.sched_getaffinity(0))
    print(f"{arguments.rounds} turns of {seconds} s each; load {os.getloadavg()[0]:.1f}\n")
    print("Taking turns:\n")
    print("\n".join(cost_table(sides, cpus)))
    print("\nSimultaneously on the same CPUs:\n")
    print("\n".join(cost_table(pair, cpus)) + "\n")
    for name, side in sides.items():
        print(f"{name}: " + ", ".join(f"{t.samples} samples, {t.misses}" for t in side.turns))
    bare, peer = pair[SIDES[0]], pair[SIDES[1]]
    ratios = [o.busy / p.busy for o, p in zip(bare.turns, peer.turns, strict=True)]
    ratio = float(np.median(ratios))
    less = ratio <= 1.0
    by_pair = " ".join(f"{of_pair:.2f}" for of_pair in sorted(ratios))
    print(f"\nCPU of kadenz over cyclictest, by pair: median {ratio:.3f} ({by_pair})")
    near = abs(sides[SIDES[0]].middle("median_us") / sides[SIDES[1]].middle("median_us") - 1) <= 0.1
    print(f"\nanswer: {ratio:.2f} of the CPU time of cyclictest")
    print(f"CPU at most that of cyclictest, simultaneous runs: {'yes' if less else 'NO'}")
    print(f"median within 10 % of cyclictest's, alternating runs: {'yes' if near else 'NO'}")
    return 0 if less and near else 1


if __name__ == "__main__":
    sys.exit(main())
