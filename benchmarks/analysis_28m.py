# SPDX-License-Identifier: Apache-2.0
"""How long 28.8 million samples take: 2 hours on 4 CPUs at 1 kHz, every statistic of kadenz/stats.

    python benchmarks/analysis_28m.py                      statistics only
    python benchmarks/analysis_28m.py --report             and `kadenz report` on the same run
    python benchmarks/analysis_28m.py --keep DIR           leave the run folder in DIR

Wake-up latencies in ns: log-normal around 20 us, autocorrelation 0.5 from one cycle to the next, a
second, slower component (load that comes and goes), one cycle in 2,501 struck by a 4 us tick
(a housekeeping timer that is not quite in step), and rare stalls up to 5 ms. Each phase runs in a
process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES = 4
SAMPLES = 7_200_000
PERIOD_NS = 1_000_000
TICK_EVERY = 2_501


def latencies(n: int, seed: int) -> NDArray[np.uint32]:
    """One lane of ns, (n,) u4."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(seed)
    fast = lfilter([np.sqrt(1 - 0.5**2)], [1, -0.5], rng.standard_normal(n))
    knots = rng.standard_normal(n // 5_000 + 2)
    slow = np.interp(np.arange(n), np.arange(knots.size) * 5_000.0, knots)
    values = 20_000.0 * np.exp(0.08 * fast + 0.05 * slow)
    values[seed % TICK_EVERY :: TICK_EVERY] += 18_000.0 + 500.0 * rng.standard_normal(
        values[seed % TICK_EVERY :: TICK_EVERY].size
    )
    stalls = rng.integers(0, n, max(n // 400_000, 1))
    values[stalls] += rng.uniform(1e5, 5e6, stalls.size)
    values[:20] *= 3.0
    return np.asarray(values, dtype=np.float64).astype(np.uint32)


def make_run(parent: Path, n: int) -> Path:
    """The run folder, written by the store as the lab does."""
    from kadenz import __version__
    from kadenz.config import manifest as m
    from kadenz.store import RunWriter

    manifest = m.Manifest(
        schema_version=m.SCHEMA_VERSION,
        kadenz_version=__version__,
        id="made-up-28m",
        created="2026-01-01T00:00:00Z",
        duration_s=n * PERIOD_NS / 1e9,
        partial=False,
        partial_reason="",
        campaign=m.CampaignEntry(name="analysis_28m", file="", sha256="", quick=False),
        target=m.TargetEntry(
            name="posix/linux@host",
            kernel="posix",
            board="linux",
            tier="host",
            instrument="counter",
            arch="x86_64",
            kernel_name="made up by benchmarks/analysis_28m.py",
            kernel_version="",
            capabilities=[],
            settings={},
            cores=LANES,
            tick_hz=1000,
            title="made up by benchmarks/analysis_28m.py",
        ),
        clock=m.ClockEntry(
            clock_class="hosted", name="made up", hz=1_000_000_000, bits=64, unit="ns"
        ),
        build=None,
        host=m.HostEntry(
            os="", kernel="", preempt="", cpu="", cpus=LANES, virtual="made up", facts={}
        ),
        emulator=None,
        conditions={},
        warnings=[
            m.Warning(code="made-up", message="these samples were made up to time the analysis")
        ],
        records=[],
    )
    with RunWriter(parent, manifest) as writer:
        writer.open_record(
            m.RecordEntry(
                id=0,
                bench="cyclic/wakeup-latency",
                params={"period_us": PERIOD_NS // 1000},
                ranks={},
                begins="intended wake-up",
                ends="thread running",
                source="made up",
                status="ok",
                reason="",
                unit="ticks",
                cold=16,
                drains=[],
                lanes=[
                    m.LaneEntry(
                        name=f"cpu{lane}",
                        file="",
                        dtype="<u4",
                        planned=n,
                        taken=n,
                        missed=0,
                        overrun=0,
                    )
                    for lane in range(LANES)
                ],
                proof=m.ProofEntry(checked=n * LANES, failed=0),
            )
        )
        for lane in range(LANES):
            writer.append(0, lane, latencies(n, seed=lane + 1))
        writer.close_record(0)
        return writer.finish()


def analyse(folder: Path) -> None:
    """Every statistic over every lane, timed by function."""
    spent: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        result = function(*args, **options)
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - began
        return result

    began = time.perf_counter()
    from kadenz.stats.autocorrelation import autocorrelation
    from kadenz.stats.box import box
    from kadenz.stats.cold import cold_effect, split, suggest_cold
    from kadenz.stats.compare import compare
    from kadenz.stats.effective import effective_size
    from kadenz.stats.envelope import envelope
    from kadenz.stats.histogram import histogram
    from kadenz.stats.mean_interval import mean_interval
    from kadenz.stats.ordered import order
    from kadenz.stats.percentiles import percentiles
    from kadenz.stats.periodic import find_periodic
    from kadenz.stats.prediction import maximum_bound
    from kadenz.stats.summary import summarize
    from kadenz.store import read_run

    run = read_run(folder)
    record = run.manifest.records[0]
    spent["imports"] = time.perf_counter() - began
    total = 0
    lanes = []
    for lane in record.lanes:
        samples = run.samples(record, lane)
        total += samples.size
        timed("cold", cold_effect, samples, record.cold)
        print(f"{lane.name}: cold suggested {timed('cold', suggest_cold, samples)}", end="; ")
        warm = split(samples, record.cold).warm
        lanes.append(warm)
        ordered = timed("order", order, warm)
        summary = timed("summary", summarize, warm, ordered=ordered)
        timed("box", box, ordered)
        tails = timed("percentiles", percentiles, warm, ordered=ordered)
        bound = timed("maximum", maximum_bound, warm, ordered=ordered)
        timed("autocorrelation", autocorrelation, warm)
        worth = timed("effective size", effective_size, warm)
        mean = timed("mean interval", mean_interval, warm)
        period = timed(
            "periodic", find_periodic, warm, sample_period=PERIOD_NS, tick_period=4_000_000
        )
        timed("histogram", histogram, ordered, cells=200)
        timed("histogram", histogram, ordered, cells=200, spacing="log")
        timed("envelope", envelope, warm, cells=1000)
        print(
            f"n {summary.n:,}, mean {summary.mean:.1f} [{mean.low:.1f}, {mean.high:.1f}] "
            f"(block {mean.block:,}), tau {worth.tau:.0f}, "
            f"p99.99 {tails[-1].value} [{tails[-1].low}, {tails[-1].high}], max {summary.max:.0f} "
            f"(one in {bound.one_in:,}); {period.sentence}"
        )
    verdict = timed("compare", compare, lanes[:2], lanes[2:], statistic=0.99)
    print(f"lanes 0, 1 against 2, 3 at p99: {verdict.verdict}, ratio {verdict.ratio}")
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"  {name:16} {seconds:7.3f} s")
    print(f"statistics of {total:,} samples: {sum(spent.values()):.2f} s")


def measured(command: list[str]) -> None:
    """Run a phase in its own process; print its wall and CPU time and the peak of its memory."""
    began = time.perf_counter()
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    cpu = usage.ru_utime + usage.ru_stime
    peak_mib = usage.ru_maxrss / 1024
    name = " ".join(command[2:4])
    print(f"{seconds:.2f} s ({cpu:.2f} s of CPU), peak {peak_mib:.0f} MiB: {name} …\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES, help="per lane, four lanes")
    parser.add_argument("--report", action="store_true", help="time `kadenz report` as well")
    parser.add_argument("--keep", type=Path, help="leave the run folder here")
    parser.add_argument("--analyse", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.analyse is not None:
        analyse(options.analyse)
        return
    with tempfile.TemporaryDirectory() as temporary:
        parent = options.keep or Path(temporary)
        began = time.perf_counter()
        folder = make_run(parent, options.samples)
        print(f"run made in {time.perf_counter() - began:.1f} s: {folder}\n", flush=True)
        measured([sys.executable, str(Path(__file__)), "--analyse", str(folder)])
        if options.report:
            output = parent / "report"
            program = "from kadenz.cli import main; main()"
            arguments = ["report", str(folder), "--output", str(output)]
            measured([sys.executable, "-c", program, *arguments])


if __name__ == "__main__":
    main()
