# SPDX-License-Identifier: Apache-2.0
"""Frames of an emulated card: stamps and capture joined, pulses read from process data."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.config.board import OutputBit
from kadenz.lab.pulses import Pulses, Uneven, cycles, datagrams, trains
from kadenz.targets.tap import MAGIC, Departures, TapDamaged, join, parse_capture, parse_stamps

PERIOD_NS = 1_000_050  # the guest's own clock is off by 50 ppm
BIT = OutputBit(address=19)
LRW, BWR, FPRD = 12, 8, 4
CARD, OTHER = 0xFEB83818, 0xFEBA3818


def datagram(command: int, address: int, data: bytes, *, more: bool = False) -> bytes:
    place = struct.pack("<I", address) if command == LRW else struct.pack("<HH", 0, address)
    length = len(data) | (0x8000 if more else 0)
    return bytes([command, 0]) + place + struct.pack("<HH", length, 0) + data + b"\0\0"


def frame(*parts: bytes) -> bytes:
    body = b"".join(parts)
    return bytes(12) + b"\x88\xa4" + struct.pack("<H", 0x1000 | len(body)) + body


def cycle(level: bool) -> bytes:
    """Clock, process data, state of a device: as the master of fieldbus/ sends them."""
    image = bytes(19) + bytes([level])
    return frame(
        datagram(14, 0x910, bytes(8), more=True),
        datagram(LRW, 0, image, more=True),
        datagram(FPRD, 0x130, bytes(2)),
    )


BRING_UP = frame(datagram(BWR, 0x120, b"\x11\0"))


def ordered(times: NDArray[np.int64]) -> Departures:
    """Bring-up, then for each of `times` (n,), ns, a frame that sets the output and one that
    clears it 10 ns later."""
    ns, frames = [0], [BRING_UP]
    for time in times.tolist():
        ns += [time, time + 10]
        frames += [cycle(True), cycle(False)]
    return Departures(np.array(ns, np.uint64), frames)


def due(count: int) -> NDArray[np.int64]:
    noise = np.random.default_rng(3).integers(0, 80, count)
    return 5_000_000 + np.arange(count) * PERIOD_NS + noise


def only(departures: Departures) -> Pulses:
    (train,) = trains(departures, BIT)
    return train[BIT.address]


def test_a_pulse_that_is_late_by_more_than_a_period_keeps_its_number() -> None:
    times = due(3000)
    times[700] += 1_400_000  # and the next leaves behind it, at once
    times[701] = times[700] + 40_000
    train = only(ordered(times))
    assert train.ns.tolist() == times.tolist()
    assert train.numbers.tolist() == list(range(3000))


def test_a_pulse_that_was_never_ordered_leaves_a_hole() -> None:
    taken = np.delete(np.arange(3000), [5, 900, 901, 902, 2990])
    assert only(ordered(due(3000)[taken])).numbers.tolist() == taken.tolist()


def test_every_bring_up_begins_a_train_of_its_own() -> None:
    first, second = ordered(due(20)), ordered(due(30) + 10**9)
    both = Departures(np.concatenate((first.ns, second.ns)), first.frames + second.frames)
    assert [train[BIT.address].numbers.size for train in trains(both, BIT)] == [20, 30]


def test_an_output_that_a_parameter_moves_has_its_train_at_either_address() -> None:
    bit = OutputBit(address=19, moved={"acquisition=second": 0})
    first = ordered(due(20))
    alone = [frame(datagram(LRW, 0, bytes([level]))) for level in (1, 0)] * 30
    second_ns = np.arange(61, dtype=np.uint64) + np.uint64(10**9)
    both = Departures(np.concatenate((first.ns, second_ns)), [*first.frames, BRING_UP, *alone])
    with_input, without = trains(both, bit)
    assert with_input[bit.address_in({"acquisition": "same"})].numbers.size == 20
    assert {at: train.numbers.size for at, train in without.items()} == {0: 30}
    assert bit.address_in({"acquisition": "second"}) == 0


def test_a_key_that_moves_an_output_is_a_parameter_and_its_value() -> None:
    with pytest.raises(ValueError, match="`acquisition` in `moved`"):
        OutputBit(address=19, moved={"acquisition": 0})


def test_an_output_that_stays_high_is_no_second_pulse() -> None:
    high = Departures(np.arange(4, dtype=np.uint64), [BRING_UP, *[cycle(True)] * 3])
    assert only(high).numbers.tolist() == [0]


@pytest.mark.parametrize("cut", range(0, 90, 7))
def test_a_frame_that_is_cut_has_the_datagrams_that_it_has(cut: int) -> None:
    whole = cycle(True)
    assert len(list(datagrams(whole))) == 3
    assert len(list(datagrams(whole[:cut]))) <= 3


def test_cycles_are_the_frames_with_process_data_behind_the_first() -> None:
    due_ns = due(20)
    mailbox = frame(datagram(FPRD, 0x1000, bytes(16)))
    ns = np.sort(np.concatenate([due_ns, due_ns + 300, due_ns + 500]))
    frames = [cycle(True), mailbox, cycle(False)] * 20
    departures = Departures(ns.astype(np.uint64), frames)
    for skip, first in ((4, 2), (3, 2), (5, 3)):  # wherever the first of them falls in a cycle
        seen = cycles(departures, skip, frames=2, period_us=1000)
        assert np.array_equal(seen.ns, due_ns[first:]), skip
        assert np.array_equal(seen.numbers, np.arange(20 - first))


def test_a_cycle_that_a_master_leaves_out_is_a_hole() -> None:
    due_ns = np.delete(due(400), 100)
    departures = Departures(due_ns.astype(np.uint64), [cycle(True)] * due_ns.size)
    numbers = cycles(departures, skip=0, frames=1, period_us=1000).numbers
    assert np.array_equal(numbers, np.delete(np.arange(400), 100))


@pytest.mark.parametrize(
    ("frames", "period_us", "why"),
    [
        (1, 1000, "in groups, 20 to 980 µs apart"),
        (2, 500, "2 of its frames come every 1,000 µs, and `period_us` is 500: .*or `frames`"),
    ],
)
@pytest.mark.parametrize("count", [60, 61])
def test_frames_that_are_no_cycles_of_the_period_are_refused(
    frames: int, period_us: int, why: str, count: int
) -> None:
    due_ns = np.arange(count, dtype=np.int64) * 1_000_000
    ns = np.sort(np.concatenate([due_ns, due_ns + 20_000]))[: 2 * count - 1]
    departures = Departures(ns.astype(np.uint64), [cycle(True)] * ns.size)
    with pytest.raises(Uneven, match=why):
        cycles(departures, skip=0, frames=frames, period_us=period_us)


def test_frames_of_other_protocols_have_no_datagram() -> None:
    assert list(datagrams(bytes(12) + b"\x08\x00" + bytes(60))) == []


def stamps(*pairs: tuple[int, int], last: bool = True) -> bytes:
    end = [(2**64 - 1, 0)] if last else []
    return MAGIC + b"".join(struct.pack("<QQ", *pair) for pair in [*pairs, *end])


def capture(*frames: tuple[int, bytes]) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65536, 1)
    date = 1_767_225_600  # of the emulated clock
    bodies = (
        struct.pack("<IIII", date + us // 10**6, us % 10**6, len(data), len(data)) + data
        for us, data in frames
    )
    return head + b"".join(bodies)


def test_the_stamps_of_the_card_that_sent_the_frames_are_taken() -> None:
    """Its driver cleared the register twice before; the other card answered each frame."""
    times = parse_stamps(
        stamps((5, OTHER), (7, CARD), (9, CARD), (1_500_999, CARD), (1_516_000, OTHER),
               (2_000_001, CARD), (2_016_000, OTHER))
    )  # fmt: skip
    departures = join(times, *parse_capture(capture((1500, b"a"), (2000, b"bc"))))
    assert departures.ns.tolist() == [1_500_999, 2_000_001]
    assert departures.frames == [b"a", b"bc"]


def test_a_capture_that_no_card_agrees_with_is_refused() -> None:
    times = parse_stamps(stamps((1_500_999, CARD), (2_001_000, CARD)))
    with pytest.raises(TapDamaged, match=r"2 frames, and no card .* \(stores: 2\)"):
        join(times, *parse_capture(capture((1500, b"a"), (2000, b"b"))))


@pytest.mark.parametrize(
    "data", [b"", MAGIC, b"KDZTAP99" + bytes(16), stamps((1, CARD), last=False)]
)
def test_stamps_of_an_emulator_that_was_killed_are_refused(data: bytes) -> None:
    with pytest.raises(TapDamaged, match="are cut"):
        parse_stamps(data)


def test_a_capture_that_is_cut_is_refused() -> None:
    data = capture((1, b"abc"), (2, b"def"))
    with pytest.raises(TapDamaged, match="frame 1 of the capture is cut"):
        parse_capture(data[:-1])
    with pytest.raises(TapDamaged, match="not a pcap file"):
        parse_capture(data[1:])
