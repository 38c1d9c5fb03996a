# SPDX-License-Identifier: Apache-2.0
"""A call over the offset at which another core begins to work: the table, and a curve for each kind
of work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kadenz.analysis.results import RecordResult
from kadenz.analysis.structures.offsets import PREMISE, Offsets, signed
from kadenz.analysis.units import Unit
from kadenz.report import labels
from kadenz.report.digits import ABSENT
from kadenz.report.sections import Block, Picture, Section, Text
from kadenz.report.svg.curves import NARROW, WIDTH, Axis, Line, curves
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.table import Cell, Table, figure, text_cell, whole
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 26
_KIND = "other_core"  # the parameter that names the work of the other core
_LEAD = (
    "A call of the kernel, by what another core begins to do at an offset from the begin of the "
    "call. Below zero it begins before the call, and goes on until the call has returned."
)
_HEADS = (
    "Call | Run | Other core | >Min | >Median | >Max | Unit | >at offset | "
    ">Offsets | >from | >to | >at most apart"
)


@dataclass(frozen=True)
class _Sweep:
    """The records of one call on one run: by the kind of work."""

    label: str
    service: str
    records: Sequence[tuple[str, RecordResult]]

    @property
    def unit(self) -> Unit:
        return self.records[0][1].unit

    @property
    def swept(self) -> list[tuple[str, float, Offsets]]:
        """Kind, unit shown of a tick, and offsets of those beside another core."""
        return [
            (kind, record.unit.figure(1.0), offsets)
            for kind, record in self.records
            if (offsets := record.structure(Offsets)) is not None
        ]


def sections(report: Report) -> Iterator[Section]:
    """One, if a run swept an offset."""
    sweeps = _sweeps(report.runs)
    if not sweeps:
        return
    blocks: tuple[Block, ...] = (Text(_LEAD), _table(sweeps))
    if report.shows("no histograms"):
        swept = (each for each in sweeps if each.swept)
        blocks += tuple(Picture(_drawn(each, WIDTH), _drawn(each, NARROW)) for each in swept)
    yield Section("offsets", "A call beside another core", blocks, short="Beside another core")


def table_of_offsets(runs: Named) -> Table | None:
    """A row for each kind of work of the other core; None if no run swept an offset."""
    sweeps = _sweeps(runs)
    return _table(sweeps) if sweeps else None


def _sweeps(runs: Named) -> list[_Sweep]:
    """By run and by all parameters but the kind of work. With those without another core."""
    sweeps = []
    shared = labels.constants_of(record for _, run in runs for record in run.records)
    for label, run in runs:
        swept = {record.bench for record in run.records if record.structure(Offsets) is not None}
        by_service: dict[str, list[tuple[str, RecordResult]]] = {}
        for record in run.records:
            if record.bench in swept and record.main is not None:
                hidden = shared[record.bench].keys() - {"call"} | {_KIND}
                service = f"{record.bench}, {labels.point(record, hide=hidden)}"
                kind = str(record.params.get(_KIND, ABSENT))
                by_service.setdefault(service, []).append((kind, record))
        sweeps += [_Sweep(label, *item) for item in by_service.items()]
    return sweeps


def _table(sweeps: Sequence[_Sweep]) -> Table:
    return Table.headed(
        _HEADS,
        name="offsets",
        title="A call while another core begins to work, by the kind of its work",
        rows=[_row(sweep, kind, record) for sweep in sweeps for kind, record in sweep.records],
        notes=(f"{PREMISE}.",),
    )


def _row(sweep: _Sweep, kind: str, record: RecordResult) -> tuple[Cell, ...]:
    summary = record.main.summary if record.main is not None else None
    offsets = record.structure(Offsets)
    ends = (summary.min, summary.median, summary.max) if summary is not None else (None,) * 3
    where: tuple[Cell, ...] = (Cell(ABSENT),) * 5
    if offsets is not None:
        where = (
            _offset(offsets.worst[0]),
            whole(offsets.tried),
            _offset(offsets.first),
            _offset(offsets.last),
            whole(offsets.apart),
        )
    return (
        *(text_cell(text) for text in (sweep.service, sweep.label, kind)),
        *(figure(ticks, record.unit) for ticks in ends),
        text_cell(record.unit.label),
        *where,
    )


def _offset(ticks: int) -> Cell:
    return Cell(signed(ticks), ticks)


def _drawn(sweep: _Sweep, width: float) -> Plot:
    swept = sweep.swept
    low = min(offsets.first for _, _, offsets in swept)
    high = max(offsets.last for _, _, offsets in swept)
    lines = [
        Line(
            name=kind,
            at=offsets.at,
            values=offsets.most * scale,
            worst_at=float(offsets.worst[0]),
            worst=offsets.max * scale,
            where=f"at {offsets.place}",
        )
        for kind, scale, offsets in swept
    ]
    ends = np.array([low, high])
    lines += [
        Line(kind, ends, np.full(2, most), float(low), most, "at no offset")
        for kind, record in sweep.records
        if (most := _most_alone(record)) is not None
    ]
    caption = Caption(
        heading=f"{sweep.service} on {sweep.label}",
        subheading=f"{sweep.unit.label} over the offset of the other core's begin, in ticks of the "
        "clock; 0 is the begin of the call",
        unit=sweep.unit.label,
        name=labels.slug("offsets", sweep.label, sweep.service, "" if width == WIDTH else "narrow"),
    )
    axis = Axis(float(low), float(high), "offset", "offset")
    return curves(lines, axis, caption, width, by_dashes=True)


def _most_alone(record: RecordResult) -> float | None:
    """The largest sample without another core, in the unit shown; None beside one."""
    summary = record.main.summary if record.main is not None else None
    if summary is None or record.structure(Offsets) is not None:
        return None
    return record.unit.figure(summary.max)
