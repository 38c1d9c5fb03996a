# SPDX-License-Identifier: Apache-2.0
"""Verdicts on populations: lanes that have every value that there is, so no interval is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kadenz.analysis.judging import by_figures
from kadenz.analysis.matching import SameRuns
from kadenz.analysis.sides import Series, figure_of
from kadenz.analysis.structures import has_population
from kadenz.analysis.structures.population import Population
from kadenz.analysis.verdict import Verdict, statistic_name

MAX = "max"
_DIFFER = "the runs of a side differ, so none of their figures is exact"


def one_sided(left: SameRuns, right: SameRuns) -> str:
    """Why runs with populations are not compared with others; "" if all or none have one."""
    has = {has_population(entry) for _, entry in (*left.runs, *right.runs)}
    return "every arrival was tried on one side alone" if len(has) > 1 else ""


def exact_verdicts(
    open_: Verdict,
    sides: tuple[SameRuns, SameRuns],
    series: Sequence[Sequence[Series]],
    statistics: Sequence[str | float],
    threshold: float,
) -> Iterator[Verdict]:
    """One for each statistic that the populations have, and for their maximum."""
    tried = [Population.of(run, entry) for side in sides for run, entry in side.runs]
    whole = [each for each in tried if each is not None]
    if len(whole) < len(tried):
        yield replace(open_, statistic=MAX, reason="the arrivals of a run cannot be read")
        return
    steps = sorted({each.step for each in whole})
    for statistic in dict.fromkeys((*statistics, MAX)):
        by_run = [{figure_of([run], statistic) for run in side} for side in series]
        if all(None in side for side in by_run):
            continue  # too few arrivals for that percentile
        figures = _figure(by_run[0], statistic), _figure(by_run[1], statistic)
        verdict = replace(open_, statistic=statistic_name(statistic), figures=figures)
        if len(steps) > 1:
            why = f"the sides tried other arrivals: in steps of {steps[0]} and of {steps[-1]}"
            yield replace(verdict, reason=why)
        else:
            judged = by_figures(verdict, threshold, _DIFFER)
            yield replace(judged, reason=_reason(whole)) if judged.exact else judged


def _figure(by_run: set[float | None], statistic: str | float) -> float | None:
    """The figure that all runs of a side have; of several maxima the largest."""
    known = [figure for figure in by_run if figure is not None]
    if len(known) < len(by_run) or (len(known) > 1 and statistic != MAX):
        return None
    return max(known)


def _reason(tried: Sequence[Population]) -> str:
    partial = next((each for each in tried if not each.exhaustive), None)
    if partial is None:
        return "exact: every arrival of the sample was tried"
    return f"exact for the arrivals that were tried: {partial.coverage}"
