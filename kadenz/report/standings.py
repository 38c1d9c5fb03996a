# SPDX-License-Identifier: Apache-2.0
"""The table of several systems: for the page, the terminal, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kadenz.analysis.answers import Answers
from kadenz.analysis.comparing import THRESHOLD
from kadenz.analysis.results import RunResult
from kadenz.analysis.standings import Cell, Group, Row
from kadenz.analysis.units import CLASS_MEANING
from kadenz.config.quantity import Quantity
from kadenz.report import digits, labels
from kadenz.report.families import family_of
from kadenz.report.svg import style
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.svg.ratios import Mark, ratios
from kadenz.report.svg.ratios import Row as Marks
from kadenz.report.svg.symbols import symbol
from kadenz.report.table import Cell as TableCell
from kadenz.report.table import Table
from kadenz.stats.plain import plain

UNLIKE = "‡"
AT_ONCE = 6  # columns of one table on a page
_PERCENT = f"{100.0 * THRESHOLD:g} %"


@dataclass(frozen=True)
class System:
    """The head of a column."""

    letter: str
    label: str
    kernel: str
    number: int  # of the variant, from 0: it fixes colour and symbol

    @property
    def colour(self) -> int:
        """The number of its colour, from 1."""
        return style.colour(self.number)

    @property
    def symbol(self) -> str:
        """The symbol of a system as SVG, for its column of the table."""
        drawn = symbol(self.number, 6.0, 6.0)
        return f'<svg class="plot symbol" viewBox="0 0 12 12" aria-hidden="true">{drawn}</svg>'


@dataclass(frozen=True)
class Field:
    """A cell of the page: `kind` is a CSS class, `of_period` the share of the period, `share` the
    bar's length in percent of the largest figure in the row, `tooltip` what hovering says."""

    text: str
    kind: str
    of_period: str
    share: float
    tooltip: str


