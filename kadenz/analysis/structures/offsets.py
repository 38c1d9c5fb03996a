# SPDX-License-Identifier: Apache-2.0
"""A call beside another core that begins to work at an offset, which goes up from sample to sample:
the offset of the worst, and what is drawn over the offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kadenz.analysis.structures import Show, Structure
from kadenz.analysis.units import Unit
from kadenz.config.manifest import OFFSET, LaneEntry, RecordEntry
from kadenz.store import Run

_BEGIN, _OTHER = OFFSET
_WINDOW = ("before", "behind")  # parameters: its ends, in ticks from the call's begin
_CELLS = 2000  # of a curve, at most


@dataclass(frozen=True, eq=False)
class Offsets(Structure):
    """The offsets of one record, in ticks of its clock: how many different ones were tried, the
    first and the last, the most between two neighbours, and how many samples were beside the
    planned window. `worst` has the offsets of the largest sample, the nearest to the begin of the
    call first.

    A curve: the first offset of each of at most 2,000 cells (c,), and the most in it (c,).
    """

    tried: int
    first: int
    last: int
    apart: int
    outside: int
    max: float
    worst: tuple[int, ...]
    at: npt.NDArray[np.int64]
    most: npt.NDArray[np.float64]

    def row(self, unit: Unit) -> dict[str, Any]:
        names = ("tried", "first", "last", "apart", "outside")
        return {"offsets": {name: getattr(self, name) for name in names} | {"worst": self.worst[0]}}

    def sentence(self, show: Show, unit: str) -> str:
        return f"{self.coverage}; the largest, {show(self.max)} {unit}, at {self.place}. {PREMISE}"

    def status(self, show: Show) -> str:
        return f"worst at {self.place}"

    @property
    def place(self) -> str:
        """Where the largest sample was: "offset −21 and 3 others"."""
        others = len(self.worst) - 1
        more = f" and {others:,} other{'s' * (others > 1)}" if others else ""
        return f"offset {signed(self.worst[0])}{more}"

    @property
    def coverage(self) -> str:
        """Which offsets were tried."""
        near = f", at most {self.apart:,} apart" if self.tried > 1 else ""
        said = f"{self.tried:,} offsets from {signed(self.first)} to {signed(self.last)}{near}"
        late = f"{self.outside:,} sample{'s' * (self.outside > 1)} beside the window"
        return f"{said}; {late}" if self.outside else said

    @classmethod
    def of(cls, run: Run, entry: RecordEntry) -> Offsets | None:
        """Of a record whose samples have both companions. None if they are damaged or empty."""
        lane = entry.series[0] if entry.series else None
        beside = entry.companions(lane) if lane is not None else {}
        if lane is None or not {*OFFSET} <= beside.keys():
            return None
        samples, offsets = _warm(run, entry, lane), _offsets(run, entry)
        if offsets is None or samples.size != offsets.size or samples.size == 0:
            return None
        inside = _inside(entry, offsets)
        tried, cells = np.unique(offsets[inside], return_inverse=True)
        if tried.size == 0:
            return None
        most = np.zeros(tried.size)
        np.maximum.at(most, cells, samples[inside].astype(np.float64))
        first = np.arange(0, tried.size, -(-tried.size // _CELLS))
        return cls(
            tried=int(tried.size),
            first=int(tried[0]),
            last=int(tried[-1]),
            apart=int(np.diff(tried).max(initial=0)),
            outside=int((~inside).sum()),
            max=float(samples.max()),
            worst=tuple(sorted(np.unique(offsets[samples == samples.max()]).tolist(), key=abs)),
            at=tried[first],
            most=np.maximum.reduceat(most, first),
        )


PREMISE = (
    "Exhaustive only over these offsets, in ticks of the clock, for this image and this path. No "
    "bound for other calls, more cores, or another state of kernel and caches"
)


def signed(offset: int) -> str:
    """An offset with a minus sign."""
    return f"{offset:,}".replace("-", "−")


def _warm(run: Run, entry: RecordEntry, lane: LaneEntry) -> npt.NDArray[Any]:
    return run.samples(entry, lane)[entry.cold :]


def _offsets(run: Run, entry: RecordEntry) -> npt.NDArray[np.int64] | None:
    """The begin of the other core less that of the call (n,); None if one has more of them."""
    beside = entry.companions(entry.series[0])
    begin, other = (_warm(run, entry, beside[kind]).astype(np.int64) for kind in OFFSET)
    return other - begin if begin.size == other.size else None


def _inside(entry: RecordEntry, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of them are in the window that the record names; all without one."""
    if not {*_WINDOW} <= entry.params.keys():
        return np.ones(offsets.size, dtype=np.bool_)
    before, behind = (float(entry.params[name]) for name in _WINDOW)
    inside: npt.NDArray[np.bool_] = (offsets >= -before) & (offsets <= behind)
    return inside
