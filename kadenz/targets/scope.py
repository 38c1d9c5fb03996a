# SPDX-License-Identifier: Apache-2.0
"""Converts a scope trace to samples: marks in, spans of instructions or cycles out.

A trace is a header and events, little-endian (instruments/scope/README.md): the count so far, u64,
and the stored mark, u32. Behind it, u64 each, are the upper end of the count, where that is an
interval of a timing model, and the lines that caches have fetched so far. A record is enclosed by
an opening and a closing mark with its number; in it each BEGIN is followed by its END.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import MISSES
from kadenz.errors import TargetFailed

MAGIC = b"KDZSCOPE"
COUNTS, INTERVALS, COLUMNS = 1, 2, 3  # versions
HEADER_BYTES = 32

# suite/include/kadenz/clock.h
BEGIN = 1
END = 2
HANDLED, RESPONDED = 3, 4  # of an arrival: in its handler, and in the thread that it wakes
RECORD_OPEN = 0x0001_0000
RECORD_CLOSE = 0x0002_0000
_FLAGS = 0xFFFF_0000
NUMBER = 0x0000_FFFF
# instruments/scope/trace.h
LAST = 0xFFFF_FFFF

_TIME = [("low", "<u8"), ("value", "<u4")]
EVENT = np.dtype(_TIME)
_HIGH = "high"
# What an event of version 3 has behind its mark: a bit each in the header, in this order.
_COLUMNS = (_HIGH, *MISSES)
_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("event_bytes", "<u4"),
        ("columns", "<u4"),
        ("marker", "<u8"),
    ]
)

_NEVER_BACK = ("low", *MISSES)

Spans = NDArray[np.uint64]
Events = NDArray[np.void]

_REPORT = (
    "Retry; if it persists, the benchmark sets its marks incorrectly: report it with the trace"
)


class ScopeDamaged(TargetFailed):
    """The trace is not valid, or its marks are not paired."""


@dataclass(frozen=True)
class Trace:
    """The trace of the plugin. `complete` is false if the emulator was killed."""

    events: Events
    marker_address: int
    complete: bool


@dataclass(frozen=True)
class RecordSpans:
    """The spans of one record, in order of measurement: instructions, or cycles of a model.

    `interval` holds the least and the most cycles of each span; `spans` is then the middle.
    `misses` holds, for each kind that the scope counts, the lines fetched in each span (n,).
    `closed` is false if the trace ends inside the record: it was stopped early, and a final BEGIN
    without END is not an error.
    """

    record: int
    spans: Spans
    closed: bool
    interval: tuple[Spans, Spans] | None = None
    misses: Mapping[str, Spans] = field(default_factory=dict)


def read_trace(path: Path) -> Trace:
    """Read a trace file. Raises ScopeDamaged with the problem."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScopeDamaged(
            f"{path}: the scope's trace cannot be read: {error.strerror}",
            remedy="The emulator ended before the plugin could write it: see the emulator's output",
        ) from error
    return parse_trace(data, source=str(path))


def parse_trace(data: bytes, *, source: str = "trace") -> Trace:
    """Decode the bytes of a trace file; `source` names it in errors."""
    if len(data) < HEADER_BYTES or data[:8] != MAGIC:
        raise ScopeDamaged(
            f"{source}: this is not a scope trace (it does not begin with {MAGIC.decode()})",
            remedy="Pass the trace that the plugin wrote for this `run.json`",
        )
    header = np.frombuffer(data, dtype=_HEADER, count=1)[0]
    event = _event(int(header["version"]), int(header["columns"]))
    if event is None:
        raise ScopeDamaged(
            f"{source}: trace version {int(header['version'])}; this kadenz reads versions "
            f"{COUNTS} to {COLUMNS}",
            remedy="Measure again with this version of kadenz",
        )
    if int(header["header_bytes"]) != HEADER_BYTES or int(header["event_bytes"]) != event.itemsize:
        raise ScopeDamaged(f"{source}: the header does not match its version", remedy=_REPORT)
    body = data[HEADER_BYTES:]
    whole, rest = divmod(len(body), event.itemsize)
    events = np.frombuffer(body, dtype=event, count=whole)
    complete = whole > 0 and rest == 0 and int(events["value"][-1]) == LAST
    if complete:
        events = events[:-1]
    stray = np.flatnonzero(events["value"] == LAST)
    if stray.size:
        raise ScopeDamaged(
            f"{source}: the mark that ends a trace is at event {stray[0]} of {events.size}",
            remedy=_REPORT,
        )
    for name in event.names or ():
        counts = events[name]
        back = np.flatnonzero(counts[1:] < counts[:-1]) if name in _NEVER_BACK else stray
        if back.size:
            what = "the count runs" if name == "low" else f"its {name} run"
            raise ScopeDamaged(f"{source}: {what} backwards at event {back[0] + 1}", remedy=_REPORT)
    return Trace(events, int(header["marker"]), complete)


def _event(version: int, columns: int) -> np.dtype[np.void] | None:
    """The layout of an event; None if this version, or a column, is unknown."""
    known = {COUNTS: 0, INTERVALS: 1, COLUMNS: columns}.get(version)
    if known is None or known >> len(_COLUMNS):
        return None
    names = [name for bit, name in enumerate(_COLUMNS) if known >> bit & 1]
    return np.dtype([*_TIME, *((name, "<u8") for name in names)])


