# SPDX-License-Identifier: Apache-2.0
"""How a figure moved over runs, and where it changed."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from kadenz.archive.objects import run_object
from kadenz.archive.place import Place
from kadenz.archive.points import ArchivedPoints
from kadenz.archive.query import connect, run_sql
from kadenz.archive.rows import params_text
from kadenz.config.manifest import REPEATABLE, Manifest
from kadenz.config.params import Params
from kadenz.json_text import read_json
from kadenz.stats.change_points import LEAST, Change, change_points

# A series is one system measured in one way; these columns tell series apart. The configuration
# does not: a history is there to show what a change of it did.
KEY = (
    "target, instrument, conditions, quick, bench, params, lane, class, unit, "
    "CASE WHEN tier = 'host' THEN host ELSE '' END AS host"
)
_KEYS = 10  # columns of KEY
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
# Configuration that differs between any two runs and explains nothing.
_IDLE = {"campaign: name", "build: image"}


class _Row(NamedTuple):
    """A row of the query: KEY, and the run."""

    target: str
    instrument: str
    conditions: str
    quick: bool
    bench: str
    params: str
    lane: str
    clock_class: str
    unit: str
    host: str
    tier: str
    month: str
    run: str
    record: int
    created: Annotated[str, Meta(pattern=_MOMENT)]
    commit: str
    label: str
    value: float
    worst: float
    n: int


@dataclass(frozen=True)
class Point:
    """One run of a series. `value` and `worst` in the unit of the series."""

    run: str
    record: int
    created: str  # ISO 8601, UTC
    commit: str
    label: str
    value: float
    worst: float
    n: int


@dataclass(frozen=True)
class Step:
    """A change of level: after run `earliest` at the earliest, not after run `latest`.

    `exact`: the tier repeats to the byte, so every change is real; else by `change_points`.
    """

    earliest: Point  # the last run that certainly has the old level
    latest: Point  # the first run that certainly has the new level
    before: float
    after: float
    p: float
    exact: bool
    reasons: tuple[str, ...] = ()  # configuration that differs between the two runs

    @property
    def change(self) -> float:
        """Relative to the level before."""
        return self.after / self.before - 1.0 if self.before else float("inf")


@dataclass(frozen=True)
class Series:
    """One figure of one system over runs, the oldest first."""

    target: str
    instrument: str
    conditions: dict[str, str]
    bench: str
    params: dict[str, Any]
    lane: str
    clock_class: str
    unit: str
    host: str
    quick: bool  # of runs with --quick, which take fewer samples
    points: tuple[Point, ...]
    steps: tuple[Step, ...]
    note: str = ""  # why there are no steps, if they could not be looked for

    @property
    def worst(self) -> dict[str, float]:
        """The largest value of any sample, by month."""
        by_month: dict[str, float] = {}
        for point in self.points:
            month = point.created[:7]
            by_month[month] = max(point.worst, by_month.get(month, point.worst))
        return by_month


def histories(
    place: Place,
    selectors: tuple[str, ...] = (),
    *,
    statistic: str = "median",
    label: str = "",
) -> list[Series]:
    """The series whose target or benchmark matches one of `selectors` (globs; none: all).

    `statistic`: one of `archive.statistics`; `label`: only runs that were added with it. Partial
    runs and records that are not ok are left out. A parameter that a run lacks had its default.
    """
    return histories_beside(place, None, selectors, statistic=statistic, label=label)[0]


def histories_beside(
    place: Place,
    beside: Manifest | None,
    selectors: tuple[str, ...],
    *,
    statistic: str = "median",
    label: str = "",
) -> tuple[list[Series], ArchivedPoints]:
    """As `histories`, for a run that is held against them; also their points and its own.

    The run itself is left out, if it was added.
    """
    without = beside.id if beside is not None else ""
    con = connect(place, samples=False)
    where = f"""status = 'ok' AND NOT partial AND isfinite("{statistic}") AND isfinite(max)"""
    rows = run_sql(
        place,
        con,
        f"SELECT {KEY}, tier, month, run, record, strftime(created, '%Y-%m-%dT%H:%M:%SZ'), commit, "
        f'label, "{statistic}", max, n FROM records WHERE {where} ORDER BY created, run',
    )
    groups: _Groups = {}
    for plain in rows.rows:
        row = _row(place, plain)
        wanted = not selectors or any(
            fnmatch.fnmatchcase(text, selector)
            for selector in selectors
            for text in (row.target, row.bench)
        )
        if wanted and label in ("", row.label) and row.run != without:
            groups.setdefault(row[:_KEYS], []).append(row)
    newest = [members[-1] for members in groups.values()]
    stored = [(row.target, row.bench, _params(place, row), row.month, row.run) for row in newest]
    points = ArchivedPoints(place, stored, beside)
    joined = _joined(place, groups, points)
    all_series = [_series(place, members) for _, members in sorted(joined.items())]
    return _with_reasons(place, con, all_series), points


_Groups = dict[tuple[Any, ...], list[_Row]]


def _joined(place: Place, groups: _Groups, points: ArchivedPoints) -> _Groups:
    """The rows by point: those of one point, some without a parameter, are one series."""
    joined: _Groups = {}
    for members in groups.values():
        first = members[0]
        text = params_text(dict(points.of(first.target, first.bench, _params(place, first))))
        for row in members:
            complete_row = row._replace(params=text)
            joined.setdefault(complete_row[:_KEYS], []).append(complete_row)
    return {
        key: sorted(rows, key=lambda row: (row.created, row.run)) for key, rows in joined.items()
    }


def _row(place: Place, plain: tuple[Any, ...]) -> _Row:
    """A row with its types. StoreError if it lacks what rows of kadenz have."""
    try:
        return msgspec.convert(plain, _Row)
    except msgspec.ValidationError as error:
        named = _Row(*plain)
        raise place.damaged(run_object(named.month, named.run), str(error)) from None


def _decoded(place: Place, row: _Row, text: str, kind: Any) -> Any:
    """A column that is JSON. StoreError if it is not of this kind."""
    try:
        return read_json(text, kind)
    except msgspec.DecodeError as error:
        raise place.damaged(run_object(row.month, row.run), str(error)) from None


def _params(place: Place, row: _Row) -> Params:
    params: Params = _decoded(place, row, row.params, Params)
    return params


def _with_reasons(place: Place, con: Any, all_series: list[Series]) -> list[Series]:
    """Reads the configuration of the runs beside steps, and of no other: it is long."""
    beside = {p.run for series in all_series for s in series.steps for p in (s.earliest, s.latest)}
    if not beside:
        return all_series
    sql = (
        "SELECT run, any_value(month), any_value(configuration) FROM records WHERE run IN $runs "
        "GROUP BY run"
    )
    answer = run_sql(place, con, sql, {"runs": sorted(beside)})
    texts = {}
    for run, month, text in answer.rows:
        try:
            texts[run] = read_json(text or "", dict[str, str])
        except msgspec.DecodeError as error:
            raise place.damaged(run_object(month, run), f"configuration: {error}") from None
    return [
        replace(
            series,
            steps=tuple(
                replace(step, reasons=_reasons(texts[step.earliest.run], texts[step.latest.run]))
                for step in series.steps
            ),
        )
        for series in all_series
    ]


def _series(place: Place, rows: list[_Row]) -> Series:
    first = rows[0]
    points = tuple(
        Point(
            row.run,
            row.record,
            row.created,
            row.commit,
            row.label,
            row.value,
            row.worst,
            row.n,
        )
        for row in rows
    )
    steps, note = _steps(points, exact=first.tier in REPEATABLE)
    return Series(
        target=first.target,
        instrument=first.instrument,
        conditions=_decoded(place, first, first.conditions, dict[str, str]),
        bench=first.bench,
        params=_params(place, first),
        lane=first.lane,
        clock_class=first.clock_class,
        unit=first.unit,
        host=first.host,
        quick=first.quick,
        points=points,
        steps=tuple(steps),
        note=note,
    )


def _steps(points: tuple[Point, ...], *, exact: bool) -> tuple[list[Step], str]:
    values = [point.value for point in points]
    if exact:
        changes = [
            Change(at=i, first=i, last=i, before=values[i - 1], after=values[i], p=0.0)
            for i in range(1, len(values))
            if values[i] != values[i - 1]
        ]
    elif len(values) < LEAST:
        return [], f"{len(values)} runs; steps are looked for from {LEAST} on"
    else:
        changes = change_points(values)
    return [
        Step(
            earliest=points[change.first - 1],
            latest=points[change.last],
            before=change.before,
            after=change.after,
            p=change.p,
            exact=exact,
        )
        for change in changes
    ], ""


def _reasons(old: dict[str, str], new: dict[str, str]) -> tuple[str, ...]:
    """ "build: compiler: 12.2.0 → 13.1.0" for each value that differs."""
    return tuple(
        f"{key}: {old.get(key, '–')} → {new.get(key, '–')}"
        for key in dict.fromkeys([*old, *new])
        if key not in _IDLE and old.get(key) != new.get(key)
    )
