# SPDX-License-Identifier: Apache-2.0
"""Checks runs against limits: figures, the maximum, and misses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kadenz.analysis.checks import Answer, Check, figure_text
from kadenz.analysis.deadlines import Asked, Misses
from kadenz.analysis.limits import MISSES, Limit
from kadenz.analysis.matching import Key, SameRuns, match
from kadenz.analysis.modelled import at_ends, has_interval
from kadenz.analysis.runs import measured_words, point_misses, refusal
from kadenz.analysis.sides import Series, figure_of, lanes_of, repeated, series_of
from kadenz.analysis.structures import is_population
from kadenz.analysis.units import unit_of
from kadenz.analysis.verdict import statistic_name
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
        elif answer[0] == "fail":  # of samples beyond the limit, only those are certain
            answer = "fail", answer[1], least[2]
    outcome, text, reason = _complete(same, answer)
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
        measured=text,
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
    cut = [entry for _, entry in same.runs if any(lane.not_measured for lane in entry.series)]
    if answer[0] != "pass" or not cut:
        return answer
    return "inconclusive", answer[1], f"{measured_words(cut[0])}; the rest may differ"


def _maximum(
    same: SameRuns, lane: str, series: Sequence[Series], limit: Limit, most: float
) -> Answer:
    """Checks the observed maximum: a fact, not an estimate.

    A cycle that did not happen is late by at least its period.
    """
    values = [np.asarray(samples) for samples in series if not hasattr(samples, "loop")]
    if len(values) < len(series) or not all(samples.size for samples in values):
        return "inconclusive", "", "no samples, so no maximum"
    highest = max(float(samples.max()) for samples in values)
    n = sum(samples.size for samples in values)
    text = figure_text(highest)
    if not limit.holds(highest, most):
        over = sum(
            int((samples > most if limit.relation == "<=" else samples >= most).sum())
            for samples in values
        )
        return "fail", text, f"{over:,} of {n:,} samples exceed the limit"
    missed = sum(other.missed for _, e in same.runs for other in e.series if other.name == lane)
    if missed:
        run, entry = same.runs[0]
        unit = unit_of(entry.unit, run.manifest.clock)
        period = entry.period_us()
        if not period or unit.tick_us is None:
            return "inconclusive", text, f"{missed:,} of {n + missed:,} missed: latency unknown"
        what = f"{missed:,} cycle{'s' * (missed > 1)} did not happen"
        lasted = unit.figure(period / unit.tick_us)
        least = f"{what}, {'each' if missed > 1 else 'it'} at least {figure_text(lasted)}"
        if not limit.holds(lasted, most):
            return "fail", text, f"{least} {unit.label} late (a period)"
        return "inconclusive", text, f"{least} {unit.label} late (a period), lateness unknown"
    inferred = (
        f"none of {n:,} exceed it: at most {plain(100.0 * min(1.0, 3.0 / n), 2)} % of such "
        "executions do (95 %, if independent)"
    )
    whole = all(
        is_population(entry, each)
        for _, entry in same.runs
        for each in entry.series
        if each.name == lane
    )
    return "pass", text, f"none of all {n:,} exceeds it" if whole else inferred


def _estimated(
    same: SameRuns, series: Sequence[Series], limit: Limit, most: float, between_runs: float
) -> Answer:
    figure = figure_of(series, limit.statistic)
    if figure is not None and repeated(same, series):
        outcome = limit.holds(figure, most)
        return "pass" if outcome else "fail", figure_text(figure), "emulation repeats itself"
    try:
        interval = estimate(series, statistic=limit.statistic, between_runs=between_runs)
    except Undefined as error:
        return "inconclusive", figure_text(figure), error.reason
    text = (
        f"{figure_text(interval.value)} [{figure_text(interval.low)}, {figure_text(interval.high)}]"
    )
    if limit.holds(interval.high, most):
        return "pass", text, ""
    if not limit.holds(interval.low, most):
        return "fail", text, ""
    return "inconclusive", text, _WIDER


def _misses_at(key: Key, same: SameRuns, limit: Limit, deadlines: Sequence[Asked]) -> Check:
    refused = [f"{run.path.name}: {refusal(its)}" for run, its in same.runs if refusal(its)]
    misses = None if refused else point_misses(same.runs, deadlines)
    if refused:
        answer: Answer = "inconclusive", "", refused[0]
    elif misses is None:
        answer = "inconclusive", "", "no deadline is set; set one with --deadline"
    elif limit.is_share:
        answer = _share_of_misses(misses, limit, is_exact=_repeats(same))
    else:
        answer = _count_of_misses(misses, limit)
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
        measured=text,
        reason=reason,
        kind="limit",
        runs=same.folders,
        seconds=same.seconds,
    )


def _repeats(same: SameRuns) -> bool:
    """Whether the same plan would miss the same cycles if repeated."""
    return all(run.manifest.target.tier in REPEATABLE for run, _ in same.runs)


def _count_of_misses(misses: Misses, limit: Limit) -> Answer:
    """Checks the count of known misses: a violation fails, whatever else is unknown."""
    text = f"{misses.missed:,} of {misses.asked:,}"
    if not limit.holds(misses.missed, limit.of_misses):
        return "fail", text, misses.sentence
    known = misses.late is not None
    if not known or not limit.holds(misses.missed + misses.undecided, limit.of_misses):
        return "inconclusive", text, misses.sentence
    return "pass", text, misses.sentence


def _exact_share(misses: Misses, limit: Limit) -> Answer:
    """Of a target that repeats itself: both ends of a timing model's interval decide."""
    text = f"{misses.missed:,} of {misses.asked:,}"
    counts = misses.missed, misses.missed + misses.undecided
    held = [limit.holds(count / misses.asked, limit.of_misses) for count in counts]
    if held[0] != held[1]:
        return "inconclusive", f"{text}, {misses.share_text}", misses.sentence
    return "pass" if held[0] else "fail", text, "emulation repeats itself"


def _share_of_misses(misses: Misses, limit: Limit, *, is_exact: bool) -> Answer:
    text = f"{misses.missed:,} of {misses.asked:,}"
    if misses.late is None or not misses.asked:
        return "inconclusive", text, misses.sentence
    if is_exact:
        return _exact_share(misses, limit)
    if misses.rate is None:
        return "inconclusive", text, misses.reason
    text += f", {misses.share_text}"
    if limit.holds(misses.rate.high, limit.of_misses):
        return "pass", text, misses.sentence
    if not limit.holds(misses.rate.low, limit.of_misses):
        return "fail", text, misses.sentence
    return "inconclusive", text, _WIDER
