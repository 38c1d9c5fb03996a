# SPDX-License-Identifier: Apache-2.0
"""Where each system stands at each benchmark: systems of one unit, a row for each benchmark.

Counted instructions and cycles repeat to the byte, so the order of two medians is a fact. Times
differ from run to run: there the comparisons with the first system decide, by their intervals.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from kadenz.analysis.comparing import THRESHOLD
from kadenz.analysis.parameters import Named, Points
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.analysis.rounds import OverRounds, over_rounds
from kadenz.analysis.structures import has_population, unjudged
from kadenz.analysis.units import Unit
from kadenz.analysis.variants import Variant
from kadenz.analysis.verdict import Outcome
from kadenz.analysis.work import in_a_task, span
from kadenz.config.manifest import ClockClass
from kadenz.config.params import Params

EXACT: tuple[ClockClass, ...] = ("instruction", "cycle-exact", "cycle-model")

# The outcome of a system's median against the first one of its group, at a point.
Verdicts = Mapping[tuple[int, str, Named], Outcome]


@dataclass(frozen=True)
class Cell:
    """A system at the row's point: its `figure` in the unit of the row, or the `reason` for none.

    `word` is shown instead of a figure: "n/a", "invalid", "failed", or "" if the point was
    not in the run's plan. `note`: why the figure does not describe its target; it is not judged.
    `of_period` is the figure as a share of the group's period.
    """

    figure: float | None = None
    of_period: float | None = None
    p99: float | None = None
    largest: float | None = None
    word: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A benchmark, at the point that most systems measured; cells are in the order of the group.

    `params` are those that tell this point from others, and the size of a message.
    `best` is the system that is quickest at every point by more than the threshold, `near` those
    that differ by less from the lowest figure of the shown point (places in the group). `points` is
    the number of points that at least two systems share; `divided`: they have no common winner.
    `spans` has what was timed and the systems of each span, if there are several; `mixed`: tasks of
    an executor are compared with threads.
    """

    bench: str
    params: Params
    unit: Unit
    cells: tuple[Cell, ...]
    points: int
    best: int | None = None
    near: frozenset[int] = frozenset()
    divided: bool = False
    spans: tuple[tuple[str, tuple[int, ...]], ...] = ()
    mixed: bool = False

    @property
    def unlike(self) -> bool:
        """True if the cells are not of the same work."""
        return self.mixed or bool(self.spans)

    def unlike_between(self, places: Collection[int], executors: Collection[int]) -> bool:
        """True if the cells of two places are not of the same work."""
        kinds = {place in executors for place in places}
        apart = any(len(set(members) & set(places)) == 1 for _, members in self.spans)
        return apart or (self.mixed and len(kinds) > 1)

    @property
    def judged(self) -> bool:
        """True if at least two figures without a note are compared."""
        return self.points > 0


@dataclass(frozen=True)
class Lack:
    """Benchmarks of which a system has no figure, for one reason."""

    member: int  # place in the group
    word: str
    reason: str
    benches: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Systems whose figures have one unit. `members` are places of variants; `executors` and the
    places in rows count within `members`. `exact`: order decides, no interval is needed.
    `period_us` is the shortest period of periodic work in these runs, measured or not, and `rates`
    are the clocks in Hz; 0.0 and () unless the unit is cycles of clocks whose rates are known."""

    unit: Unit
    of: str  # the instruction set or timing model whose instructions or cycles are counted, or ""
    members: tuple[int, ...]
    exact: bool
    rows: tuple[Row, ...]
    lacks: tuple[Lack, ...] = ()
    executors: tuple[int, ...] = ()
    period_us: float = 0.0
    rates: tuple[float, ...] = ()

    def wins(self) -> list[tuple[int, tuple[str, ...]]]:
        """Places in the group with the benchmarks at which each is quickest, most first."""
        at: dict[int, list[str]] = {}
        for row in self.rows:
            if row.best is not None:
                at.setdefault(row.best, []).append(row.bench)
        order = sorted(at, key=lambda place: (-len(at[place]), place))
        return [(place, tuple(at[place])) for place in order]


@dataclass
class _Bench:
    """The records of a benchmark in a group: by point and member, with figures or without."""

    points: dict[Named, dict[int, list[RecordResult]]] = field(default_factory=dict)
    without: dict[int, RecordResult] = field(default_factory=dict)


def counted_of(run: RunResult) -> str:
    """The instruction set and timing model whose instructions or cycles a run counts; "" for
    times."""
    model = run.manifest.clock.model
    parts = [run.manifest.target.arch, *([model.name] if model else [])]
    return "" if run.unit.is_time else ", ".join(parts)


def groups_of(
    variants: Sequence[Variant], results: Sequence[RunResult]
) -> list[tuple[str, tuple[int, ...]]]:
    """Variants whose figures may be compared: (instruction set and model, places), the largest
    group first. A run that was stopped is last in its group: the first one is what the others are
    compared with."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for number, variant in enumerate(variants):
        run = results[variant.runs[0]]
        key = run.unit.label, run.unit.clock_class, counted_of(run)
        groups.setdefault(key, []).append(number)

    def stopped(number: int) -> bool:
        return any(results[place].manifest.partial for place in variants[number].runs)

    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [(of, tuple(sorted(members, key=stopped))) for (_, _, of), members in ordered]


