# SPDX-License-Identifier: Apache-2.0
"""What recording an event costs: the same wake-ups with and without events, in turn."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from statistics import median

from kadenz.watching.recorder import Recorder

_TRIPS = 200  # round trips between two processes: two wake-ups and two switches each
_BATCHES = 4  # the quickest counts: others on the machine only add
_PAIRS = 5
_PRIORITY = 1  # below every other real-time thread
_STOP = b"."


@dataclass(frozen=True)
class Overhead:
    """`event_ns`: median over the pairs, with their least and most; `events` recorded for it."""

    event_ns: float
    least_ns: float
    most_ns: float
    events: int


def overhead(recorder: Recorder) -> Overhead:
    """Measures on one processor, before the recording starts; takes a second or two."""
    allowed, policy = os.sched_getaffinity(0), os.sched_getscheduler(0)
    urgency = os.sched_getparam(0)
    cpu = max(allowed)
    os.sched_setaffinity(0, {cpu})
    try:
        with contextlib.suppress(OSError):  # without the right, with more noise
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        with _Partner() as partner:
            return _measured(recorder, partner, cpu)
    finally:
        os.sched_setscheduler(0, policy, urgency)
        os.sched_setaffinity(0, allowed)


def _measured(recorder: Recorder, partner: _Partner, cpu: int) -> Overhead:
    costs, events = [], 0
    partner.trips(_TRIPS)
    for _ in range(_PAIRS):
        without = min(partner.trips(_TRIPS) for _ in range(_BATCHES))
        recorder.enable(on=True)
        with recorder.counting():
            before = recorder.counted(cpu)
            took = min(partner.trips(_TRIPS) for _ in range(_BATCHES))
            counted = recorder.counted(cpu) - before
        recorder.enable(on=False)
        events += counted
        costs.append((took - without) * _BATCHES / max(counted, 1))
    return Overhead(max(0.0, median(costs)), min(costs), max(costs), events)


class _Partner:
    """A process on the same processor that answers each byte. It ends with this one's pipe."""

    def __enter__(self) -> _Partner:
        self._read, answer = os.pipe()
        question, self._write = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            try:
                os.close(self._write)
                while os.read(question, 1):
                    os.write(answer, _STOP)
            finally:
                os._exit(0)
        os.close(question)
        os.close(answer)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        os.close(self._read)
        os.waitpid(self._pid, 0)

    def trips(self, count: int) -> int:
        """The ns that `count` round trips take."""
        begin = time.monotonic_ns()
        for _ in range(count):
            os.write(self._write, _STOP)
            os.read(self._read, 1)
        return time.monotonic_ns() - begin