@dataclass(frozen=True)
class Line:
    """A row of the page."""

    bench: str
    anchor: str
    point: str
    mark: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Standing:
    """A group as the page shows it. `answer` says who is quickest at how many benchmarks, `decides`
    what decides in it and what does not."""

    title: str
    answer: str
    decides: str
    systems: tuple[System, ...]
    lines: tuple[Line, ...]
    footnotes: tuple[str, ...]
    lacks: tuple[str, ...]
    table: Table
    picture: Plot | None  # without a second figure in any row there is none

    @property
    def blocks(self) -> list[range]:
        """The columns of each table: many systems take several tables."""
        count = len(self.systems)
        tables = -(-count // AT_ONCE)
        ends = [count * number // tables for number in range(tables + 1)]
        return [range(*pair) for pair in pairwise(ends)]


def standings(answers: Answers, results: Sequence[RunResult]) -> tuple[Standing, ...]:
    """The groups of `answers`, largest first; () for one system and for two sides of a change."""
    names = labels.variant_labels(results)
    every = tuple(
        System(
            variant.letter,
            name,
            labels.kernel(results[variant.runs[0]]),
            number,
        )
        for number, (variant, name) in enumerate(zip(answers.variants, names, strict=True))
    )
    return tuple(
        _standing(in_order(group), number, [every[member] for member in group.members])
        for number, group in enumerate(answers.groups)
    )


def in_order(group: Group) -> Group:
    """The group with the rows of the user's benchmarks first."""
    return replace(group, rows=tuple(sorted(group.rows, key=lambda row: not _users(row.bench))))


def _users(bench: str) -> bool:
    return family_of(bench).users


def unit(group: Group) -> str:
    """ "instructions of armv7m", "µs · hosted"."""
    label = labels.unit(group.unit)
    return f"{label} of {group.of}" if group.of else label


def _standing(group: Group, number: int, systems: Sequence[System]) -> Standing:
    table = "systems" if number == 0 else f"systems-{number + 1}"
    footnotes = (*_notes(group, systems), *_unlike(group, systems))
    lacks = tuple(_lacks(group, systems))
    return Standing(
        title=f"Median, {unit(group)}",
        answer=_answer(group, systems),
        decides=_decides(group, systems),
        systems=tuple(systems),
        lines=tuple(
            Line(
                row.bench,
                labels.slug(row.bench),
                _shown_point(row, group),
                UNLIKE if row.unlike else "",
                tuple(_fields(row)),
            )
            for row in group.rows
        ),
        footnotes=footnotes,
        lacks=lacks,
        table=_table(group, table, systems, (*footnotes, *lacks)),
        picture=_picture(group, f"{table}-ratios", systems),
    )


def _shown_point(row: Row, group: Group) -> str:
    """ "60 bytes; 4 points agree", with the unit if it is not that of the group."""
    parts = [labels.parameters(row.params), row.unit.label * (row.unit != group.unit)]
    if row.points > 1:
        parts.append(
            f"the order depends on the point ({row.points})"
            if row.divided
            else f"{row.points} points agree"
            if row.best is not None
            else f"{row.points} points"
        )
    return "; ".join(word for word in parts if word)


def _fields(row: Row) -> list[Field]:
    figures = [cell.figure for cell in row.cells if cell.figure is not None]
    largest = max(figures) if len(figures) > 1 else 0.0
    return [
        Field(
            _text(cell, row),
            _kind(cell, row, place),
            "" if cell.of_period is None else f"{plain(100.0 * cell.of_period, 2)} %",
            100.0 * max(cell.figure or 0.0, 0.0) / largest if largest > 0.0 else 0.0,
            _tooltip(cell, row),
        )
        for place, cell in enumerate(row.cells)
    ]


def _text(cell: Cell, row: Row) -> str:
    if cell.figure is None:
        return cell.word or digits.ABSENT
    return digits.number(cell.figure) + (labels.MARK if cell.note else "")


def _kind(cell: Cell, row: Row, place: int) -> str:
    if cell.figure is None:
        return "bad" if cell.word not in ("", "n/a") else "na"
    return "best" if place == row.best else "near" if place in row.near else ""


def _tooltip(cell: Cell, row: Row) -> str:
    """The reason for no figure, the note of one, or its p99 and largest sample."""
    if cell.figure is None:
        return cell.reason
    parts = [f"median {digits.number(cell.figure)}"]
    parts += [f"p99 {digits.number(cell.p99)}"] if cell.p99 is not None else []
    parts += [f"largest {digits.number(cell.largest)}"] if cell.largest is not None else []
    return f"{', '.join(parts)} {row.unit.label}" + (f". {cell.note}" if cell.note else "")


def _answer(group: Group, systems: Sequence[System]) -> str:
    """ "A (freertos) is quickest at 2 of 3 benchmarks: itc/queue and irq/to-task.
    No single one at 1: micro/preemption." """
    judged = [row for row in group.rows if row.judged]
    if not judged:
        return ""
    of = f"of {len(judged)} benchmark{'s' * (len(judged) > 1)}"
    parts = [
        f"{systems[place].letter} ({systems[place].label}) is quickest at {len(benches)} {of}: "
        f"{labels.listed(benches)}."
        for place, benches in group.wins()
    ]
    if rest := [row.bench for row in judged if row.best is None]:
        parts.append(f"No single one at {len(rest)} {of}: {labels.listed(rest)}.")
    if unlike := sum(row.unlike and row.best is not None for row in judged):
        verb = "compares" if unlike == 1 else "compare"
        parts.append(f"{unlike} of these {verb} unlike things ({UNLIKE}).")
    return " ".join(parts)


def _decides(group: Group, systems: Sequence[System]) -> str:
    """What decides in a table, and what does not."""
    meaning = f"Clock class {group.unit.clock_class}: {CLASS_MEANING[group.unit.clock_class]}."
    if group.period_us:
        rates = labels.listed([f"{rate / 1e6:g} MHz" for rate in group.rates])
        period = Quantity(group.period_us, "us")
        meaning += f" Percentages are shares of a period of {labels.quantity(period)} at {rates}."
    if len(systems) == 1:
        return f"{meaning} No other system has this unit: nothing here is compared."
    if not group.rows:
        return f"{meaning} None of these systems has a figure."
    if group.exact:
        return (
            f"{meaning} Bold is the lowest median, by more than {_PERCENT} at every point of the "
            f"benchmark; grey ones differ from the lowest by less. Counts repeat exactly: order "
            "decides, and no interval is needed."
        )
    return (
        f"{meaning} Bold is lower by the interval of a comparison with {systems[0].letter}; grey "
        f"ones are equal within {_PERCENT}. Order alone decides nothing: a row without bold and "
        "grey is undecided."
    )


def _notes(group: Group, systems: Sequence[System]) -> list[str]:
    """Why marked figures are not judged."""
    by_note: dict[str, list[str]] = {}
    for row in group.rows:
        for system, cell in zip(systems, row.cells, strict=True):
            if cell.note:
                by_note.setdefault(cell.note, []).append(f"{system.letter} at {row.bench}")
    return [f"† Not judged: {', '.join(places)}: {note}." for note, places in by_note.items()]


def _unlike(group: Group, systems: Sequence[System]) -> list[str]:
    """One footnote on the rows whose cells are not of the same work."""
    if not any(row.unlike for row in group.rows):
        return []
    parts = [f"{UNLIKE} Not the same work."]
    if any(row.mixed for row in group.rows):
        executors = labels.listed([systems[place].letter for place in group.executors])
        threads = labels.listed(
            [system.letter for place, system in enumerate(systems) if place not in group.executors]
        )
        parts.append(
            f"Threads ({threads}) have a stack and block in a call; tasks of an executor "
            f"({executors}) have none and await."
        )
    for row in group.rows:
        if row.spans:
            of = "; ".join(
                f"{span} ({labels.listed([systems[place].letter for place in places])})"
                for span, places in row.spans
            )
            parts.append(f"{row.bench} is timed {of}.")
    return [" ".join(parts)]


def _lacks(group: Group, systems: Sequence[System]) -> list[str]:
    """ "B and C at itc/mutex: n/a, no thread blocks on one"."""
    by_reason: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for lack in group.lacks:
        key = lack.word, lack.reason, lack.benches
        by_reason.setdefault(key, []).append(systems[lack.member].letter)
    return [
        f"{labels.listed(letters)} at {labels.listed(benches)}: {word}"
        + (f", {reason.rstrip('.')}." if reason else ".")
        for (word, reason, benches), letters in by_reason.items()
    ]


def _table(
    group: Group,
    name: str,
    systems: Sequence[System],
    notes: tuple[str, ...],
) -> Table:
    heads = [f"{system.letter} {system.label}" for system in systems]
    rows = []
    for row in group.rows:
        point = labels.parameters(row.params)
        best = "" if row.best is None else systems[row.best].letter
        rows.append(
            (
                TableCell(row.bench + f" {UNLIKE}" * row.unlike, row.bench),
                TableCell(point or digits.ABSENT, point),
                *(_cell(cell, row, place) for place, cell in enumerate(row.cells)),
                TableCell(row.unit.label, row.unit.label),
                TableCell(best or digits.ABSENT, best),
            )
        )
    return Table(
        name=name,
        title=f"Median, {unit(group)}",
        columns=("Benchmark", "Point", *heads, "Unit", "Quickest"),
        rows=tuple(rows),
        numeric=frozenset(range(2, 2 + len(heads))),
        notes=notes,
    )


def _cell(cell: Cell, row: Row, place: int) -> TableCell:
    if cell.figure is None:
        raw = ": ".join(word for word in (cell.word, cell.reason) if word)
        return TableCell(_text(cell, row), raw, _kind(cell, row, place))
    return TableCell(_text(cell, row), cell.figure, _kind(cell, row, place))


def _picture(group: Group, name: str, systems: Sequence[System]) -> Plot | None:
    """The ratio of every figure to that of the first system. Rows in which that has none, or 0, are
    left out."""
    first, rows = systems[0], []
    for row in group.rows:
        base = row.cells[0].figure or 0.0
        marks = tuple(
            Mark(f"{system.letter} {system.label}", cell.figure / base, system.number, symbol=True)
            for system, cell in zip(systems, row.cells, strict=True)
            if base > 0.0 and cell.figure is not None and cell.figure > 0.0
        )
        if len(marks) > 1:
            point = labels.parameters(row.params)
            label = f"{row.bench}{f' {point}' if point else ''}{f' {UNLIKE}' * row.unlike}"
            rows.append(Marks(label, marks))
    if not rows:
        return None
    relation = f"median ÷ that of {first.letter}, log axis; left of 1 is quicker"
    caption = Caption(f"Ratio to {first.letter}", relation, "Ratios", name)
    return ratios(rows, caption, log=True)
