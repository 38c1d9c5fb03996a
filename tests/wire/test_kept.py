# SPDX-License-Identifier: Apache-2.0
"""Whole records in memory: samples and companions cannot be confused."""

from __future__ import annotations

import numpy as np
import pytest

from kadenz.wire.kept import keep
from kadenz.wire.messages import AnyMessage, Begin, Done, End, EndLane, Proof, Samples
from tests.wire.streams import begin, hello, on_the_line


def stream(*messages: AnyMessage) -> bytes:
    return on_the_line([hello(), *messages, Done(records=1, frames=len(messages) + 2)])


def values(lane: int, first: int, *numbers: int) -> Samples:
    return Samples(10, lane, first, "<u4", np.array(numbers, dtype="<u4"))


def record(*samples: Samples, taken: int = 4) -> list[AnyMessage]:
    opened: Begin = begin(planned=4, lanes=["core0", "core0:cycle"])
    lanes = [EndLane(taken=taken, missed=4 - taken, overrun=1)]
    proof = Proof(checked=taken, failed=0, reason="")
    end = End(record=10, status="ok", reason="", lanes=lanes, proof=proof, drains=[])
    return [opened, *samples, end]


WHOLE = [
    values(0, 0, 17_000, 18_000),
    values(1, 0, 1, 2),
    values(0, 2, 19_000, 20_000),
    values(1, 2, 3, 5),
]


def test_cycle_numbers_are_never_among_the_latencies() -> None:
    kept = keep(stream(*record(*WHOLE)))
    entry = kept.only_record()
    assert entry.samples.keys() == {"core0"}
    assert entry.together().tolist() == [17_000, 18_000, 19_000, 20_000]
    assert entry.companions["core0"]["cycle"].tolist() == [1, 2, 3, 5]
    assert (
        entry.count("taken"),
        entry.count("missed"),
        entry.count("overrun"),
    ) == (4, 0, 1)
    assert kept.damage == []


def test_a_gap_invalidates_the_record_and_is_named() -> None:
    kept = keep(stream(*record(*WHOLE[:2], *WHOLE[3:])))
    assert kept.records[0].ending.status == "invalid"
    with pytest.raises(ValueError, match="core0"):
        kept.only_record()


def test_a_stream_that_breaks_off_keeps_the_samples_so_far() -> None:
    whole = stream(*record(*WHOLE))
    kept = keep(whole[: len(whole) - 60])
    assert kept.records[0].end is None
    assert kept.records[0].together().tolist() == [17_000, 18_000, 19_000, 20_000]
    assert kept.records[0].ending.status == "failed"
    assert keep(b"").records == []
