# SPDX-License-Identifier: Apache-2.0
"""The timeline of a record: a file of the run folder, written by measuring and read by reports."""

from __future__ import annotations

from typing import Literal

import msgspec

TIMELINE_VERSION = 1
# sample: from BEGIN to END. thread: it executes. exception: its handler does. call: the thread is
# in a function of the kernel, also while others execute. wait: a period of a task is released but
# has not started. period: it has started and has not completed, even while others execute.
# frame: it is on the bus. lost: events of a processor are missing, so that nothing is known of it.
TrackKind = Literal["sample", "thread", "exception", "call", "wait", "period", "frame", "lost"]


class Slice(msgspec.Struct, array_like=True):
    """An interval of a track: [begin, end)."""

    name: str
    begin: int
    end: int


class Track(msgspec.Struct):
    """One line of the picture; its slices are in order and do not overlap."""

    kind: TrackKind
    name: str  # of the thread, the handler, the task; "" for samples
    slices: list[Slice]


class Timeline(msgspec.Struct):
    """Who ran when in one record."""

    version: int
    record: int
    bench: str
    target: str
    unit: str  # "instruction": begin and end count those executed since reset. "ns": of a clock
    begin: int
    end: int
    tracks: list[Track]
    warnings: list[str] = []

    @property
    def units(self) -> str:
        """The unit behind a number: "instructions", "ns"."""
        return "instructions" if self.unit == "instruction" else self.unit
