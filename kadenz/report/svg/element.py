# SPDX-License-Identifier: Apache-2.0
"""Nested, escaped text: all the XML that plots need."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

Attribute = str | float | int


def el(name: str, /, *children: str, **attributes: Attribute) -> str:
    """An element. `children` are markup; `class_` becomes `class`, `stroke_width` `stroke-width`.
    Floats are written with one decimal: a tenth of a pixel."""
    parts = [f"<{name}"]
    for key, value in attributes.items():
        text = _number(value) if isinstance(value, float) else str(value)
        parts.append(f" {key.rstrip('_').replace('_', '-')}={quoteattr(text)}")
    if not children:
        return "".join(parts) + "/>"
    return "".join(parts) + ">" + "".join(children) + f"</{name}>"


def text(x: float, y: float, content: str, class_: str = "", anchor: str = "start") -> str:
    """Text at a position; `anchor` is start, middle or end."""
    extra: dict[str, Attribute] = {"class_": class_} if class_ else {}
    if anchor != "start":
        extra["text_anchor"] = anchor
    return el("text", escape(content), x=float(x), y=float(y), **extra)


def title(tooltip: str) -> str:
    """The element's tooltip, also read by screen readers."""
    return el("title", escape(tooltip))


def path(points: list[tuple[float, float]], class_: str, *, close: bool = False) -> str:
    """A line through points."""
    steps = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
    return el("path", d=f"M{steps}" + ("Z" if close else ""), class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """A straight line between two points, in pixels of the drawing."""
    return el("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def _number(value: float) -> str:
    text = f"{value:.1f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
