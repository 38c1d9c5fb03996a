# SPDX-License-Identifier: Apache-2.0
"""By how much one system is ahead of another: the largest margin of each, for every two that are
compared.

A margin has the ratio and the interval of the comparison of the two systems. Counted instructions
and cycles repeat to the byte: their ratio is exact and has no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadenz.analysis.answers import Answers, PairAnswer
from kadenz.analysis.comparing import THRESHOLD
from kadenz.analysis.standings import Group, Row, apart
from kadenz.analysis.units import Unit
from kadenz.analysis.verdict import MIDDLE, Verdict
from kadenz.config.params import Params


@dataclass(frozen=True)
class Margin:
    """At a point, `behind` takes `factor` times what `ahead` takes; both are places of variants.

    `factor` has the ends of its 95 % interval, equal to it for exact figures; None if `ahead` takes
    0. `params` are those that tell the point from others of its benchmark, and the size of a
    message. `among` is the number of benchmarks at which `ahead` is ahead; `unlike`: the two
    figures are not of the same work. `target` is "" if only one is compared.
    """

    ahead: int
    behind: int
    bench: str
    params: Params
    statistic: str
    unit: Unit
    factor: tuple[float, float, float] | None
    among: int = 1
    unlike: bool = False
    target: str = ""


@dataclass(frozen=True)
class Between:
    """Two systems by their places: the largest margin of each that has one, and the numbers of
    benchmarks at which they are equal within `threshold` or undecided."""

    first: int
    second: int
    margins: tuple[Margin, ...]
    threshold: float
    equal: int
    undecided: int


def margins(answers: Answers) -> tuple[Between, ...]:
    """Every two systems that are compared: others with the first of their group."""
    paired = {pair.candidate for pair in answers.pairs}
    return (
        *(between(pair) for pair in answers.pairs),
        *(
            _by_order(group, place)
            for group in answers.groups
            for place, member in enumerate(group.members)
            if group.exact and place and member not in paired
        ),
    )


def between(pair: PairAnswer) -> Between:
    """The margins of a comparison: of each benchmark its first point that is decided."""
    margins: dict[tuple[str, str], Margin] = {}
    outcomes: dict[tuple[str, str], set[str]] = {}
    for point in pair.deciding:
        key = point.target, point.bench
        outcomes.setdefault(key, set()).add(point.outcome)
        if point.outcome in ("better", "worse") and key not in margins:
            margins[key] = _margin(point, pair)
    open_ = [seen for key, seen in outcomes.items() if key not in margins]
    equal = sum(seen == {"equivalent"} for seen in open_)
    return Between(
        pair.baseline,
        pair.candidate,
        _largest(list(margins.values())),
        pair.threshold,
        equal,
        len(open_) - equal,
    )


def _margin(point: Verdict, pair: PairAnswer) -> Margin:
    sides = pair.baseline, pair.candidate
    ahead, behind = sides if point.outcome == "worse" else sides[::-1]
    points = [tuple(p.params.items()) for p in pair.deciding if p.bench == point.bench]
    targets = {other.target for other in pair.deciding}
    ratio = point.change
    if ratio is not None and point.repeats:
        ratio = ratio[0], ratio[0], ratio[0]
    if ratio is not None and point.outcome == "better":
        value, low, high = ratio
        ratio = 1.0 / value, 1.0 / high, 1.0 / low if low else float("inf")
    return Margin(
        ahead,
        behind,
        point.bench,
        apart(point.params, points),
        point.statistic,
        point.units[0],
        ratio,
        unlike=point.unlike,
        target=point.target if len(targets) > 1 else "",
    )


def _by_order(group: Group, place: int) -> Between:
    """The first system of a group with exact figures, and the one at `place`."""
    rows = [row for row in group.rows if _figure(row, 0) is not None]
    rows = [row for row in rows if _figure(row, place) is not None]
    margins = [margin for row in rows if (margin := _exact_margin(group, row, place)) is not None]
    ends = group.members[0], group.members[place]
    return Between(*ends, _largest(margins), THRESHOLD, len(rows) - len(margins), 0)


def _figure(row: Row, place: int) -> float | None:
    cell = row.cells[place]
    return None if cell.note else cell.figure


def _exact_margin(group: Group, row: Row, place: int) -> Margin | None:
    """The margin at the row's point; None within the threshold, and for a figure below zero."""
    (less, ahead), (more, behind) = sorted(
        (figure, group.members[at]) for at in (0, place) if (figure := _figure(row, at)) is not None
    )
    if less < 0.0 or more <= less * (1.0 + THRESHOLD):
        return None
    factor = more / less if less else None
    return Margin(
        ahead,
        behind,
        row.bench,
        row.params,
        MIDDLE,
        row.unit,
        (factor, factor, factor) if factor else None,
        unlike=row.unlike_between((0, place), group.executors),
    )


def _largest(every: Sequence[Margin]) -> tuple[Margin, ...]:
    """The largest margin of each system that is ahead, the largest first."""
    of = {margin.ahead: [m for m in every if m.ahead == margin.ahead] for margin in every}
    largest = [replace(max(margins, key=_size), among=len(margins)) for margins in of.values()]
    return tuple(sorted(largest, key=_size, reverse=True))


def _size(margin: Margin) -> float:
    return margin.factor[0] if margin.factor is not None else 0.0
