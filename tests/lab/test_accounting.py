# SPDX-License-Identifier: Apache-2.0
"""planned = taken + missed + not measured, however a record ends."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.config.manifest import DeadlineEntry, LaneEntry
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.session import Session
from kadenz.store import RunWriter, read_run
from kadenz.targets.scope import RecordSpans
from kadenz.wire.decoder import Decoder
from kadenz.wire.messages import AnyMessage, EndLane
from kadenz.wire.records import Assembler, Ending
from tests.store.manifests import manifest
from tests.wire.encoder import encode_message
from tests.wire.streams import begin, bench, end, hello, samples

DEADLINE = DeadlineEntry(quantity="100us", origin="campaign")


def entered(folder: Path, *said: AnyMessage) -> LaneEntry:
    """The first lane of the record in run.json."""
    with RunWriter(folder, manifest()) as writer:
        points = [Point(10, "itc/queue", 6, deadline=DEADLINE)]
        session = Session(writer, "a", points, [bench()], Progress())
        assembler, decoder = Assembler(session), Decoder()
        for number, message in enumerate([hello(), *said]):
            for item in decoder.feed(encode_message(message, number)):
                assembler.take(item)
        assembler.finish("the target died")
        kept = writer.finish()
    record = read_run(kept).manifest.records[0]
    assert record.deadline == DEADLINE
    lane = record.series[0]
    assert lane.planned == lane.taken + lane.missed + lane.not_measured
    return lane


def counts(lane: LaneEntry) -> tuple[int, int, int]:
    return lane.taken, lane.missed, lane.not_measured


def test_a_span_of_the_scope_that_no_sample_holds_is_not_cut(tmp_path: Path) -> None:
    with RunWriter(tmp_path, manifest()) as writer:
        points = [Point(10, "itc/queue", 2)]
        session = Session(writer, "a", points, [bench()], Progress())
        session.scoped = True
        session.opened(begin(planned=2))
        session.closed(begin(planned=2), end(taken=2), Ending("ok", ""))
        spans = np.array([7, 2**32 + 7], dtype=np.uint64)  # as 32 bits both are 7
        session.take_trace({10: RecordSpans(10, spans, closed=True)})
        kept = writer.finish()
    (record,) = read_run(kept).manifest.records
    assert record.status == "invalid"
    assert record.reason == (
        "span 1 of the trace: END came after more clock counts than 32 bits hold"
    )


STOPPED = msgspec.structs.replace(end(taken=3, missed=1), reason="stopped on request")
FAILED = msgspec.structs.replace(end(taken=3, missed=3), status="failed", reason="the ring broke")
CYCLES = begin(lanes=["core0", "core0:cycle"])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([begin(), samples([1, 2, 3, 4, 5]), end(taken=5, missed=1)], (5, 1, 0)),
        ([begin(), samples([1, 2, 3]), STOPPED], (3, 1, 2)),
        ([begin(), samples([1, 2, 3])], (3, 0, 3)),  # it died, without cycle numbers
        ([CYCLES, samples([1, 2, 3]), samples([0, 2, 4], lane=1)], (3, 2, 1)),
        ([begin(), samples([1, 2, 3]), FAILED], (3, 0, 3)),  # it reports all others as missed
        ([begin()], (0, 0, 6)),
    ],
)
def test_only_requested_samples_can_be_missed(
    tmp_path: Path, said: list[AnyMessage], expected: tuple[int, int, int]
) -> None:
    assert counts(entered(tmp_path, *said)) == expected


def test_samples_lost_on_the_line_are_not_measured(tmp_path: Path) -> None:
    lost = msgspec.structs.replace(end(), lanes=[EndLane(taken=6, missed=0, overrun=0)])
    assert counts(entered(tmp_path, begin(), samples([1, 2]), lost)) == (2, 0, 4)
