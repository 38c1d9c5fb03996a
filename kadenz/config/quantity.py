# SPDX-License-Identifier: Apache-2.0
"""User-written quantities with a unit, and selections of points.

Only this file parses `100us`, `900 instructions` and `cyclic/* threads=2`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kadenz.config.params import Value, parse_value
from kadenz.errors import UsageError

_QUANTITY = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]*)?(?:e-?[0-9]+)?)\s*(?P<unit>[^\s0-9.].*)")
_POINTS = re.compile(r"(?P<bench>[^\s=]+)(?P<where>(?:\s+\w+=-?[0-9]+)*)")
_RANGE = (1e-15, 1e18)  # of the number: whoever needs more has another unit
_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Quantity:
    """`number` `unit`: a time ("ns", "us", "ms", "s"), or a count."""

    number: float
    unit: str

    @property
    def is_time(self) -> bool:
        """True for a time."""
        return self.unit in _MICROSECONDS

    @property
    def microseconds(self) -> float:
        """A time in µs. Raises ValueError for a count."""
        if not self.is_time:
            raise ValueError(f"{self} is not a time")
        return self.number * _MICROSECONDS[self.unit]

    def __str__(self) -> str:
        unit = "µs" if self.unit in ("us", "μs") else self.unit
        return f"{number_text(self.number)} {unit}"


@dataclass(frozen=True)
class Points:
    """Benchmark points by name (wildcards allowed) and required parameters."""

    bench: str
    params: Mapping[str, Value]

    def concern(self, bench: str, params: Mapping[str, Value]) -> bool:
        """True for a selected point."""
        return fnmatchcase(bench, self.bench) and all(
            params.get(name) == value for name, value in self.params.items()
        )


def parse_quantity(text: str, where: str) -> Quantity:
    """Parses `NUMBER UNIT`, above zero. Raises UsageError; `where` names the option or key."""
    match = _QUANTITY.fullmatch(text.strip())
    number = float(match["number"]) if match else 0.0
    if match is None or not 0.0 < number < math.inf:
        raise UsageError(
            f"{where}: `{text.strip()}` is not a quantity: a number above zero and its unit",
            remedy="For example 100us, 1.5ms or 900 instructions",
        )
    if not _RANGE[0] <= number <= _RANGE[1]:
        raise UsageError(
            f"{where}: `{text.strip()}` is out of range",
            remedy=f"Use a unit in which the number is from {_RANGE[0]:g} to {_RANGE[1]:g}",
        )
    return Quantity(number, match["unit"].strip())


def parse_points(text: str, where: str) -> Points:
    """Parses `BENCHMARK [PARAMETER=VALUE…]`. Raises UsageError; `where` names the option."""
    match = _POINTS.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        pairs = (word.split("=") for word in match["where"].split())
        return Points(match["bench"], {name: parse_value(value) for name, value in pairs})
    except ValueError:  # a number that begins with 0, or has thousands of digits
        raise UsageError(
            f"{where}: `{text.strip()}` is not BENCHMARK [PARAMETER=VALUE…]",
            remedy="For example 'cyclic/wakeup-latency period_us=1000'",
        ) from None


def number_text(value: float) -> str:
    """A number for people: "1,000", "0.25"."""
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.4f}".rstrip("0") if value >= 1e3 else f"{value:.6g}"
