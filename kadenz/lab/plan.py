# SPDX-License-Identifier: Apache-2.0
"""From a campaign to the points of one target, and to the text that the target reads."""

from __future__ import annotations

import fnmatch
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from kadenz.config import inventory
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.manifest import ClockClass, DeadlineEntry
from kadenz.config.params import IN_TICKS, PERIOD, Value, number, period_us
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean, nearest
from kadenz.errors import ConfigError, UsageError
from kadenz.wire.messages import Bench

# Records 0 to 9 are the clock's (rule 4), so that a campaign's points have the same numbers, and
# their files the same names, on every target.
FIRST_POINT = 10
CLOCK_SAMPLES = 1000
CLOCK_SAMPLES_QUICK = 200
# A simulated core: its counter is the simulator's, and reading it takes most of a short run.
CLOCK_SAMPLES_SIMULATED = 100
_READS, _READS_SIMULATED = "reads", 100
# Measured in an execution of its own (lab/counter.py): the records of a run keep their moments.
COUNTER_BENCH = "clock/instructions"
RATE_BENCH = "clock/rate"  # of a board alone (lab/rate.py)
LATENESS = "control/lateness"  # of a program that is given
SAMPLES_KEY = "samples"
SECONDS_KEY = "seconds"  # as many samples as periods fit, where a benchmark has a period
COLD_KEY = "cold"  # first samples to exclude


@dataclass(frozen=True)
class Point:
    """One line of a plan."""

    id: int
    bench: str
    samples: int
    cold: int = 0
    params: Mapping[str, Value] = field(default_factory=dict)
    deadline: DeadlineEntry | None = None  # None: its period, if it has one
    arrivals: tuple[str, ...] = ()  # keys: an interrupt may arrive at any moment of its samples
    further: int = 0  # samples behind these, with an arrival each

    @property
    def title(self) -> str:
        """For a person: `itc/queue size_bytes=60`."""
        return " ".join([self.bench, *(f"{name}={value}" for name, value in self.params.items())])

    def line(self) -> str:
        """A point as the target reads it, one line of docs/reference/plan.md."""
        fields = [self.bench, f"id={self.id}", f"samples={self.samples + self.further}"]
        fields += [*self.arrivals, *(f"{name}={value}" for name, value in self.params.items())]
        return " ".join(fields)


def concerns(benchmark: Benchmark, target: TargetName) -> bool:
    """Whether a campaign's benchmark is meant for this target."""
    return not benchmark.targets or matches(target, benchmark.targets)


def matches(target: TargetName, globs: Sequence[str]) -> bool:
    """Whether one of `globs` matches the target's name, or the name that every lab understands."""
    return any(
        fnmatch.fnmatchcase(name, glob) for glob in globs for name in (str(target), target.parts)
    )


def campaign_points(
    campaign: Campaign,
    target: TargetName,
    catalog: Sequence[Bench],
    *,
    quick: bool,
    overrides: Mapping[str, Sequence[Value]],
    tick_hz: int = 0,
) -> list[Point]:
    """The points of `campaign` on `target`, numbered the same on every target.

    `overrides` replace a parameter's values (or `samples`, `seconds`, `cold`) wherever a benchmark
    declares it. A benchmark whose mechanism the kernel lacks is one point, with the initial
    parameters: its record has the reason. Raises ConfigError for a benchmark or a parameter that
    the image does not know, a value outside its range, or a time (`IN_TICKS`) below a tick of the
    kernel, which has `tick_hz` a second.
    """
    known = {bench.name: bench for bench in catalog}
    kernel = inventory.kernels().get(target.kernel)  # an image may bring an unknown one
    sentences = set(kernel.lacks.values() if kernel is not None else ())
    enough = _enough(target)
    points = []
    next_id = FIRST_POINT
    for index, benchmark in enumerate(campaign.benchmark):
        where = f"campaign {campaign.name}: `benchmark[{index}]` {benchmark.name}"
        bench = known.get(benchmark.name)
        declared = [p.name for p in bench.params] if bench else list(benchmark.params)
        changed = {k: list(v) for k, v in overrides.items() if k in declared}
        swept = msgspec.structs.replace(benchmark, params={**benchmark.params, **changed})
        lacking = bench is not None and bench.reason in sentences
        for place, point in enumerate(swept.points()):
            params = {} if lacking else point
            if concerns(benchmark, target) and not (lacking and place):
                if bench is None:
                    raise ConfigError(
                        f"{where}: {target} has no such benchmark",
                        remedy=did_you_mean(benchmark.name, list(known)),
                    )
                check_params(bench, params, where)
                _check_times({**bench.defaults, **params}, params, tick_hz, where)
                asked = _seconds(bench, params, overrides, tick_hz)
                planned = min(benchmark.count(quick), enough.get(benchmark.name, sys.maxsize))
                count = asked or _first(overrides, SAMPLES_KEY, planned)
                cold = _first(overrides, COLD_KEY, benchmark.cold)
                deadline = _deadline(benchmark)
                points.append(Point(next_id, benchmark.name, count, cold, params, deadline))
            next_id += 1
    return points


