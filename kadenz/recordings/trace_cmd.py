# SPDX-License-Identifier: Apache-2.0
"""Recordings of trace-cmd, `trace.dat`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kadenz.capture.trace_cmd import MAGIC, reported
from kadenz.ftrace import events_of
from kadenz.recordings.form import Format
from kadenz.watching.events import Happening, of_trace


def _events(file: Path) -> Iterator[Happening]:
    return of_trace(events_of(reported(file)))


TRACE_CMD = Format(
    tool="trace-cmd",
    recognises=lambda head: head.startswith(MAGIC),
    read=_events,
    record="trace-cmd record -C mono -e sched -e irq -e syscalls PROGRAM",
)
