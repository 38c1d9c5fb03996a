# SPDX-License-Identifier: Apache-2.0
"""Pairs the marks of a capture: which edges begin and end samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kadenz.lab.capture.vcd import Edge


@dataclass(frozen=True)
class Mark:
    """An edge of a wire."""

    channel: str
    high: bool  # rising


@dataclass
class Pairing:
    """What was found on the way; its samples are yielded by `pair`."""

    begin: Mark
    end: Mark
    shortest: float = 0.0  # pulses below are glitches; in units of the timescale
    glitches: int = 0
    unpaired: int = 0
    first_unpaired: str = ""
    open_at: int | None = None  # a BEGIN at the end of the capture
    step: int = 0  # greatest common divisor of all distances between edges
    _pending: dict[str, Edge] = field(default_factory=dict)

    def pair(self, edges: Iterable[Edge]) -> Iterator[int]:
        """The length of each sample, in units of the timescale."""
        last: int | None = None
        for edge in self._clean(edges):
            self.step = math.gcd(self.step, edge.time - last if last is not None else 0)
            last = edge.time
            mark = Mark(edge.channel, edge.high)
            if mark == self.begin:
                if self.open_at is not None:
                    self._stray("BEGIN without END", self.open_at)
                self.open_at = edge.time
            elif mark == self.end:
                if self.open_at is None:
                    self._stray("END without BEGIN", edge.time)
                else:
                    yield edge.time - self.open_at
                    self.open_at = None

    def _stray(self, what: str, time: int) -> None:
        self.unpaired += 1
        self.first_unpaired = self.first_unpaired or f"{what} at {time}"

    def _clean(self, edges: Iterable[Edge]) -> Iterator[Edge]:
        """Without pulses that are shorter than `shortest`, in order."""
        for edge in edges:
            yield from self._settled(edge.time)
            if edge.channel in self._pending:
                del self._pending[edge.channel]
                self.glitches += 1
            else:
                self._pending[edge.channel] = edge
        yield from self._settled(math.inf)

    def _settled(self, now: float) -> list[Edge]:
        found = [one for one in self._pending.values() if now - one.time >= self.shortest]
        for one in found:
            del self._pending[one.channel]
        return sorted(found, key=lambda one: one.time)
