# SPDX-License-Identifier: Apache-2.0
"""Stores the records that arrive from one target in a run folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.config.board import OutputBit
from kadenz.config.manifest import (
    ARRIVALS,
    CUT_OFF,
    INTERVAL,
    MISSES,
    OFFSET,
    LaneEntry,
    Number,
    ProofEntry,
    RecordEntry,
    ValueEntry,
)
from kadenz.config.params import period_us
from kadenz.lab.arrivals import Outlook
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.pulses import Pulses
from kadenz.lab.timed_arrivals import PHASE, TimedArrivals
from kadenz.store import RunWriter
from kadenz.targets.arrivals import Arrivals, Asked, Sweep
from kadenz.targets.scope import RecordSpans, ScopeDamaged, check_count
from kadenz.wire.messages import DTYPES, Begin, Bench, End, companion
from kadenz.wire.records import Ending

_NUMPY = dict(DTYPES)
_LOOK_S = 1.0
_SPAN_MAX = 0xFFFFFFFF  # that a sample holds
_TOO_LONG = "END came after more clock counts than 32 bits hold"
# Lanes of a record of edges: when the frame left that orders the edge, and which edge it is.
DEPARTURE = ("departure", "departure:cycle")
ANY_ADDRESS = 0  # of a train that is not that of an output
# Units of companions; all others are counts since the sample before.
COMPANION_UNITS = {
    "cycle": "index",  # of the cycle, from 0: missed ones leave holes
    "release": "index",  # of a task, from the first that all tasks have in common
    "sent": "ns",  # since the release
    "encoder": "increment",  # as the drive reports it (object 0x6064)
    "cpu": "cpu",  # its number, as Linux counts
    "begin-core": "core",  # from 0: of the thread that took the sample's first stamp, or slept
    "end-core": "core",  # of the one that took its last
    **dict.fromkeys(OFFSET, "ticks"),  # of the clock, since both moments were chosen
    "since": "ticks",  # of the clock, since the previous sample began
    "step": "step",  # of an experiment, from its baseline
    "window": "ticks",  # of the run's clock: how long a probe lasts
    "phase": "ticks",  # of the run's clock after BEGIN: when an interrupt arrived
    "tick": "ticks",  # the same, of the tick of the kernel with which it was latest
    "ticks": "ticks",  # of the kernel that were tried with it
    "request": "ticks",  # as `tick`, of the other request of its line
    "requests": "count",  # that were tried with it
    "device": "ticks",  # as `tick`, of the request of another device
    "devices": "count",  # of its requests that were tried with it
    "pc": "address",
    "masked": "flag",
    "locked": "depth",
    "steal": "jiffies",  # of 1/100 s, USER_HZ of /proc/stat
    **dict.fromkeys(INTERVAL, "cycle"),
    **dict.fromkeys(MISSES, "line"),  # of the cache, fetched while the sample was taken
}


class Session:
    """The sink of an Assembler: knows the planned points and writes their records."""

    def __init__(
        self,
        writer: RunWriter,
        name: str,
        points: Sequence[Point],
        catalog: Sequence[Bench],
        progress: Progress,
    ) -> None:
        self._writer = writer
        self._name = name
        self._points = {point.id: point for point in points}
        self._catalog = {bench.name: bench for bench in catalog}
        self._progress = progress
        self._entries: dict[int, RecordEntry] = {}
        self._begun: dict[int, float] = {}  # when each record was opened, monotonic
        self._cycles: dict[tuple[int, str], int] = {}  # begun so far, by record and lane
        self._came: dict[tuple[int, int], int] = {}  # values that arrived, by record and lane
        self._told: dict[tuple[int, int], int] = {}  # values already shown to somebody watching
        self._lost: dict[int, int] = {}  # arrivals that came to no end, by record
        self._looked_at = 0.0
        self._outlooks: dict[int, Outlook] = {}  # of sweeps, by record
        # For what an instrument outside the target has seen.
        self._waiting: list[tuple[RecordEntry, End | None, Ending]] = []
        self.scoped = False
        self.arrivals: Arrivals | None = None  # of the execution, where its record lets some arrive
        self.sweep: Callable[[], Sweep | None] = lambda: None  # of the execution that is read
        self.timed: Asked | None = None  # arrivals that a timer of the board raises
        self.counted = False  # two runs give the same bytes
        self._timed: dict[int, TimedArrivals] = {}  # by record
        self.in_pairs = False  # each arrival is tried with a second one in every cycle
        self.functions: Callable[[Arrivals], dict[str, str]] = lambda arrivals: {}
        self.tapped = False  # records of edges get a lane of the frames that order them
        # Companions that the scope gives its samples, of INTERVAL and MISSES.
        self.scope_kinds: tuple[str, ...] = ()
        self.tick_hz = 0  # of the kernel
        self.quiet_until = ""  # the benchmark after whose record the disk may be waited for
        self.closing: Callable[[], None] = lambda: None  # called before a record is closed
        self.value: Callable[[], ValueEntry | None] = lambda: None  # of the execution that is read
        self.stored: Callable[[], None] = lambda: None  # called when a record is in the folder

    @property
    def seen(self) -> set[int]:
        """Numbers of the records that began."""
        return set(self._entries)

    @property
    def waiting(self) -> list[RecordEntry]:
        """Records that wait for what an instrument outside the target has seen."""
        return [entry for entry, _, _ in self._waiting]

    @property
    def last_reason(self) -> str:
        """The benchmark of the record that began last, and its reason where it has one."""
        if not self._entries:
            return "before its first record"
        entry = list(self._entries.values())[-1]
        return f"{entry.bench}: {entry.reason}" if entry.reason else f"after {entry.bench}"

    def entry(self, record: int) -> RecordEntry:
        """A record that began."""
        return self._entries[record]

    def opened(self, begin: Begin) -> None:
        """Enters the record. Until it ends it counts as cut off."""
        point = self._points.get(begin.record)
        bench = self._catalog.get(begin.bench)
        entry = RecordEntry(
            id=begin.record,
            bench=begin.bench,
            params=dict(begin.params),
            ranks=dict(begin.ranks),
            begins=bench.begins if bench else "",
            ends=bench.ends if bench else "",
            source=bench.source if bench else "",
            status="failed",
            reason=CUT_OFF,
            unit=begin.unit,
            cold=point.cold if point else 0,
            drains=[],
            lanes=[_lane(name, begin) for name in self._lanes_of(begin)],
            proof=ProofEntry(checked=0, failed=0),
            deadline=point.deadline if point else None,
            value=self.value(),
            defaults=bench.defaults if bench else {},
            declared=bench.nature if bench else None,
        )
        for place, lane in enumerate(entry.series):
            lane.period_us = period_us(entry.params, self.tick_hz, place) or None
            lane.planned -= point.further if point else 0
        entry.lanes += [_beside(lane, kind) for lane in entry.series for kind in self.scope_kinds]
        if self._is_tapped(entry):
            entry.lanes += [_lane(name, begin) for name in DEPARTURE if name not in begin.lanes]
        self._entries[begin.record] = entry
        self._begun[begin.record] = time.monotonic()
        self._writer.open_record(entry)
        self._progress.opened(self._name, entry)

    def _lanes_of(self, begin: Begin) -> list[str]:
        """Those of its samples; companions that are arrivals become lanes when it ends."""
        point = self._points.get(begin.record)
        if self.timed is None or point is None or not point.arrivals:
            return begin.lanes
        if not TimedArrivals.are_in(begin):
            return begin.lanes
        self._timed[begin.record] = TimedArrivals(begin, self.timed, self.counted)
        return begin.lanes[:1]

    def values(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """Stores the next samples."""
        if record in self._timed:
            values = self._timed[record].take(lane, values)
            if not len(values):
                return
        self._writer.append(record, lane, values)
        entry = self._entries[record]
        of, kind = companion(entry.lanes[lane].name)
        if kind == "cycle" and len(values):
            self._cycles[record, of] = int(values[-1]) + 1
        key = record, lane
        before = self._came.get(key, 0)
        self._came[key] = before + len(values)
        self._tell(entry, lane, values[max(0, self._told.get(key, 0) - before) :])

    def look(self) -> None:
        """Shows the samples that the target holds by now, without asking the target."""
        now = time.monotonic()
        if now - self._looked_at < _LOOK_S:
            return
        self._looked_at = now
        for entry in self._entries.values():
            if entry.status == "failed" and entry.reason == CUT_OFF:  # it runs
                self._look_at_sweep(entry, now)
                for lane in range(len(entry.lanes) if self._progress.live else 0):
                    seen = self._told.get((entry.id, lane), 0)
                    self._tell(entry, lane, self._writer.running_values(entry.id, lane, seen))

    def _look_at_sweep(self, entry: RecordEntry, now: float) -> None:
        sweep = self.sweep() if self._points[entry.id].arrivals else None
        if sweep is None:
            return
        self._outlook(entry).look(sweep, now)
        if self._progress.live:
            self._progress.swept(self._name, entry, sweep)

    def _outlook(self, entry: RecordEntry) -> Outlook:
        title = self._points[entry.id].title
        return self._outlooks.setdefault(
            entry.id,
            Outlook(
                lambda text: self._progress.note(self._name, f"{title}: {text}"),
                in_pairs=self.in_pairs,
            ),
        )

    def _tell(self, entry: RecordEntry, lane: int, values: NDArray[Any]) -> None:
        if len(values):
            key = entry.id, lane
            self._told[key] = self._told.get(key, 0) + len(values)
            self._progress.samples(self._name, entry, lane, values)

    def closed(self, begin: Begin, end: End | None, ending: Ending) -> None:
        """Ends the record, or keeps it waiting for the samples of an instrument outside."""
        entry = self._entries[begin.record]
        if entry.value is None or not entry.value.stored:
            entry.duration_s = round(time.monotonic() - self._begun[begin.record], 3)
        if entry.id in self._timed and ending.status != "n/a":
            ending = self._take_timed(entry, self._timed[entry.id], ending)
        if self.scoped or self._is_tapped(entry):
            self._waiting.append((entry, end, ending))
        else:
            self._close(entry, end, ending)

    def _is_tapped(self, entry: RecordEntry) -> bool:
        return self.tapped and entry.nature == "edges"

    def take_trains(
        self, trains: Sequence[Mapping[int, Pulses]], damage: str = "", bit: OutputBit | None = None
    ) -> None:
        """Enters the pulses that frames ordered into the records that waited for them, a train for
        each that has an edge, and ends all. One without its train is invalid; `damage` says why.
        A train is by the address of the output, which a record's parameters may move."""
        waiting, self._waiting = self._waiting, []
        stamped = [entry.id for entry, end, _ in waiting if self._has_edges(entry, end)]
        differs = (
            f"the frames of the card order {len(trains)} trains of pulses for {len(stamped)} "
            "records: is `output` of board.toml the one that the program switches?"
        )
        missing = Ending("invalid", damage or differs)
        by_record = dict(zip(stamped, trains, strict=False)) if len(trains) == len(stamped) else {}
        for entry, end, ending in waiting:
            address = bit.address_in(entry.params) if bit is not None else ANY_ADDRESS
            train = by_record.get(entry.id, {}).get(address)
            if train is not None:
                self._take_train(entry, train)
            ends = ending if ending.status != "ok" else _as_seen(end, train, missing)
            self._close(entry, end, ends)

    def _has_edges(self, entry: RecordEntry, end: End | None) -> bool:
        """Whether the target stamped an edge, or counted one for the instrument outside."""
        counted = end.lanes[0].taken if end is not None and end.lanes else 0
        return bool(self._came.get((entry.id, 0)) or counted)

    def _take_train(self, entry: RecordEntry, train: Pulses) -> None:
        """Enters the first pulses, as many as were planned, times from the first."""
        first = next(place for place, lane in enumerate(entry.lanes) if lane.name == DEPARTURE[0])
        taken = train.numbers < entry.lanes[first].planned
        times = (train.ns - train.ns[0]).astype(np.float64)
        for place, values in enumerate((times, train.numbers.astype(np.float64))):
            self.values(entry.id, first + place, values[taken])

    def take_trace(self, traces: Mapping[int, RecordSpans]) -> None:
        """Enters the scope's spans into the records that waited for them, and ends these.

        Raises the first ScopeDamaged when all are ended: a record whose spans disagree with the
        target is invalid, the others keep theirs.
        """
        damages = []
        while self._waiting:
            entry, end, ending = self._waiting.pop(0)
            try:
                if (trace := traces.get(entry.id)) is not None and entry.lanes:
                    ending = self._take_spans(entry, end, trace) or ending
                    ending = self._take_arrivals(entry, ending)
                elif end is not None and any(lane.taken for lane in end.lanes):
                    ending = Ending("invalid", "the scope's trace does not hold this record")
            except ScopeDamaged as damage:
                damages.append(damage)
                ending = Ending("invalid", damage.message)
            self._close(entry, end, ending)
        if damages:
            raise damages[0]

    def _take_spans(self, entry: RecordEntry, end: End | None, trace: RecordSpans) -> Ending | None:
        """Enters the spans of one record; the ending if they cannot be samples.

        ScopeDamaged if they are not as many as the target counted.
        """
        taken = sum(lane.taken for lane in end.lanes) if end else trace.spans.size
        if trace.closed:
            check_count(trace, taken)
        # Marks carry no lane: a benchmark with several marks them in order. They carry no
        # companions either, which come behind the lanes of samples.
        lanes = len(entry.series)
        for lane in range(lanes):
            spans = trace.spans[lane::lanes].clip(max=_SPAN_MAX).astype(np.uint32)
            spans = spans[: entry.series[lane].planned]  # those behind them are arrivals
            self._writer.append(entry.id, lane, spans)
            self._progress.samples(self._name, entry, lane, spans)
        self._take_beside(entry, trace)
        long = np.flatnonzero(trace.spans > _SPAN_MAX)
        if long.size:
            return Ending("invalid", f"span {long[0]} of the trace: {_TOO_LONG}")
        return None

    def _take_arrivals(self, entry: RecordEntry, ending: Ending) -> Ending:
        """Enters the arrivals of a record that let some arrive, of one that was cut off, too; its
        ending."""
        seen = self.arrivals
        if not self._points[entry.id].arrivals or ending.status == "n/a":
            return ending
        if ending.status == "ok" and seen is not None and seen.flaw:
            ending = Ending("invalid", seen.flaw)
        elif ending.status == "ok" and (seen is None or not seen.whole):
            ending = Ending("invalid", "the sample in which one is to arrive came to no end")
        if seen is None:
            return ending
        if ending.status == "ok" and seen.has_tick:
            return Ending("n/a", "a tick of the kernel comes in its sample by itself")
        if ending.status == "ok" and seen.repeated:
            phase = seen.repeated[0]
            ending = Ending("invalid", f"the arrival at {phase} was not served exactly once")
        first = len(entry.lanes)
        planned = len(seen.rows) + len(seen.lost) + seen.untried
        chosen = [(lane, kind) for lane in ARRIVALS for kind in ("", *seen.kinds)]
        for place, (lane, kind) in enumerate(chosen, first):
            entry.lanes.append(_entry(f"{lane}:{kind}" if kind else lane, "<u4", planned))
            self._writer.append(entry.id, place, seen.values(lane, kind))
        entry.functions = self.functions(seen)
        self._lost[entry.id] = len(seen.lost)
        return ending

    def _take_timed(self, entry: RecordEntry, seen: TimedArrivals, ending: Ending) -> Ending:
        """Enters the arrivals of a timer, of a record that was cut off, too; its ending."""
        rows, first = seen.rows, len(entry.lanes)
        if not len(rows[PHASE]):
            return seen.ending(ending)
        planned = len(rows[PHASE]) + seen.missing
        chosen = [(lane, kind) for lane in ARRIVALS for kind in ("", PHASE)]
        for place, (lane, kind) in enumerate(chosen, first):
            entry.lanes.append(_entry(f"{lane}:{kind}" if kind else lane, "<u4", planned))
            self._writer.append(entry.id, place, rows[kind or lane])
        entry.raised = seen.raised
        return seen.ending(ending)

    def _take_beside(self, entry: RecordEntry, trace: RecordSpans) -> None:
        """Enters the ends of each span's interval, and its misses, into companions."""
        known = dict(zip(INTERVAL, trace.interval or (), strict=False)) | dict(trace.misses)
        lanes = entry.series
        if missing := [kind for kind in self.scope_kinds if kind not in known]:
            raise ScopeDamaged(
                f"record {entry.id}: the scope's trace has no {missing[0]}",
                remedy="`misses` in core.toml or model.toml says that they are counted: correct it",
            )
        for place, lane in enumerate(lanes):
            for kind in self.scope_kinds:
                values = known[kind][place :: len(lanes)].astype(np.uint32)
                self._writer.append(
                    entry.id, entry.lanes.index(entry.companions(lane)[kind]), values
                )

    def lost(self, point: Point, why: str) -> None:
        """Enters a point that the target never mentioned."""
        bench = self._catalog.get(point.bench)
        entry = RecordEntry(
            id=point.id,
            bench=point.bench,
            params=dict(point.params),
            ranks={},
            begins=bench.begins if bench else "",
            ends=bench.ends if bench else "",
            source=bench.source if bench else "",
            status="failed",
            reason=why,
            unit="ticks",
            cold=0,
            drains=[],
            lanes=[],
            proof=ProofEntry(checked=0, failed=0),
            deadline=point.deadline,
            defaults=bench.defaults if bench else {},
            declared=bench.nature if bench else None,
        )
        self._entries[point.id] = entry
        self._writer.open_record(entry)
        self._writer.close_record(entry.id)
        self._end_quiet(entry)
        self._progress.closed(self._name, entry)

    def _close(self, entry: RecordEntry, end: End | None, ending: Ending) -> None:
        self.closing()
        if end is not None:
            proof = end.proof
            entry.proof = ProofEntry(
                checked=proof.checked, failed=proof.failed, reason=proof.reason
            )
            # Those behind the samples of the service are in samples with arrivals.
            most = self._timed[entry.id].undisturbed if entry.id in self._timed else None
            entry.drains = [at for at in end.drains if most is None or at < most]
            for lane, its in zip(entry.series, end.lanes, strict=False):
                lane.overrun = its.overrun
        self._writer.close_record(
            entry.id, ended=end is not None, settle=lambda: self._settle(entry, end, ending)
        )
        self._end_quiet(entry)
        self._progress.closed(self._name, entry)
        self.stored()

    def _end_quiet(self, entry: RecordEntry) -> None:
        if entry.bench == self.quiet_until:
            self._writer.force()

    def _settle(self, entry: RecordEntry, end: End | None, ending: Ending) -> None:
        """Enters the ending, and the counts that depend on the samples on the disk.

        Until then the record is cut off: if the lab is killed before, the storage has its samples.
        """
        entry.status, entry.reason = ending.status, ending.reason
        missed = self._missed(entry, end)
        for lane in entry.lanes:
            if entry.status == "n/a":
                lane.planned = 0  # a benchmark that does not exist plans nothing
            # The disk decides: samples that did not arrive are not measured.
            lane.account(lane.taken, missed.get(lane.companion_of or lane.name, 0))
            lane.overrun = min(lane.overrun, lane.taken)
        entry.cold = min(entry.cold, max((lane.taken for lane in entry.lanes), default=0))
        self._progress.ended(self._name, entry)

    def _missed(self, entry: RecordEntry, end: End | None) -> dict[str, int]:
        """Missed samples by lane: the target's own count, or the gaps in the cycle numbers.

        A record that failed ended before its plan: samples that did not arrive were not measured.
        """
        begun = {lane.name: self._cycles.get((entry.id, lane.name), 0) for lane in entry.series}
        missed = {lane.name: max(0, begun[lane.name] - lane.taken) for lane in entry.series}
        if end is not None and end.status != "failed":
            pairs = zip(entry.series, end.lanes, strict=False)
            missed |= {lane.name: its.missed for lane, its in pairs if lane.name != DEPARTURE[0]}
        if entry.id in self._lost:
            missed |= dict.fromkeys(ARRIVALS, self._lost[entry.id])
        return missed


def _as_seen(end: End | None, train: Pulses | None, missing: Ending) -> Ending:
    """How a sound record ends: its frames left the card, at least as many as it counts."""
    if train is None or end is None:
        return missing
    if train.ns.size < end.lanes[0].taken:
        left, counted = train.ns.size, end.lanes[0].taken
        return Ending("invalid", f"{left:,} of its frames left the card, and it counts {counted:,}")
    return Ending("ok", end.reason)


def _beside(lane: LaneEntry, kind: str) -> LaneEntry:
    """A companion that the scope gives a lane of samples."""
    return _entry(f"{lane.name}:{kind}", lane.dtype, lane.planned)


def _lane(name: str, begin: Begin) -> LaneEntry:
    return _entry(name, _NUMPY[begin.dtype], begin.planned)


def _entry(name: str, dtype: Number, planned: int) -> LaneEntry:
    """A lane, or by its name a companion, before its first value."""
    of, kind = companion(name)
    return LaneEntry(
        name=name,
        file="",
        dtype=dtype,
        planned=planned,
        taken=0,
        missed=0,
        overrun=0,
        not_measured=planned,
        companion_of=of,
        unit=COMPANION_UNITS.get(kind, "count") if of else "",
    )
