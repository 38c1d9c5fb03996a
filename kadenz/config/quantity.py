# SPDX-License-Identifier: Apache-2.0
"""A quantity with its unit, and the points it is about, as a person writes them.

`100us`, `900 instructions`, `cyclic/* threads=2`: this file is the only place that parses them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kadenz.errors import UsageError

_QUANTITY = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]*)?(?:e-?[0-9]+)?)\s*(?P<unit>[^\s0-9.].*)")
_POINTS = re.compile(r"(?P<bench>[^\s=]+)(?P<where>(?:\s+\w+=-?[0-9]+)*)")
_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "μs": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Quantity:
    """`number` `unit`: a time of the world ("ns", "us", "ms", "s"), or a count of something."""

    number: float
    unit: str

    @property
    def is_time(self) -> bool:
        """True for seconds and their parts."""
        return self.unit in _MICROSECONDS

    @property
    def microseconds(self) -> float:
        """A time in µs. ValueError where it is none."""
        if not self.is_time:
            raise ValueError(f"{self} is no time")
        return self.number * _MICROSECONDS[self.unit]

    def __str__(self) -> str:
        unit = "µs" if self.unit in ("us", "μs") else self.unit
        return f"{number_text(self.number)} {unit}"


@dataclass(frozen=True)
class Points:
    """Benchmark points by name (wildcards allowed) and by the parameters they must have."""

    bench: str
    params: Mapping[str, int]

    def concern(self, bench: str, params: Mapping[str, int]) -> bool:
        """True for a point that is meant."""
        return fnmatchcase(bench, self.bench) and all(
            params.get(name) == value for name, value in self.params.items()
        )


def parse_quantity(text: str, where: str) -> Quantity:
    """`NUMBER UNIT`, above zero. UsageError, in which `where` names the option or the key."""
    found = _QUANTITY.fullmatch(text.strip())
    number = float(found["number"]) if found else 0.0
    if found is None or not 0.0 < number < math.inf:
        raise UsageError(
            f"{where}: `{text.strip()}` is no quantity: a number above zero and its unit",
            remedy="For example 100us, 1.5ms or 900 instructions",
        )
    return Quantity(number, found["unit"].strip())


def parse_points(text: str, where: str) -> Points:
    """`BENCHMARK [PARAMETER=VALUE…]`. UsageError, in which `where` names the option."""
    found = _POINTS.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{where}: `{text.strip()}` is not BENCHMARK [PARAMETER=VALUE…]",
            remedy="For example 'cyclic/wakeup-latency period_us=1000'",
        )
    pairs = (word.split("=") for word in found["where"].split())
    return Points(found["bench"], {name: int(value) for name, value in pairs})


def number_text(value: float) -> str:
    """A number as a person writes it: "1,000", "0.25"."""
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.4f}".rstrip("0") if value >= 1e3 else f"{value:.6g}"
