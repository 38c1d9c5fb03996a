# SPDX-License-Identifier: Apache-2.0
"""Pulses that frames ordered go to the records whose edges they made."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from kadenz.config.manifest import RecordEntry
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.pulses import Pulses
from kadenz.lab.session import ANY_ADDRESS, Session
from kadenz.store import RunWriter, read_run
from kadenz.wire.records import Ending
from tests.store.manifests import manifest
from tests.wire.streams import begin, bench, end

EDGES = msgspec.structs.replace(bench(), name="ethercat/edge-jitter", nature="edges")
OK, FAILED = Ending("ok", ""), Ending("failed", "the ring did not reach OP within 5 s")


def train(numbers: list[int]) -> Pulses:
    ns = np.array([5_000 + 1_000_000 * number for number in numbers], np.uint64)
    return Pulses(ns, np.array(numbers))


def records(
    folder: Path, edges: dict[int, Ending], trains: list[Pulses], damage: str = ""
) -> dict[int, RecordEntry]:
    """Records of three planned edges each; one that failed has none."""
    with RunWriter(folder, manifest()) as writer:
        points = [Point(number, EDGES.name, 3) for number in edges]
        session = Session(writer, "a", points, [EDGES], Progress())
        session.tapped = True
        for number, verdict in edges.items():
            opening = msgspec.structs.replace(
                begin(lanes=["rising", "rising:cycle"], planned=3),
                record=number,
                bench=EDGES.name,
            )
            session.opened(opening)
            if verdict.status == "ok":
                session.values(number, 0, np.arange(3, dtype=np.uint32))
                session.values(number, 1, np.arange(3, dtype=np.uint32))
            session.closed(opening, end(taken=3 if verdict.status == "ok" else 0), verdict)
        session.take_trains([{ANY_ADDRESS: each} for each in trains], damage)
        kept = writer.finish()
    return {record.id: record for record in read_run(kept).manifest.records}


def given(folder: Path, counted: int, left: list[int]) -> RecordEntry:
    """A record of a program that stamps nothing: its frames as the ring counted them, and the
    numbers of those that left the card."""
    with RunWriter(folder, manifest()) as writer:
        session = Session(writer, "a", [Point(10, EDGES.name, 3)], [EDGES], Progress())
        session.tapped = True
        opening = msgspec.structs.replace(
            begin(lanes=["departure"], planned=3), record=10, bench=EDGES.name
        )
        session.opened(opening)
        session.closed(opening, end(taken=counted), OK)
        seen = [{ANY_ADDRESS: train(left)}] if left else []
        session.take_trains(seen, "" if left else "none left the card")
        kept = writer.finish()
    return read_run(kept).manifest.records[0]


def departures(record: RecordEntry) -> tuple[int, int]:
    """Pulses with a time, and those that were never ordered."""
    (lane,) = [lane for lane in record.lanes if lane.name == "departure"]
    return lane.taken, lane.missed


def test_pulses_beyond_the_plan_are_left_out_and_holes_are_missed(tmp_path: Path) -> None:
    record = records(tmp_path, {10: OK}, [train([0, 2, 3, 4])])[10]
    assert record.status == "ok" and departures(record) == (2, 1)


def test_a_record_without_an_edge_takes_no_other_records_train(tmp_path: Path) -> None:
    both = records(tmp_path, {10: FAILED, 11: OK}, [train([0, 1, 2])])
    assert (both[10].status, departures(both[10])) == ("failed", (0, 0))
    assert (both[11].status, departures(both[11])) == ("ok", (3, 0))


def test_a_record_whose_train_is_missing_is_invalid_and_says_why(tmp_path: Path) -> None:
    (without,) = records(tmp_path / "a", {10: OK}, []).values()
    assert without.reason.startswith(
        "the frames of the card order 0 trains of pulses for 1 records"
    )
    assert "`output` of board.toml" in without.reason
    (cut,) = records(tmp_path / "b", {10: OK}, [], "the stamps are cut").values()
    assert (cut.status, cut.reason) == ("invalid", "the stamps are cut")


def test_frames_of_a_program_that_stamps_nothing_are_those_that_left(tmp_path: Path) -> None:
    whole = given(tmp_path / "whole", 3, [0, 1, 2, 3])
    assert (whole.status, departures(whole)) == ("ok", (3, 0))
    assert [lane.name for lane in whole.lanes] == ["departure", "departure:cycle"]
    late = given(tmp_path / "late", 3, [0, 2, 3, 4])
    assert (late.status, departures(late)) == ("ok", (2, 1))


def test_frames_that_the_ring_counted_and_that_did_not_leave_are_no_record(tmp_path: Path) -> None:
    cut = given(tmp_path / "cut", 3, [0, 1])
    assert (cut.status, cut.reason) == (
        "invalid",
        "2 of its frames left the card, and it counts 3",
    )
    none = given(tmp_path / "none", 3, [])
    assert (none.status, none.reason) == ("invalid", "none left the card")
