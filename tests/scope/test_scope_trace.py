# SPDX-License-Identifier: Apache-2.0
"""From marks to spans: pairs become samples, unpaired marks are reported."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadenz.targets.scope import (
    BEGIN,
    END,
    LAST,
    RECORD_CLOSE,
    RECORD_OPEN,
    ScopeDamaged,
    check_count,
    parse_trace,
    read_trace,
    split_records,
)

Event = tuple[int, int]  # instructions, mark


def encode(events: list[Event], *, version: int = 1, magic: bytes = b"KDZSCOPE") -> bytes:
    """Bytes of a trace, encoded independently of the reader under test."""
    header = magic + struct.pack("<IIIIQ", version, 32, 12, 0, 0x8000_0010)
    return header + b"".join(struct.pack("<QI", count, mark) for count, mark in events)


def counted(events: Sequence[tuple[int, ...]], *, columns: int) -> bytes:
    """Bytes of a trace whose events have counts behind their marks, a bit of `columns` each."""
    size = 12 + 8 * columns.bit_count()
    header = b"KDZSCOPE" + struct.pack("<IIIIQ", 3, 32, size, columns, 0x8000_0010)
    layout = "<QI" + "Q" * columns.bit_count()
    return header + b"".join(struct.pack(layout, *event) for event in events)


def numbered(marks: list[int]) -> list[Event]:
    """Marks ten instructions apart."""
    return [(10 * (i + 1), mark) for i, mark in enumerate(marks)]


def spans_of(marks: list[int]) -> dict[int, list[int]]:
    records = split_records(parse_trace(encode(numbered([*marks, LAST]))))
    return {number: record.spans.tolist() for number, record in records.items()}


@given(
    st.dictionaries(
        st.integers(0, 0xFFFF),
        st.lists(st.tuples(st.integers(0, 2**20), st.integers(1, 2**40)), max_size=30),
        max_size=6,
    ),
    st.integers(0, 2**50),
)
def test_every_span_written_is_read_back(
    records: dict[int, list[tuple[int, int]]], start: int
) -> None:
    now = start
    events: list[Event] = []
    for number, spans in records.items():
        events.append((now, RECORD_OPEN | number))
        for gap, span in spans:
            now += gap
            events.append((now, BEGIN))
            now += span
            events.append((now, END))
        events.append((now, RECORD_CLOSE | number))
    events.append((now, LAST))
    trace = parse_trace(encode(events))
    read = split_records(trace)
    assert trace.complete
    assert trace.marker_address == 0x8000_0010
    assert list(read) == list(records)
    for number, spans in records.items():
        assert read[number].closed
        assert read[number].spans.tolist() == [span for _, span in spans]


@given(
    st.lists(
        st.sampled_from(
            [
                BEGIN,
                END,
                RECORD_OPEN,
                RECORD_CLOSE,
                RECORD_OPEN | 1,
                RECORD_CLOSE | 1,
                3,
                RECORD_OPEN | RECORD_CLOSE,
            ]
        ),
        max_size=12,
    )
)
def test_no_sequence_of_marks_gives_more_spans_than_it_has_pairs(marks: list[int]) -> None:
    try:
        spans_by_record = spans_of(marks)
    except ScopeDamaged:
        return
    # Accepted marks exactly match open (BEGIN END)* close, repeated; the last one may be truncated.
    text = "".join(
        {
            BEGIN: "b",
            END: "e",
            RECORD_OPEN: "o",
            RECORD_OPEN | 1: "O",
            RECORD_CLOSE: "c",
            RECORD_CLOSE | 1: "C",
        }[mark]
        for mark in marks
    )
    import re

    assert re.fullmatch(r"(?:o(?:be)*c|O(?:be)*C)*(?:[oO](?:be)*b?)?", text)
    assert sum(len(spans) for spans in spans_by_record.values()) == text.count("be")


@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=20).map(
        lambda spans: numbered([RECORD_OPEN, *[BEGIN, END] * len(spans), RECORD_CLOSE, LAST])
    ),
    st.data(),
)
def test_a_trace_cut_anywhere_is_never_complete_and_never_wrong(
    events: list[Event], data: st.DataObject
) -> None:
    whole = encode(events)
    cut = data.draw(st.integers(32, len(whole) - 1))
    trace = parse_trace(whole[:cut])
    assert not trace.complete
    full = split_records(parse_trace(whole))[0].spans.tolist()
    for record in split_records(trace).values():
        assert record.spans.tolist() == full[: record.spans.size]


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ([RECORD_OPEN | 3, BEGIN, RECORD_CLOSE | 3], "record 3: BEGIN without END at event 1"),
        (
            [RECORD_OPEN | 3, BEGIN, BEGIN, END, RECORD_CLOSE | 3],
            "record 3: BEGIN without END before the next one at event 2",
        ),
        ([RECORD_OPEN | 3, END, RECORD_CLOSE | 3], "record 3: END without BEGIN at event 1"),
        ([BEGIN, END], "BEGIN outside a record at event 0"),
        ([RECORD_OPEN, RECORD_CLOSE, END], "END outside a record at event 2"),
        ([RECORD_OPEN, RECORD_CLOSE, BEGIN, RECORD_OPEN | 1], "BEGIN outside a record at event 2"),
        ([RECORD_CLOSE | 4], "record 4 closes at event 0 but is not open"),
        ([RECORD_OPEN | 1, RECORD_OPEN | 2], "record 2 opens at event 1 inside record 1"),
        ([RECORD_OPEN | 1, RECORD_CLOSE | 2], "record 1 opens at event 0, and record 2 closes"),
        (
            [RECORD_OPEN | 1, RECORD_CLOSE | 1, RECORD_OPEN | 1, RECORD_CLOSE | 1],
            "record 1 is opened a second time at event 2",
        ),
        ([RECORD_OPEN, 7, RECORD_CLOSE], "unknown mark 0x7 at event 1"),
        ([RECORD_OPEN, LAST, RECORD_CLOSE], "the mark that ends a trace is at event 1"),
    ],
)
def test_unpaired_marks_are_reported_with_their_position(marks: list[int], message: str) -> None:
    with pytest.raises(ScopeDamaged, match=message):
        spans_of(marks)


def test_a_count_that_runs_backwards_is_named() -> None:
    with pytest.raises(ScopeDamaged, match="runs backwards at event 1"):
        parse_trace(encode([(10, RECORD_OPEN), (9, RECORD_CLOSE), (11, LAST)]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a scope trace"),
        (encode([], magic=b"KDZSCOOP"), "not a scope trace"),
        (encode([])[:20], "not a scope trace"),
        (encode([], version=4), "trace version 4; this kadenz reads versions 1 to 3"),
        (counted([], columns=8), "trace version 3; this kadenz reads versions 1 to 3"),
        (b"KDZSCOPE" + struct.pack("<IIIIQ", 1, 40, 12, 0, 0), "does not match its version"),
        (b"KDZSCOPE" + struct.pack("<IIIIQ", 1, 32, 16, 0, 0), "does not match its version"),
    ],
)
def test_a_file_that_is_not_a_trace_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ScopeDamaged, match=message):
        parse_trace(data, source="there.trace")


SAMPLES = [(10, RECORD_OPEN), (20, BEGIN), (27, END), (30, BEGIN), (39, END), (40, RECORD_CLOSE)]


CODE, DATA = [0, 3, 7, 9, 9, 9], [5, 5, 6, 8, 11, 11]  # so far, by event


@pytest.mark.parametrize(
    ("columns", "so_far", "expected"),
    [
        (2, [CODE], {"icache-misses": [4, 0]}),
        (4, [DATA], {"dcache-misses": [1, 3]}),
        (6, [CODE, DATA], {"icache-misses": [4, 0], "dcache-misses": [1, 3]}),
    ],
)
def test_misses_are_those_from_begin_to_end(
    columns: int, so_far: list[list[int]], expected: dict[str, list[int]]
) -> None:
    events = [(*event, *counts) for event, *counts in zip(SAMPLES, *so_far, strict=True)]
    (record,) = split_records(parse_trace(counted(events, columns=columns))).values()
    assert record.spans.tolist() == [7, 9] and record.interval is None
    assert {kind: values.tolist() for kind, values in record.misses.items()} == expected


def test_misses_stand_behind_the_end_of_an_interval() -> None:
    events = [(*event, event[0] + 2 * at, at) for at, event in enumerate(SAMPLES)]
    (record,) = split_records(parse_trace(counted(events, columns=3))).values()
    assert record.interval is not None
    assert [ends.tolist() for ends in record.interval] == [[7, 9], [9, 11]]
    assert {kind: values.tolist() for kind, values in record.misses.items()} == {
        "icache-misses": [1, 1]
    }


def test_misses_that_run_backwards_are_named() -> None:
    events = [(*event, 9 - at) for at, event in enumerate(SAMPLES)]
    with pytest.raises(ScopeDamaged, match="its dcache-misses run backwards at event 1"):
        parse_trace(counted(events, columns=4))


def test_an_emulator_that_died_before_it_measured_leaves_an_empty_trace() -> None:
    trace = parse_trace(encode([]))
    assert not trace.complete
    assert split_records(trace) == {}


def test_a_missing_trace_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(ScopeDamaged, match="cannot be read: No such file"):
        read_trace(tmp_path / "none.trace")


def test_the_count_is_checked_against_the_targets_report() -> None:
    trace = parse_trace(encode(numbered([RECORD_OPEN, BEGIN, END, RECORD_CLOSE, LAST])))
    record = split_records(trace)[0]
    check_count(record, 1)
    with pytest.raises(ScopeDamaged, match="took 2 samples, but the scope saw 1 spans"):
        check_count(record, 2)
