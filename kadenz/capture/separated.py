# SPDX-License-Identifier: Apache-2.0
"""Reads the CSV of an analyser: Saleae's Logic, sigrok-cli, PulseView, and others like them.

A row has the levels at one time, each sample or each change. Times come from a first column, or
from the sample rate and the number of the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kadenz.capture.csv_head import UNITS, Head, read_head
from kadenz.capture.csv_times import (
    Rows,
    ask_unit,
    counting,
    read_rows,
    refuse_changes,
    refuse_truncated,
)
from kadenz.capture.sample_rate import parse_rate
from kadenz.capture.waveform import Edges, Levels, Progress, damaged
from kadenz.errors import UsageError

_BLOCK = 1 << 21  # bytes
_TICK_NS = 1e-3  # of a column of seconds: its picoseconds are exact up to 4,096 s
_MOST_TICKS = 2.0**62
_Rows = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Separated:
    """The head of a file, and how its first column gives ticks."""

    file: Path
    head: Head
    tick_ns: float
    columns: Mapping[str, int]  # channel -> column
    ticks: float = 0.0  # in a unit of the first column; 0.0 if rows are counted
    shift: float = 0.0  # added to the first column
    step: float = 0.0
    printed_step: float = 0.0

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its columns of levels."""
        return tuple(self.columns)

    def edges(self, channels: tuple[str, ...], progress: Progress) -> Iterator[Edges]:
        """The edges of some channels, as `Waveform` says."""
        used = [self.columns[name] for name in channels]
        rows = _RowReader(self, [0, *used] if self.ticks else used)
        levels = Levels(len(channels))
        with self.file.open("rb") as stream:
            stream.seek(self.head.body)
            while data := stream.read(_BLOCK):
                data += stream.readline(_BLOCK)
                times, values = rows.read(data.decode("latin-1").splitlines())
                yield levels.edges(times, values)
                if rows.damage is not None:
                    raise damaged(self.file, *rows.damage)
                progress(stream.tell())


@dataclass
class _RowReader:
    """Rows to times and levels; `damage` is the first row that is none."""

    file: Separated
    used: Sequence[int]
    damage: tuple[str, str] | None = None  # where, and what
    _read: int = 0
    _last: int = -(2**63)

    def read(self, lines: list[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """The next rows, up to the `damage`."""
        rows, good = self._parse(lines)
        if good < len(lines):
            self._damaged(lines, good, "not numbers for all channels")
        times, known, levels = self._times(rows)
        fit = known & ((levels == 0) | (levels == 1)).all(axis=1)
        if not fit.all():
            good = int(np.argmin(fit))
            self._damaged(lines, good, self._odd(rows[good], bool(known[good])))
        self._read += good
        self._last = int(times[good - 1]) if good else self._last
        return times[:good], levels[:good].astype(np.uint8)

    def _times(self, rows: _Rows) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], _Rows]:
        """In ticks; which are true; the rest of the columns."""
        if not self.file.ticks:
            times = np.arange(self._read, self._read + len(rows), dtype=np.int64)
            return times, np.ones(len(rows), np.bool_), rows
        ticks = (rows[:, 0] + self.file.shift) * self.file.ticks
        known = np.abs(ticks) < _MOST_TICKS  # neither too far nor not a number
        times = np.rint(np.where(known, ticks, 0)).astype(np.int64)
        known[1:] &= times[1:] >= times[:-1]
        known[:1] &= times[:1] >= self._last
        return times, known, rows[:, 1:]

    def _odd(self, row: npt.NDArray[np.float64], known: bool) -> str:
        """The damage of a row, in words."""
        if known:
            return "a level is not 0 or 1"
        if abs(row[0] * self.file.ticks) < _MOST_TICKS:
            return "its time is before the last one"
        return "its time is beyond 50 days: is the unit of the times right?"

    def _damaged(self, lines: list[str], at: int, what: str) -> None:
        where = f"in line {self.file.head.line + self._read + at}"
        self.damage = where, f"`{lines[at][:60].strip()}`: {what}"

    def _parse(self, lines: list[str]) -> tuple[_Rows, int]:
        """The rows up to the first line that is none, and their number."""
        rows = self._rows(lines)
        if rows is not None:
            return rows, len(lines)
        low, high = 0, len(lines)  # the first `low` lines are rows; not all of the first `high`
        while high - low > 1:
            middle = (low + high) // 2
            if self._rows(lines[low:middle]) is not None:
                low = middle
            else:
                high = middle
        leading_rows = self._rows(lines[:low]) if low else None
        return (np.empty((0, len(self.used))), 0) if leading_rows is None else (leading_rows, low)

    def _rows(self, lines: list[str]) -> _Rows | None:
        if not all(map(str.strip, lines)):  # numpy leaves empty lines out
            return None
        separator = self.file.head.separator
        try:
            return np.loadtxt(lines, delimiter=separator, usecols=self.used, comments=None, ndmin=2)
        except ValueError:
            return None