def split_records(trace: Trace, *, source: str = "trace") -> dict[int, RecordSpans]:
    """Return the spans of every record of a trace, by the record's number.

    A span is the number of instructions after the store of BEGIN up to and including the store of
    END. Raises ScopeDamaged with the event's position for a BEGIN without END, an END without
    BEGIN, a mark outside a record, a nested record, a close without open, a duplicate number, and
    an unknown mark.
    """
    values = trace.events["value"]
    flags = values & _FLAGS
    opens = np.flatnonzero(flags == RECORD_OPEN)
    closes = np.flatnonzero(flags == RECORD_CLOSE)
    plain = (values == BEGIN) | (values == END)
    unknown = np.flatnonzero(~plain & (flags != RECORD_OPEN) & (flags != RECORD_CLOSE))
    if unknown.size:
        at = int(unknown[0])
        raise ScopeDamaged(
            f"{source}: unknown mark {int(values[at]):#x} at event {at}", remedy=_REPORT
        )
    _check_frames(values, opens, closes, source)
    records: dict[int, RecordSpans] = {}
    end_of_previous = 0
    for index, first in enumerate(opens):
        _check_nothing_between(values, end_of_previous, int(first), source)
        closed = index < closes.size
        last = int(closes[index]) if closed else values.size
        number = int(values[first]) & NUMBER
        if number in records:
            raise ScopeDamaged(
                f"{source}: record {number} is opened a second time at event {first}",
                remedy=_REPORT,
            )
        inside = trace.events[int(first) + 1 : last]
        inside = _pair(inside, int(first) + 1, number, closed, source)
        records[number] = _record(number, inside, closed)
        end_of_previous = last + 1 if closed else values.size
    _check_nothing_between(values, end_of_previous, values.size, source)
    return records


def check_count(spans: RecordSpans, taken: int, *, source: str = "trace") -> None:
    """Check the number of spans against the target's count. Raises ScopeDamaged."""
    if spans.spans.size != taken:
        raise ScopeDamaged(
            f"{source}: record {spans.record}: the target took {taken} samples, but the scope saw "
            f"{spans.spans.size} spans",
            remedy=_REPORT,
        )


def _check_frames(
    values: NDArray[np.uint32],
    opens: NDArray[np.intp],
    closes: NDArray[np.intp],
    source: str,
) -> None:
    """Checks that opens and closes alternate with equal numbers; the last record may be open."""
    for index in range(max(opens.size, closes.size)):
        opened = int(opens[index]) if index < opens.size else None
        closed = int(closes[index]) if index < closes.size else None
        if closed is not None and (opened is None or closed < opened):
            raise ScopeDamaged(
                f"{source}: record {int(values[closed]) & NUMBER} closes at event {closed} but is "
                "not open",
                remedy=_REPORT,
            )
        following = int(opens[index + 1]) if index + 1 < opens.size else None
        if following is not None and (closed is None or following < closed):
            raise ScopeDamaged(
                f"{source}: record {int(values[following]) & NUMBER} opens at event {following} "
                f"inside record {int(values[opened or 0]) & NUMBER}",
                remedy=_REPORT,
            )
        if opened is None or closed is None:
            continue
        if (values[opened] ^ values[closed]) & NUMBER:
            raise ScopeDamaged(
                f"{source}: record {int(values[opened]) & NUMBER} opens at event {opened}, and "
                f"record {int(values[closed]) & NUMBER} closes at event {closed}",
                remedy=_REPORT,
            )


def _check_nothing_between(values: NDArray[np.uint32], first: int, last: int, source: str) -> None:
    """Checks that no mark is outside a record; here it can only be a BEGIN or END."""
    if first < last:
        raise ScopeDamaged(
            f"{source}: {_name(int(values[first]))} outside a record at event {first}",
            remedy=_REPORT,
        )


def _record(number: int, paired: Events, closed: bool) -> RecordSpans:
    """The spans of paired events."""
    low, names = _spans(paired["low"]), paired.dtype.names or ()
    misses = {kind: _spans(paired[kind]) for kind in MISSES if kind in names}
    if _HIGH not in names:
        return RecordSpans(number, low, closed, misses=misses)
    high = _spans(paired[_HIGH])
    return RecordSpans(number, (low + high) // 2, closed, (low, high), misses)


def _spans(counts: NDArray[np.uint64]) -> Spans:
    return np.asarray(counts[1::2] - counts[0::2], dtype=np.uint64)


def _pair(inside: Events, offset: int, number: int, closed: bool, source: str) -> Events:
    """One record's events, checked to be pairs; `offset` is the position of the first."""
    values = inside["value"]
    expected = np.where(np.arange(values.size) % 2 == 0, BEGIN, END)
    wrong = np.flatnonzero(values != expected)
    if wrong.size:
        at = int(wrong[0])
        what = (
            "END without BEGIN"
            if int(values[at]) == END
            else "BEGIN without END before the next one"
        )
        raise ScopeDamaged(
            f"{source}: record {number}: {what} at event {offset + at}", remedy=_REPORT
        )
    if values.size % 2:
        if closed:
            raise ScopeDamaged(
                f"{source}: record {number}: BEGIN without END at event "
                f"{offset + values.size - 1}, before the record closes",
                remedy=_REPORT,
            )
        inside = inside[:-1]
    return inside


def _name(mark: int) -> str:
    return {BEGIN: "BEGIN", END: "END"}.get(mark, f"{mark:#x}")
