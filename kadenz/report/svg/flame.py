# SPDX-License-Identifier: Apache-2.0
"""A flame graph: call paths as nested bars, as wide as their instructions (Gregg 2016, CACM 59-6).

Bars are in the order of the names, not of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from kadenz.report.svg.element import el, title
from kadenz.report.svg.legend import LETTER, Key, Legend
from kadenz.report.svg.panel import Panel, Plot
from kadenz.report.svg.style import series

WIDTH = 1020.0
ROW = 17.0
_EDGE = 10.0  # left and right of the bars
_LEAST = 0.3  # pixels of a bar that is drawn


@dataclass(frozen=True)
class Stack:
    """A call path with its own instructions."""

    path: tuple[str, ...]
    part: str  # of the innermost function
    instructions: int


@dataclass
class _Bar:
    name: str
    part: str = ""
    self_count: int = 0
    total: int = 0
    above: dict[str, _Bar] = field(default_factory=dict)


def flame(
    stacks: Sequence[Stack],
    heading: str,
    subheading: str,
    name: str,
    width: float = WIDTH,
    *,
    units: str = "instructions",
) -> Plot:
    """Draws the stacks; the tooltip of each bar has its figures, a legend the parts.

    `units`: what the stacks count.
    """
    root = _tree(stacks)
    parts = list(dict.fromkeys(sorted({stack.part for stack in stacks})))
    rows = _depth(root)
    legend = _legend(stacks, parts, width)
    panel = Panel(
        heading,
        subheading,
        height=65.0 + ROW * rows + legend.height,
        left=_EDGE,
        width=width,
        right=width - _EDGE,
    )
    scale = (panel.right - panel.left) / max(root.total, 1)
    bottom = panel.top + ROW * rows
    _draw(panel, root, (panel.left, bottom), scale, (parts, units))
    panel.add(legend.drawn(bottom))
    return panel.finish(name, f"{heading}: {root.total:,} {units} in {len(stacks)} call paths.")


def _legend(stacks: Sequence[Stack], parts: Sequence[str], width: float) -> Legend:
    """The parts with their instructions."""
    totals = [sum(stack.instructions for stack in stacks if stack.part == part) for part in parts]
    keys = [
        Key(f"{part} {total:,}", _style(number))
        for number, (part, total) in enumerate(zip(parts, totals, strict=True))
    ]
    return Legend(keys or [Key("nothing executed")], _EDGE, width)


def _tree(stacks: Sequence[Stack]) -> _Bar:
    root = _Bar("")
    for stack in stacks:
        at = root
        at.total += stack.instructions
        for name in stack.path:
            at = at.above.setdefault(name, _Bar(name))
            at.total += stack.instructions
        at.self_count += stack.instructions
        at.part = stack.part
    return root


def _depth(bar: _Bar) -> int:
    return max((1 + _depth(child) for child in bar.above.values()), default=0)


def _style(number: int) -> str:
    """Five colours, then the same paler."""
    return f"{'d' if number < 5 else 'b'}{series(number)} flame"


def _draw(
    panel: Panel,
    bar: _Bar,
    place: tuple[float, float],
    scale: float,
    words_of: tuple[list[str], str],
) -> None:
    """Draws what is above a bar whose lower left corner is at `place`."""
    (x, y), (parts, units) = place, words_of
    for child in bar.above.values():
        width = child.total * scale
        if width >= _LEAST:
            number = parts.index(child.part) if child.part in parts else 0
            counts = f"{child.total:,} {units}, {child.self_count:,} its own"
            tooltip = f"{child.name} ({child.part}): {counts}"
            drawn = el(
                "rect",
                x=x,
                y=y - ROW,
                width=max(width - 0.6, _LEAST),
                height=ROW - 1,
                class_=_style(number),
            )
            letters = int((width - 6) / LETTER)
            if letters >= 3:
                short = (
                    child.name if len(child.name) <= letters else child.name[: letters - 1] + "…"
                )
                drawn += el("text", escape(short), x=x + 3, y=y - 5, style="fill:var(--paper)")
            panel.add(el("g", drawn, title(tooltip)))
            _draw(panel, child, (x, y - ROW), scale, words_of)
        x += width
