# SPDX-License-Identifier: Apache-2.0
"""What the rows of a CSV say about its times: their unit, their digits, how libsigrok made them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kadenz.capture.csv_head import UNITS, Head
from kadenz.errors import UsageError

_Ints = npt.NDArray[np.int64]
_LOOK = 1 << 18  # bytes at the beginning, and at the end
_SHORTEST_S, _LONGEST_S = 1e-6, 2 * 86_400.0  # of a capture that somebody makes
# Rows that repeat the one before, of a file with a row for each sample.
_FEWEST_REPEATED = 0.02
_FEWEST_ROWS = 4
_NO_FIGURE = re.compile(r"^[-+]?[0.]*|\.|[eE].*$")


@dataclass(frozen=True)
class Rows:
    """The first and the last rows of a file: cells of the first column, the rest as text."""

    first: Sequence[tuple[str, str]]
    last: Sequence[tuple[str, str]]

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """The first column of the first rows, up to a cell that is no finite number."""
        return _numbers([cell for cell, _ in self.first])

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last time; twice 0.0 for a file without any."""
        begin, end = self.times, _numbers([cell for cell, _ in reversed(self.last)])
        return (float(begin[0]), float(end[0])) if begin.size and end.size else (0.0, 0.0)

    @property
    def step(self) -> float:
        """The step of the largest time as it is printed, in the unit of the column.

        Six digits show 50 s in steps of 100 us, and more of the times before.
        """
        cells = [cell for cell, _ in (*self.first, *self.last)]
        digits = max((len(_NO_FIGURE.sub("", cell)) for cell in cells), default=0)
        largest = max(map(abs, self.ends))
        return float(10.0 ** (np.floor(np.log10(largest)) + 1 - digits)) if largest else 0.0


def read_rows(file: Path, head: Head) -> Rows:
    """The rows at both ends of a file, whole lines only."""
    with file.open("rb") as stream:
        stream.seek(head.body)
        first = stream.read(_LOOK)
        size = stream.seek(0, 2)
        at = stream.seek(max(head.body, size - _LOOK))
        last = stream.read(_LOOK)
    whole = first if len(first) < _LOOK else first[: first.rfind(b"\n") + 1]
    rest = last if at == head.body else last[last.find(b"\n") + 1 :]
    return Rows(_split(whole, head), _split(rest, head))


def _split(data: bytes, head: Head) -> list[tuple[str, str]]:
    parts = (line.partition(head.separator) for line in data.decode("latin-1").splitlines())
    return [(cell.strip(), rest) for cell, _, rest in parts if cell.strip()]


def _numbers(cells: Sequence[str]) -> npt.NDArray[np.float64]:
    numbers: list[float] = []
    for cell in cells:
        try:
            number = float(cell)
        except ValueError:
            break
        if not math.isfinite(number):
            break
        numbers.append(number)
    return np.array(numbers, np.float64)


def refuse_changes(file: Path, rows: Rows) -> None:
    """UsageError if the rows are changes: a sample rate says nothing about their times.

    With a row for each sample most rows repeat the one before; the last row of changes may.
    """
    texts = [(cell, rest.strip()) for cell, rest in rows.first[:-1]]
    repeated = sum(row == before for before, row in pairwise(texts))
    if len(texts) >= _FEWEST_ROWS and repeated < _FEWEST_REPEATED * len(texts):
        raise UsageError(
            f"{file}: its rows are changes, not samples: rows do not repeat the one before, so "
            "that a sample rate gives no times",
            remedy="Export the capture with a column of times, or with a row for each sample",
        )


def ask_unit(file: Path, head: Head, rows: Rows) -> UsageError:
    """The question for the unit of times, with the units under which the capture is plausible."""
    begin, end = rows.ends
    spans = {unit: abs(end - begin) * size for unit, size in UNITS.items()}
    likely = {unit: span for unit, span in spans.items() if _SHORTEST_S <= span <= _LONGEST_S}
    units = [f"--unit {unit} (it lasts {_duration(span)})" for unit, span in likely.items()]
    return UsageError(
        f"{file}: the times in its first column, `{head.names[0]}`, have no unit",
        remedy=f"Add it: {' or '.join(units) or '--unit ns, us, ms or s'}",
    )


def _duration(seconds: float) -> str:
    """ "4.65 ms", "1.29 h"."""
    for unit, size in (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def refuse_truncated(file: Path, unit_s: float, times: npt.NDArray[np.float64]) -> None:
    """UsageError if times (n,) advance by a period that no analyser has: libsigrok cut it.

    41 ns would be 24.39024... MHz; an analyser's rate is a whole number of Hz.
    """
    apart = np.diff(times)
    period = float(apart.min(initial=np.inf))
    usual = apart.size >= _FEWEST_ROWS and 2 * np.count_nonzero(apart == period) > apart.size
    if usual and period > 1.0 and period.is_integer() and round(1.0 / unit_s) % period:
        raise UsageError(
            f"{file}: its times advance by {period:g} of their unit, a period that divides "
            "no second: libsigrok up to version 0.5.2 cuts the period",
            remedy="Give the sample rate instead of the unit, for example --sample-rate 24MHz",
        )


@dataclass(frozen=True)
class Counting:
    """How libsigrok made a time of the number of a sample: number = (time + shift) / period."""

    period: float
    shift: float = 0.0


def counting(file: Path, rate_hz: float, times: npt.NDArray[np.float64]) -> Counting | None:
    """How the version of libsigrok that wrote some times (n,) made them; None for neither way.

    Up to 0.5.2 it adds up the period, cut to a whole number of its unit: 41 ns at 24 MHz. Later
    ones cut or round each time: 41, 83, 125 ns (sigrok bug 1027). Each way has times that the
    other does not. UsageError for so few that both ways remain and differ.
    """
    if not times.size or (times != np.rint(times)).any():
        return None
    whole, rate, scale = times.astype(np.int64), round(rate_hz), 1
    while scale < rate:
        scale *= 1000
    exact = scale / rate_hz
    ways: list[tuple[Counting, Callable[[_Ints], _Ints]]] = [
        (Counting(exact, 0.5), lambda number: number * scale // rate),
        (Counting(exact), lambda number: (2 * number * scale + rate) // (2 * rate)),
        (Counting(scale // rate), lambda number: number * (scale // rate)),
    ]
    fits = []
    for way, time_of in ways:
        numbers = np.rint((times + way.shift) / way.period).astype(np.int64)
        if (time_of(numbers) == whole).all():
            fits.append((way, numbers - numbers[0]))
    if fits and any((numbers != fits[0][1]).any() for _, numbers in fits):
        raise UsageError(
            f"{file}: too few times to tell which version of libsigrok wrote them",
            remedy="Export the session itself (.sr), or a longer capture",
        )
    return fits[0][0] if fits else None
