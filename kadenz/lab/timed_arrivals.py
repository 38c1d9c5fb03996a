# SPDX-License-Identifier: Apache-2.0
"""Arrivals that a timer of the board raised: from companions of samples to lanes of a record.

The image sends, beside each sample, when the request came after BEGIN, and how long the handler and
the thread took (suite/include/kadenz/arming.h); zeros beside a sample without an arrival.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import ARRIVALS, RaisedEntry
from kadenz.targets.arrivals import Asked
from kadenz.wire.messages import Begin, companion
from kadenz.wire.records import Ending

PHASE = "phase"
_KINDS = (PHASE, *ARRIVALS)


@dataclass
class TimedArrivals:
    """What one record has of them so far."""

    begin: Begin
    asked: Asked
    counted: bool  # two runs give the same bytes
    _values: list[list[NDArray[Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._values = [[] for _ in self.begin.lanes]

    @staticmethod
    def are_in(begin: Begin) -> bool:
        """Whether a record that begins has them."""
        return tuple(companion(name)[1] for name in begin.lanes[1:]) == _KINDS

    @property
    def undisturbed(self) -> int:
        """The first samples, which have no arrival."""
        return self.asked.sample + 1

    def take(self, lane: int, values: NDArray[Any]) -> NDArray[Any]:
        """Keeps values of a lane of the wire; those of samples of the service are returned."""
        before = sum(map(len, self._values[lane]))
        self._values[lane].append(values)
        return values[: max(0, self.undisturbed - before)] if lane == 0 else values[:0]

    @property
    def rows(self) -> dict[str, NDArray[np.uint32]]:
        """Phase, handler and task of each arrival (n,), in the order of phases."""
        columns = [np.concatenate([*each, np.empty(0, "<u4")]) for each in self._values[1:]]
        whole = min(map(len, columns))
        columns = [column[:whole].astype(np.uint32) for column in columns]
        met = np.flatnonzero(columns[0] > 0)
        order = met[np.argsort(columns[0][met], kind="stable")]
        return {kind: column[order] for kind, column in zip(_KINDS, columns, strict=True)}

    @property
    def _distance(self) -> int:
        """Between two phases, in ticks of the clock."""
        return self.asked.step * max(1, self.begin.device_ticks)

    @property
    def missing(self) -> int:
        """Phases before the last one that no arrival had."""
        steps = (np.diff(self.rows[PHASE].astype(np.int64), prepend=0) - 1) // self._distance
        return int(steps.clip(min=0).sum())

    @property
    def raised(self) -> RaisedEntry:
        """Who raised them. They are exact if each phase was tried once, and the service took the
        same time in each sample without an arrival."""
        once = bool((np.diff(self.rows[PHASE].astype(np.int64), prepend=0) == 1).all())
        spans = np.concatenate(self._values[0])[: self.undisturbed]
        same = bool((spans == spans[0]).all())
        return RaisedEntry(
            by=self.begin.device,
            resolution=max(1, self.begin.device_ticks),
            step=self.asked.step,
            exact=once and same and self.counted,
        )

    def ending(self, ending: Ending) -> Ending:
        """How a record ends that ended so on the target, which ends its samples itself when every
        arrival was tried."""
        if ending.status != "ok":
            return ending
        tried = len(self.rows[PHASE])
        if not tried:
            return Ending("invalid", "no arrival came in a sample")
        spans = np.concatenate(self._values[0])
        if len(spans) < self.begin.planned:
            return Ending("ok", "")
        planned = int(spans[: self.undisturbed].max()) // self._distance
        step = self.asked.step * (planned * 5 // (4 * tried) + 1)  # some are repeated
        return Ending(
            "invalid",
            f"its samples suffice for {tried:,} of {planned:,} arrivals: try one in {step}, with "
            f"--step {step}",
        )
