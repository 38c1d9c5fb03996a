# SPDX-License-Identifier: Apache-2.0
"""The worst samples of a lane: the maxima one by one, and what the worst share has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.stats.common_causes import SHARE, CommonCauses, Factor, common_causes
from kadenz.stats.errors import Undefined
from kadenz.stats.ordered import Ordered

Samples = npt.NDArray[Any]

MAXIMA = 10
ALPHA = 0.05  # of a whole run: its lanes share it
CYCLE, CPU = "cycle", "cpu"
# Marks made here, from what a record says of its samples.
START = "start"
AFTER_MISSED = "after-missed"
AFTER_DRAIN = "after-drain"
MIGRATION = "migrations"
START_SHARE = 0.01

# What happened (kernels/posix/context.c), in words: "had ...", one and several.
EVENTS = {
    "involuntary-switches": ("an involuntary context switch", "involuntary context switches"),
    "voluntary-switches": ("a voluntary context switch", "voluntary context switches"),
    "interrupts": ("an interrupt", "interrupts"),
    "soft-interrupts": ("a soft interrupt", "soft interrupts"),
    "migrations": ("a migration", "migrations"),
    "faults": ("a page fault", "page faults"),
    "steal": ("a jiffy stolen by the hypervisor", "jiffies stolen by the hypervisor"),
    "smi": ("a system management interrupt", "system management interrupts"),
}
MARKS = {
    START: "were in the first 1 % of the samples",
    AFTER_MISSED: "came right after a missed cycle",
    AFTER_DRAIN: "came right after a drain of the storage",
    MIGRATION: "came right after a migration to another CPU",
}


@dataclass(frozen=True)
class Worst:
    """Which samples count as the worst, and how often a lane without a cause may show one."""

    share: float = SHARE
    alpha: float = ALPHA


@dataclass(frozen=True)
class Outlier:
    """One of the largest samples. `index` counts warm and cold samples from 0; `cycle` is the
    number of its period and `seconds` its time since the first one, None where not known; `value`
    in ticks; `context` what is recorded beside it, by kind of companion."""

    index: int
    cycle: int | None
    seconds: float | None
    value: float
    context: dict[str, int]


@dataclass(frozen=True, eq=False)
class Outliers:
    """The largest samples, the largest first; `causes` is None where `reason` says why."""

    maxima: tuple[Outlier, ...]
    causes: CommonCauses | None
    recorded: tuple[str, ...]  # kinds of companions that were asked about
    reason: str = ""


def find_outliers(
    warm: Samples,
    companions: Mapping[str, Samples],
    *,
    ordered: Ordered,
    cold: int = 0,
    drains: npt.ArrayLike = (),
    period_us: float | None = None,
    missed: int = 0,
    which: Worst,
) -> Outliers:
    """The maxima of `warm` (n,), and what `which` of its samples have in common.

    `companions` hold (n,) values each; "cycle" gives time and missed cycles, "cpu" the place and,
    where nobody counted them, migrations. `cold` samples were cut off before; `drains` are indices
    before that cut.
    """
    cycle = companions.get(CYCLE)
    events = {name: values for name, values in companions.items() if name != CYCLE}
    try:
        causes = common_causes(
            warm,
            events,
            places=(CPU,),
            marks=_marks(warm.size, companions, np.asarray(drains, dtype=np.int64) - cold),
            share=which.share,
            alpha=which.alpha,
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
                seconds=_seconds(int(at) + cold, cycle, int(at), period_us, missed),
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
    """Places of the largest samples, the largest first, of equal ones the earliest."""
    count = min(MAXIMA, warm.size)
    if ordered.values[-count] == ordered.values[0]:
        return np.zeros(0, dtype=np.intp)  # no sample is larger than the others
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


def _seconds(
    index: int, cycle: Samples | None, at: int, period_us: float | None, missed: int
) -> float | None:
    if period_us is None or (cycle is None and missed):
        return None
    return (int(cycle[at]) if cycle is not None else index) * period_us / 1e6


def sentences(found: Outliers) -> list[str]:
    """What is common to the worst samples, in words; one sentence where nothing is."""
    causes = found.causes
    if causes is None:
        return [f"cannot be asked: {found.reason.rstrip('.')}"]
    said = [factor_words(factor, causes) for factor in causes.common]
    if causes.clustered:
        bursts = "one burst" if causes.bursts == 1 else f"{causes.bursts:,} bursts"
        said.append(
            f"{causes.near:,} of the {causes.count:,} follow another of them within "
            f"{causes.within:,} samples: they come in {bursts}"
        )
    if causes.every is not None:
        said.append(f"they come every {causes.every:,.4g} samples")
    if said:
        return said
    if causes.smallest_p >= causes.limit:
        return [
            f"nothing can be told: {causes.n:,} samples show no p below {causes.smallest_p:.2g}; "
            f"with as many series as this run has, {causes.limit:.2g} is needed"
        ]
    who = f"the worst {percent(causes.share)} ({causes.count:,} samples) from the others"
    if not found.recorded:
        return [
            f"nothing in common: their place in time (start, bursts, period) does not tell {who}; "
            "nothing else is recorded beside these samples"
        ]
    return [
        f"nothing in common: neither what is recorded beside them ({', '.join(found.recorded)}) "
        f"nor their place in time (start, bursts, period) tells {who}"
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
    """What the event of a factor is: "had a page fault", "ran on CPU 3"."""
    if factor.kind == "mark":
        return MARKS.get(factor.name, f"were marked {factor.name}")
    if factor.kind == "place":
        what = "CPU" if factor.name == CPU else factor.name
        return f"ran on {what} {factor.place}"
    one, several = EVENTS.get(factor.name, (f"a {factor.name}", factor.name))
    if not factor.above:
        return f"had {one}"
    return f"had more than {factor.above:,.6g} {several}"


def left_out_words(found: Outliers) -> str:
    """What is recorded and could not tell anything, as a sentence; "" where nothing is left out."""
    if found.causes is None or not found.causes.left_out:
        return ""
    parts = [f"{name} ({why})" for name, why in found.causes.left_out.items()]
    return f"Left out: {', '.join(parts)}."


def context_words(context: dict[str, int]) -> str:
    """ "CPU 1, 2 interrupts, 1 page fault": what is not zero."""
    words = [f"CPU {context[CPU]}"] if CPU in context else []
    for name, value in context.items():
        if name != CPU and value:
            one, several = EVENTS.get(name, (name, name))
            words.append(f"{value:,} {one.partition(' ')[2] if value == 1 else several}")
    return ", ".join(words)


def percent(share: float) -> str:
    """0.001 as "0.1 %", two significant digits; none as "none"."""
    return "none" if share == 0.0 else f"{100.0 * share:.2g} %" if share < 0.995 else "100 %"


def odds(ratio: float) -> str:
    """An odds ratio to two significant digits: "0.54", "13", "9,800"."""
    if ratio < 1000.0:
        return f"{ratio:.2g}" if ratio < 100.0 else f"{ratio:.0f}"
    return f"{float(f'{ratio:.2g}'):,.0f}"
