# SPDX-License-Identifier: Apache-2.0
"""Deadlines and misses: the deadline in force at a point, and how often cycles miss it.

A cycle misses if it did not happen (`LaneEntry.missed`) or ended late (its sample is above the
deadline). A cycle never requested from the target is "not measured" and is not a miss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kadenz.analysis.modelled import at_ends, has_interval
from kadenz.analysis.units import Unit, unit_of
from kadenz.config.manifest import DeadlineOrigin, LaneEntry, RecordEntry
from kadenz.config.params import PERIOD, Value
from kadenz.config.quantity import Points, Quantity, parse_points, parse_quantity
from kadenz.errors import UsageError
from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.miss_rate import miss_rate
from kadenz.stats.plain import plain
from kadenz.store import Run

Samples: TypeAlias = npt.NDArray[Any]
_OPTION = "--deadline"


@dataclass(frozen=True)
class Asked:
    """A deadline from the command line. `points` None: every point that has a period."""

    text: str
    points: Points | None
    quantity: Quantity

    @property
    def written(self) -> str:
        """The quantity as it was written: "100us"."""
        return self.text.rpartition("=")[2].strip()

    def concerns(self, bench: str, params: Mapping[str, Value]) -> bool:
        """True if this deadline applies to the point."""
        if self.points is None:
            return bool(params.get(PERIOD))
        return self.points.concern(bench, params)


@dataclass(frozen=True)
class Deadline:
    """A deadline in force; `limit` is in the unit of the record's figures.

    `limit` None: the record's clock cannot express it, and `reason` says why.
    """

    quantity: Quantity
    origin: DeadlineOrigin
    limit: float | None
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.quantity} ({self.origin})"


@dataclass(frozen=True)
class Misses:
    """The cycles of a lane, a record, or one point in several runs, and the misses among them.

    `planned` = `measured` + `never` + `not_measured`, without cold cycles, which are counted
    separately (`cold`, of which `cold_late` were late). `late` counts within `measured`; None if
    unknown, because no deadline is set or the clock cannot express it. `undecided` counts those
    whose interval of a timing model contains the deadline: they are not in `late`. `rate` is the
    share of `asked` with its 95 % interval; None if unknown, and `reason` says why.
    """

    planned: int
    measured: int
    never: int
    late: int | None
    not_measured: int
    cold: int
    cold_late: int
    deadline: Deadline | None
    rate: Estimate | None
    reason: str = ""
    undecided: int = 0

    @property
    def asked(self) -> int:
        """Cycles requested from the target."""
        return self.measured + self.never

    @property
    def missed(self) -> int:
        """Cycles known to have missed."""
        return self.never + (self.late or 0)

    @property
    def share(self) -> float | None:
        """`missed` / `asked`; None if no cycle was requested, or some are undecided."""
        return self.missed / self.asked if self.asked and not self.undecided else None

    @property
    def share_text(self) -> str:
        """The share with its interval: "18.6 % [15.1, 22.4]", "0 % [at most 0.15]", "–"; with
        undecided cycles its bounds, "0 to 100 %"."""
        if self.undecided:
            least, most = self.missed / self.asked, (self.missed + self.undecided) / self.asked
            return f"{_percent(least)} to {_percent(most)} %"
        if self.share is None:
            return "–"
        value = f"{_percent(self.share)} %"
        if self.rate is None:
            return value
        if self.missed == 0:
            return f"{value} [at most {_percent(self.rate.high)}]"
        return f"{value} [{_percent(self.rate.low)}, {_percent(self.rate.high)}]"

    @property
    def line(self) -> str:
        """Misses in a clause: "371 of 2,000 missed 100 µs (campaign), 18.6 % [15.1, 22.4]"."""
        against = f" {self.deadline}" if self.deadline is not None else ""
        clause = f"{self.missed:,} of {self.asked:,} missed{against}"
        if self.undecided:
            clause += f", {self.undecided:,} undecided, {self.share_text}: {self.reason}"
        elif self.rate is not None:
            clause += f", {self.share_text}"
        elif self.missed:
            clause += f", {self.share_text}; long-run rate unknown: {self.reason}"
        if self.never and self.late:
            clause += f"; {self.never:,} did not happen, {self.late:,} ended late"
        elif self.late is None:
            clause += "; late cycles unknown"
        if self.cold_late:
            clause += f"; {self.cold_late:,} of {self.cold:,} cold cycles late, excluded"
        return clause

    @property
    def sentence(self) -> str:
        """The kinds of misses: "12 did not happen, 359 ended after 100 µs (command line)"."""
        parts = [f"{self.never:,} did not happen"] if self.never else []
        if self.late and self.deadline is not None:
            parts.append(f"{self.late:,} ended after {self.deadline}")
        if self.undecided:
            parts.append(f"{self.undecided:,} undecided: {self.reason}")
        if not parts and self.late == 0:
            parts.append(f"all within {self.deadline}")
        if self.late is None:
            why = self.deadline.reason if self.deadline is not None else ""
            parts.append(f"late cycles unknown: {why or 'no deadline is set'}")
        if self.cold_late:
            parts.append(
                f"{self.cold_late:,} of {self.cold:,} cold cycles were late and are excluded"
            )
        return ", ".join(parts)


def _percent(share: float) -> str:
    """A share in percent, three digits."""
    return plain(100.0 * share)


def parse_deadline(text: str) -> Asked:
    """Parses `[BENCH[ PARAM=VALUE…]=]QUANTITY` of `--deadline`. UsageError for anything else."""
    points, equals, quantity = text.rpartition("=")
    where = f"{_OPTION} {text}"
    return Asked(
        text=text.strip(),
        points=parse_points(points, where) if equals else None,
        quantity=parse_quantity(quantity, where),
    )


def check_asked(asked: Sequence[Asked], runs: Sequence[Run]) -> None:
    """UsageError for a deadline that applies to no record, or that no clock there can express."""
    for deadline in asked:
        concerned = [
            (run, entry)
            for run in runs
            for entry in run.manifest.records
            if deadline.concerns(entry.bench, entry.params)
        ]
        if not concerned:
            known = sorted({e.bench for run in runs for e in run.manifest.records})
            raise UsageError(
                f"{_OPTION} {deadline.text}: no such point was measured",
                remedy=f"Measured points: {', '.join(known) or 'none'}",
            )
        units = [unit_of(entry.unit, run.manifest.clock) for run, entry in concerned]
        if all(unit.amount(deadline.quantity) is None for unit in units):
            raise UsageError(
                f"{_OPTION} {deadline.text}: {units[0].cannot_carry(deadline.quantity)}",
                remedy=f"Give the deadline in {units[0].label}",
            )


def deadline_of(
    entry: RecordEntry, unit: Unit, asked: Sequence[Asked] = (), lane: int = 0
) -> Deadline | None:
    """The deadline of a record: the command line's, else its own, else its period, else None.

    A period is a time: without a clock that keeps time it is no deadline.

    The last of `asked` that applies to the record wins. `lane` is the number of the lane, because
    threads of different periods have different defaults.
    """
    for deadline in reversed(asked):
        if deadline.concerns(entry.bench, entry.params):
            return _stated(deadline.quantity, "command line", unit)
    if entry.deadline is not None:
        quantity = parse_quantity(entry.deadline.quantity, f"{entry.bench}: deadline")
        return _stated(quantity, entry.deadline.origin, unit)
    period_us = entry.period_us(lane)
    if not period_us or not unit.keeps_time:
        return None
    return _stated(Quantity(period_us, "us"), "period", unit)


def _stated(quantity: Quantity, origin: DeadlineOrigin, unit: Unit) -> Deadline:
    limit = unit.amount(quantity)
    why = "" if limit is not None else unit.cannot_carry(quantity)
    return Deadline(quantity, origin, limit, why)


def misses_of(
    runs: Sequence[tuple[Run, RecordEntry, Sequence[tuple[LaneEntry, Samples, int]]]],
    asked: Sequence[Asked] = (),
) -> Misses | None:
    """Misses of a point in one or several runs; None without a deadline and without a miss.

    Each run comes with the lanes to count, each with its samples (taken,) in ticks, in time order,
    and the number of cold ones; `runs.point_misses` fetches them.
    """
    parts = [_lane(run, entry, *lane, asked) for run, entry, lanes in runs for lane in lanes]
    stated = [part.deadline for part in parts if part.deadline]
    deadline = stated[0] if stated else None
    if not parts or (deadline is None and not any(part.entry.missed for part in parts)):
        return None
    late = [part.late for part in parts]
    known = [count for count in late if count is not None]
    measured = sum(part.measured for part in parts)
    never = sum(part.entry.missed for part in parts)
    not_measured = sum(part.entry.not_measured for part in parts)
    rate, reason = _rate(runs, parts)
    return Misses(
        planned=measured + never + not_measured,
        measured=measured,
        never=never,
        late=sum(known) if len(known) == len(late) else None,
        not_measured=not_measured,
        cold=sum(part.cold for part in parts),
        cold_late=sum(part.cold_late for part in parts),
        deadline=deadline,
        rate=rate,
        reason=reason,
        undecided=sum(part.undecided for part in parts),
    )


@dataclass(frozen=True, eq=False)
class _Counted:
    """One lane: `cycles` (asked,) are 1 for misses; None if that is not recorded."""

    entry: LaneEntry
    deadline: Deadline | None
    measured: int
    late: int | None
    cold: int
    cold_late: int
    cycles: Samples | None
    undecided: int = 0


def _lane(
    run: Run,
    record: RecordEntry,
    entry: LaneEntry,
    samples: Samples,
    cold: int,
    asked: Sequence[Asked],
) -> _Counted:
    unit = unit_of(record.unit, run.manifest.clock)
    number = next((i for i, lane in enumerate(record.series) if lane.name == entry.name), 0)
    deadline = deadline_of(record, unit, asked, number)
    if not samples.size and entry.taken:  # edges of which no jitter is known: they happened
        first = min(record.cold, entry.taken)
        return _Counted(entry, deadline, entry.taken - first, None, first, 0, None)
    first = min(cold, samples.size)
    undecided = 0
    if deadline is not None and deadline.limit is not None:
        ends = _ends(run, record, entry, samples)
        is_late, perhaps = (end * np.float64(unit.scale) > deadline.limit for end in ends)
        undecided = int((is_late != perhaps)[first:].sum())
    elif deadline is not None and deadline.origin == "period" and not entry.overrun:
        is_late = np.zeros(samples.size, dtype=np.bool_)
    else:
        # A target counts overruns of its period itself, but does not record which samples they are.
        by_period = deadline is not None and deadline.origin == "period"
        late = min(entry.overrun, samples.size - first) if by_period else None
        return _Counted(entry, deadline, samples.size - first, late, first, 0, None)
    return _Counted(
        entry,
        deadline,
        samples.size - first,
        int(is_late[first:].sum()),
        first,
        int(is_late[:first].sum()),
        None if undecided else _cycles(run, record, entry, is_late, first),
        undecided,
    )


def _ends(
    run: Run, record: RecordEntry, entry: LaneEntry, samples: Samples
) -> tuple[Samples, Samples]:
    """The least and the largest that each sample may be: itself, unless a timing model has an
    interval for it."""
    if not has_interval(record, entry):
        return samples, samples
    least, largest = (at_end.samples(record, entry) for at_end in at_ends(run))
    return least, largest


def _cycles(
    run: Run, record: RecordEntry, entry: LaneEntry, is_late: Samples, cold: int
) -> Samples | None:
    """Whether each cycle missed, in time order; None if it is unknown which did not happen."""
    if not entry.missed:
        return is_late[cold:].astype(np.uint8)
    companion = record.companions(entry).get("cycle")
    if companion is None or companion.taken != is_late.size:
        return None
    given = run.samples(record, companion)  # floats next to float samples
    numbers = given.astype(np.int64)
    total = entry.taken + entry.missed
    if not np.array_equal(numbers, given) or not _within(numbers, total):
        return None
    cycles = np.ones(total, dtype=np.uint8)
    cycles[numbers] = is_late
    return np.delete(cycles, numbers[:cold])


def _within(numbers: Samples, total: int) -> bool:
    """Whether every cycle number is in [0, `total`)."""
    return numbers.size == 0 or (int(numbers.min()) >= 0 and int(numbers.max()) < total)


def _unknown(part: _Counted) -> str:
    """Why it is unknown which cycles of a lane missed; "" if it is known."""
    if part.deadline is None:
        return "no deadline is set: late cycles are not counted"
    if part.undecided:
        return f"{part.deadline} is inside the model's interval"
    if part.cycles is None and part.deadline.limit is None:
        return part.deadline.reason
    return "" if part.cycles is not None else "the cycles that did not happen were not recorded"


def _rate(
    runs: Sequence[tuple[Run, RecordEntry, Sequence[tuple[LaneEntry, Samples, int]]]],
    parts: Sequence[_Counted],
) -> tuple[Estimate | None, str]:
    """The miss rate with its interval, or why it is unknown."""
    unknown = next(filter(None, map(_unknown, parts)), "")
    if unknown:
        return None, unknown
    series, left = [], list(parts)
    for _, _, lanes in runs:
        run_parts, left = left[: len(lanes)], left[len(lanes) :]
        cycles = [part.cycles for part in run_parts if part.cycles is not None]
        # Lanes run in parallel: a pause that stops all of them is one occasion.
        shortest = min((lane_cycles.size for lane_cycles in cycles), default=0)
        if shortest:
            together = np.vstack([lane_cycles[:shortest] for lane_cycles in cycles])
            series.append(together.sum(axis=0, dtype=np.uint32))
    each = max((len(lanes) for _, _, lanes in runs), default=1)
    asked = sum(part.measured + part.entry.missed for part in parts)
    missed = sum((part.late or 0) + part.entry.missed for part in parts)
    try:
        estimate = miss_rate(series, each=each)
    except Undefined as error:
        return None, error.reason
    if estimate.low is None or estimate.high is None:
        return None, estimate.reason
    share = missed / asked
    return Estimate(
        share, min(estimate.low, share), max(estimate.high, share), estimate.confidence
    ), ""
