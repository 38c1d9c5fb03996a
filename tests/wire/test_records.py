# SPDX-License-Identifier: Apache-2.0
"""The promise of the assembler: a record has arrived and is proven, or it has a reason."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from numpy.typing import NDArray

from kadenz.wire.decoder import Decoder
from kadenz.wire.messages import AnyMessage, Begin, Done, End, EndLane, Proof
from kadenz.wire.records import Assembler, Ending
from tests.wire.encoder import encode_message
from tests.wire.streams import begin, end, hello, samples


class Kept:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.lanes: dict[tuple[int, int], list[int]] = {}
        self.verdicts: dict[int, Ending] = {}

    def opened(self, begin: Begin) -> None:
        for lane in range(len(begin.lanes)):
            self.lanes[begin.record, lane] = []

    def values(self, record: int, lane: int, values: NDArray[Any]) -> None:
        self.lanes[record, lane] += values.tolist()

    def closed(self, begin: Begin, end: End | None, verdict: Ending) -> None:
        self.verdicts[begin.record] = verdict


def assemble(
    messages: list[AnyMessage], *, without: int | None = None, expects_samples: bool = True
) -> tuple[Kept, Assembler]:
    """The messages over a line that loses frame number `without`."""
    kept = Kept()
    assembler = Assembler(kept, expects_samples=expects_samples)
    decoder = Decoder()
    for number, message in enumerate(messages):
        if number != without:
            for item in decoder.feed(encode_message(message, number)):
                assembler.take(item)
    assembler.finish("the stream is over")
    return kept, assembler


GOOD: list[AnyMessage] = [
    hello(),
    begin(),
    samples([1, 2, 3]),
    samples([4, 5, 6], first=3),
    end(),
    Done(records=1, frames=6),
]


def test_a_proven_and_accounted_record_is_ok() -> None:
    kept, assembler = assemble(GOOD)
    assert kept.lanes == {(10, 0): [1, 2, 3, 4, 5, 6]}
    assert kept.verdicts == {10: Ending("ok", "")}
    assert assembler.done is not None and assembler.findings == []


def test_a_good_record_that_ended_early_keeps_its_reason() -> None:
    early = msgspec.structs.replace(end(taken=3, missed=3), reason="ended by its limit")
    kept, _ = assemble([hello(), begin(), samples([1, 2, 3]), early])
    assert kept.verdicts[10] == Ending("ok", "ended by its limit")


BACKWARDS = 4_294_330_145  # 637,151 counts before


@pytest.mark.parametrize("bits", [16, 24, 32])
def test_an_end_before_its_begin_is_found_on_every_clock_that_wraps(bits: int) -> None:
    narrow = msgspec.structs.replace(hello().clock, bits=bits)
    first = msgspec.structs.replace(hello(), clock=narrow)
    half = 1 << (bits - 1)
    kept, _ = assemble(
        [first, begin(), samples([1, 2, half - 1]), samples([4, 5, 6], 10, 0, 3), end()]
    )
    assert kept.verdicts[10] == Ending("ok", "")
    kept, _ = assemble([first, begin(), samples([1, 2, 3]), samples([4, half, 6], 10, 0, 3), end()])
    assert kept.verdicts[10].status == "invalid"
    assert kept.verdicts[10].reason == (
        f"sample 4 of lane all is no span: END came {half} clock counts before BEGIN, or half the "
        "range of the clock after it"
    )
    assert kept.lanes[10, 0] == [1, 2, 3, 4, half, 6]  # what was measured stays


def test_the_suites_own_word_on_such_a_span_stands() -> None:
    said = msgspec.structs.replace(end(), status="invalid", reason="no span: END came before BEGIN")
    kept, _ = assemble([hello(), begin(), samples([1, 2, 3, 4, 5, BACKWARDS]), said])
    assert kept.verdicts[10] == Ending("invalid", "no span: END came before BEGIN")


def test_large_values_that_are_no_spans_of_a_narrow_clock_are_samples() -> None:
    wide = msgspec.structs.replace(hello(), clock=msgspec.structs.replace(hello().clock, bits=64))
    values = samples([1, 2, 3, 4, 5, BACKWARDS])
    kept, _ = assemble([wide, begin(), values, end()])
    assert kept.verdicts[10] == Ending("ok", "")
    beside = samples([1, 2, 3, 4, 5, BACKWARDS], lane=1)
    good = samples([1, 2, 3, 4, 5, 6])
    kept, _ = assemble([hello(), begin(lanes=["all", "all:switches"]), good, beside, end()])
    assert kept.verdicts[10] == Ending("ok", "")


def test_samples_after_a_gap_are_not_shifted() -> None:
    kept, _ = assemble(GOOD, without=2)
    assert kept.lanes == {(10, 0): []}
    assert kept.verdicts[10].status == "invalid"
    assert "1 frame lost between 1 and 3" in kept.verdicts[10].reason


def test_a_lost_tail_makes_the_record_invalid() -> None:
    kept, _ = assemble(GOOD, without=3)
    assert kept.lanes == {(10, 0): [1, 2, 3]}
    assert kept.verdicts[10].status == "invalid"


def test_a_record_whose_end_was_lost_fails() -> None:
    kept, _ = assemble(GOOD, without=4)
    assert kept.verdicts[10].status == "failed"
    assert "lost" in kept.verdicts[10].reason


def test_samples_of_a_record_whose_begin_was_lost_are_not_kept() -> None:
    kept, assembler = assemble(GOOD, without=1)
    assert kept.lanes == {} and kept.verdicts == {}
    assert any("not open" in finding.message for finding in assembler.findings)


def test_a_gap_without_a_lost_frame_is_detected_by_the_index() -> None:
    said: list[AnyMessage] = [hello(), begin(), samples([1, 2]), samples([5, 6], first=4), end()]
    kept, _ = assemble(said)
    assert kept.lanes == {(10, 0): [1, 2]}
    assert kept.verdicts[10] == Ending("invalid", "lane all: expected value 2, received 4")


def test_a_record_without_proof_is_invalid() -> None:
    kept, _ = assemble([hello(), begin(), samples([1, 2, 3, 4, 5, 6]), end(checked=0)])
    assert kept.verdicts[10].status == "invalid"
    assert "no proof" in kept.verdicts[10].reason


def test_a_failed_proof_makes_the_record_invalid_even_if_the_target_says_ok() -> None:
    bad = msgspec.structs.replace(end(), proof=Proof(checked=6, failed=1, reason="wrong bytes"))
    kept, _ = assemble([hello(), begin(), samples([1, 2, 3, 4, 5, 6]), bad])
    assert kept.verdicts[10] == Ending("invalid", "1 of 6 proofs failed: wrong bytes")


def test_planned_is_taken_plus_missed_or_the_record_is_invalid() -> None:
    kept, _ = assemble([hello(), begin(), samples([1, 2, 3]), end(taken=3, missed=1)])
    assert kept.verdicts[10].status == "invalid"
    assert "6 planned, but 3 taken and 1 missed" in kept.verdicts[10].reason


def test_fewer_values_than_taken_are_named() -> None:
    kept, _ = assemble([hello(), begin(), samples([1, 2, 3]), end()])
    assert kept.verdicts[10] == Ending("invalid", "lane all: 6 values taken, but 3 arrived")


def test_under_the_scope_no_values_are_expected() -> None:
    kept, _ = assemble([hello(), begin(), end()], expects_samples=False)
    assert kept.verdicts[10].status == "ok"


def test_missing_ends_of_lanes_are_reported() -> None:
    said: list[AnyMessage] = [hello(), begin(lanes=["batch", "empty"]), end()]
    kept, _ = assemble(said)
    assert kept.verdicts[10] == Ending("invalid", "2 lanes began, but 1 ended")


def test_two_lanes_are_stored_separately() -> None:
    both = msgspec.structs.replace(
        end(), lanes=[EndLane(taken=2, missed=4, overrun=0), EndLane(taken=1, missed=5, overrun=1)]
    )
    said: list[AnyMessage] = [
        hello(),
        begin(lanes=["core0", "core1"]),
        samples([1], lane=0),
        samples([9], lane=1),
        samples([2], lane=0, first=1),
        both,
    ]
    kept, _ = assemble(said)
    assert kept.lanes == {(10, 0): [1, 2], (10, 1): [9]}
    assert kept.verdicts[10].status == "ok"


def test_values_of_another_type_than_announced_are_refused() -> None:
    wrong = samples([1, 2])._replace(dtype="<i4")
    kept, assembler = assemble([hello(), begin(), wrong])
    assert kept.lanes == {(10, 0): []}
    assert "<i4 values, but u4 announced" in assembler.findings[0].message


def test_done_with_another_count_of_frames_is_a_finding() -> None:
    _, assembler = assemble([hello(), Done(records=0, frames=9)])
    assert "counts 9 frames, but numbered 2" in assembler.findings[0].message


def test_a_targets_not_applicable_is_kept() -> None:
    none = msgspec.structs.replace(end(taken=0), status="n/a", reason="this kernel has no mutex")
    kept, _ = assemble([hello(), begin(), none])
    assert kept.verdicts[10] == Ending("n/a", "this kernel has no mutex")


def with_companion(values: list[int], *, name: str = "all:cycle") -> Kept:
    said: list[AnyMessage] = [
        hello(),
        begin(lanes=["all", name]),
        samples([1, 2, 3, 4, 5, 6]),
        samples(values, lane=1),
        end(),
    ]
    return assemble(said)[0]


def test_a_companion_has_no_count_of_its_own() -> None:
    kept = with_companion([0, 1, 2, 4, 5, 7])
    assert kept.lanes[10, 1] == [0, 1, 2, 4, 5, 7]
    assert kept.verdicts[10] == Ending("ok", "")


def test_a_companion_shorter_than_its_lane_makes_the_record_invalid() -> None:
    verdict = with_companion([0, 1, 2, 4, 5]).verdicts[10]
    assert verdict == Ending("invalid", "lane all: 6 samples, but 5 values of cycle")


def test_a_companion_longer_than_its_lane_makes_the_record_invalid() -> None:
    assert with_companion([0, 1, 2, 4, 5, 7, 8]).verdicts[10].status == "invalid"


def test_a_companion_without_its_lane_makes_the_record_invalid() -> None:
    verdict = with_companion([0] * 6, name="core7:cycle").verdicts[10]
    assert verdict == Ending("invalid", "companion core7:cycle: there is no lane core7")
