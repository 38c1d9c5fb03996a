# SPDX-License-Identifier: Apache-2.0
"""A figure over message size: median, quantile bands, fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.report import digits
from kadenz.report.svg.element import el, path, title
from kadenz.report.svg.panel import Caption, Panel, Plot
from kadenz.report.svg.scale import Scale, scale_for
from kadenz.report.svg.style import line, series

# On longer spans a linear axis would show only one end.
LOG_X_FROM = 20.0
LOG_Y_FROM = 12.0

Dot = tuple[float, float, str]  # size, value, where it was published


@dataclass(frozen=True)
class Point:
    """Quantiles at one size, in the unit shown. `p1` and `p99` are None below 100 samples."""

    size: float
    low: float
    p1: float | None
    median: float
    p99: float | None
    high: float


@dataclass(frozen=True)
class Line:
    """fixed + per_byte * size."""

    fixed: float
    per_byte: float
    trusted: bool  # False where the points are not on a line


@dataclass(frozen=True)
class Range:
    """What axes have to show: sizes, values, and the largest median."""

    least: float
    most: float
    low: float
    middle: float
    top: float

    @classmethod
    def of(cls, points: Sequence[Point]) -> Range:
        """The range of a plot's own points."""
        sizes = [p.size for p in points]
        low, top = min(p.low for p in points), max(p.high for p in points)
        return cls(min(sizes), max(sizes), low, max(p.median for p in points), top)

    @classmethod
    def of_dots(cls, points: Sequence[Dot]) -> Range:
        """The range of published means."""
        return cls.of([Point(size, value, None, value, None, value) for size, value, _ in points])

    @classmethod
    def of_all(cls, ranges: Sequence[Range]) -> Range:
        """The range of plots that share their axes; the lowest of their largest medians."""
        return cls(
            least=min(extent.least for extent in ranges),
            most=max(extent.most for extent in ranges),
            low=min(extent.low for extent in ranges),
            middle=min(extent.middle for extent in ranges),
            top=max(extent.top for extent in ranges),
        )


def response(
    points: Sequence[Point],
    caption: Caption,
    *,
    fit: Line | None = None,
    axes: Range | None = None,
) -> Plot:
    """Median over size, with bands p1 to p99 and min to max, and the fit as a dashed line. `axes`
    are those that several plots share; None: its own."""
    colour = series(caption.colour)
    panel = Panel(caption.heading, caption.subheading, right=288.0)
    x, y = _axes(axes or Range.of(points), panel)
    panel.add(_band([(x(p.size), y(p.low), y(p.high)) for p in points], f"w{colour}"))
    inner = [
        (x(p.size), y(p.p1), y(p.p99)) for p in points if p.p1 is not None and p.p99 is not None
    ]
    if len(inner) > 1:
        panel.add(_band(inner, f"b{colour}"))
    if fit is not None:
        panel.add(_fit(fit, [p.size for p in points], x, y))
    panel.add(path([(x(p.size), y(p.median)) for p in points], line(caption.colour)))
    for p in points:
        panel.add(
            el("circle", cx=x(p.size), cy=y(p.median), r=2.6, class_=f"d{colour}"),
            el(
                "circle",
                title(_tooltip(p, caption.unit)),
                cx=x(p.size),
                cy=y(p.median),
                r=11.0,
                class_="hit",
            ),
        )
    panel.labels(_labels(points[-1], y, colour), panel.right + 4)
    return panel.finish(caption.name, _description(points, fit, caption.unit))


def _axes(of: Range, panel: Panel) -> tuple[Scale, Scale]:
    """Draws both axes; each is logarithmic if its values span more than a linear one could show."""
    log_y = of.top > LOG_Y_FROM * of.middle and of.low > 0
    log_x = of.most > LOG_X_FROM * max(of.least, 1.0)
    x = scale_for(of.least, of.most, panel.left + 6, panel.right - 6, log=log_x)
    y = scale_for(of.low if log_y else 0.0, of.top, panel.bottom, panel.top, log=log_y)
    panel.y_axis(y)
    panel.x_axis(x, "message size, bytes")
    return x, y


def _fit(fit: Line, sizes: Sequence[float], x: Scale, y: Scale) -> str:
    least, most = min(sizes), max(sizes)
    steps = 40 if x.log else 1
    ratio = most / max(least, 1.0)
    along = [
        least * ratio ** (i / steps) if x.log else least + (most - least) * i
        for i in range(steps + 1)
    ]
    return path([(x(size), y(fit.fixed + fit.per_byte * size)) for size in along], "fit")


def _tooltip(p: Point, unit: str) -> str:
    p99 = f"p99 {digits.number(p.p99)}, " if p.p99 is not None else ""
    return (
        f"{p.size:g} bytes: median {digits.number(p.median)}, {p99}"
        f"{digits.number(p.low)} to {digits.number(p.high)} {unit}"
    )


def _labels(last: Point, y: Scale, colour: int) -> list[tuple[float, str, str]]:
    """Names of the curves at their right end: (pixel, name, class)."""
    labels = [(y(last.median), "median", f"t{colour}")]
    if last.high > last.median:
        labels.append((y(last.high), "max", ""))
    if last.p99 is not None and abs(y(last.p99) - y(last.high)) > 3.0:
        labels.append((y(last.p99), "p99", ""))
    if abs(y(last.low) - y(last.median)) > 14.0:
        labels.append((y(last.low), "min", ""))
    return labels


def _description(points: Sequence[Point], fit: Line | None, unit: str) -> str:
    first, last = points[0], points[-1]
    text = (
        f"{len(points)} sizes from {first.size:g} to {last.size:g} bytes. Median from "
        f"{digits.number(first.median)} to {digits.number(last.median)} {unit}, largest value "
        f"{digits.number(max(p.high for p in points))} {unit}."
    )
    if fit is None:
        return text
    formula = f"{digits.number(fit.fixed)} + {digits.number(fit.per_byte)} per byte"
    return f"{text} Fit {formula}{'.' if fit.trusted else ', but the points are not on a line.'}"


def _band(rows: Sequence[tuple[float, float, float]], class_: str) -> str:
    """The area between two curves: (x, lower, upper) in pixels."""
    upper = [(x, high) for x, _, high in rows]
    lower = [(x, low) for x, low, _ in reversed(rows)]
    return path(upper + lower, class_, close=True)


def dots(points: Sequence[Dot], caption: Caption, *, axes: Range | None = None) -> Plot:
    """Published means as open circles, without a line: none was published. `axes` as above."""
    unit = caption.unit
    panel = Panel(caption.heading, caption.subheading, right=288.0)
    x, y = _axes(axes or Range.of_dots(points), panel)
    for size, value, where in points:
        panel.add(
            el(
                "circle",
                title(f"{size:g} bytes: mean {digits.printed(value)} {unit} ({where})"),
                cx=x(size),
                cy=y(value),
                r=4.0,
                class_="mark",
            )
        )
    panel.labels([(y(v), digits.printed(v), "v") for _, v, _ in points[-1:]], panel.right + 4)
    for size, value, _ in points[:-1]:
        panel.add(el("g", _value_label(x(size), y(value), value)))
    text = "; ".join(f"{size:g} bytes {digits.printed(v)} {unit}" for size, v, _ in points)
    return panel.finish(caption.name, f"Published means: {text}.")


def _value_label(x: float, y: float, value: float) -> str:
    return el("text", digits.printed(value), x=x + 8, y=y - 6, class_="v")
