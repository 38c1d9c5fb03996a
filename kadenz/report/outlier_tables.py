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
from kadenz.report.table import Cell, Table, badge, figure, text_cell, whole
from kadenz.report.tables import Named
from kadenz.stats.common_causes import Factor


def common(bench: str, runs: Named) -> Table | None:
    """Events common to the worst samples of a benchmark; None if nothing could be tested.

    A row per event tested; the sentences are notes.
    """
    rows = []
    notes = []
    same = labels.constants(bench, [run for _, run in runs])
    for label, record, lane, outliers in _lanes(bench, runs):
        causes = outliers.causes
        summary = "; ".join(sentences(outliers))
        silent = left_out_words(outliers)
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
    for label, record, lane, outliers in _lanes(bench, runs):
        rows += [
            _maximum(label, labels.point(record, hide=same), record, lane, outlier)
            for outlier in outliers.maxima
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
    label: str, where: str, record: RecordResult, lane: LaneResult, factor: Factor
) -> tuple[Cell, ...]:
    interval = f"[{odds(factor.low)}, {odds(factor.high)}]"
    return (
        text_cell(label),
        text_cell(where, "point"),
        text_cell(labels.lane(record, lane)),
        text_cell(event_words(factor)),
        text_cell("yes" if factor.common else "no"),
        Cell(f"{factor.worst_with:,} of {factor.worst_n:,}", factor.worst_share),
        Cell(percent(factor.rest_share), factor.rest_share),
        Cell(odds(factor.odds_ratio), factor.odds_ratio),
        Cell(interval, interval, "interval"),
        Cell(f"{factor.p_value:.2g}", factor.p_value),
    )


def _maximum(
    label: str, where: str, record: RecordResult, lane: LaneResult, outlier: Outlier
) -> tuple[Cell, ...]:
    return (
        text_cell(label),
        text_cell(where, "point"),
        text_cell(labels.lane(record, lane)),
        figure(outlier.value, record.unit),
        text_cell(record.unit.label),
        badge(record.unit),
        text_cell("") if outlier.cycle is None else whole(outlier.cycle),
        whole(outlier.index),
        Cell("–") if outlier.seconds is None else Cell(f"{outlier.seconds:,.3f}", outlier.seconds),
        text_cell(context_words(outlier.context), "long"),
    )


def _lanes(bench: str, runs: Named) -> Iterator[tuple[str, RecordResult, LaneResult, Outliers]]:
    """Lanes of a benchmark whose samples have companions."""
    for label, run in runs:
        for record in run.find(bench):
            for lane in record.lanes:
                outliers = lane.outliers
                if outliers is not None and (outliers.recorded or _numbered(outliers)):
                    yield label, record, lane, outliers


def _numbered(outliers: Outliers) -> bool:
    return any(outlier.cycle is not None for outlier in outliers.maxima)


def _place(label: str, where: str, record: RecordResult, lane: LaneResult) -> str:
    parts = (label, where, labels.lane(record, lane))
    return ", ".join(part for part in parts if part not in ("", "–"))
