# SPDX-License-Identifier: Apache-2.0
"""The worst samples of a lane: each of the maxima, and common causes of the worst share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.stats.common_causes import CommonCauses, Factor, Worst, common_causes
from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import Ordered
from kadenz.stats.plain import plain

Samples = npt.NDArray[Any]

MAXIMA = 10
ALPHA = 0.05  # of a whole run, shared by its lanes
CYCLE, CPU = "cycle", "cpu"
# Marks computed here from the record.
START = "start"
AFTER_MISSED = "after-missed"
AFTER_DRAIN = "after-drain"
MIGRATION = "migrations"
START_SHARE = 0.01

# Events of kernels/posix/context.c and misses that the scope counts, in words: "had ...", singular
# and plural.
EVENTS = {
    "involuntary-switches": ("an involuntary context switch", "involuntary context switches"),
    "voluntary-switches": ("a voluntary context switch", "voluntary context switches"),
    "interrupts": ("an interrupt", "interrupts"),
    "soft-interrupts": ("a soft interrupt", "soft interrupts"),
    "migrations": ("a migration", "migrations"),
    "faults": ("a page fault", "page faults"),
    "steal": ("a jiffy stolen by the hypervisor", "jiffies stolen by the hypervisor"),
    "smi": ("a system management interrupt", "system management interrupts"),
    "icache-misses": ("a miss of the instruction cache", "misses of the instruction cache"),
    "dcache-misses": ("a miss of the data cache", "misses of the data cache"),
}
MARKS = {
    START: "were in the first 1 % of the samples",
    AFTER_MISSED: "came right after a missed cycle",
    AFTER_DRAIN: "came right after a drain of the storage",
    MIGRATION: "came right after a migration to another CPU",
}


@dataclass(frozen=True, eq=False)
class Recorded:
    """The context of a lane's samples, cold ones included; periods in µs of the target's time.

    `companions` have (taken,) values each, by kind: "cycle" gives time and missed cycles, "cpu" the
    place and, unless they were counted, migrations. `drains` are indices of the samples that follow
    a drain of the storage.
    """

    companions: Mapping[str, Samples]
    drains: Sequence[int] = ()
    missed: int = 0
    period_us: float | None = None
    tick_period_us: float | None = None


@dataclass(frozen=True)
class Outlier:
    """One of the largest samples. `index` counts warm and cold samples from 0; `cycle` is the
    number of its period and `seconds` its time since the first one, None if unknown; `value` is in
    ticks; `context` holds the values of its companions by kind."""

    index: int
    cycle: int | None
    seconds: float | None
    value: float
    context: dict[str, int]


@dataclass(frozen=True, eq=False)
class Outliers:
    """The largest samples, largest first; `causes` is None if unknown, see `reason`."""

    maxima: tuple[Outlier, ...]
    causes: CommonCauses | None
    recorded: tuple[str, ...]  # kinds of companions that were tested
    reason: str = ""


def find_outliers(
    warm: Samples, ordered: Ordered, recorded: Recorded, *, cold: int, which: Worst
) -> Outliers:
    """The maxima of `warm` (n,), which follow `cold` samples, and the common causes of `which`."""
    companions = {name: values[cold:] for name, values in recorded.companions.items()}
    cycle = companions.get(CYCLE)
    events = {name: values for name, values in companions.items() if name != CYCLE}
    try:
        causes = common_causes(
            warm,
            events,
            places=(CPU,),
            marks=_marks(warm.size, companions, np.asarray(recorded.drains, np.int64) - cold),
            cycles=cycle,
            worst=which,
            ordered=ordered,
        )
        reason = ""
    except Undefined as error:
        causes, reason = None, error.reason
    return Outliers(
        maxima=tuple(
            Outlier(
                index=int(at) + cold,
                cycle=None if cycle is None else int(cycle[at]),
                seconds=_seconds(int(at), cold, cycle, recorded),
                value=float(warm[at]),
                context={name: int(values[at]) for name, values in events.items()},
            )
            for at in _largest(warm, ordered)
        ),
        causes=causes,
        recorded=tuple(events),
        reason=reason,
    )


def _largest(warm: Samples, ordered: Ordered) -> npt.NDArray[np.intp]:
    """Indices of the largest samples, largest first, the earliest first among equals."""
    count = min(MAXIMA, warm.size)
    if ordered.values[-count] == ordered.values[0]:
        return np.zeros(0, dtype=np.intp)  # no sample stands out
    at = np.flatnonzero(warm >= ordered.values[-count])
    return at[np.argsort(-warm[at].astype(np.float64), kind="stable")][:count]


def _marks(
    n: int, companions: Mapping[str, Samples], drains: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    marks: dict[str, npt.NDArray[np.int64]] = {}
    marks[START] = np.arange(max(1, round(START_SHARE * n)), dtype=np.int64)
    if drains.size:
        marks[AFTER_DRAIN] = drains[drains >= 0]
    if CYCLE in companions:
        steps = np.diff(companions[CYCLE].astype(np.int64))
        marks[AFTER_MISSED] = np.flatnonzero(steps > 1).astype(np.int64) + 1
    if CPU in companions and MIGRATION not in companions:
        moves = np.diff(companions[CPU].astype(np.int64))
        marks[MIGRATION] = np.flatnonzero(moves).astype(np.int64) + 1
    return marks


def _seconds(at: int, cold: int, cycle: Samples | None, recorded: Recorded) -> float | None:
    if recorded.period_us is None or (cycle is None and recorded.missed):
        return None
    return (int(cycle[at]) if cycle is not None else at + cold) * recorded.period_us / 1e6


def sentences(outliers: Outliers) -> list[str]:
    """The common causes of the worst samples in words; one sentence if there are none."""
    causes = outliers.causes
    if causes is None:
        return [f"not tested: {outliers.reason.rstrip('.')}"]
    common = [factor_words(factor, causes) for factor in causes.common]
    if causes.clustered:
        bursts = "one burst" if causes.bursts == 1 else f"{causes.bursts:,} bursts"
        common.append(
            f"{causes.near:,} of the {causes.count:,} follow another one within "
            f"{causes.within:,} samples: they come in {bursts}"
        )
    if causes.train is not None:
        train = causes.train
        who = "all" if train.count == causes.count else f"{train.count:,}"
        unit = "sample" if outliers.maxima[0].cycle is None else "cycle"
        off = f", up to a {unit} early or late" if train.loose else ""
        every = plain(train.every, 3 if train.loose else 4)
        common.append(f"{who} of the {causes.count:,} come every {every} {unit}s{off}")
    if common:
        return common
    if causes.smallest_p >= causes.limit:
        return [
            f"undecided: {causes.n:,} samples cannot give a p below {causes.smallest_p:.2g}; for "
            f"the number of series in this run, {causes.limit:.2g} is needed"
        ]
    who = f"the worst {percent(causes.share)} ({causes.count:,} samples) from the others"
    if not outliers.recorded:
        return [
            f"nothing in common: their position in time (start, bursts, period) does not "
            f"distinguish {who}; nothing else was recorded for these samples"
        ]
    return [
        f"nothing in common: neither the recorded context ({', '.join(outliers.recorded)}) "
        f"nor the position in time (start, bursts, period) distinguishes {who}"
    ]


def factor_words(factor: Factor, causes: CommonCauses) -> str:
    """ "28 of 60 of the worst 0.1 % had an involuntary switch; 0.4 % of the others did"."""
    event = event_words(factor)
    also = "were" if event.startswith("were") else "did"
    return (
        f"{factor.worst_with:,} of {factor.worst_n:,} of the worst {percent(causes.share)} "
        f"{event}; {percent(factor.rest_share)} of the others {also}"
    )


def event_words(factor: Factor) -> str:
    """The event of a factor: "had a page fault", "ran on CPU 3"."""
    if factor.kind == "mark":
        return MARKS.get(factor.name, f"were marked {factor.name}")
    if factor.kind == "place":
        what = "CPU" if factor.name == CPU else factor.name
        return f"ran on {what} {factor.place}"
    single, several = EVENTS.get(factor.name, (f"a {factor.name}", factor.name))
    if not factor.above:
        return f"had {single}"
    return f"had more than {factor.above:,.6g} {several}"


def left_out_words(outliers: Outliers) -> str:
    """The recorded events that could not be tested, as a sentence; "" if there are none."""
    if outliers.causes is None or not outliers.causes.left_out:
        return ""
    parts = [f"{name} ({why})" for name, why in outliers.causes.left_out.items()]
    return f"Left out: {', '.join(parts)}."


def context_words(context: dict[str, int]) -> str:
    """ "CPU 1, 2 interrupts, 1 page fault": the values other than zero."""
    parts = [f"CPU {context[CPU]}"] if CPU in context else []
    for name, value in context.items():
        if name != CPU and value:
            single, several = EVENTS.get(name, (name, name))
            parts.append(f"{value:,} {single.partition(' ')[2] if value == 1 else several}")
    return ", ".join(parts)


def percent(share: float) -> str:
    """0.001 as "0.1 %", two significant digits; 0 as "none"."""
    return "none" if share == 0.0 else f"{plain(100.0 * share, 2)} %" if share < 0.995 else "100 %"


def odds(ratio: float) -> str:
    """An odds ratio to two significant digits: "0.54", "13", "9,800"."""
    if ratio < 1000.0:
        return f"{ratio:.2g}" if ratio < 100.0 else f"{ratio:.0f}"
    return f"{float(f'{ratio:.2g}'):,.0f}"
