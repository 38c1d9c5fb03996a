# SPDX-License-Identifier: Apache-2.0
"""Box plots, one per row: quartiles, whiskers and the largest value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.report import digits
from kadenz.report.svg.element import el, line, text, title
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, scale_for
from kadenz.report.svg.style import series
from kadenz.stats.box import Box

ROW = 25.0
LABEL_PX, LABELS_PX = 6.8, 185.0  # maximum width of a character, and of a label
LOG_FROM = 8.0


@dataclass(frozen=True)
class Row:
    """A box in the unit shown, with the extremes."""

    label: str
    box: Box
    low: float
    high: float
    scale: float  # ticks to the unit shown, for `box`; `low` and `high` are already scaled


def boxes(rows: Sequence[Row], caption: Caption) -> Plot:
    """A Tukey box per row; the thin line spans the extremes, a ring marks the largest value."""
    unit, colour = caption.unit, series(caption.colour)
    labels = max(LABEL_PX * max(len(row.label) for row in rows) + 12.0, 60.0)
    panel = Panel(caption.heading, caption.subheading, left=min(labels, LABELS_PX), right=278.0)
    panel.height = panel.top + ROW * len(rows) + 8.0 + panel.below
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    x = scale_for(low, high, panel.left + 4, panel.right - 4, log=low > 0 and high > LOG_FROM * low)
    for tick in x.ticks:
        panel.add(line(x(tick), panel.top, x(tick), panel.bottom, "grid"))
    for number, row in enumerate(rows):
        _row(panel, x, row, panel.top + ROW * (number + 0.5) + 2.0, colour, unit)
    panel.x_axis(x, unit)
    described = "; ".join(
        f"{row.label}: median {digits.number(row.box.median * row.scale)}, "
        f"largest {digits.number(row.high)}"
        for row in rows
    )
    return panel.finish(caption.name, f"Box plots in {unit}. {described}.")


def _fitting(label: str) -> str:
    """As much of a label as fits; the row's title has all of it."""
    most = int((LABELS_PX - 12.0) / LABEL_PX)
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _row(panel: Panel, x: Scale, row: Row, y: float, colour: int, unit: str) -> None:
    box, scale = row.box, row.scale
    q1, median, q3 = x(box.q1 * scale), x(box.median * scale), x(box.q3 * scale)
    tooltip = (
        f"{row.label}: quartiles {digits.number(box.q1 * scale)}, "
        f"{digits.number(box.median * scale)}, {digits.number(box.q3 * scale)}; "
        f"whiskers {digits.number(box.low_whisker * scale)} to "
        f"{digits.number(box.high_whisker * scale)}; {digits.number(row.low)} to "
        f"{digits.number(row.high)} {unit}; {box.below + box.above:,} of {box.n:,} beyond"
    )
    whisker_low, whisker_high = x(box.low_whisker * scale), x(box.high_whisker * scale)
    panel.add(
        text(panel.left - 8, y + 3.8, _fitting(row.label), "v", anchor="end"),
        line(x(row.low), y, x(row.high), y, "axis"),
        line(whisker_low, y, whisker_high, y, f"l{colour}"),
        line(whisker_low, y - 3, whisker_low, y + 3, f"l{colour}"),
        line(whisker_high, y - 3, whisker_high, y + 3, f"l{colour}"),
        el(
            "rect",
            x=q1,
            y=y - 6,
            width=max(q3 - q1, 1.5),
            height=12.0,
            class_=f"o{colour}",
        ),
        line(median, y - 6, median, y + 6, f"l{colour}"),
        el("circle", cx=x(row.high), cy=y, r=2.4, class_=f"o{colour}"),
        text(panel.right + 2, y + 3.8, digits.number(row.high)),
        el("rect", title(tooltip), x=0.0, y=y - ROW / 2, width=340.0, height=ROW, class_="hit"),
    )
