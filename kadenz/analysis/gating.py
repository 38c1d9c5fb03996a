# SPDX-License-Identifier: Apache-2.0
"""Decides whether a run passes: against a baseline, with a tolerance, and against limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kadenz.analysis.change import change_words
from kadenz.analysis.checks import Check, Outcome, figure_text
from kadenz.analysis.comparing import THRESHOLD, Configurations, compare_sides
from kadenz.analysis.deadlines import Asked
from kadenz.analysis.judging import SAME, exact_words
from kadenz.analysis.limit_checks import limit_checks
from kadenz.analysis.limits import Limit
from kadenz.analysis.matching import Key
from kadenz.analysis.verdict import ONE_RUN, Verdict
from kadenz.stats.estimate import Estimate
from kadenz.stats.holm import holm
from kadenz.store import Run

_UNMATCHED = "this run has no baseline: none of its points was measured there on the same system"
# One-sided error of a 95 % interval that lies wholly beyond the limit.
ALPHA = 0.025


@dataclass(frozen=True)
class Gate:
    """All checks, and the differences between the compared configurations."""

    checks: tuple[Check, ...]
    configurations: tuple[Configurations, ...] = ()
    new: tuple[str, ...] = ()  # points without a baseline
    not_judged: tuple[tuple[str, str], ...] = ()  # benchmarks with a note, and the note
    points: tuple[Verdict, ...] = ()  # of the checks against a baseline: both sides' figures

    def count(self, outcome: Outcome) -> int:
        """The number of checks with this outcome."""
        return sum(check.outcome == outcome for check in self.checks)

    @property
    def outcome(self) -> Outcome:
        """A failure outweighs an undecided check, and that a pass. Without checks: undecided."""
        if self.count("fail"):
            return "fail"
        return "inconclusive" if self.count("inconclusive") or not self.checks else "pass"


def gate(
    runs: Sequence[Run],
    baseline: Sequence[Run],
    *,
    max_worse: float = THRESHOLD,
    statistics: Sequence[str | float] = ("median", 0.99),
    limits: Sequence[Limit] = (),
    between_runs: float = 0.0,
    deadlines: Sequence[Asked] = (),
    lacking: Sequence[tuple[str, str]] = (),
) -> Gate:
    """Checks `runs` against `baseline` (may be empty) and `limits`.

    Against the baseline a point passes if the 95 % interval of its ratio ends at or below
    1 + max_worse. It fails if the interval lies wholly above that, also after Holm correction over
    all points (probability of any false failure: 2.5 %). Otherwise it is inconclusive.
    `deadlines` override those of the runs. Figures of runs that repeat themselves are exact,
    against limits and a baseline alike.
    A point that the baseline measured and `runs` did not is inconclusive, never a pass; so is a run
    without any point to judge, and each baseline of `lacking`, which does not exist: its name, and
    why. Context (benchmarks of that nature, and those with a note) is not checked
    against the baseline.
    """
    checks: list[Check] = []
    configurations: tuple[Configurations, ...] = ()
    new: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    points: tuple[Verdict, ...] = ()
    if baseline:
        sides = compare_sides(
            baseline,
            runs,
            statistics=statistics,
            threshold=max_worse,
            together=False,
            between_runs=between_runs,
            deadlines=None,
        )
        points = tuple(p for p in sides.points if p.outcome != "context")
        checks += _against(points, max_worse)
        notes = sides.notes
        checks += [_missing(key, max_worse) for key in sides.only_baseline]
        checks += [_of_run(run, "a baseline", _UNMATCHED) for run in sides.unmatched]
        configurations = sides.configurations
        new = tuple(key.name for key in sides.only_candidate)
    checks += [_lacks(name, why) for name, why in lacking]
    for limit in limits:
        checks += limit_checks(runs, limit, between_runs=between_runs, deadlines=deadlines)
    checks += [
        _of_run(run, "a complete run", f"partial: {run.manifest.partial_reason}")
        for run in runs
        if run.manifest.partial
    ]
    return Gate(tuple(checks), configurations, new, notes, points)


def _against(points: Sequence[Verdict], max_worse: float) -> list[Check]:
    asked = [i for i, p in enumerate(points) if p.comparison and p.in_question and not p.repeats]
    p_values = [points[i].comparison.p_beyond or 0.0 for i in asked]  # type: ignore[union-attr]
    together = dict(zip(asked, holm(p_values).tolist(), strict=True))
    return [
        _one_against(point, max_worse, together.get(i), len(asked))
        for i, point in enumerate(points)
    ]


def _one_against(point: Verdict, most: float, p: float | None, among: int) -> Check:
    ratio = point.comparison.ratio if point.comparison is not None else None
    base, cand = point.figures
    change = f"{figure_text(base)} → {figure_text(cand)}"
    outcome: Outcome = "inconclusive"
    reason = point.reason
    if point.reason == SAME:
        outcome = "pass"
    elif point.reason == ONE_RUN:
        change += f", {change_words(ratio.value)}" if ratio is not None else ""
    elif ratio is not None:
        change += f", {change_words(ratio.value)}"
        if not ratio.zero_width:
            change += f" [{change_words(ratio.low)}, {change_words(ratio.high)}]"
        if point.repeats and base is not None and cand is not None:
            outcome, reason = _exactly(point, ratio, base, cand, most)
        elif point.comparison is not None and not point.comparison.decidable:
            pass
        elif ratio.high <= (1.0 + most) * (1.0 + 1e-12):
            outcome, reason = "pass", _caveat(point)
        elif p is not None and p <= ALPHA:
            outcome, reason = "fail", _caveat(point)
        elif ratio.low > 1.0 + most:
            reason = (
                f"beyond the limit on its own, but not after Holm correction over {among} points. "
                "Measure longer"
            )
        else:
            reason = _open_words(point)
    elif point.outcome == "equivalent":
        outcome = "pass"
    elif point.exact and base and cand:
        change += f", {change_words(cand / base)}"
        outcome = "fail" if _beyond(base, cand, most) else "pass"
    return Check(
        target=point.target,
        bench=point.bench,
        params=point.params,
        lane=point.lane,
        statistic=point.statistic,
        unit=point.units[1].label,
        clock_class=point.classes[1],
        asked=_asked(most),
        outcome=outcome,
        measured=change,
        reason=reason,
        kind="baseline",
        runs=point.measured.folders,
        seconds=point.measured.seconds,
    )


def _exactly(
    point: Verdict, ratio: Estimate, base: float, cand: float, most: float
) -> tuple[Outcome, str]:
    """The check by exact figures, with a reason if the interval alone would not decide."""
    comparison = point.comparison
    decidable = comparison is None or comparison.decidable
    clear = ratio.low > 1.0 + most or ratio.high <= (1.0 + most) * (1.0 + 1e-12)
    outcome: Outcome = "fail" if _beyond(base, cand, most) else "pass"
    if ratio.zero_width:
        return outcome, "exact for this plan: emulation repeats itself"
    return outcome, _caveat(point) if decidable and clear else exact_words(comparison)


def _open_words(point: Verdict) -> str:
    comparison = point.comparison
    if comparison is not None and comparison.coarse:
        return comparison.reason
    return "the interval contains the limit. Measure longer, or more runs per side"


def _beyond(base: float, cand: float, most: float) -> bool:
    return cand > (1.0 + most) * base * (1.0 + 1e-12)


def _caveat(point: Verdict) -> str:
    return point.comparison.caveat if point.comparison is not None else ""


def _asked(most: float) -> str:
    return f"at most {100.0 * most:g} % worse"


def _missing(key: Key, most: float) -> Check:
    where = key.group, key.bench, dict(key.params), "", ""
    why = "not measured in this run"
    return Check(*where, "", None, _asked(most), "inconclusive", "", why, kind="baseline")


def _of_run(run: Run, asked: str, why: str) -> Check:
    check = _note(run.manifest.target.name, asked, f"{run.path.name}: {why}")
    return msgspec.structs.replace(check, runs=(str(run.path),))


def _lacks(name: str, why: str) -> Check:
    return _note("", f"a baseline {name}", why)


def _note(target: str, asked: str, why: str) -> Check:
    return Check(target, "", {}, "", "", "", None, asked, "inconclusive", "", why)
