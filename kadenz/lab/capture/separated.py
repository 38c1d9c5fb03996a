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

from kadenz.errors import UsageError
from kadenz.lab.capture.csv_head import Head, read_head
from kadenz.lab.capture.sample_rate import parse_rate
from kadenz.lab.capture.waveform import Edges, Levels, Progress, damaged

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
    step: int = 0

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
            late = "a level is not 0 or 1" if known[good] else "its time is before the last one"
            self._damaged(lines, good, late)
        self._read += good
        self._last = int(times[good - 1]) if good else self._last
        return times[:good], levels[:good].astype(np.uint8)

    def _times(self, rows: _Rows) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], _Rows]:
        """In ticks; which are true; the rest of the columns."""
        if not self.file.ticks:
            times = np.arange(self._read, self._read + len(rows), dtype=np.int64)
            return times, np.ones(len(rows), np.bool_), rows
        ticks = rows[:, 0] * self.file.ticks
        known = np.abs(ticks) < _MOST_TICKS  # neither too far nor not a number
        times = np.rint(np.where(known, ticks, 0)).astype(np.int64)
        known[1:] &= times[1:] >= times[:-1]
        known[:1] &= times[:1] >= self._last
        return times, known, rows[:, 1:]

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
        found = self._rows(lines[:low]) if low else None
        return (np.empty((0, len(self.used))), 0) if found is None else (found, low)

    def _rows(self, lines: list[str]) -> _Rows | None:
        if not all(map(str.strip, lines)):  # numpy leaves empty lines out
            return None
        separator = self.file.head.separator
        try:
            return np.loadtxt(lines, delimiter=separator, usecols=self.used, comments=None, ndmin=2)
        except ValueError:
            return None


def open_separated(file: Path, rate_hz: float = 0.0) -> Separated:
    """Reads the head; `rate_hz` is that of rows without times, 0.0 if the file has to tell it.

    UsageError for a file that is no CSV, or whose times are unknown.
    """
    with file.open("rb") as stream:
        head = read_head(file, stream)
    first = int(head.first != "level")
    columns = {name: first + place for place, name in enumerate(head.names[first:])}
    rate = parse_rate(head.notes.get("samplerate", ""))
    if rate_hz and (rate or head.first == "time"):
        raise UsageError(f"{file}: states its times itself", remedy="Leave out --sample-rate")
    rate = rate or rate_hz
    seconds = Separated(file, head, _TICK_NS, columns, head.unit_s * 1e9 / _TICK_NS)
    if head.first == "time" and not (head.by_libsigrok and rate):
        return seconds
    if not rate:
        raise UsageError(
            f"{file}: has neither a column of times nor a sample rate",
            remedy="Add the sample rate, for example --sample-rate 24MHz",
        )
    counted = replace(seconds, tick_ns=1e9 / rate, ticks=float(first), step=1)
    if head.first == "time":
        return replace(counted, ticks=1 / _libsigrok_period(rate))
    return counted


def _libsigrok_period(rate_hz: float) -> int:
    """How far libsigrok 0.5 advances its times by a sample.

    It cuts the period to a whole number of its unit: 41 ns at 24 MHz instead of 41.67.
    """
    scale = 1
    while scale < rate_hz:
        scale *= 1000
    return int(scale // rate_hz)
