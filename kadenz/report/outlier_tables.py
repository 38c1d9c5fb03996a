# SPDX-License-Identifier: Apache-2.0
"""Tables of the worst samples: each of them, and their common causes."""

from __future__ import annotations

from collections.abc import Iterator

from kadenz.analysis.outliers import (
    Outlier,
    Outliers,
    context_words,
    event_words,
    left_out_words,
    odds,
    percent,
    sentences,
)
from kadenz.analysis.results import LaneResult, RecordResult
from kadenz.report import labels
from kadenz.report.table import Cell, Table, badge, figure, whole, words
from kadenz.report.tables import Named
from kadenz.stats.common_causes import Factor


def common(bench: str, runs: Named) -> Table | None:
    """Events common to the worst samples of a benchmark; None if nothing could be tested.

    A row per event tested; the sentences are notes.
    """
    rows = []
    notes = []
    same = labels.constants(bench, [run for _, run in runs])
    for label, record, lane, found in _lanes(bench, runs):
        causes = found.causes
        summary = "; ".join(sentences(found))
        silent = left_out_words(found)
        place = _place(label, labels.point(record, hide=same), record, lane)
        notes.append(f"{place}: {summary}.{' ' + silent if silent else ''}")
        factors = causes.factors if causes is not None else ()
        rows += [
            _factor(label, labels.point(record, hide=same), record, lane, factor)
            for factor in factors
        ]
    notes += [
        f"{label}: {trace.file}: {trace.sentence}."
        for label, run in runs
        if any(record.nature == "periodic" for record in run.find(bench))
        for trace in run.traces
    ]
    if not notes:
        return None
    return Table.headed(
        "Target | Point | Lane | The sample | In common | >Of the worst | >Of the others | "
        ">Odds ratio | >95 % interval | >p",
        name=labels.slug("in-common", bench),
        title=f"{bench}: common causes of the worst samples",
        rows=rows,
        notes=tuple(notes),
    )


def maxima(bench: str, runs: Named) -> Table | None:
    """The largest samples of a benchmark; None if no lane has companions."""
    rows = []
    same = labels.constants(bench, [run for _, run in runs])
    for label, record, lane, found in _lanes(bench, runs):
        rows += [
            _maximum(label, labels.point(record, hide=same), record, lane, one)
            for one in found.maxima
        ]
    if not rows:
        return None
    return Table.headed(
        "Target | Point | Lane | >Value | Unit | Clock class | >Cycle | >Sample | >At (s) | "
        "Recorded with it",
        name=labels.slug("maxima", bench),
        title=f"{bench}: the largest samples",
        rows=rows,
        notes=(
            "Cycles and samples count from 0. Event counts are since the previous sample. A late "
            "sample covers a longer time, so a few more interrupts may be its effect.",
        ),
    )


def _factor(
    label: str, where: str, record: RecordResult, lane: LaneResult, one: Factor
) -> tuple[Cell, ...]:
    interval = f"[{odds(one.low)}, {odds(one.high)}]"
    return (
        words(label),
        words(where, "point"),
        words(labels.lane(record, lane)),
        words(event_words(one)),
        words("yes" if one.common else "no"),
        Cell(f"{one.worst_with:,} of {one.worst_n:,}", one.worst_share),
        Cell(percent(one.rest_share), one.rest_share),
        Cell(odds(one.odds_ratio), one.odds_ratio),
        Cell(interval, interval, "interval"),
        Cell(f"{one.p_value:.2g}", one.p_value),
    )


def _maximum(
    label: str, where: str, record: RecordResult, lane: LaneResult, one: Outlier
) -> tuple[Cell, ...]:
    return (
        words(label),
        words(where, "point"),
        words(labels.lane(record, lane)),
        figure(one.value, record.unit),
        words(record.unit.label),
        badge(record.unit),
        words("") if one.cycle is None else whole(one.cycle),
        whole(one.index),
        Cell("–") if one.seconds is None else Cell(f"{one.seconds:,.3f}", one.seconds),
        words(context_words(one.context), "long"),
    )


def _lanes(bench: str, runs: Named) -> Iterator[tuple[str, RecordResult, LaneResult, Outliers]]:
    """Lanes of a benchmark whose samples have companions."""
    for label, run in runs:
        for record in run.find(bench):
            for lane in record.lanes:
                found = lane.outliers
                if found is not None and (found.recorded or _numbered(found)):
                    yield label, record, lane, found


def _numbered(found: Outliers) -> bool:
    return any(one.cycle is not None for one in found.maxima)


def _place(label: str, where: str, record: RecordResult, lane: LaneResult) -> str:
    parts = (label, where, labels.lane(record, lane))
    return ", ".join(part for part in parts if part not in ("", "–"))
