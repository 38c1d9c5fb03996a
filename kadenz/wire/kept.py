# SPDX-License-Identifier: Apache-2.0
"""Whole records from a stream of bytes, kept in memory: for benches, tests and short programs.

Samples and their companions have different names, so that a program cannot mistake cycle numbers
for latencies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.wire.decoder import Decoder
from kadenz.wire.messages import Begin, End, companion
from kadenz.wire.records import Assembler, Ending

CHUNK = 1 << 18  # bytes decoded at once
UNFINISHED = Ending("failed", "the stream ended before the record did")


@dataclass
class KeptRecord:
    """One record; `end` is None if the target's END is missing.

    `samples[lane]` are the values (n,) in time order; `companions[lane][kind]` are the values (n,)
    recorded with them, "cycle" or "cpu".
    """

    begin: Begin
    end: End | None = None
    ending: Ending = UNFINISHED
    samples: dict[str, NDArray[Any]] = field(default_factory=dict)
    companions: dict[str, dict[str, NDArray[Any]]] = field(default_factory=dict)

    def together(self) -> NDArray[Any]:
        """The samples of all lanes (n,), lane after lane."""
        return np.concatenate(list(self.samples.values()))

    def count(self, what: str) -> int:
        """`taken`, `missed` or `overrun`, over all lanes; 0 without an end."""
        return sum(getattr(lane, what) for lane in self.end.lanes) if self.end is not None else 0


class Keeper:
    """A sink that keeps whole records."""

    def __init__(self) -> None:
        self.records: list[KeptRecord] = []
        self._parts: dict[int, list[list[NDArray[Any]]]] = {}

    def opened(self, begin: Begin) -> None:
        """Keeps a new record, with an empty list for each lane."""
        self.records.append(KeptRecord(begin))
        self._parts[begin.record] = [[] for _ in begin.lanes]

    def values(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """Takes the next values of a lane; copies them, because the decoder reuses its buffer."""
        self._parts[record][lane].append(values.copy())

    def closed(self, begin: Begin, end: End | None, ending: Ending) -> None:
        """Joins the values of each lane, and keeps the ending."""
        kept = next(record for record in reversed(self.records) if record.begin is begin)
        kept.end, kept.ending = end, ending
        for name, parts in zip(begin.lanes, self._parts.pop(begin.record), strict=True):
            values = np.concatenate(parts) if parts else np.empty(0, f"<{begin.dtype}")
            lane, kind = companion(name)
            if kind:
                kept.companions.setdefault(lane, {})[kind] = values
            else:
                kept.samples[name] = values


@dataclass(frozen=True)
class Kept:
    """A target's whole output: records in the order of their start, text, and damage."""

    records: list[KeptRecord]
    texts: list[str]
    damage: list[str]

    def only_record(self) -> KeptRecord:
        """The only record, if it is ok; otherwise ValueError with the reason."""
        if len(self.records) != 1:
            raise ValueError(f"{len(self.records)} records arrived instead of one")
        (record,) = self.records
        if record.ending.status != "ok":
            raise ValueError(record.ending.reason)
        return record


def keep(stream: bytes) -> Kept:
    """Everything a target sent. A damaged record has the ending `invalid` or `failed`."""
    keeper = Keeper()
    decoder, assembler = Decoder(), Assembler(keeper)
    for start in range(0, len(stream), CHUNK):
        for item in decoder.feed(stream[start : start + CHUNK]):
            assembler.take(item)
    for item in decoder.finish():
        assembler.take(item)
    assembler.finish("the stream ended")
    damage = [finding.message for finding in assembler.findings if finding.lost]
    return Kept(keeper.records, assembler.texts, damage)
