# SPDX-License-Identifier: Apache-2.0
"""Two cores, from companions: periods of a thread that migrates, calls of the other core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kadenz.config.manifest import LaneEntry, RecordEntry
from kadenz.stats.periods import periods
from kadenz.stats.summary import Summary, summarize
from kadenz.store import Run

BEGIN_CORE, END_CORE = "begin-core", "end-core"
OTHER_CALLS, SINCE = "other-calls", "since"


@dataclass(frozen=True)
class Crossing:
    """All periods that began with a wake-up on core `begin` and ended with one on core `end`."""

    begin: int
    end: int
    summary: Summary


@dataclass(frozen=True)
class Periods:
    """Times between wake-ups, in ticks of `hz`; `moved` of them ended on another core."""

    whole: Summary
    moved: int
    crossings: tuple[Crossing, ...]
    hz: float


def periods_of(run: Run, entry: RecordEntry, lane: LaneEntry) -> Periods | None:
    """The warm periods of a lane; None without recorded cores or a rate of the clock.

    A period in which samples were sent is left out: the thread starts its periods anew there.
    """
    beside = entry.companions(lane)
    hz = run.manifest.clock.seconds_hz
    if not {"cycle", BEGIN_CORE, END_CORE} <= beside.keys() or hz <= 0:
        return None
    samples = run.samples(entry, lane)[entry.cold :]
    if samples.size < 2:
        return None
    cycles = run.samples(entry, beside["cycle"])[entry.cold :]
    cores = run.samples(entry, beside[END_CORE])[entry.cold :].astype(np.int64)
    spans = periods(samples, cycles, entry.period_us(entry.series.index(lane)) * hz / 1e6)
    whole = np.ones(spans.size, dtype=np.bool_)
    sent = np.asarray(entry.drains, dtype=np.int64) - entry.cold - 1
    whole[sent[(sent >= 0) & (sent < spans.size)]] = False
    begin, end = cores[:-1], cores[1:]
    pairs = sorted(set(zip(begin[whole].tolist(), end[whole].tolist(), strict=True)))
    return Periods(
        whole=summarize(spans[whole]),
        moved=int((begin != end)[whole].sum()),
        crossings=tuple(
            Crossing(b, e, summarize(spans[whole & (begin == b) & (end == e)])) for b, e in pairs
        ),
        hz=hz,
    )


def other_rate_of(run: Run, entry: RecordEntry, lane: LaneEntry) -> float | None:
    """Calls of the other core in a second of the clock's nominal time, over the warm samples.

    None without these companions (smp/contention) or a rate of the clock.
    """
    beside = entry.companions(lane)
    hz = run.manifest.clock.seconds_hz
    if not {OTHER_CALLS, SINCE} <= beside.keys() or hz <= 0:
        return None
    calls, since = (
        int(run.samples(entry, beside[kind])[entry.cold :].sum(dtype=np.uint64))
        for kind in (OTHER_CALLS, SINCE)
    )
    return calls * hz / since if since else None
