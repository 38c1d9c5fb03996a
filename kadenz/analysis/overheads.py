# SPDX-License-Identifier: Apache-2.0
"""Overheads of a kernel, for response-time analysis: from the records of `interference/*`.

Each figure is the difference of a maximum and a minimum, so that it errs on the safe side. The
terms are those of `stats.response_time.Kernel`; docs/explanation/schedulability.md derives them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis.runs import refusal
from kadenz.config.manifest import RecordEntry
from kadenz.config.params import number
from kadenz.errors import UsageError
from kadenz.stats.exact import Time
from kadenz.store import Run

FAMILY = "interference/"
CRITICAL = "critical/"
WAKE = "cyclic/wakeup-latency"
Ticks = NDArray[np.int64]


@dataclass(frozen=True)
class Overhead:
    """One term in ticks of the run's clock, and where it comes from."""

    ticks: Time
    source: str  # "interference/job tasks=6", "by hand"
    too_small: str = ""  # why it may be too small for a bound
    basis: str = ""  # of blocking: "sleep", "section", "tried", "bound" or "by hand"
    premises: tuple[str, ...] = ()  # what has to hold


@dataclass(frozen=True)
class _Samples:
    """The samples of one record, by lane and companion."""

    name: str
    values: Mapping[str, Ticks]

    def least(self, lane: str) -> int:
        return int(self.values[lane].min())

    def most(self, lane: str) -> int:
        return int(self.values[lane].max())

    @property
    def samples(self) -> Ticks:
        """Of its only lane."""
        return next(iter(self.values.values()))


class Measurements:
    """The records of `runs` of one target. UsageError names the command for one that is missing."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs

    @property
    def target(self) -> str:
        """Name of the target of the first run; the others have the same."""
        return self.runs[0].manifest.target.name

    def record(self, bench: str, tasks: int = 0) -> _Samples:
        """A record of `bench`; of several, that with the fewest tasks, but at least `tasks`."""
        return self.all(bench, tasks)[0]

    def all(self, bench: str, tasks: int = 0) -> list[_Samples]:
        """All records of `bench` with at least `tasks` tasks, the fewest first."""
        entries = [
            (run, entry)
            for run in self.runs
            for entry in run.manifest.records
            if entry.bench == bench
        ]
        usable = [
            (number(entry.params, "tasks"), place, run, entry)
            for place, (run, entry) in enumerate(entries)
            if not refusal(entry) and number(entry.params, "tasks") >= tasks
        ]
        if not usable:
            raise self._missing(bench, tasks, [refusal(entry) for _, entry in entries])
        return [
            _samples_of(run, entry) for _, _, run, entry in sorted(usable, key=lambda row: row[:2])
        ]

    def _missing(self, bench: str, tasks: int, reasons: Sequence[str]) -> UsageError:
        where = ", ".join(str(run.path) for run in self.runs)
        why = next((reason for reason in reasons if reason), "")
        what = f"no record of {bench}" + (f" with tasks={tasks} or more" if tasks else "")
        command = f"kadenz run interference --target {self.target}"
        return UsageError(
            f"{where}: {what}" + (f" that can be used: {why}" if why else ""),
            remedy=command + (f" --set tasks={tasks}" if tasks and not why else ""),
        )


def _samples_of(run: Run, entry: RecordEntry) -> _Samples:
    params = [f"tasks={entry.params['tasks']}"] if "tasks" in entry.params else []
    values = {
        lane.name.rpartition(":")[2]: np.asarray(run.samples(entry, lane), dtype=np.int64)
        for lane in entry.lanes
    }
    return _Samples(" ".join([entry.bench, *params]), values)


def tick_period(measured: Measurements) -> Fraction:
    """Mean time from tick to tick, in ticks of the clock."""
    periods = measured.record(FAMILY + "tick").values["period"]
    return Fraction(int(periods.sum()), len(periods))


def overheads_of(
    measured: Measurements,
    tasks: int,
    by_hand: Mapping[str, Fraction],
    blocking: Callable[[], Overhead],
    *,
    services: bool,
) -> dict[str, Overhead]:
    """Every term but the tick's period, by its name in `Kernel`; `by_hand` overrides.

    `tasks` is the size of the set: what depends on the number of sleeping threads comes from a
    record with at least as many. `services`: tasks call services other than their sleep.
    """
    make: dict[str, Callable[[], Overhead]] = {
        "tick": lambda: _tick_in_service(measured, tasks) if services else _tick(measured),
        "release": lambda: _release(measured),
        "start": lambda: _start(measured),
        "job": lambda: _job(measured, tasks),
        "blocking": blocking,
        "jitter": lambda: _jitter(measured),
    }
    return {
        name: Overhead(by_hand[name], "by hand", basis="by hand") if name in by_hand else measure()
        for name, measure in make.items()
    }


def _tick(measured: Measurements) -> Overhead:
    tick = measured.record(FAMILY + "tick")
    return Overhead(tick.most("tick") - tick.least("loop"), tick.name)


def _tick_in_service(measured: Measurements, tasks: int) -> Overhead:
    """Any tick may come while some task's service holds the lock, and then takes longer."""
    tick, late = _tick(measured), _late_tick(measured, tasks)
    return Overhead(tick.ticks + late.ticks, f"{tick.source}, {late.source}")


