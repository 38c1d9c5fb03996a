# SPDX-License-Identifier: Apache-2.0
"""Checks runs against limits: figures, the maximum, and misses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kadenz.analysis.checks import Answer, Check, figure_text
from kadenz.analysis.comparing import statistic_name
from kadenz.analysis.deadlines import Asked, Misses
from kadenz.analysis.limits import MISSES, Limit
from kadenz.analysis.matching import Key, SameRuns, match
from kadenz.analysis.modelled import at_ends, has_interval
from kadenz.analysis.runs import measured_words, point_misses, refusal
from kadenz.analysis.sides import Series, figure_of, lanes_of, repeated, series_of
from kadenz.analysis.units import unit_of
from kadenz.config.manifest import REPEATABLE
from kadenz.errors import UsageError
from kadenz.stats.compare import estimate
from kadenz.stats.errors import Undefined
from kadenz.stats.plain import plain
from kadenz.store import Run

_WIDER = "the interval contains the limit. Measure longer, or more runs"


def limit_checks(
    runs: Sequence[Run], limit: Limit, *, between_runs: float = 0.0, deadlines: Sequence[Asked] = ()
) -> list[Check]:
    """Checks the limit at every point it applies to. UsageError if there is none.

    An unmeasured point never passes. A figure fails if its interval lies wholly beyond the limit;
    the maximum and the number of misses are facts and fail at the first violation.
    """
    points = {
        key: same
        for key, same in match(runs, runs).candidate.items()
        if any(limit.concerns(entry) for _, entry in same.runs)
    }
    if not points:
        known = sorted({e.bench for run in runs for e in run.manifest.records})
        raise UsageError(
            f"--limit {limit.text}: the run has no such point",
            remedy=f"Measured points: {', '.join(known) or 'none'}",
        )
    checks = []
    for key, same in points.items():
        if limit.statistic == MISSES:
            checks.append(_misses_at(key, same, limit, deadlines))
            continue
        lanes = lanes_of(same.runs[0][1])
        checks += [_at(key, same, lane, len(lanes) > 1, limit, between_runs) for lane in lanes]
    return checks


def _at(
    key: Key, same: SameRuns, lane: str, several: bool, limit: Limit, between_runs: float
) -> Check:
    run, entry = same.runs[0]
    unit = unit_of(entry.unit, run.manifest.clock)
    most = limit.within(unit)
    answer = _answer(same, lane, limit, most, between_runs)
    if answer[0] != "inconclusive" and _is_modelled(same):
        least, largest = (_answer(end, lane, limit, most, between_runs) for end in _ends(same))
        if least[0] != largest[0]:
            why = f"the model's interval, {least[1]} to {largest[1]}, contains the limit"
            answer = "inconclusive", answer[1], why
    outcome, found, reason = _complete(same, answer)
    return Check(
        target=key.group or run.manifest.target.name,
        bench=key.bench,
        params=dict(key.params),
        lane=lane if several else "",
        statistic=statistic_name(limit.statistic),
        unit=unit.label,
        clock_class=unit.clock_class,
        asked=f"{_relation(limit)} {figure_text(most)} {unit.label}",
        outcome=outcome,
        found=found,
        reason=reason,
        kind="limit",
        runs=same.folders,
        seconds=same.seconds,
    )


def _answer(same: SameRuns, lane: str, limit: Limit, most: float, between_runs: float) -> Answer:
    series: list[Series] = []
    for run, entry in same.runs:
        why, samples = series_of(run, entry, lane)
        if samples is None:
            return "inconclusive", "", f"{run.path.name}: {why}"
        series.append(samples)
    if limit.statistic == "max":
        return _maximum(same, lane, series, limit, most)
    return _estimated(same, series, limit, most, between_runs)


def _is_modelled(same: SameRuns) -> bool:
    """Whether samples are middles of a timing model's intervals."""
    return any(has_interval(entry, lane) for _, entry in same.runs for lane in entry.series)


def _ends(same: SameRuns) -> list[SameRuns]:
    """The point as the model's least costs have it, and as its largest ones."""
    each = [[(end, entry) for end in at_ends(run)] for run, entry in same.runs]
    return [SameRuns(list(runs)) for runs in zip(*each, strict=True)]


def _relation(limit: Limit) -> str:
    return "at most" if limit.relation == "<=" else "below"


def _complete(same: SameRuns, answer: Answer) -> Answer:
    """The answer, but never a pass for an incomplete record.

    A figure with a note is shown and not judged.
    """
    notes = [run.manifest.benchmark_notes.get(entry.bench) for run, entry in same.runs]
    if any(notes):
        return "inconclusive", answer[1], f"not judged: {next(note for note in notes if note)}"
    cut = [entry for _, entry in same.runs if any(one.not_measured for one in entry.series)]
    if answer[0] != "pass" or not cut:
        return answer
    return "inconclusive", answer[1], f"{measured_words(cut[0])}; the rest may differ"


