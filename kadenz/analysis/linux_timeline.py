# SPDX-License-Identifier: Apache-2.0
"""Timelines from what Linux recorded of a program: its threads, system calls and interrupts.

A trace that kadenz took has microseconds of CLOCK_MONOTONIC; one of trace-cmd has nanoseconds. With
the instrument `ftrace`, the suite's program writes its stamps, in nanoseconds of the same clock,
when a record closes. A recording of trace-cmd has no stamps, so its timeline has no samples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kadenz.config.timeline import TIMELINE_VERSION, Slice, Timeline, Track, TrackKind
from kadenz.errors import StoreError
from kadenz.ftrace import (
    LOST,
    MARKS,
    SWITCH,
    Event,
    Who,
    interrupt_of,
    lost_words,
    parse_trace,
)
from kadenz.regular_files import read_regular
from kadenz.store import Run
from kadenz.store.layout import trace_file

_FORK = re.compile(r"\bpid=(\d{1,10}) .{0,64}child_pid=(\d{1,10})")
_EXEC = re.compile(r"\bpid=(\d{1,10}) ")
_STAMP = re.compile(r"kadenz: (begin|end)_ns=(\d{1,18})")
_CALL = "sys_"
_EXECUTED = "sched_process_exec"
_OF_A_THREAD: tuple[TrackKind, ...] = ("thread", "call")
_NS = 1e9  # of a second


def traced_timelines(run: Run) -> list[Timeline]:
    """The timelines of the records that Linux traced.

    StoreError for a trace without its program.
    """
    timelines = []
    for record in run.manifest.records:
        file = run.path / trace_file(record.id, record.bench)
        try:
            text = read_regular(file, inside=run.path).decode(errors="replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"{file}: {error.strerror}", remedy="Copy the run again") from None
        program = _Program(parse_trace(text))
        tracks = program.tracks()
        if not tracks:
            raise StoreError(
                f"{file}: shows no thread of the program; its beginning may be cut off",
                remedy="Trace again with fewer samples: --set samples=20",
            )
        name = run.manifest.target.name
        begin, end = program.record
        warnings = program.warnings()
        timelines.append(
            Timeline(
                TIMELINE_VERSION, record.id, record.bench, name, "ns", begin, end, tracks, warnings
            )
        )
    return timelines


def recorded_timeline(events: Iterable[Event], name: str) -> Timeline | None:
    """The timeline of the last program that began in a recording of Linux, which may be a stream.

    `name` stands for the benchmark. None if the events show no thread of a program.
    """
    program = _Program(events)
    tracks = program.tracks()
    if not tracks:
        return None
    begin, end = program.record
    warnings = program.warnings()
    return Timeline(TIMELINE_VERSION, 0, name, "Linux", "ns", begin, end, tracks, warnings)


class _Program:
    """The last program that began, and everything that it started.

    Where events of a processor were lost, nothing spans the gap: what executed there may have
    ended, and ends at the last event before.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._forget()
        self._last = 0
        seen: dict[int, int] = {}  # the last event of each processor
        for event in events:
            if event.name == _EXECUTED:
                self._forget()
            if event.name == LOST:
                self._gap(event, seen.get(event.cpu, _ns(event)))
            seen[event.cpu] = _ns(event)
            if event.name in MARKS:
                self._mark(event)
            elif (
                event.name != LOST and not self._stamps
            ):  # they are written when the record has closed
                self._take(event)
                self._last = _ns(event)
        for pid in list(self._running):
            self._stops(pid, self._last)
        for pid, (name, begin) in self._calls.items():
            self._add(("call", pid), name, begin, self._last)
        self.record = self._extent()

    def _forget(self) -> None:
        """Nothing is known before a program begins."""
        self._names: dict[int, str] = {}
        self._slices: dict[tuple[TrackKind, int | str], list[Slice]] = {}
        self._running: dict[int, tuple[int, int]] = {}  # since when, and where
        self._lost: dict[int, list[tuple[int, Slice]]] = {}  # of each processor, with their number
        self._calls: dict[int, tuple[str, int]] = {}
        self._interrupts: dict[tuple[int, Who], tuple[str, int]] = {}
        self._first = 0
        self._stamps: list[tuple[int, str]] = []

    def _gap(self, event: Event, begin: int) -> None:
        """Ends what was going on at `begin`, the last event before; calls of threads elsewhere
        that wait may have ended there, too."""
        count = int(event.text or 0)
        gap = Slice(f"{lost_words(count)} lost", begin, _ns(event))
        self._lost.setdefault(event.cpu, []).append((count, gap))
        elsewhere = {pid for pid, (_, cpu) in self._running.items() if cpu != event.cpu}
        for pid in self._running.keys() - elsewhere:
            self._stops(pid, begin)
        for pid in self._calls.keys() - elsewhere:
            name, since = self._calls.pop(pid)
            self._add(("call", pid), name, since, begin)
        for key in [key for key in self._interrupts if key[0] == event.cpu]:
            del self._interrupts[key]

    def warnings(self) -> list[str]:
        """What is missing of each processor, during the record."""
        losses = []
        for cpu, gaps in self._lost.items():
            inside = [(count, cut) for count, gap in gaps for cut in self._cut([gap])]
            if not inside:
                continue
            spent = sum(gap.end - gap.begin for _, gap in inside)
            places = f"{len(inside):,} {'gap' if len(inside) == 1 else 'gaps'}"
            number = 0 if any(not count for count, _ in inside) else sum(c for c, _ in inside)
            losses.append(
                f"CPU {cpu} lost {lost_words(number)} in {places} of {spent:,} ns in all: what "
                "happened there is unknown"
            )
        return losses

    def _extent(self) -> tuple[int, int]:
        """The first to the last execution of the threads that it started, or of its own."""
        threads = {key[1]: slices for key, slices in self._slices.items() if key[0] == "thread"}
        started = {pid: slices for pid, slices in threads.items() if pid != self._first}
        slices = [span for thread_slices in (started or threads).values() for span in thread_slices]
        if not slices:
            return 0, 0
        return min(span.begin for span in slices), max(span.end for span in slices)

    def tracks(self) -> list[Track]:
        """Samples, threads by name, each with its system calls, interrupts; cut to the record."""
        uncut = [Track("sample", "", self._samples())]
        times = Counter(self._names.values())
        for pid, name in self._names.items():
            label = name if times[name] == 1 else f"{name} {pid}"
            for kind in _OF_A_THREAD:
                if slices := self._slices.get((kind, pid)):
                    named = [
                        Slice(label if kind == "thread" else span.name, span.begin, span.end)
                        for span in slices
                    ]
                    uncut.append(Track(kind, label, named))
        for (kind, who), slices in self._slices.items():
            if kind == "exception":
                uncut.append(Track(kind, str(who), slices))
        for cpu, gaps in self._lost.items():
            uncut.append(Track("lost", f"CPU {cpu}", [gap for _, gap in gaps]))
        cut = [Track(track.kind, track.name, self._cut(track.slices)) for track in uncut]
        return [track for track in cut if track.slices]

    def _mark(self, event: Event) -> None:
        match = _STAMP.search(event.text)
        if match is not None:
            self._calls.pop(event.pid, None)  # the one that writes this
            self._stamps.append((int(match[2]), match[1]))

    def _samples(self) -> list[Slice]:
        """From each BEGIN to the END that follows it, in the order of their times."""
        samples: list[Slice] = []
        begin: int | None = None
        for at, kind in sorted(self._stamps):
            if kind == "begin":
                begin = at
            elif begin is not None:
                samples.append(Slice(f"sample {len(samples)}", begin, at))
                begin = None
        return samples

    def _cut(self, slices: Sequence[Slice]) -> list[Slice]:
        begin, end = self.record
        cut = (Slice(span.name, max(span.begin, begin), min(span.end, end)) for span in slices)
        return [span for span in cut if span.end > span.begin]

    def _take(self, event: Event) -> None:
        at = _ns(event)
        if event.name == _EXECUTED and (match := _EXEC.search(event.text)):
            self._first = int(match[1])
            self._names[self._first] = event.task
            self._running[int(match[1])] = at, event.cpu
        elif event.name == "sched_process_fork" and (match := _FORK.search(event.text)):
            if int(match[1]) in self._names:
                self._names[int(match[2])] = self._names[int(match[1])]
        elif event.name == "sched_switch" and (match := SWITCH.search(event.text)):
            before, after = int(match["prev_pid"]), int(match["next_pid"])
            if before in self._names:
                self._names[before] = match["prev"]
                self._stops(before, at)
            if after in self._names:
                self._running[after] = at, event.cpu
        elif event.pid in self._names:
            # With a PID filter, Linux omits some switches from idle: a thread with an event runs.
            self._running.setdefault(event.pid, (at, event.cpu))
            if event.name.startswith(_CALL):
                self._call(event, at)
            elif who := interrupt_of(event):
                self._interrupt(event, who, at)

    def _stops(self, pid: int, at: int) -> None:
        if pid in self._running:
            self._add(("thread", pid), "", self._running.pop(pid)[0], at)

    def _call(self, event: Event, at: int) -> None:
        if not event.text.startswith("->"):
            self._calls[event.pid] = event.name.removeprefix(_CALL), at
        elif event.pid in self._calls:
            name, begin = self._calls.pop(event.pid)
            self._add(("call", event.pid), name, begin, at)

    def _interrupt(self, event: Event, who: Who, at: int) -> None:
        key = event.cpu, Who(who.kind, "", who.number)
        if event.name.endswith("_entry"):
            self._interrupts[key] = who.name or f"{who.kind} {who.number}", at
        elif key in self._interrupts:
            name, begin = self._interrupts.pop(key)
            self._add(("exception", name), name, begin, at)

    def _add(self, key: tuple[TrackKind, int | str], name: str, begin: int, end: int) -> None:
        """Omits bars shorter than a microsecond: they have no width."""
        if end > begin:
            self._slices.setdefault(key, []).append(Slice(name, begin, end))


def _ns(event: Event) -> int:
    return round(event.time * _NS)
