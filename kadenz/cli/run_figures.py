# SPDX-License-Identifier: Apache-2.0
"""Figures of a record while it is measured, and the remaining time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.analysis.deadlines import deadline_of
from kadenz.analysis.modelled import has_interval
from kadenz.analysis.units import unit_of
from kadenz.config.manifest import ClockEntry, RecordEntry
from kadenz.config.params import PERIOD, Value, number
from kadenz.lab.plan import Point

_PARTS = 64  # bins of an octave: the running median is off by at most 1.1 %


class Running:
    """Minimum, median, maximum and misses of the samples so far, over all lanes."""

    def __init__(self, record: RecordEntry, clock: ClockEntry) -> None:
        self._record = record
        self._unit = unit_of(record.unit, clock)
        self._bins = np.zeros(34 * _PARTS, dtype=np.int64)
        self._least, self._most = math.inf, -math.inf
        self._taken = [0] * len(record.lanes)
        self._begun: dict[str, int] = {}  # cycles, by lane
        self._late = 0

    @property
    def taken(self) -> int:
        """Samples so far, without companions."""
        lanes = zip(self._record.lanes, self._taken, strict=True)
        return sum(taken for lane, taken in lanes if not lane.companion_of)

    @property
    def missed(self) -> int:
        """Cycles that did not happen, as far as cycle numbers show, plus cycles that ended late."""
        lanes = zip(self._record.lanes, self._taken, strict=True)
        never = [max(0, self._begun.get(lane.name, taken) - taken) for lane, taken in lanes]
        return sum(never) + self._late

    def add(self, lane: int, values: NDArray[Any]) -> None:
        """Adds the next values of a lane or a companion."""
        entry = self._record.lanes[lane]
        if not len(values):
            return
        if entry.companion_of:
            if entry.name.endswith(":cycle"):
                self._begun[entry.companion_of] = int(values[-1]) + 1
            return
        cold = max(0, self._record.cold - self._taken[lane])
        self._taken[lane] += len(values)
        warm = values[cold:]
        if not len(warm):
            return
        self._least = min(self._least, float(warm.min()))
        self._most = max(self._most, float(warm.max()))
        octaves = np.log2(np.maximum(warm, 0).astype(np.float64) + 1.0)
        places = np.minimum((octaves * _PARTS).astype(np.int64), self._bins.size - 1)
        self._bins += np.bincount(places, minlength=self._bins.size)
        number = [series.name for series in self._record.series].index(entry.name)
        deadline = deadline_of(self._record, self._unit, lane=number)
        if deadline is not None and deadline.limit is not None:
            self._late += int((warm * np.float64(self._unit.scale) > deadline.limit).sum())

    @property
    def text(self) -> str:
        """ "min 3.1, median 8.2, max 57 µs, 3 missed"; "" before the first warm sample."""
        if self._most < self._least:
            return ""
        half = int(np.searchsorted(np.cumsum(self._bins), (self._bins.sum() + 1) // 2))
        median = 2.0 ** ((half + 0.5) / _PARTS) - 1.0
        median = min(max(median, self._least), self._most)
        least, most = (f"{self._unit.figure(ticks):,.4g}" for ticks in (self._least, self._most))
        middle = f"{float(f'{self._unit.figure(median):.2g}'):,g}"  # the bins give no more digits
        figures = f"min {least}, median {middle}, max {most} {self._unit.label}"
        if any(has_interval(self._record, lane) for lane in self._record.series):
            return (
                figures  # a sample is the middle of its interval, which does not say what is late
            )
        return f"{figures}, {self.missed:,} missed"


class TimeLeft:
    """Remaining seconds of a target's points. Periodic points count by their period, others by
    the pace of the records done so far."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._waiting = {point.id: point for point in points}
        self._paced_s = 0.0  # of finished records without a period
        self._paced_samples = 0
        self._is_swept = False  # the open record
        self._open: tuple[Point, float, float | None] | None = (
            None  # point, start, periodic duration in s
        )

    def opened(self, record: int, params: Mapping[str, Value], now: float) -> None:
        """A record begins at `now`, in seconds on any clock."""
        point = self._waiting.pop(record, None)
        if point is not None:
            self._is_swept = False
            self._open = point, now, _periodic_s(point, params)

    def swept(self) -> None:
        """The open record takes as long as its arrivals take, whatever its period is."""
        if self._open is not None:
            self._open, self._is_swept = (*self._open[:2], None), True

    def closed(self, record: int, now: float) -> None:
        """A record is complete, or was lost before it began."""
        self._waiting.pop(record, None)
        if self._open is None:
            return
        point, since, own_s = self._open
        if own_s is None:
            self._paced_s += now - since
            self._paced_samples += point.samples
        self._open = None

    def seconds(self, now: float, share: float = 0.0) -> float | None:
        """Remaining seconds at `now`, with `share` of the open record done; None while unknown."""
        total = 0.0
        if self._open is not None:
            point, since, own_s = self._open
            took = now - since
            if own_s is not None:
                total += max(0.0, own_s - took)
            elif share > 0.0:
                total += took * (1.0 - share) / share
            else:
                paced = None if self._is_swept else self._paced(point)
                if paced is None:
                    return None
                total += max(0.0, paced - took)
        for point in self._waiting.values():
            own_s = _periodic_s(point, point.params)
            paced = own_s if own_s is not None else self._paced(point)
            if paced is None:
                return None
            total += paced
        return total

    def _paced(self, point: Point) -> float | None:
        if not self._paced_samples:
            return None
        return point.samples * self._paced_s / self._paced_samples


def _periodic_s(point: Point, params: Mapping[str, Value]) -> float | None:
    period_us = number(params, PERIOD)
    return point.samples * period_us * 1e-6 if period_us else None


def time_text(seconds: float | None) -> str:
    """ "ETA 1:05"; "ETA –" while unknown."""
    if seconds is None:
        return "ETA –"
    whole = math.ceil(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"ETA {hours}:{minutes:02}:{whole % 60:02}"
    return f"ETA {minutes}:{whole % 60:02}"
