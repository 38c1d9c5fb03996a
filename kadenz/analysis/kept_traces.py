# SPDX-License-Identifier: Apache-2.0
"""Traces that a run kept: the wake-up that each describes, and who held the processor.

A run that stops above a limit keeps the end of the kernel's trace as `trace*.txt`. The late thread
writes a mark of the form "… latency_ns=456789 lane=core0 cycle=123" into it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from kadenz.analysis.trace import Blame, blame, marks
from kadenz.errors import StoreError
from kadenz.ftrace import Event, parse_trace
from kadenz.regular_files import open_regular

PATTERN = "trace*.txt"
THREAD = "cyclic"  # the suite's name for measuring threads, used without a mark
MOST_BYTES = 32 << 20  # read from the end of a trace
_PAIR = re.compile(r"\b(\w+)=(\S+)")
_WHOLE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class KeptTrace:
    """One file of a run folder; `blame` is None if the trace does not show the wake-up."""

    file: str
    blame: Blame | None
    lane: str = ""
    cycle: int | None = None

    @property
    def sentence(self) -> str:
        """One sentence for a report: lane, cycle and what delayed the thread."""
        if self.blame is None:
            return "the trace does not show the measuring thread begin to run"
        where = ", ".join(
            word
            for word in (self.lane, "" if self.cycle is None else f"cycle {self.cycle:,}")
            if word
        )
        return f"{where}: {self.blame.sentence}" if where else self.blame.sentence


def kept_traces(folder: Path, largest_s: float | None) -> tuple[KeptTrace, ...]:
    """Every trace in `folder`. `largest_s` is the largest measured latency, in seconds: a trace
    without a mark belongs to it. StoreError if a file cannot be read."""
    return tuple(_read(file, largest_s) for file in sorted(folder.glob(PATTERN)))


def _read(file: Path, largest_s: float | None) -> KeptTrace:
    try:
        with open_regular(file, inside=file.parent) as source:
            size = os.fstat(source.fileno()).st_size
            source.seek(max(0, size - MOST_BYTES), os.SEEK_SET)
            text = source.read(MOST_BYTES).decode(errors="replace")
    except OSError as error:
        raise StoreError(
            f"{file}: {error.strerror or error}", remedy="Copy the run again"
        ) from None
    events = parse_trace(text)
    mark = next((event for event in reversed(marks(events)) if "latency_ns=" in event.text), None)
    if mark is None:
        return KeptTrace(file.name, blame(events, THREAD, latency_s=largest_s))
    fields = dict(_PAIR.findall(mark.text))
    return KeptTrace(
        file=file.name,
        blame=_blame(events, mark, fields),
        lane=fields.get("lane", ""),
        cycle=_number(fields, "cycle"),
    )


def _blame(events: list[Event], mark: Event, fields: dict[str, str]) -> Blame | None:
    due, latency = _number(fields, "due_ns"), _number(fields, "latency_ns")
    return blame(
        events,
        _number(fields, "pid") or mark.pid,
        due_s=None if due is None else due / 1e9,
        latency_s=None if latency is None else latency / 1e9,
        until_s=mark.time,
    )


def _number(fields: dict[str, str], key: str) -> int | None:
    return int(fields[key]) if _WHOLE.fullmatch(fields.get(key, "")) else None
