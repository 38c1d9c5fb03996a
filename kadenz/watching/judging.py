# SPDX-License-Identifier: Apache-2.0
"""The threads of a watch with their periods, deadlines, misses and causes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kadenz.config.quantity import Quantity, parse_quantity
from kadenz.errors import UsageError
from kadenz.watching.causes import Cause, causes_of
from kadenz.watching.jobs import Watched, watched
from kadenz.watching.selection import Selection
from kadenz.watching.threads import Observed
from kadenz.watching.units import MICROSECONDS, Unit

_NO_NAME = re.compile(r"[\s/=]|[^\x20-\x7e]")


@dataclass(frozen=True)
class Given:
    """A period or a deadline of the command line, for the threads that its pattern names."""

    pattern: str
    quantity: Quantity

    @property
    def ns(self) -> float:
        """Its length, in nanoseconds."""
        return self.quantity.microseconds * 1e3


@dataclass(frozen=True)
class Judged:
    """A thread with its verdict. `label` is its name in the run, which no other thread has.

    `deadline_ns` is the given one, else the period; None without both. `late` jobs ended behind it.
    """

    label: str
    thread: Watched
    period_ns: float | None
    period_given: bool
    deadline_ns: float | None
    deadline: Quantity | None  # as given
    late: int
    causes: tuple[Cause, ...]
    unit: Unit = MICROSECONDS


def parse_given(option: str, texts: Sequence[str]) -> list[Given]:
    """The values `[THREAD=]QUANTITY` of an option. UsageError for anything but a time above 0."""
    given = []
    for text in texts:
        pattern, equals, quantity = text.rpartition("=")
        parsed = parse_quantity(quantity, f"{option} {text}")
        if not parsed.is_time or parsed.number <= 0:
            raise UsageError(f"{option} {text}: not a time", remedy=f"For example {option} 500us")
        given.append(Given(pattern if equals else "*", parsed))
    return given


def judge(
    observed: Observed,
    selection: Selection,
    periods: Sequence[Given] = (),
    deadlines: Sequence[Given] = (),
    unit: Unit = MICROSECONDS,
) -> list[Judged]:
    """Every thread of the selection, in the order of their numbers; its times are said in `unit`.

    UsageError for a period or deadline that names no thread.
    """
    threads = selection.chosen(observed)
    names: Counter[str] = Counter()
    judged = []
    for thread in threads:
        period, deadline = (_for(thread.name, given) for given in (periods, deadlines))
        given_ns = period.ns if period else None
        jobs = watched(thread, observed, given_ns)
        plain = _NO_NAME.sub("_", thread.name) or str(thread.pid)
        names[plain] += 1
        label = plain if names[plain] == 1 else f"{plain}#{names[plain]}"
        length = jobs.period_ns(given_ns)
        limit = deadline.ns if deadline else length
        judged.append(
            Judged(
                label=label,
                thread=jobs,
                period_ns=length,
                period_given=period is not None,
                deadline_ns=limit,
                deadline=deadline.quantity if deadline else None,
                late=sum(job.response > limit for job in jobs.jobs) if limit else 0,
                causes=tuple(causes_of(jobs.jobs, limit, unit)) if limit else (),
                unit=unit,
            )
        )
    _check("--period", periods, judged)
    _check("--deadline", deadlines, judged)
    return judged


def _for(name: str, given: Sequence[Given]) -> Given | None:
    """The last one whose pattern names the thread."""
    return next((each for each in reversed(given) if fnmatchcase(name, each.pattern)), None)


def _check(option: str, given: Sequence[Given], judged: Sequence[Judged]) -> None:
    for each in given:
        if judged and not any(fnmatchcase(other.thread.name, each.pattern) for other in judged):
            names = ", ".join(sorted({other.thread.name for other in judged}))
            raise UsageError(
                f"{option} {each.pattern}={each.quantity}: names no thread that was watched",
                remedy=f"Watched: {names}",
            )
