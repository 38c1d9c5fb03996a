# SPDX-License-Identifier: Apache-2.0
"""Pairs the marks of a capture: which edges begin and end samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kadenz.capture.waveform import GAP, NO_EDGES, Edges
from kadenz.config.clock_step import clock_step

_Ticks = npt.NDArray[np.int64]
_ENOUGH = 10_000  # distances between edges


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
    gaps: int = 0  # where nothing was recorded
    cut: int = 0  # samples of which a gap has a mark
    _apart: list[_Ticks] = field(default_factory=list)  # the first distances between edges
    _last: int | None = None
    _between: bool = False  # behind a gap no mark has come
    _resumed: bool = False
    _young: Edges = field(default_factory=lambda: NO_EDGES)  # may still turn out as glitches

    @property
    def step(self) -> float:
        """The analyser's step in ticks, as the distances between edges show it; 0.0 for none."""
        return clock_step(np.concatenate(self._apart)) if self._apart else 0.0

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
        """No sample spans a gap: what lies in it is unknown."""
        ends = [*np.flatnonzero(edges.channels == GAP), len(edges)]
        samples = [self._pair_whole(edges.where(slice(ends[0])))]
        for gap, end in pairwise(ends):
            self.gaps += 1
            self._resumed = self.open_at is None  # an END may follow whose BEGIN the gap has
            self.cut += not self._resumed
            self._between, self.open_at, self._last = True, None, None
            samples.append(self._pair_whole(edges.where(slice(gap + 1, end))))
        return np.concatenate(samples)

    def _pair_whole(self, edges: Edges) -> _Ticks:
        """Pairs edges without a gap between them."""
        if not len(edges):
            return np.empty(0, np.int64)
        self._look(edges.times)
        begins = (edges.channels == self.begin.channel) & (edges.high == self.begin.high)
        marks = begins | ((edges.channels == self.end.channel) & (edges.high == self.end.high))
        times, begins = edges.times[marks], begins[marks]
        if self.open_at is not None:
            times = np.concatenate((np.array([self.open_at]), times))
            begins = np.concatenate(([True], begins))
        if not times.size:
            return np.empty(0, np.int64)
        begins = _in_order(times, begins)
        if self._between and not begins[0]:
            self.cut += self._resumed
            times, begins = times[1:], begins[1:]
        self._between = False
        if not times.size:
            return np.empty(0, np.int64)
        after_begin = np.concatenate(([False], begins[:-1]))
        ends = np.flatnonzero(~begins & after_begin)
        self._note_strays(times, begins, after_begin)
        self.open_at = int(times[-1]) if begins[-1] else None
        spans: _Ticks = times[ends] - times[ends - 1]
        return spans

    def _look(self, times: _Ticks) -> None:
        """Keeps distances between edges until there are enough to show the step."""
        if sum(map(len, self._apart)) < _ENOUGH:
            before = times[:1] if self._last is None else np.array([self._last])
            self._apart.append(np.diff(np.concatenate((before, times))))
            self._last = int(times[-1])

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