def exact(
    results: Sequence[RunResult], members: Sequence[int], variants: Sequence[Variant]
) -> bool:
    """Whether the order of two figures of a group is a fact."""
    first = results[variants[members[0]].runs[0]]
    return first.manifest.clock.clock_class in EXACT


def standings(
    variants: Sequence[Variant], results: Sequence[RunResult], verdicts: Verdicts
) -> tuple[Group, ...]:
    """Every group with its rows. A group with `verdicts` is judged by them."""
    points = Points(record.entry for run in results for record in run.records)
    return tuple(
        _group(of, members, variants, results, points, verdicts)
        for of, members in groups_of(variants, results)
    )


def _group(
    of: str,
    members: tuple[int, ...],
    variants: Sequence[Variant],
    results: Sequence[RunResult],
    points: Points,
    verdicts: Verdicts,
) -> Group:
    runs = [[results[place] for place in variants[number].runs] for number in members]
    by_order = exact(results, members, variants) and not any(v[0] in members for v in verdicts)
    executors = tuple(n for n, (run, *_) in enumerate(runs) if run.manifest.target.has_executor)
    benches, period_us = _benches(runs, points), _period_us(runs)
    rows = []
    for (bench, _), measured in benches.items():
        if measured.points:
            judge = _Judge(bench, members, None if by_order else verdicts)
            rows.append(_row(bench, measured, runs, executors, judge, period_us))
    return Group(
        unit=runs[0][0].unit,
        of=of,
        members=members,
        exact=by_order,
        rows=tuple(rows),
        lacks=_lacks(benches),
        executors=executors,
        period_us=period_us,
        rates=tuple(dict.fromkeys(run.unit.hz for run, *_ in runs)) if period_us else (),
    )


def _period_us(runs: Sequence[Sequence[RunResult]]) -> float:
    """The shortest period of periodic work in `runs`; 0.0 if there is none, or if a unit is not
    cycles of a clock whose rate is known."""
    every = [run for variant_runs in runs for run in variant_runs]
    if not all(run.unit.hz for run in every):
        return 0.0
    records = [r.entry for run in every for r in run.records if r.nature == "periodic"]
    return min((period for entry in records if (period := entry.period_us())), default=0.0)


def _is_apart(record: RecordResult) -> bool:
    return bool(unjudged(record.entry)) or has_population(record.entry)


def _benches(runs: Sequence[Sequence[RunResult]], points: Points) -> dict[tuple[str, str], _Bench]:
    """The records that a row can show: by benchmark and unit, in order of appearance."""
    benches: dict[tuple[str, str], _Bench] = {}
    for number, variant_runs in enumerate(runs):
        for record in (record for run in variant_runs for record in run.records):
            if record.nature == "context" or _is_apart(record):
                continue
            bench = benches.setdefault((record.bench, record.unit.key), _Bench())
            if _figures([record]) is None:
                bench.without.setdefault(number, record)
            else:
                point = points.of(record.bench, record.params)
                bench.points.setdefault(point, {}).setdefault(number, []).append(record)
    for key in [key for key, bench in benches.items() if not bench.points]:
        # A record without figures may lack its unit: it belongs to the benchmark's only row.
        others = [bench for other, bench in benches.items() if other[0] == key[0] and bench.points]
        if others:
            others[0].without = {**benches.pop(key).without, **others[0].without}
    return benches


def _figures(records: Sequence[RecordResult]) -> OverRounds | None:
    """Median, p99 and maximum over the rounds, in ticks; per iteration of a batch or per operation
    of a window, without the other two."""
    usable = [record for record in records if record.usable]
    each = [record.per_execution for record in usable if record.per_execution is not None]
    if each:
        return OverRounds(statistics.median_low(each), None, max(each))
    return over_rounds(usable)


class _Judge:
    """Who is quickest at the points of one benchmark: by order, or by verdicts if there are any."""

    def __init__(self, bench: str, members: tuple[int, ...], verdicts: Verdicts | None) -> None:
        self._bench, self._members, self._verdicts = bench, members, verdicts

    def first(self, point: Named, figures: Mapping[int, float]) -> frozenset[int]:
        """The systems that none beats: the winner, or several that are near; none if undecided."""
        if self._verdicts is not None:
            return self._by_verdict(point, figures)
        best = min(figures.values())
        if best < 0.0:
            return frozenset()
        return frozenset(n for n, value in figures.items() if value <= best * (1.0 + THRESHOLD))

    def _by_verdict(self, point: Named, figures: Mapping[int, float]) -> frozenset[int]:
        of = {
            n: (self._verdicts or {}).get((self._members[n], self._bench, point)) for n in figures
        }
        others = {outcome for n, outcome in of.items() if n}
        if 0 not in of or not others <= {"better", "worse", "equivalent"}:
            return frozenset()
        faster = [n for n, outcome in of.items() if outcome == "better"]
        if faster:  # two that beat the first were not compared with each other
            return frozenset(faster) if len(faster) == 1 else frozenset()
        return frozenset({0, *(n for n, outcome in of.items() if outcome == "equivalent")})


