# SPDX-License-Identifier: Apache-2.0
"""Overlaid distributions: exceedance on logarithmic axes, with the deadline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kadenz.report import digits
from kadenz.report.svg.element import el, line, text, title
from kadenz.report.svg.panel import LABEL_PITCH, Panel, Plot
from kadenz.report.svg.scale import Scale, logarithmic
from kadenz.report.svg.style import line as stroke
from kadenz.report.svg.style import series as colour_of

# Wide for a page, narrow for a phone; both with the same letter size.
WIDE, NARROW = (760.0, 330.0), (340.0, 280.0)
ROOM = 1.1  # margin beyond the first and last value
FAR = 30.0  # a deadline beyond 30 times all values is named at the edge: a line would cost half
LETTER = 11.0  # width of a variant's letter, px


@dataclass(frozen=True)
class Curve:
    """One run: `points` are (value in the unit shown, share of planned samples at or above it).

    `floor` is the share of missed samples; `style` and `letter` are the variant's.
    """

    letter: str
    label: str
    points: Sequence[tuple[float, float]]
    floor: float
    style: int


@dataclass(frozen=True)
class Axes:
    """The range of an overlay: the lowest and highest value, and the smallest share."""

    low: float
    high: float
    least: float


def axes(curves: Sequence[Curve], deadlines: Sequence[tuple[float, str]]) -> Axes:
    """The range of all curves and nearby deadlines, with a margin."""
    values = [value for curve in curves for value, _ in curve.points]
    last = max(values)
    high = max([last, *(value for value, _ in deadlines if value <= FAR * last)])
    least = min(share for curve in curves for _, share in curve.points)
    return Axes(min(values) / ROOM, high * ROOM, least / 2.0)


def overlay(
    curves: Sequence[Curve],
    deadlines: Sequence[tuple[float, str]],
    *,
    heading: str,
    subheading: str,
    unit: str,
    name: str,
    size: tuple[float, float] = WIDE,
) -> Plot:
    """One line per run. `deadlines` are (value in the unit shown, label)."""
    width, height = size
    panel = Panel(heading, subheading, height=height, width=width, left=56.0, right=width - 22.0)
    panel.above += LABEL_PITCH if deadlines else 0.0
    shown = axes(curves, deadlines)
    count = 9 if width > NARROW[0] else 5
    x = logarithmic(shown.low, shown.high, panel.left, panel.right, count=count)
    y = logarithmic(shown.least, 1.0, panel.bottom, panel.top, count=7)
    for tick in y.ticks:
        panel.add(line(panel.left, y(tick), panel.right, y(tick), "grid"))
        panel.add(text(panel.left - 6, y(tick) + 3.8, share(tick), anchor="end"))
    for tick in x.ticks:
        panel.add(line(x(tick), panel.top, x(tick), panel.bottom, "grid"))
    panel.x_axis(x, unit)
    for value, plain in deadlines:
        label = placed(value, plain, shown)
        if label == plain:
            panel.add(line(x(value), panel.top - 4, x(value), panel.bottom, "due"))
        half = 3.1 * len(label)
        at = min(max(x(value), panel.left + half), width - half)
        panel.add(text(at, panel.top - 8, label, "duet", anchor="middle"))
    for curve in curves:
        steps = _steps(panel, curve, x, y)
        panel.add(el("path", title(curve.label), d=steps, class_=stroke(curve.style)))
    _letters(panel, curves, x, y)
    described = "; ".join(curve.label for curve in curves)
    due = "".join(f" {label[0].upper()}{label[1:]}." for _, label in deadlines)
    return panel.finish(name, f"Share at or above a value. {described}.{due}")


def placed(value: float, label: str, shown: Axes) -> str:
    """The label of a deadline; beyond the plot it gets an arrow and the distance as a factor."""
    if value <= shown.high:
        return label
    return (
        f"{label}, {digits.number(float(f'{value * ROOM / shown.high:.2g}'))} times the largest →"
    )


def share(value: float) -> str:
    """ "10 %", "0.01 %", and below that "1 in 100k"."""
    if value >= 0.999e-4:
        return f"{100.0 * value:.6g} %"
    return f"1 in {digits.axis([round(1.0 / value)])[0]}"


def _steps(panel: Panel, curve: Curve, x: Scale, y: Scale) -> str:
    """A line through all points; missed samples continue it as a level to the right."""
    places = [(round(x(value), 1), round(y(part), 1)) for value, part in curve.points]
    if curve.floor:
        places.append((panel.right, round(y(curve.floor), 1)))
    steps = [f"M{places[0][0]:g} {places[0][1]:g}"]
    for (left, up), (right, down) in pairwise(places):
        if (left, up) == (right, down):
            continue
        if left == right:
            steps.append(f"V{down:g}")
        elif up == down:
            steps.append(f"H{right:g}")
        else:
            steps.append(f"L{right:g} {down:g}")
    return "".join(steps)


def _end(curve: Curve) -> tuple[float, float]:
    value, part = curve.points[-1]
    return part, -value


def _letters(panel: Panel, curves: Sequence[Curve], x: Scale, y: Scale) -> None:
    """Each variant's letter at the end of its lowest line, so that no reader needs the colour."""
    last: dict[str, Curve] = {}
    for curve in curves:
        known = last.get(curve.letter)
        if known is None or _end(curve) < _end(known):
            last[curve.letter] = curve
    placed: list[tuple[float, float]] = []
    for curve in last.values():
        value, part = curve.points[-1]
        at = panel.right if curve.floor else x(value)
        px, py = at + 5.0, y(part) + 4.0
        while any(abs(px - a) < LETTER and abs(py - b) < LABEL_PITCH for a, b in placed):
            py -= LABEL_PITCH
        placed.append((px, py))
        panel.add(text(px, py, curve.letter, f"h t{colour_of(curve.style)}"))
