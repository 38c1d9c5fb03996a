# SPDX-License-Identifier: Apache-2.0
"""A timeline for people and for viewers: a picture, Chrome JSON (Perfetto), VCD (GTKWave)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vcd import VCDWriter

from kadenz import __version__
from kadenz.config.timeline import Slice, Timeline
from kadenz.report.render import write_text
from kadenz.report.svg.panel import standalone
from kadenz.report.svg.timeline import label, timeline_picture, window_of
from kadenz.report.table import Table, text_cell, whole
from kadenz.store.layout import TIMELINE_SUFFIX, timeline_file

SAMPLE = "sample"  # the wire that is high from BEGIN to END


def write_files(timelines: Sequence[Timeline], folder: Path) -> list[Path]:
    """Writes the files of each record into the run folder; their paths."""
    files = []
    for timeline in timelines:
        stem = str(
            folder / timeline_file(timeline.record, timeline.bench).removesuffix(TIMELINE_SUFFIX)
        )
        for suffix, content in (
            (".trace.json", chrome(timeline)),
            (".vcd", vcd(timeline)),
            (".svg", standalone(timeline_picture(timeline, window_of(timeline), "timeline"))),
        ):
            files.append(Path(stem + suffix))
            write_text(files[-1], content)
    return files


def shares(timeline: Timeline) -> Table:
    """How often and how long each thread and handler executed, or each task was at work.

    Shares are of the time without gaps, in which events were lost.
    """
    gaps = _gaps(timeline)
    known = timeline.end - timeline.begin - sum(end - begin for begin, end in gaps)
    rows = []
    for track in timeline.tracks:
        if track.kind not in ("thread", "exception", "period", "frame"):
            continue
        spent = sum(slice_.end - slice_.begin for slice_ in track.slices)
        unsure = sum(_common(slice_, gaps) for slice_ in track.slices)
        share = f"{100 * (spent - unsure) / max(known, 1):.1f} %"
        row = text_cell(track.name), text_cell(track.kind), whole(len(track.slices))
        rows.append((*row, whole(spent), text_cell(share)))
    title = f"{timeline.bench} on {timeline.target}"
    columns = ("who", "kind", "times", timeline.units, "share")
    return Table("timeline", title, columns, tuple(rows), frozenset({2, 3, 4}))


def _gaps(timeline: Timeline) -> list[tuple[int, int]]:
    """The times in which events of some processor were lost, joined."""
    lost = (slice_ for track in timeline.tracks if track.kind == "lost" for slice_ in track.slices)
    gaps: list[tuple[int, int]] = []
    for begin, end in sorted((slice_.begin, slice_.end) for slice_ in lost):
        if gaps and begin <= gaps[-1][1]:
            gaps[-1] = gaps[-1][0], max(end, gaps[-1][1])
        else:
            gaps.append((begin, end))
    return gaps


def _common(slice_: Slice, gaps: Sequence[tuple[int, int]]) -> int:
    return sum(max(0, min(slice_.end, end) - max(slice_.begin, begin)) for begin, end in gaps)


def chrome(timeline: Timeline) -> str:
    """Chrome's trace format, as Perfetto reads it; a microsecond there may be an instruction."""
    in_us = 1 if timeline.unit == "instruction" else 1000
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": timeline.target}}
    ]
    for number, track in enumerate(timeline.tracks, start=1):
        place = {"pid": 1, "tid": number}
        events.append({"ph": "M", **place, "name": "thread_name", "args": {"name": label(track)}})
        order = {"sort_index": number}
        events.append({"ph": "M", **place, "name": "thread_sort_index", "args": order})
        events += [
            {
                "ph": "X",
                **place,
                "name": slice_.name,
                "cat": track.kind,
                "ts": slice_.begin / in_us if in_us > 1 else slice_.begin,
                "dur": (slice_.end - slice_.begin) / in_us
                if in_us > 1
                else slice_.end - slice_.begin,
            }
            for slice_ in track.slices
        ]
    unit = "1 us is 1 instruction" if timeline.unit == "instruction" else "us"
    about = {"benchmark": timeline.bench, "unit": unit, "kadenz": __version__}
    return json.dumps({"traceEvents": events, "otherData": about}, indent=0) + "\n"


def vcd(timeline: Timeline) -> str:
    """A value change dump; a nanosecond there may be an instruction.

    `sample` is high from BEGIN to END. Below `threads` and `exceptions` a wire is high while that
    one executes, below `calls` while a thread is inside that function of the kernel. Below
    `released`, `tasks` and `bus` it is high while the task's period waits, while the task is at
    work, and while the frame is on its way.
    """
    changes: list[tuple[int, int, int]] = []
    file = io.StringIO()
    about = f"kadenz {__version__}: {timeline.bench} on {timeline.target}"
    about += "; 1 ns is 1 instruction" if timeline.unit == "instruction" else ""
    with VCDWriter(
        file, timescale="1 ns", date="", comment=about, init_timestamp=timeline.begin
    ) as writer:
        wires: list[Any] = []
        for scope, name, spans in _wires(timeline):
            for begin, end in spans:
                changes += [(begin, 1, len(wires)), (end, 0, len(wires))]
            wires.append(writer.register_var(scope, name, "wire", size=1, init=0))
        # At one time the falling edges come first: another one executes.
        for at, value, wire in sorted(changes):
            writer.change(wires[wire], at, value)
        writer.close(timeline.end)
    return file.getvalue()


def _wires(timeline: Timeline) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """Scope, name and spans of each wire."""
    scopes = {"thread": "threads", "exception": "exceptions"}
    scopes |= {"wait": "released", "period": "tasks", "frame": "bus", "lost": "lost"}
    taken: set[tuple[str, str]] = set()
    for track in timeline.tracks:
        spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for slice_ in track.slices:
            if track.kind == "sample":
                key = "kadenz", SAMPLE
            elif track.kind == "call":
                key = f"calls.{_plain(track.name)}", _plain(slice_.name)
            else:
                key = scopes[track.kind], _plain(track.name)
            spans.setdefault(key, []).append((slice_.begin, slice_.end))
        for (scope, name), wire_spans in spans.items():
            free = name
            while (scope, free) in taken:
                free += "_"
            taken.add((scope, free))
            yield scope, free, wire_spans


def _plain(text: str) -> str:
    """A name that every viewer reads: no spaces, no dots."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in text)
