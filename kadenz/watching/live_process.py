# SPDX-License-Identifier: Apache-2.0
"""The process that shows figures while a watch records: beside the recorder, below everything else.

It reads the files into which the recorder empties the rings, and may be late or leave events out;
the recording is whole without it. A process of its own: what it computes never keeps the recorder's
thread waiting.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kadenz.watching.events import Happening, Loss
from kadenz.watching.judging import Given
from kadenz.watching.live_figures import LiveFigures
from kadenz.watching.pages import Decoder, events_of_page
from kadenz.watching.recorder import Recorder
from kadenz.watching.selection import Selection

_EVERY_S = 1.0
_NICE = 19
_BEHIND_NS = 500_000_000  # events that are younger may be in the ring of another processor still
_MOST_PAGES = 2048  # of a processor between two looks: what is before them is left out


@dataclass(frozen=True)
class Shown:
    """What `--live` shows: threads by these names, with these periods and deadlines."""

    names: Sequence[str]
    periods: Sequence[Given]
    deadlines: Sequence[Given]


class LiveProcess:
    """Shows lines on standard error once a second, from `follow` until the end of the context."""

    def __init__(self, recorder: Recorder, shown: Shown) -> None:
        self._recorder, self._shown = recorder, shown
        self.seconds = 0.0  # of processor time that it took

    def __enter__(self) -> LiveProcess:
        order, self._order = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            try:
                os.close(self._order)
                self._recorder.release_rings()
                _show(order, self._recorder, self._shown)
            except Exception as error:
                sys.stderr.write(f"the figures meanwhile end here: {error!r}\n")
            finally:
                os._exit(0)
        os.close(order)
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def follow(self, roots: Sequence[int]) -> None:
        """Begins, with the threads of the program; none: all processes."""
        os.write(self._order, f"{json.dumps(list(roots))}\n".encode())

    def end(self) -> None:
        """Ends it and waits for it."""
        if self._pid:
            os.close(self._order)
            _, _, usage = os.wait4(self._pid, 0)
            self._pid, self.seconds = 0, usage.ru_utime + usage.ru_stime


def _show(order: int, recorder: Recorder, shown: Shown) -> None:
    """Runs until the order's other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    text = b""
    while not text.endswith(b"\n"):
        if not (piece := os.read(order, 1 << 16)):
            return
        text += piece
    roots = json.loads(text)
    selection = Selection(roots, shown.names, everything=not roots)
    figures = LiveFigures(selection, shown.periods, shown.deadlines)
    tail = Tail(recorder.spools, recorder.page_bytes, recorder.decoders)
    screen = _Screen()
    while not select.select([order], [], [], _EVERY_S)[0]:
        figures.take(tail.events(time.monotonic_ns() - _BEHIND_NS))
        screen.write(figures.lines)


class Tail:
    """Reads files that grow. `spools`: their descriptors by processor."""

    def __init__(
        self, spools: dict[int, int], page_bytes: int, decoders: dict[int, Decoder]
    ) -> None:
        self._spools, self._page_bytes, self._decoders = spools, page_bytes, decoders
        self._places = dict.fromkeys(spools, 0)
        self._kept: list[Happening] = []  # younger than the moment that was asked for

    def events(self, until: int) -> list[Happening]:
        """The next events up to a time in ns, in its order; a Loss where some are left out."""
        events = self._kept
        for cpu in self._spools:
            events += self._of(cpu)
        events.sort(key=lambda event: event.at)
        due = next((i for i, event in enumerate(events) if event.at > until), len(events))
        self._kept = events[due:]
        return events[:due]

    def _of(self, cpu: int) -> list[Happening]:
        size, spool = self._page_bytes, self._spools[cpu]
        ready = os.fstat(spool).st_size // size
        first = max(self._places[cpu], ready - _MOST_PAGES)
        left_out = first > self._places[cpu]
        events: list[Happening] = []
        for number in range(first, ready):
            page = os.pread(spool, size, number * size)
            events += events_of_page(page, cpu, self._decoders)
        self._places[cpu] = ready
        if left_out and events:
            events.insert(0, Loss(events[0].at, cpu, -1, 0))
        return events


class _Screen:
    """Writes lines over those before, on a terminal; below them elsewhere."""

    def __init__(self, write: Callable[[str], object] = sys.stderr.write) -> None:
        self._write = write
        self._above = 0

    def write(self, lines: Sequence[str]) -> None:
        """Shows the lines in the place of the last ones."""
        up = f"\x1b[{self._above}F\x1b[J" if self._above and sys.stderr.isatty() else ""
        self._write(up + "".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
        self._above = len(lines)