def _maximum(
    same: SameRuns, lane: str, series: Sequence[Series], limit: Limit, most: float
) -> Answer:
    """Checks the observed maximum: a fact, not an estimate.

    A cycle that did not happen is late by at least its period.
    """
    values = [np.asarray(one) for one in series if not hasattr(one, "loop")]
    if len(values) < len(series) or not all(one.size for one in values):
        return "inconclusive", "", "no samples, so no maximum"
    highest = max(float(one.max()) for one in values)
    n = sum(one.size for one in values)
    found = figure_text(highest)
    if not limit.holds(highest, most):
        over = sum(
            int((one > most if limit.relation == "<=" else one >= most).sum()) for one in values
        )
        return "fail", found, f"{over:,} of {n:,} samples exceed the limit"
    missed = sum(one.missed for _, e in same.runs for one in e.series if one.name == lane)
    if missed:
        run, entry = same.runs[0]
        unit = unit_of(entry.unit, run.manifest.clock)
        period = entry.period_us()
        if not period or unit.tick_us is None:
            return "inconclusive", found, f"{missed:,} of {n + missed:,} missed: latency unknown"
        what = f"{missed:,} cycle{'s' * (missed > 1)} did not happen"
        lasted = unit.figure(period / unit.tick_us)
        least = f"{what}, {'each' if missed > 1 else 'it'} at least {figure_text(lasted)}"
        if not limit.holds(lasted, most):
            return "fail", found, f"{least} {unit.label} late (a period)"
        return "inconclusive", found, f"{least} {unit.label} late (a period), lateness unknown"
    return (
        "pass",
        found,
        f"none of {n:,} exceed it: at most {plain(100.0 * min(1.0, 3.0 / n), 2)} % of such "
        "executions do (95 %, if independent)",
    )


def _estimated(
    same: SameRuns, series: Sequence[Series], limit: Limit, most: float, between_runs: float
) -> Answer:
    figure = figure_of(series, limit.statistic)
    if figure is not None and repeated(same, series):
        outcome = limit.holds(figure, most)
        return "pass" if outcome else "fail", figure_text(figure), "emulation repeats itself"
    try:
        made = estimate(series, statistic=limit.statistic, between_runs=between_runs)
    except Undefined as error:
        return "inconclusive", figure_text(figure), error.reason
    found = f"{figure_text(made.value)} [{figure_text(made.low)}, {figure_text(made.high)}]"
    if limit.holds(made.high, most):
        return "pass", found, ""
    if not limit.holds(made.low, most):
        return "fail", found, ""
    return "inconclusive", found, _WIDER


def _misses_at(key: Key, same: SameRuns, limit: Limit, deadlines: Sequence[Asked]) -> Check:
    refused = [f"{one.path.name}: {refusal(its)}" for one, its in same.runs if refusal(its)]
    found = None if refused else point_misses(same.runs, deadlines)
    if refused:
        answer: Answer = "inconclusive", "", refused[0]
    elif found is None:
        answer = "inconclusive", "", "no deadline is set; set one with --deadline"
    elif limit.is_share:
        answer = _share_of_misses(found, limit, is_exact=_repeats(same))
    else:
        answer = _count_of_misses(found, limit)
    outcome, text, reason = _complete(same, answer)
    most = f"{100.0 * limit.of_misses:g} %" if limit.is_share else f"{limit.of_misses:g}"
    return Check(
        target=key.group or same.runs[0][0].manifest.target.name,
        bench=key.bench,
        params=dict(key.params),
        lane="",
        statistic=MISSES,
        unit="",
        clock_class=None,
        asked=f"{_relation(limit)} {most}",
        outcome=outcome,
        found=text,
        reason=reason,
        kind="limit",
        runs=same.folders,
        seconds=same.seconds,
    )


def _repeats(same: SameRuns) -> bool:
    """Whether the same plan would miss the same cycles if repeated."""
    return all(run.manifest.target.tier in REPEATABLE for run, _ in same.runs)


def _count_of_misses(found: Misses, limit: Limit) -> Answer:
    """Checks the count of known misses: a violation fails, whatever else is unknown."""
    words = f"{found.missed:,} of {found.asked:,}"
    if not limit.holds(found.missed, limit.of_misses):
        return "fail", words, found.words
    if found.late is None:
        return "inconclusive", words, found.words
    return "pass", words, found.words


def _share_of_misses(found: Misses, limit: Limit, *, is_exact: bool) -> Answer:
    words = f"{found.missed:,} of {found.asked:,}"
    if found.late is None or found.share is None:
        return "inconclusive", words, found.words
    if is_exact:
        held = limit.holds(found.share, limit.of_misses)
        return "pass" if held else "fail", words, "emulation repeats itself"
    if found.rate is None:
        return "inconclusive", words, found.reason
    words += f", {found.share_text}"
    if limit.holds(found.rate.high, limit.of_misses):
        return "pass", words, found.words
    if not limit.holds(found.rate.low, limit.of_misses):
        return "fail", words, found.words
    return "inconclusive", words, _WIDER