def clock_points(catalog: Iterable[Bench], kind: ClockClass, *, quick: bool) -> list[Point]:
    """Points that measure the clock, of class `kind`, before anything else (rule 4)."""
    simulated = kind == "cycle-exact"
    count = CLOCK_SAMPLES_QUICK if quick else CLOCK_SAMPLES
    if simulated:
        count = CLOCK_SAMPLES_SIMULATED
    benches = sorted(
        (
            bench
            for bench in catalog
            if bench.name.startswith("clock/") and bench.name not in (COUNTER_BENCH, RATE_BENCH)
        ),
        key=lambda bench: bench.name,
    )
    fewer: dict[str, Value] = {_READS: _READS_SIMULATED}
    return [
        Point(
            place,
            bench.name,
            count,
            params=fewer
            if simulated and any(param.name == _READS for param in bench.params)
            else {},
        )
        for place, bench in enumerate(benches[:FIRST_POINT])
    ]


def check_overrides(
    overrides: Collection[str], campaign: Campaign, catalogs: Iterable[Sequence[Bench]]
) -> None:
    """UsageError for a `--set` that would change nothing in the benchmarks of `campaign`.

    `catalogs` are those of its targets.
    """
    running = {benchmark.name for benchmark in campaign.benchmark}
    benches = [bench for catalog in catalogs for bench in catalog if bench.name in running]
    known = {param.name for bench in benches for param in bench.params}
    if SECONDS_KEY in overrides and PERIOD not in known:
        raise UsageError(
            "--set seconds: no benchmark of this run has a period", remedy="Set samples instead"
        )
    known |= {SAMPLES_KEY, SECONDS_KEY, COLD_KEY}
    for name in overrides:
        if name not in known:
            raise no_parameter(name, known)


def no_benchmark(name: str, known: Iterable[str]) -> UsageError:
    """The error for a benchmark that does not exist."""
    return UsageError(f"no benchmark `{name}`", remedy=_near(name, known))


def no_parameter(name: str, known: Iterable[str]) -> UsageError:
    """The error for a `--set` that no benchmark takes."""
    return UsageError(f"--set {name}: no benchmark has such a parameter", remedy=_near(name, known))


def _near(name: str, known: Iterable[str]) -> str:
    near = nearest(name, sorted(known))
    return f"Did you mean `{near}`?" if near else "See `kadenz list`, or `kadenz list BENCHMARK`"


def batches(points: Sequence[Point], room_bytes: int | None) -> Iterator[list[Point]]:
    """Splits points so that each plan fits in a plan page; `room_bytes` includes the final zero."""
    batch: list[Point] = []
    for point in points:
        if batch and room_bytes and len(plan_text([*batch, point]).encode()) >= room_bytes:
            yield batch
            batch = []
        batch.append(point)
    if batch:
        yield batch


def plan_text(points: Iterable[Point]) -> str:
    """The plan as a target reads it."""
    return "".join(f"{line}\n" for line in [*(p.line() for p in points), "end"])


def _enough(target: TargetName) -> Mapping[str, int]:
    """How many samples of a benchmark show all that an emulated board can show."""
    emulated = inventory.board(target.board).tier.emulated
    if target.tier != "emulated" or emulated is None:
        return {}
    return emulated.benchmark_samples


def _deadline(benchmark: Benchmark) -> DeadlineEntry | None:
    if not benchmark.deadline:
        return None
    return DeadlineEntry(quantity=benchmark.deadline, origin="campaign")


def _first(overrides: Mapping[str, Sequence[Value]], key: str, otherwise: int) -> int:
    """A length that `--set` gives, which is one number."""
    return next((value for value in overrides.get(key, ()) if isinstance(value, int)), otherwise)


def _seconds(
    bench: Bench,
    params: Mapping[str, Value],
    overrides: Mapping[str, Sequence[Value]],
    tick_hz: int,
) -> int:
    """Samples that take `seconds` at the period that the kernel gives; 0 if there is no period."""
    wanted = _first(overrides, SECONDS_KEY, 0)
    had_us = period_us({**bench.defaults, **params}, tick_hz)
    return math.ceil(wanted * 1_000_000 / had_us) if wanted and had_us else 0


def _check_times(
    values: Mapping[str, Value], asked_for: Iterable[str], tick_hz: int, where: str
) -> None:
    """ConfigError for a time that the kernel cannot give, which would be a tick."""
    for name in set(IN_TICKS).intersection(asked_for):
        asked = number(values, name)
        if 0 < asked * tick_hz < 1_000_000 and IN_TICKS[name].items() <= values.items():
            tick_us = 1_000_000 / tick_hz
            raise ConfigError(
                f"{where}: {name} = {asked} is less than a tick of this kernel, {tick_us:g} µs",
                remedy=f"It gives whole ticks: --set {name}={math.ceil(tick_us)}, or more",
            )


def check_params(bench: Bench, params: Mapping[str, Value], where: str) -> None:
    """ConfigError for a parameter that the benchmark lacks, or a value that it does not take."""
    declared = {p.name: p for p in bench.params}
    for name, value in params.items():
        param = declared.get(name)
        if param is None:
            raise ConfigError(
                f"{where}: unknown parameter `{name}`", remedy=did_you_mean(name, list(declared))
            )
        if param.choices:
            if value not in param.choices:
                raise ConfigError(
                    f"{where}: {name} = {value} is not one of its values",
                    remedy=f"This target takes {', '.join(param.choices)}",
                )
        elif isinstance(value, str):
            raise ConfigError(
                f"{where}: {name} = {value} is not a number",
                remedy=f"This target takes {param.low} to {param.high}",
            )
        elif not param.low <= value <= param.high:
            raise ConfigError(
                f"{where}: {name} = {value} is out of range",
                remedy=f"This target takes {param.low} to {param.high}",
            )
