# SPDX-License-Identifier: Apache-2.0
"""From an executed path to a timeline: who ran when."""

from __future__ import annotations

from itertools import groupby

from kadenz.config.timeline import TIMELINE_VERSION, Slice, Timeline, Track, TrackKind
from kadenz.images.code import Code
from kadenz.lab.profile.cores import core_of
from kadenz.lab.profile.walk import Moment, Program, Steps, Walker
from kadenz.targets.paths import MARK, NAME, RUN, STORE, Paths, Region
from kadenz.targets.scope import BEGIN, END

_KERNEL = "kernel"  # the part whose functions are calls of the kernel
_Key = tuple[TrackKind, str]


class Follower:
    """Makes the timelines of one execution."""

    def __init__(self, code: Code, paths: Paths, target: str) -> None:
        self._code, self._paths, self._target = code, paths, target
        self._walker = Walker(Program(code, paths), core_of(code.arch))

    def record(self, number: int, bench: str, region: Region) -> Timeline:
        """The timeline of one record, whose region is all of it."""
        lines = _Lines(region.instructions[0])
        threads = _Threads(self._code)
        steps = self._walker.start()

        def state() -> tuple[object, ...]:
            # How long sections last decides nothing here.
            return steps.state()._replace(sections=()), threads.state(), lines.state()

        for piece, repetitions in groupby(region.path):
            left = sum(1 for _ in repetitions)
            while left:
                before, begin = state() if left > 1 else None, lines.now
                self._piece(steps, piece, threads, lines)
                left -= 1
                if left and state() == before:  # so do all others: an idle loop that spins
                    lines.now += left * (lines.now - begin)
                    break
        return Timeline(
            TIMELINE_VERSION,
            number,
            bench,
            self._target,
            "instruction",
            *region.instructions,
            lines.tracks(),
        )

    def _piece(self, steps: Steps, piece: int, threads: _Threads, lines: _Lines) -> None:
        for token, moment in self._walker.follow(steps, piece):
            row = self._paths.tokens[token]
            kind, value = int(row["kind"]), int(row["value"])
            if kind == MARK:
                lines.mark(value)
            elif kind == STORE:
                threads.chosen(value)
            elif kind & 0xF0 == NAME:
                threads.named(kind - NAME, value)
            elif kind == RUN and moment is not None:
                self._run(lines, threads, moment)
                lines.now += int(row["instructions"])

    def _run(self, lines: _Lines, threads: _Threads, moment: Moment) -> None:
        if moment.handler:
            name = self._code.function_at(moment.handler).name
            lines.executes(("exception", name), name)
            return
        thread = threads.name_of(moment.thread)
        lines.executes(("thread", thread), thread)
        inside = [function.name for function in moment.functions if function.part == _KERNEL]
        lines.calls(thread, inside[0] if inside else "")


class _Threads:
    """Names by the kernel's pointer. One that is reused gets the name of its new thread."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._names: dict[int, bytes] = {}
        self._current = 0

    def state(self) -> tuple[object, ...]:
        """Everything that decides the next names."""
        return self._current, tuple(self._names.items())

    def chosen(self, pointer: int) -> None:
        self._current = pointer

    def named(self, place: int, value: int) -> None:
        before = self._names.get(self._current, b"")[: 8 * place] if place else b""
        self._names[self._current] = before + value.to_bytes(8, "little")

    def name_of(self, pointer: int | None) -> str:
        if pointer is None:
            return "thread"
        if pointer == 0:
            return "no thread"
        name = self._names.get(pointer, b"").rstrip(b"\0").decode(errors="replace")
        return name or f"thread {self._code.variable_at(pointer) or hex(pointer)}"


class _Lines:
    """The tracks as they grow."""

    def __init__(self, begin: int) -> None:
        self.now = begin
        self._tracks: dict[_Key, list[Slice]] = {("sample", ""): []}
        self._executing: tuple[_Key, str, int] | None = None
        self._in_call: dict[str, tuple[str, int]] = {}
        self._sample: int | None = None
        self._samples = 0

    def state(self) -> tuple[object, ...]:
        """All but the time. Two that are equal have no end of a slice between them."""
        calls = tuple(self._in_call.items())
        ended = tuple(map(len, self._tracks.values()))
        return self._executing, calls, self._sample, self._samples, ended

    def mark(self, value: int) -> None:
        """A mark inside the record."""
        if value == BEGIN:
            self._sample = self.now
        elif value == END and self._sample is not None:
            self._add(("sample", ""), f"sample {self._samples}", self._sample)
            self._samples += 1
            self._sample = None

    def executes(self, key: _Key, name: str) -> None:
        """From now on this thread or handler executes."""
        if self._executing is not None and self._executing[0] == key:
            return
        self._stop()
        self._executing = key, name, self.now

    def calls(self, thread: str, function: str) -> None:
        """The executing thread is inside this function of the kernel from now on, or in none."""
        known = self._in_call.get(thread)
        if known is not None and known[0] != function:
            self._add(("call", thread), known[0], known[1])
            del self._in_call[thread]
        if function and thread not in self._in_call:
            self._in_call[thread] = function, self.now

    def tracks(self) -> list[Track]:
        """Everything that has slices, ended now: samples, threads with their calls, exceptions."""
        self._stop()
        for thread in list(self._in_call):
            self.calls(thread, "")
        threads = [name for kind, name in self._tracks if kind == "thread"]
        order: list[_Key] = [("sample", "")]
        for name in threads:
            order += [("thread", name), ("call", name)]
        order += [key for key in self._tracks if key[0] == "exception"]
        return [Track(*key, self._tracks[key]) for key in order if self._tracks.get(key)]

    def _stop(self) -> None:
        if self._executing is not None:
            self._add(*self._executing)
            self._executing = None

    def _add(self, key: _Key, name: str, begin: int) -> None:
        if self.now > begin:
            self._tracks.setdefault(key, []).append(Slice(name, begin, self.now))