def _row(
    bench: str,
    measured: _Bench,
    runs: Sequence[Sequence[RunResult]],
    executors: tuple[int, ...],
    judge: _Judge,
    period_us: float,
) -> Row:
    shown, shown_by_member = max(measured.points.items(), key=lambda pair: len(pair[1]))
    record = next(iter(shown_by_member.values()))[0]
    firsts = {}
    for point, by_member in measured.points.items():
        figures = {
            number: record.unit.figure(of.median)
            for number, records in by_member.items()
            if (of := _figures(records)) is not None and not _note(runs[number], bench)
        }
        if len(figures) > 1:
            firsts[point] = judge.first(point, figures)
    best = frozenset[int]().union(*firsts.values())
    alone = len(best) == 1 and all(firsts.values())
    near = firsts.get(shown, frozenset())
    spans = _spans(shown_by_member)
    return Row(
        bench=bench,
        params=apart(record.params, measured.points),
        unit=record.unit,
        cells=tuple(
            _cell(bench, n, shown_by_member.get(n, []), measured, of, period_us)
            for n, of in enumerate(runs)
        ),
        points=len(firsts),
        best=next(iter(best)) if alone else None,
        near=near if len(near) > 1 else frozenset(),
        divided=len(firsts) > 1 and not alone and any(firsts.values()),
        spans=tuple(spans.items()) if len(spans) > 1 else (),
        mixed=_mixed(shown_by_member, executors, " ".join(spans)),
    )


def apart(params: Params, points: Collection[Named]) -> Params:
    """What tells a point from the others of its benchmark; the size of a message always does."""
    same = set.intersection(*map(set, points))
    return {
        k: v
        for k, v in params.items()
        if k == "size_bytes" or (len(points) > 1 and (k, v) not in same)
    }


def _mixed(by_member: Mapping[int, object], executors: Sequence[int], spans: str) -> bool:
    kinds = {number in executors for number in by_member}
    return len(kinds) > 1 and in_a_task(spans)


def _spans(by_member: Mapping[int, Sequence[RecordResult]]) -> dict[str, tuple[int, ...]]:
    """What was timed, with the systems that timed it."""
    spans: dict[str, tuple[int, ...]] = {}
    for number, records in sorted(by_member.items()):
        text = span(records[0].entry)
        spans[text] = (*spans.get(text, ()), number)
    return spans


def _note(runs: Sequence[RunResult], bench: str) -> str:
    return runs[0].manifest.benchmark_notes.get(bench, "").rstrip(".")


def _cell(
    bench: str,
    number: int,
    records: Sequence[RecordResult],
    measured: _Bench,
    runs: Sequence[RunResult],
    period_us: float,
) -> Cell:
    of = _figures(records)
    if of is not None:
        unit, alone = records[0].unit, records[0].per_execution is not None
        figure = unit.figure(of.median)
        return Cell(
            figure=figure,
            of_period=figure / (period_us * unit.per_us) if period_us and unit.per_us else None,
            p99=None if of.p99 is None else unit.figure(of.p99),
            largest=None if alone else unit.figure(of.largest),
            note=_note(runs, bench),
        )
    lack = measured.without.get(number)
    if lack is not None:
        return Cell(word=_word(lack), reason=lack.reason)
    if any(number in by_member for by_member in measured.points.values()):
        return Cell(reason="measured at other parameters only")
    if any(run.manifest.partial for run in runs):
        return Cell(reason="the run was stopped before it")
    return Cell(reason="not in the plan of this run")


def _word(record: RecordResult) -> str:
    return record.entry.status if not record.usable else "no figure"


def _lacks(benches: Mapping[tuple[str, str], _Bench]) -> tuple[Lack, ...]:
    """Every sentence about a figure that is not there, once for each system."""
    lacking: dict[tuple[int, str, str], list[str]] = {}
    for (bench, _), of in benches.items():
        for number, record in of.without.items():
            if not any(number in by_member for by_member in of.points.values()):
                lacking.setdefault((number, _word(record), record.reason), []).append(bench)
    return tuple(
        Lack(number, word, reason, tuple(dict.fromkeys(names)))
        for (number, word, reason), names in sorted(lacking.items(), key=lambda entry: entry[0][0])
    )
