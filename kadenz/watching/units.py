# SPDX-License-Identifier: Apache-2.0
"""The unit in which times of a watch are said: those of a guest count instructions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """`ns` of it; `tick` is the unit of a nanosecond."""

    name: str
    tick: str
    ns: int
    digits: int  # behind the point, of a length

    def text(self, ns: float) -> str:
        """A length with its unit: "12.3 µs"."""
        return f"{ns / self.ns:,.{self.digits}f} {self.name}"

    def whole(self, ns: float) -> str:
        """The same without digits behind the point."""
        return f"{ns / self.ns:,.0f} {self.name}"


MICROSECONDS = Unit("µs", "ns", 1000, 1)
VIRTUAL = Unit("virtual ns", "virtual ns", 1, 0)
