# SPDX-License-Identifier: Apache-2.0
"""Every cycle of one sample, with an interrupt in each: what it took to the handler and to the
thread that it woke. A population, not a sample of one: the maximum of the arrivals is exact."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.analysis.structures import Show, Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import (
    ARRIVAL,
    ARRIVALS,
    BESIDE,
    SECONDS,
    LaneEntry,
    RaisedEntry,
    RecordEntry,
    companions_of,
)
from kadenz.store import Run

HANDLER, TASK = ARRIVALS
_PHASE, _PC, _MASKED, _LOCKED = ARRIVAL
_ADDRESS = re.compile("0x[0-9a-f]{1,16}")

_CELLS = 2000  # of a curve, at most
_COUNTS = ("tried", "step", "asleep", "lost", "untried")

_THIS = "this image, this path, this state of kernel and caches, and these wait states"
EXHAUSTIVE = (
    f"Exhaustive for one interrupt, {_THIS}. No bound for other states, longer lists, a second "
    "interrupt, or silicon"
)
EXHAUSTIVE_BESIDE = {
    "idle": f"Exhaustive for one interrupt, {_THIS}, and another core that waits. No bound for "
    "other work of that core, other states, longer lists, a second interrupt, or silicon",
    "": f"Exhaustive for one interrupt, {_THIS}, and the one offset at which another core began "
    "this work. No bound for other offsets or other work, other states, longer lists, a second "
    "interrupt, or silicon",
}
EXHAUSTIVE_WITH = {
    second: f"Exhaustive for {events}, {_THIS}. Each value is the largest over all {seconds}. No "
    "bound for other states, longer lists, a third interrupt, or silicon"
    for second, events, seconds in (
        ("tick", "one interrupt and one tick of the kernel", "ticks"),
        ("request", "two requests of one interrupt", "requests"),
        (
            "device",
            "one request of each of two devices that have the interrupt in common, of which the "
            "other one is served first",
            "requests of that one",
        ),
    )
}


@dataclass(frozen=True)
class Extremes:
    """Ticks from the request to a first statement, over all arrivals that were tried: the least,
    the median and the most; the cycle of the arrival with the most, what it interrupted, and the
    cycle of the second one with which it came, 0 without."""

    min: float
    median: float
    max: float
    phase: int
    function: str
    second: int

    def row(self, unit: Unit, second: str) -> dict[str, Any]:
        """In the unit of figures."""
        figures = {name: unit.figure(getattr(self, name)) for name in ("min", "median", "max")}
        where = {"worst_cycle": self.phase, "worst_in": self.function}
        return figures | where | ({f"worst_{second}": self.second} if second else {})


@dataclass(frozen=True)
class Span:
    """Arrivals in a row that met the same: their first and last cycle, and what they met."""

    begin: int
    end: int
    name: str


@dataclass(frozen=True, eq=False)
class Curve:
    """What is drawn: the first cycle of each of at most 2,000 cells (c,), and the most of each lane
    in it (c,); the last cycle; where the core took no interrupt, where the scheduler was locked,
    and which functions arrivals met."""

    phase: npt.NDArray[np.int64]
    last: int
    lanes: Mapping[str, npt.NDArray[np.float64]]
    masked: tuple[Span, ...]
    locked: tuple[Span, ...]
    functions: tuple[Span, ...]

    @classmethod
    def of(cls, arrivals: Mapping[str, npt.NDArray[Any]], functions: Mapping[str, str]) -> Curve:
        """From the lanes and companions of all arrivals, by name."""
        phase = arrivals[_PHASE].astype(np.int64)
        cells = np.arange(0, phase.size, -(-phase.size // _CELLS))
        nothing = np.zeros(phase.size, np.uint32)  # of what a timer of the board does not see
        pcs = arrivals.get(_PC, nothing)
        names = [function_at(functions, int(pc)) for pc in np.unique(pcs)]
        met = dict(zip(np.unique(pcs).tolist(), names, strict=True))
        inside = np.array([met[pc] for pc in pcs.tolist()], dtype=object)
        masked, locked = (arrivals.get(kind, nothing) for kind in (_MASKED, _LOCKED))
        return cls(
            phase=phase[cells],
            last=int(phase[-1]),
            lanes={
                name: np.maximum.reduceat(arrivals[name].astype(np.float64), cells)
                for name in ARRIVALS
            },
            masked=_spans(phase, np.where(masked > 0, "interrupts off", "")),
            locked=_spans(phase, np.where(locked > 0, "scheduler locked", "")),
            functions=_spans(phase, inside),
        )


def _spans(phase: npt.NDArray[np.int64], names: npt.NDArray[Any]) -> tuple[Span, ...]:
    """Runs of equal names, without those of no name."""
    edges = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), names.size]
    return tuple(
        Span(int(phase[first]), int(phase[after - 1]), str(names[first]))
        for first, after in pairwise(edges)
        if names[first]
    )


@dataclass(frozen=True, eq=False)
class Population(Structure):
    """The arrivals of one sample: how many were tried, in steps of how many cycles (0: it is only
    one), how many met a core that slept, how many came to no end, and how many were not tried
    after these; both extremes; what is drawn of them."""

    tried: int
    step: int
    asleep: int
    lost: int
    untried: int
    second: str  # with which each was tried: a key of SECONDS, or ""
    pairs: int
    handler: Extremes
    task: Extremes
    curve: Curve
    moment: str  # in which one arrives: "cycle", "instruction"
    raised: RaisedEntry | None  # by a timer of the board
    beside: str  # what another core did meanwhile; "" on one core

    whole = True

    @property
    def exhaustive(self) -> bool:
        """Whether every cycle of the sample had its arrival."""
        return self.step == 1 and self.is_exact and not any((self.asleep, self.lost, self.untried))

    @property
    def is_exact(self) -> bool:
        """Whether its values are a population: no further one of their step could come."""
        return self.raised is None or self.raised.exact

    def row(self, unit: Unit) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in _COUNTS}
        counts |= {"pairs": self.pairs} if self.pairs else {}
        if self.raised is not None:
            counts |= {"raised_by": self.raised.by, "resolution": self.raised.resolution}
        ends = {
            name: end.row(unit, self.second)
            for name, end in ((HANDLER, self.handler), (TASK, self.task))
        }
        return {"arrivals": counts | ends}

    def sentence(self, show: Show, unit: str) -> str:
        return f"{self.status(show)} {unit}. {self.premise}"

    @property
    def premise(self) -> str:
        """For what its figures are exact, and for what not."""
        if self.raised is not None:
            return self._missed_by_timer(self.raised)
        if self.beside:
            return EXHAUSTIVE_BESIDE.get(self.beside, EXHAUSTIVE_BESIDE[""])
        return EXHAUSTIVE_WITH.get(self.second, EXHAUSTIVE)

    def _missed_by_timer(self, raised: RaisedEntry) -> str:
        """What a sweep by a timer of the board may miss."""
        distance = raised.step * raised.resolution
        apart = f"{distance:,} {self.moment}{'s' if distance > 1 else ''}"
        missed = (
            f"Between two arrivals, a handler may be later by up to {apart} and the way into it; a "
            "task by more, because a later request may be served earlier"
        )
        return (
            f"A timer of the board raised the interrupt (`{raised.by}`, {apart} later each time), "
            f"in another sample each time. For one interrupt, {_THIS}. No bound for other states, "
            "longer lists or a second interrupt. "
        ) + ("Every phase was tried, once" if self.exhaustive else missed)

    def status(self, show: Show) -> str:
        """The sentence of one service, without its unit."""
        with_second = SECONDS.get(self.second, "")
        ends = "; ".join(
            f"{name} {show(end.min)} … {show(end.max)}, worst at {self.moment} {end.phase:,}"
            + (f" in `{end.function}`" if end.function else "")
            + (f" with {with_second} at {self.moment} {end.second:,}" if with_second else "")
            for name, end in ((HANDLER, self.handler), (TASK, self.task))
        )
        return f"{self.coverage}: {ends}"

    @property
    def coverage(self) -> str:
        """Which arrivals were tried, and which not."""
        if self.second:
            each = "every one of " if self.exhaustive else ""
            said = f"{each}{self.pairs:,} pairs of an arrival and {SECONDS[self.second]} tried"
            said += f", in one {self.moment} of {self.step}" if self.step > 1 else ""
        elif self.step == 0:
            said = f"one arrival {self.moment} tried"
        elif self.step > 1:
            said = f"{self.tried:,} arrival {self.moment}s tried, one in {self.step}"
        else:
            moments = self.tried + self.lost + self.asleep + self.untried
            each = "every one" if self.tried == moments else f"{self.tried:,}"
            said = f"{each} of {moments:,} arrival {self.moment}s tried"
        said += f", in {self.asleep:,} the core slept" if self.asleep else ""
        said += f", {self.lost:,} came to no end" if self.lost else ""
        if self.raised is not None:
            return said + (f", {self.untried:,} not met" if self.untried else "")
        return said + (f", {self.untried:,} after these were not tried" if self.untried else "")

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> Population | None:
        lanes = _lanes(entry)
        if lanes is None:
            return None
        of = {lane.name: _values(run, entry, lane) for lane in lanes}
        arrivals = of[TASK] | of[HANDLER]
        phase = arrivals[_PHASE].astype(np.int64)
        sizes = {values.size for lane in of.values() for values in lane.values()}
        if sizes != {phase.size} or phase.size == 0:
            return None  # empty, or damaged
        steps = np.diff(phase)
        if (steps < (entry.raised is None)).any():
            return None  # no bench wrote it
        step = int(steps.min()) if steps.size else 0
        if entry.raised is not None:
            step = entry.raised.step * entry.raised.resolution
        lost = lanes[0].missed
        planned = (int(phase[-1]) - 1) // step + 1 if step else 1
        second = cls.second_of(entry, lanes[1])
        at, count = companions_of(second) or ("", "")
        ends = [_extremes(values[name], values, at, entry.functions) for name, values in of.items()]
        return cls(
            tried=phase.size,
            step=step,
            asleep=max(0, planned - phase.size - lost) if entry.raised is None else 0,
            lost=lost,
            untried=lanes[0].not_measured,
            second=second,
            pairs=int(arrivals[count].sum(dtype=np.int64)) if second else 0,
            handler=ends[0],
            task=ends[1],
            curve=Curve.of(arrivals, entry.functions),
            moment=_moment(run, entry),
            raised=entry.raised,
            beside=next((c.value for c in run.manifest.conditions if c.kind == BESIDE), ""),
        )

    @classmethod
    def is_population(cls, entry: RecordEntry, lane: LaneEntry) -> bool:
        return lane in (_lanes(entry) or ()) and (entry.raised is None or entry.raised.exact)

    @classmethod
    def second_of(cls, entry: RecordEntry, lane: LaneEntry) -> str:
        """What each arrival was tried with in every cycle, a key of SECONDS; "" for nothing."""
        kinds = entry.companions(lane).keys()
        return next((second for second in SECONDS if {*companions_of(second)} <= kinds), "")

    @classmethod
    def unjudged(cls, entry: RecordEntry) -> str:
        is_sampled = entry.raised is not None and not entry.raised.exact
        lanes = () if is_sampled else _lanes(entry) or ()
        left = any(lane.missed or lane.not_measured for lane in lanes)
        return "arrivals came to no end or were not tried, so no maximum is exact" if left else ""


def _moment(run: Run, entry: RecordEntry) -> str:
    """What a phase counts: the clock's unit; a timer's is that of counts, which may be longer."""
    if entry.raised is not None and run.manifest.clock.instructions_per_count not in (None, 1.0):
        return "count"
    return run.manifest.clock.unit or "cycle"


def _values(run: Run, entry: RecordEntry, lane: LaneEntry) -> dict[str, npt.NDArray[Any]]:
    """A lane by its name, and its companions by their kinds, each (n,)."""
    chosen = {lane.name: lane} | dict(entry.companions(lane))
    return {name: run.samples(entry, each) for name, each in chosen.items()}


def _extremes(
    latency: npt.NDArray[Any],
    values: Mapping[str, npt.NDArray[Any]],
    second: str,
    functions: Mapping[str, str],
) -> Extremes:
    worst = int(latency.argmax())
    return Extremes(
        float(latency.min()),
        float(np.median(latency)),
        float(latency.max()),
        int(values[_PHASE][worst]),
        function_at(functions, int(values[_PC][worst])) if _PC in values else "",
        int(values[second][worst]) if second else 0,
    )


def _lanes(entry: RecordEntry) -> tuple[LaneEntry, LaneEntry] | None:
    by = {lane.name: lane for lane in entry.series}
    if HANDLER not in by or TASK not in by:
        return None
    lanes = by[HANDLER], by[TASK]
    kinds = {_PHASE} if entry.raised is not None else {*ARRIVAL}
    if any(not kinds <= entry.companions(lane).keys() for lane in lanes):
        return None
    return lanes


def function_at(functions: Mapping[str, str], address: int) -> str:
    """The function in which an address lies, by the record's table; "" if none does."""
    known = {int(key, 16): name for key, name in functions.items() if _ADDRESS.fullmatch(key)}
    starts = sorted(known)
    place = bisect_right(starts, address) - 1
    return known[starts[place]] if place >= 0 else ""
