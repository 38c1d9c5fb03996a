# SPDX-License-Identifier: Apache-2.0
"""Pairs the marks of a capture: which edges begin and end samples."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kadenz.lab.capture.waveform import NO_EDGES, Edges

_Ticks = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mark:
    """An edge of a channel, which is named by its place."""

    channel: int
    high: bool  # rising


@dataclass
class Pairing:
    """Pairs blocks of edges as they come; what it found on the way."""

    begin: Mark
    end: Mark
    shortest: float = 0.0  # pulses below are glitches; in ticks
    glitches: int = 0
    unpaired: int = 0
    first_unpaired: tuple[str, int] | None = None  # what, and when
    open_at: int | None = None  # a BEGIN without its END so far
    step: int = 0  # greatest common divisor of all distances between edges
    _last: int | None = None
    _young: Edges = field(default_factory=lambda: NO_EDGES)  # may still turn out as glitches

    def pair(self, edges: Edges) -> _Ticks:
        """The lengths in ticks of the samples that end in this block."""
        return self._pair(self._settled(edges) if self.shortest else edges)

    def finish(self) -> _Ticks:
        """The lengths of the last samples: no further edge comes."""
        young, self._young = self._young, NO_EDGES
        return self._pair(young)

    def _settled(self, edges: Edges) -> Edges:
        """Without glitches; edges that the next block may turn into some are held back."""
        every = self._young.then(edges)
        if not len(every):
            return every
        kept = np.ones(len(every), np.bool_)
        for channel in {self.begin.channel, self.end.channel}:
            mine = np.flatnonzero(every.channels == channel)
            kept[mine] = self._no_glitch(every.times[mine])
        young = kept & (every.times > every.times[-1] - self.shortest)
        self._young = every.where(young)
        return every.where(kept & ~young)

    def _no_glitch(self, times: _Ticks) -> npt.NDArray[np.bool_]:
        """Edges of one channel that stay: from the left, two in a row that are too close go."""
        if not times.size:
            return np.ones(0, np.bool_)
        apart = np.diff(times) >= self.shortest
        firsts = np.flatnonzero(np.concatenate(([True], apart)))
        sizes = np.diff(np.append(firsts, times.size))
        kept = np.zeros(times.size, np.bool_)
        odd = sizes % 2 == 1
        kept[(firsts + sizes - 1)[odd]] = True
        self.glitches += int((sizes // 2).sum())
        return kept

    def _pair(self, edges: Edges) -> _Ticks:
        if not len(edges):
            return np.empty(0, np.int64)
        self._measure_step(edges.times)
        begins = (edges.channels == self.begin.channel) & (edges.high == self.begin.high)
        marks = begins | ((edges.channels == self.end.channel) & (edges.high == self.end.high))
        times, begins = edges.times[marks], begins[marks]
        if self.open_at is not None:
            times = np.concatenate((np.array([self.open_at]), times))
            begins = np.concatenate(([True], begins))
        if not times.size:
            return np.empty(0, np.int64)
        begins = _in_order(times, begins)
        after_begin = np.concatenate(([False], begins[:-1]))
        ends = np.flatnonzero(~begins & after_begin)
        self._note_strays(times, begins, after_begin)
        self.open_at = int(times[-1]) if begins[-1] else None
        spans: _Ticks = times[ends] - times[ends - 1]
        return spans

    def _measure_step(self, times: _Ticks) -> None:
        before = times[:1] if self._last is None else np.array([self._last])
        self._last = int(times[-1])
        if self.step == 1:
            return
        apart = np.diff(np.concatenate((before, times)))
        if not self.step or (apart % self.step).any():
            self.step = int(np.gcd(self.step, np.gcd.reduce(apart)))

    def _note_strays(
        self, times: _Ticks, begins: npt.NDArray[np.bool_], after_begin: npt.NDArray[np.bool_]
    ) -> None:
        strays = np.flatnonzero(begins == after_begin)
        self.unpaired += int(strays.size)
        if strays.size and self.first_unpaired is None:
            at = int(strays[0])
            if begins[at]:
                self.first_unpaired = "BEGIN without END", int(times[at - 1])
            else:
                self.first_unpaired = "END without BEGIN", int(times[at])


def _in_order(times: _Ticks, begins: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Gives a BEGIN and an END of one time their order: the END of an open sample is first."""
    tied = (times[1:] == times[:-1]) & (begins[1:] != begins[:-1])
    if not tied.any():
        return begins
    begins = begins.copy()
    for at in np.flatnonzero(tied):
        if begins[at] != begins[at + 1]:  # as the one before has left them
            opened = bool(at) and bool(begins[at - 1])
            begins[at], begins[at + 1] = not opened, opened
    return begins
