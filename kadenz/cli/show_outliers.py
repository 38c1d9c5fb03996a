# SPDX-License-Identifier: Apache-2.0
"""The largest samples of a run, and common causes of the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kadenz.analysis import LaneResult, RecordResult, RunResult
    from kadenz.analysis.outliers import Outliers


def write_outliers(screen: Any, result: RunResult) -> None:
    """Prints a section for each lane with samples; the clock's own only if there is no other."""
    from kadenz.cli.console import styled

    records = [record for record in result.records if record.nature != "context"]
    for record in records or result.records:
        for lane in record.lanes:
            if lane.outliers is not None:
                _lane(screen, record, lane, lane.outliers)
    for trace in result.traces:
        screen.print(styled("\n[bold]{}[/]: {}.", trace.file, trace.sentence))


def _lane(screen: Any, record: RecordResult, lane: LaneResult, outliers: Outliers) -> None:
    from rich.padding import Padding

    from kadenz.analysis.outliers import left_out_words, sentences
    from kadenz.cli.console import styled
    from kadenz.report import labels

    name = labels.lane(record, lane)
    where = ", ".join(word for word in (labels.point(record), name) if word and word != "–")
    title = styled("[bold]{}[/]  {}  [dim]{}[/]", record.bench, where, labels.unit(record.unit))
    screen.print()
    screen.print(title)
    if outliers.maxima:
        screen.print(_maxima(record, outliers))
    for sentence in sentences(outliers):
        screen.print(Padding(sentence[0].upper() + sentence[1:] + ".", (0, 0, 0, 2), expand=False))
    if left_out_words(outliers):
        screen.print(
            Padding(styled("[dim]{}[/]", left_out_words(outliers)), (0, 0, 0, 2), expand=False)
        )
    causes = outliers.causes
    if causes is not None and causes.common:
        screen.print(_factors(outliers))


def _maxima(record: RecordResult, outliers: Outliers) -> Any:
    from rich.table import Table

    from kadenz.analysis.outliers import context_words
    from kadenz.report import digits

    numbered = any(maximum.cycle is not None for maximum in outliers.maxima)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("  value", justify="right", no_wrap=True)
    table.add_column("cycle" if numbered else "sample", justify="right", no_wrap=True)
    if outliers.maxima[0].seconds is not None:
        table.add_column("at", justify="right", no_wrap=True)
    if outliers.recorded:
        table.add_column("context")
    for maximum in outliers.maxima:
        at = [] if maximum.seconds is None else [f"{maximum.seconds:,.3f} s"]
        context = [context_words(maximum.context)] if outliers.recorded else []
        table.add_row(
            f"  {digits.figure(maximum.value, record.unit)}",
            digits.count(maximum.cycle if maximum.cycle is not None else maximum.index),
            *at,
            *context,
        )
    return table


def _factors(outliers: Outliers) -> Any:
    from rich.table import Table

    from kadenz.analysis.outliers import event_words, odds, percent

    assert outliers.causes is not None
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("  the sample")
    for name in ("worst", "others", "odds", "95 %", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for factor in outliers.causes.common:
        table.add_row(
            f"  {event_words(factor)}",
            percent(factor.worst_share),
            percent(factor.rest_share),
            f"× {odds(factor.odds_ratio)}",
            f"[{odds(factor.low)}, {odds(factor.high)}]",
            f"{factor.p_value:.2g}",
        )
    return table