def open_separated(file: Path, rate_hz: float = 0.0, unit: str = "") -> Separated:
    """Reads the head and looks at the rows.

    `rate_hz` is that of rows without times, 0.0 if the file has to tell it; `unit` that of times
    whose unit the file does not state. UsageError for a file that is no CSV, or whose times are
    unknown.
    """
    with file.open("rb") as stream:
        head = read_head(file, stream)
    rows = read_rows(file, head)
    stated = parse_rate(head.notes.get("samplerate", ""))
    timed = head.first == "time"
    if unit and (head.unit_s or not timed):
        raise UsageError(f"{file}: states its times itself", remedy="Leave out --unit")
    if rate_hz and (stated or (timed and not head.may_count_periods)):
        raise UsageError(
            f"{file}: states its times itself",
            remedy="Leave out --sample-rate"
            + ("" if head.unit_s or stated else ", and add --unit"),
        )
    first = int(head.first != "level")
    columns = {name: first + place for place, name in enumerate(head.names[first:])}
    plain = Separated(file, head, _TICK_NS, columns)
    rate = stated or rate_hz
    return _timed(plain, rows, rate, unit) if timed else _counted(plain, rows, rate)


def _timed(plain: Separated, rows: Rows, rate: float, unit: str) -> Separated:
    """With a column of times. Those of libsigrok are numbers of samples in disguise."""
    head = plain.head
    if head.counts_periods and not rate:
        raise UsageError(
            f"{plain.file}: has times of libsigrok without their sample rate; up to version 0.5.2 "
            "they are wrong by up to half",
            remedy="Add the sample rate, for example --sample-rate 24MHz",
        )
    counting_way = (
        counting(plain.file, rate, rows.times) if head.may_count_periods and rate else None
    )
    if counting_way is not None:
        if unit:
            raise UsageError(f"{plain.file}: states its times itself", remedy="Leave out --unit")
        factor = 1 / counting_way.period
        return replace(plain, tick_ns=1e9 / rate, ticks=factor, shift=counting_way.shift, step=1.0)
    unit_s = head.unit_s or UNITS.get(unit, 0.0)
    if not unit_s:
        raise ask_unit(plain.file, head, rows)
    if head.may_count_periods:
        refuse_truncated(plain.file, unit_s, rows.times)
    per_unit = unit_s * 1e9 / _TICK_NS
    step = 1e9 / rate / _TICK_NS if rate else 0.0
    return replace(plain, ticks=per_unit, step=step, printed_step=rows.step * per_unit)


def _counted(plain: Separated, rows: Rows, rate: float) -> Separated:
    """With the number of each sample, or with a row for each."""
    if not rate:
        raise UsageError(
            f"{plain.file}: has neither a column of times nor a sample rate",
            remedy="Add the sample rate, for example --sample-rate 24MHz",
        )
    numbered = plain.head.first == "number"
    if not numbered:
        refuse_changes(plain.file, rows)
    return replace(plain, tick_ns=1e9 / rate, ticks=float(numbered), step=1.0)