def _least_tick(measured: Measurements) -> int:
    """A tick never takes less than this: what may be subtracted from a longer span."""
    tick = measured.record(FAMILY + "tick")
    return max(0, tick.least("tick") - tick.most("loop"))


def _release(measured: Measurements) -> Overhead:
    """The first release of a tick may cost more than later ones: the maximum counts."""
    least = _least_tick(measured)
    shares = []
    for release in measured.all(FAMILY + "release"):
        tasks = int(release.name.rpartition("=")[2])
        cost = release.most("release") - release.least("loop") - least
        shares.append((Fraction(cost, tasks), release.name))
    return Overhead(*max(shares))


def _start(measured: Measurements) -> Overhead:
    """The part of an undelayed wake-up that follows the tick's own work."""
    wake = measured.record(WAKE)
    least = int(wake.samples.min())
    return Overhead(max(0.0, least - _tick(measured).ticks), wake.name)


def _job(measured: Measurements, tasks: int) -> Overhead:
    """A job without work, plus the extra cost of its sleep if a tick occurs during the call."""
    job = measured.record(FAMILY + "job", tasks)
    alone = job.most("job") - job.least("loop") - _least_tick(measured)
    late = _late_tick(measured, tasks)
    return Overhead(alone + late.ticks, f"{job.name}, {late.source}")


def _late_tick(measured: Measurements, tasks: int) -> Overhead:
    """Extra cost of a tick during a section that nothing preempts."""
    sleep = measured.record(FAMILY + "sleep", tasks)
    hit = sleep.values["ticks"] > 0
    if not hit.any() or hit.all():
        raise UsageError(
            f"{sleep.name}: its calls {'all met' if hit.any() else 'never met'} a tick, so the "
            "sweep did not cross it",
            remedy=f"Sweep further: kadenz run interference --target {measured.target} "
            "--set step_turns=12; then name its run: kadenz budget FILE RUN",
        )
    more = int(sleep.samples[hit].max()) - int(sleep.samples[~hit].min())
    return Overhead(max(0, more - _least_tick(measured) + step_of(sleep)), sleep.name)


def step_of(swept: _Samples) -> int:
    """The longest may lie between two calls of a sweep, and be longer by their distance."""
    if "phase" not in swept.values:
        raise UsageError(
            f"{swept.name}: the sweep has no `phase`: an older kadenz measured it",
            remedy="Measure the campaign `interference` again",
        )
    return int(np.diff(swept.values["phase"]).max(initial=0))


def _jitter(measured: Measurements) -> Overhead:
    """The spread of undisturbed wake-ups, and of the moments at which ticks are due."""
    wake = measured.record(WAKE)
    ticks = measured.record(FAMILY + "tick")
    spread = int(wake.samples.max()) - int(wake.samples.min())
    uneven = ticks.most("period") - ticks.least("period")
    return Overhead(spread + uneven, f"{wake.name}, {ticks.name}")
