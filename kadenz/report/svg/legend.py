# SPDX-License-Identifier: Apache-2.0
"""A legend below a plot: boxes or symbols with words, in as many rows as they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.report.svg.element import el, text
from kadenz.report.svg.symbols import symbol

LETTER = 6.2  # pixels of a letter of 11 px
_ROW = 15.0
_BOX = 10.0
_GAP = 34  # of a key, beside its words
_UPPER = 10.0  # from the plot to the first box


@dataclass(frozen=True)
class Key:
    """Words, and the CSS class of their box; no class, no box. The symbol of the system with this
    number stands instead of a box."""

    label: str
    class_: str = ""
    system: int | None = None


class Legend:
    """Keys in rows from `left` to `width`, pixels."""

    def __init__(self, keys: Sequence[Key], left: float, width: float) -> None:
        self._placed: list[tuple[Key, float, int]] = []
        x, row = left, 0
        for key in keys:
            wide = _GAP + LETTER * len(key.label)
            if self._placed and x + wide > width:
                x, row = left, row + 1
            self._placed.append((key, x, row))
            x += wide
        self.height = _ROW * (1 + row) if keys else 0.0

    def drawn(self, top: float) -> str:
        """The markup, below a plot that ends at `top`."""
        return "".join(self._key(*placed, top + _UPPER) for placed in self._placed)

    @staticmethod
    def _key(key: Key, x: float, row: int, top: float) -> str:
        y = top + _ROW * row
        label = text(x + _BOX + 4, y + _BOX - 1, key.label)
        if key.system is not None:
            return symbol(key.system, x + _BOX / 2, y + _BOX / 2) + label
        if not key.class_:
            return label
        return el("rect", x=x, y=y, width=_BOX, height=_BOX, class_=key.class_) + label
