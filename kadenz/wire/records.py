# SPDX-License-Identifier: Apache-2.0
"""Assembles a target's messages to records and checks them (rules 2 and 3).

Values that did not arrive are never invented: a lane keeps the values before the first gap, and its
record becomes invalid with the gap named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import Status
from kadenz.wire.decoder import Finding, Received
from kadenz.wire.messages import (
    AnyMessage,
    Begin,
    Bench,
    Case,
    Conform,
    Done,
    End,
    Fault,
    Hello,
    Samples,
    Text,
    companion,
)

_SPANS = "<u4"  # numpy type of the suite's samples
_LONGEST_NAME = 100  # of a benchmark, or of a lane: both are in the name of a file
_IN_FILE = re.compile(r"\W")  # what the name of a file has a dash for
_NARROW = 32  # bits of stamps that wrap while something is measured


class Ending(NamedTuple):
    """The status of a record after the lab's own checks."""

    status: Status
    reason: str


class RecordSink(Protocol):
    """Receives records during the measurement."""

    def opened(self, begin: Begin) -> None:
        """A record begins; the values of its lanes follow."""

    def values(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """Takes the next values of a lane, without a gap before them."""

    def closed(self, begin: Begin, end: End | None, ending: Ending) -> None:
        """A record ended; `end` is None if the target's END is missing."""


class NoRecords:
    """A sink for plans that measure nothing: `list`, `conformance`."""

    def opened(self, begin: Begin) -> None:
        """Ignores the record: a plan without points has none."""

    def values(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """Ignores values: none are expected."""

    def closed(self, begin: Begin, end: End | None, ending: Ending) -> None:
        """Ignores endings: none are expected."""


class _Open:
    """A record between BEGIN and END."""

    def __init__(self, begin: Begin) -> None:
        self.begin = begin
        self.received = [0] * len(begin.lanes)
        self.holed = [False] * len(begin.lanes)
        self.damage = ""

    def spoil(self, why: str) -> None:
        self.damage = self.damage or why


class Assembler:
    """Takes the output of a Decoder; keeps the text and passes records to `sink`.

    `expects_samples` is false under the scope, whose values come from a trace.
    """

    def __init__(self, sink: RecordSink, *, expects_samples: bool = True) -> None:
        self.sink = sink
        self.expects_samples = expects_samples
        self.hello: Hello | None = None
        self.benches: list[Bench] = []
        self.conforms: list[Conform] = []
        self.case = ""  # of the conformance test, that runs now
        self.texts: list[str] = []
        self.findings: list[Finding] = []
        self.fault: Fault | None = None
        self.done: Done | None = None
        self.restarted = False
        self.foreign = ""  # the target's wire version, if the lab cannot read it
        self.records = 0  # closed, with any status
        self.unusable = 0  # closed, and failed or invalid
        self.samples = 0  # values received
        self._open: dict[int, _Open] = {}
        self._begun: set[int] = set()

    @property
    def current(self) -> Begin | None:
        """The record being measured, if any."""
        return next(reversed(self._open.values())).begin if self._open else None

    def take(self, item: Received | Finding) -> None:
        """Takes one item of the decoder; ignores all after a restart or a foreign HELLO."""
        if self.restarted or self.foreign:
            return
        if isinstance(item, Finding):
            self._note(item)
        else:
            self._message(item.message, item.sequence)

    def finish(self, why: str) -> None:
        """Ends the stream; open records are closed without the target's END, because of `why`."""
        for record in list(self._open):
            self._close(record, None, why)

    def _note(self, finding: Finding) -> None:
        self.findings.append(finding)
        self.restarted = finding.kind == "restarted"
        self.foreign = finding.message if finding.kind == "version" else ""
        if finding.lost:
            for state in self._open.values():
                state.spoil(f"{finding.kind}: {finding.message}")

    def _broken(self, why: str, sequence: int) -> None:
        self._note(Finding("body", f"frame {sequence}: {why}", -1))

    def _message(self, message: AnyMessage, sequence: int) -> None:
        match message:
            case Samples():
                self._values(message, sequence)
            case Begin():
                self._begin(message, sequence)
            case End():
                self._end(message, sequence)
            case Hello():
                self.hello = message
            case Bench():
                self.benches.append(message)
            case Case():
                self.case = message.case
            case Conform():
                self.conforms.append(message)
                self.case = ""
            case Text():
                self.texts.append(message.text)
            case Fault():
                self.fault = message
            case Done():
                self.done = message
                if message.frames != sequence + 1:
                    why = f"the target counts {message.frames} frames, but numbered {sequence + 1}"
                    self._broken(why, sequence)

    def _begin(self, begin: Begin, sequence: int) -> None:
        if begin.record in self._open:
            self._close(begin.record, None, "its end was lost")
        why = self._refusal(begin)
        if why:
            self._broken(f"record {begin.record} {why}", sequence)
            return
        self._begun.add(begin.record)
        self._open[begin.record] = _Open(begin)
        self.sink.opened(begin)

    def _refusal(self, begin: Begin) -> str:
        """Why a record has no files of its own; "" for one that has."""
        if begin.record in self._begun:
            return "begins a second time"
        if max(len(name.encode()) for name in (begin.bench, *begin.lanes)) > _LONGEST_NAME:
            return f"has a name of more than {_LONGEST_NAME} bytes"
        if len({_IN_FILE.sub("-", lane) for lane in begin.lanes}) < len(begin.lanes):
            return "has two lanes of one name"
        return ""

    def _values(self, samples: Samples, sequence: int) -> None:
        state = self._open.get(samples.record)
        if state is None:
            self._broken(f"samples of record {samples.record}, which is not open", sequence)
            return
        if samples.lane >= len(state.received):
            self._broken(f"record {samples.record} has no lane {samples.lane}", sequence)
            return
        if samples.dtype[1:] != state.begin.dtype:
            announced = f"but {state.begin.dtype} announced"
            self._broken(f"record {samples.record}: {samples.dtype} values, {announced}", sequence)
            return
        expected = state.received[samples.lane]
        if samples.first != expected:
            name = state.begin.lanes[samples.lane]
            state.holed[samples.lane] = True
            state.spoil(f"lane {name}: expected value {expected}, received {samples.first}")
        if samples.values.dtype.kind == "f" and not np.isfinite(samples.values).all():
            name = state.begin.lanes[samples.lane]
            state.holed[samples.lane] = True
            state.spoil(f"lane {name}: a value is not a finite number")
        if state.holed[samples.lane]:
            return
        self._order(state, samples)
        state.received[samples.lane] += len(samples.values)
        self.samples += len(samples.values)
        self.sink.values(samples.record, samples.lane, samples.values)

    def _order(self, state: _Open, samples: Samples) -> None:
        """Looks for spans whose END came before their BEGIN.

        The suite looks as well; its image may be older than this rule. Stamps of 64 bits hold two
        values for such spans that are samples in the records of other programs.
        """
        name = state.begin.lanes[samples.lane]
        narrow = self.hello is not None and self.hello.clock.bits <= _NARROW
        if companion(name)[0] or not narrow or samples.dtype != _SPANS:
            return
        assert self.hello is not None
        whole = 1 << self.hello.clock.bits
        wrong = np.flatnonzero(samples.values >= whole // 2)
        if wrong.size:
            at = int(wrong[0])
            state.spoil(
                f"sample {samples.first + at} of lane {name} is no span: END came "
                f"{whole - int(samples.values[at])} clock counts before BEGIN, or half the range "
                "of the clock after it"
            )

    def _end(self, end: End, sequence: int) -> None:
        if end.record not in self._open:
            self._broken(f"record {end.record} ends and never began", sequence)
            return
        self._close(end.record, end, "")

    def _close(self, record: int, end: End | None, why: str) -> None:
        state = self._open.pop(record)
        self.records += 1
        ending = Ending("failed", state.damage or why) if end is None else self._judge(state, end)
        self.unusable += ending.status in ("failed", "invalid")
        self.sink.closed(state.begin, end, ending)

    def _judge(self, state: _Open, end: End) -> Ending:
        """The target's own status, or the lab's objection to it."""
        if end.status in ("n/a", "failed"):
            return Ending(end.status, end.reason)
        if end.status == "invalid":
            return Ending("invalid", end.reason or state.damage or "the target gives no reason")
        against = state.damage or self._accounting(state, end)
        return Ending("invalid", against) if against else Ending("ok", end.reason)

    def _accounting(self, state: _Open, end: End) -> str:
        begin = state.begin
        arrived = dict(zip(begin.lanes, state.received, strict=True))
        lanes = {name: n for name, n in arrived.items() if not companion(name)[0]}
        if len(end.lanes) != len(lanes):
            return f"{len(lanes)} lanes began, but {len(end.lanes)} ended"
        for (name, received), lane in zip(lanes.items(), end.lanes, strict=True):
            # The rest was not measured, which needs a reason: a stop, or a limit.
            accounted = lane.taken + lane.missed
            if accounted > begin.planned or (accounted < begin.planned and not end.reason):
                return (
                    f"lane {name}: {begin.planned} planned, but {lane.taken} taken and "
                    f"{lane.missed} missed"
                )
            if self.expects_samples and received != lane.taken:
                return f"lane {name}: {lane.taken} values taken, but {received} arrived"
        taken = {name: lane.taken for name, lane in zip(lanes, end.lanes, strict=True)}
        return _beside(arrived, taken) or _proof(end)


def _beside(arrived: Mapping[str, int], taken: Mapping[str, int]) -> str:
    """Checks that a companion has as many values as its lane has samples."""
    for name, received in arrived.items():
        of, kind = companion(name)
        if of and of not in taken:
            return f"companion {name}: there is no lane {of}"
        if of and received != taken[of]:
            return f"lane {of}: {taken[of]} samples, but {received} values of {kind}"
    return ""


def _proof(end: End) -> str:
    if end.proof.failed:
        return f"{end.proof.failed} of {end.proof.checked} proofs failed: {end.proof.reason}"
    if end.proof.checked == 0 and any(lane.taken for lane in end.lanes):
        return "no proof: nothing shows that the timed events happened"
    return ""
