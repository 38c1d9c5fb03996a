# SPDX-License-Identifier: Apache-2.0
"""Symbols of systems: eight shapes, each in five colours, so that forty differ."""

from __future__ import annotations

from kadenz.report.svg.element import el, title
from kadenz.report.svg.style import series

# Outlines around (0, 0), about 8 px wide; (): a circle.
_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)),
    ((0.0, -4.4), (4.4, 3.6), (-4.4, 3.6)),
    ((0.0, -4.8), (4.8, 0.0), (0.0, 4.8), (-4.8, 0.0)),
    ((0.0, 4.4), (4.4, -3.6), (-4.4, -3.6)),
    ((-4.8, -1.5), (4.8, -1.5), (4.8, 1.5), (-4.8, 1.5)),
    ((-1.5, -4.8), (1.5, -4.8), (1.5, 4.8), (-1.5, 4.8)),
    ((-4.4, -4.0), (4.4, -4.0), (-4.4, 4.0), (4.4, 4.0)),
)


def symbol(number: int, x: float, y: float, tooltip: str = "") -> str:
    """The symbol of the system with this number, from 0, around a position; `tooltip` on hover."""
    shape, css = _SHAPES[number % len(_SHAPES)], f"d{series(number)}"
    inside = (title(tooltip),) if tooltip else ()
    if not shape:
        return el("circle", *inside, cx=x, cy=y, r=3.8, class_=css)
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in shape)
    return el("polygon", *inside, points=points, class_=css)
