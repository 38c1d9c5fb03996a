# SPDX-License-Identifier: Apache-2.0
"""Ratios to one, a row of marks each: dots, rings, and lines for intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.report.svg.element import el, line, text, title
from kadenz.report.svg.legend import Key, Legend
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, scale_for
from kadenz.report.svg.style import series
from kadenz.report.svg.symbols import symbol

ROW = 18.0
WIDTH = 440.0
LABEL_PX, LABELS_PX = 6.2, 210.0  # maximum width of a character, and of a label
KEY_LETTERS = 60  # of a key of the legend
LOG_FROM = 4.0
ROOM = 1.05  # beside the outermost marks


@dataclass(frozen=True)
class Mark:
    """A ratio of the system with the number `colour`, from 0; a ring if it is somebody else's, or
    the system's own symbol."""

    label: str
    ratio: float
    colour: int
    interval: tuple[float, float] | None = None
    ring: bool = False
    symbol: bool = False


@dataclass(frozen=True)
class Row:
    """The marks of one label."""

    label: str
    marks: tuple[Mark, ...]


def ratios(rows: Sequence[Row], caption: Caption, *, log: bool = False) -> Plot:
    """A row of marks for each label, on one axis with a line at 1; all ratios are above 0. The axis
    is logarithmic for wide ranges, or always."""
    ends = [1.0]
    for mark in (mark for row in rows for mark in row.marks):
        ends += [mark.ratio, *(mark.interval or ())]
    low, high = min(ends) / ROOM, max(ends) * ROOM
    labels = max(LABEL_PX * max(len(row.label) for row in rows) + 12.0, 60.0)
    left, right = min(labels, LABELS_PX), WIDTH - 14.0
    panel = Panel(caption.heading, caption.subheading, left=left, right=right, width=WIDTH)
    legend = Legend(_keys(rows), 8.0, panel.width)
    plot_bottom = panel.top + ROW * len(rows) + 8.0 + panel.below
    panel.below += legend.height + 8.0
    panel.height = plot_bottom + legend.height + 8.0
    x = scale_for(low, high, panel.left + 4, panel.right - 4, log=log or high > LOG_FROM * low)
    for tick in x.ticks:
        panel.add(line(x(tick), panel.top, x(tick), panel.bottom, "grid"))
    panel.add(line(x(1.0), panel.top, x(1.0), panel.bottom, "mark"))
    for number, row in enumerate(rows):
        _row(panel, x, row, panel.top + ROW * (number + 0.5) + 4.0)
    panel.add(_axis(panel, x), legend.drawn(panel.bottom + 20.0))
    described = "; ".join(
        f"{row.label}: " + ", ".join(f"{mark.label} {_said(mark)}" for mark in row.marks)
        for row in rows
    )
    return panel.finish(caption.name, f"{caption.unit}. {described}.")


def _keys(rows: Sequence[Row]) -> list[Key]:
    """Meaning of each colour or symbol, in the order of the systems."""
    by_colour = {mark.colour: mark for row in rows for mark in row.marks}
    return [
        Key(
            _clipped(mark.label, KEY_LETTERS), f"d{series(number)}", number if mark.symbol else None
        )
        for number, mark in sorted(by_colour.items())
    ]


def _clipped(label: str, most: int) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _axis(panel: Panel, x: Scale) -> str:
    """The axis line with its figures; the words are in the subheading."""
    parts = [line(panel.left, panel.bottom, panel.right, panel.bottom, "axis")]
    for tick in x.ticks:
        parts.append(line(x(tick), panel.bottom, x(tick), panel.bottom + 4, "axis"))
        parts.append(text(x(tick), panel.bottom + 15, f"{tick:g}", anchor="middle"))
    return "".join(parts)


def _said(mark: Mark) -> str:
    interval = "" if mark.interval is None else " ({:.3f} to {:.3f})".format(*mark.interval)
    return f"{mark.ratio:.3f}{interval}"


def _row(panel: Panel, x: Scale, row: Row, y: float) -> None:
    label = _clipped(row.label, int((LABELS_PX - 12.0) / LABEL_PX))
    panel.add(text(panel.left - 8, y + 3.8, label, "v", anchor="end"))
    for mark in row.marks:
        number = series(mark.colour)
        if mark.interval is not None:
            panel.add(line(x(mark.interval[0]), y, x(mark.interval[1]), y, f"l{number}"))
        tooltip = f"{row.label}, {mark.label}: {_said(mark)}"
        if mark.symbol:
            panel.add(symbol(mark.colour, x(mark.ratio), y, tooltip))
            continue
        panel.add(
            el(
                "circle",
                title(tooltip),
                cx=x(mark.ratio),
                cy=y,
                r=4.0 if mark.ring else 3.0,
                class_=f"{'o' if mark.ring else 'd'}{number}",
            )
        )
