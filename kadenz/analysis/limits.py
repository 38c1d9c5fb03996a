# SPDX-License-Identifier: Apache-2.0
"""A limit on one figure, as the user writes it: `cyclic/wakeup-latency p99.9 < 100us`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kadenz.analysis.units import Unit
from kadenz.config.manifest import RecordEntry
from kadenz.config.quantity import Points, Quantity, parse_points, parse_quantity
from kadenz.errors import UsageError

MISSES = "misses"
_FORM = re.compile(
    r"(?P<points>\S.*?)\s+(?P<statistic>max|mean|median|misses|p[0-9.]+)"
    r"\s*(?P<relation><=|<|=)\s*(?P<most>\S.*)"
)
_COUNT = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)\s*(?P<share>%?)")
_REMEDY = "For example --limit 'cyclic/wakeup-latency p99.9 < 100us', or 'cyclic/* misses = 0'"


@dataclass(frozen=True)
class Limit:
    """`statistic` ("max", "mean", "median", "misses" or a level) must be below or at `most`.

    For misses `most` is a count of cycles, or with `is_share` a share of them.
    """

    text: str
    points: Points
    statistic: str | float
    relation: Literal["<", "<="]
    most: Quantity | float
    is_share: bool = False

    def concerns(self, entry: RecordEntry) -> bool:
        """True if this limit applies to the record."""
        return self.points.concern(entry.bench, entry.params)

    @property
    def of_misses(self) -> float:
        """A limit on misses: a count, or a share of one."""
        return self.most if isinstance(self.most, float) else 0.0

    def within(self, unit: Unit) -> float:
        """The limit in the unit of figures. UsageError if they cannot be compared."""
        if not isinstance(self.most, Quantity):
            return self.most
        amount = unit.amount(self.most)
        if amount is None:
            raise UsageError(
                f"--limit {self.text}: {unit.cannot_carry(self.most)}",
                remedy=f"Give the limit in {unit.label}, or measure on a target whose clock is a "
                "time",
            )
        return amount

    def holds(self, value: float, most: float) -> bool:
        """Whether a figure meets the limit `most`, which is in its unit."""
        return value <= most if self.relation == "<=" else value < most


def parse_limit(text: str) -> Limit:
    """Parses `BENCH [PARAM=VALUE…] STATISTIC < NUMBER UNIT`. UsageError for anything else."""
    where = f"--limit {text.strip()}"
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{where}: not BENCHMARK [PARAMETER=VALUE…] STATISTIC < NUMBER UNIT", remedy=_REMEDY
        )
    name, relation = match["statistic"], match["relation"]
    points = parse_points(match["points"], where)
    if name == MISSES:
        return _of_misses(text.strip(), points, relation, match["most"])
    if relation == "=":
        raise UsageError(f"{where}: {name} cannot be limited with `=`", remedy=_REMEDY)
    return Limit(
        text=text.strip(),
        points=points,
        statistic=_level(name, where) if name.startswith("p") else name,
        relation="<=" if relation == "<=" else "<",
        most=parse_quantity(match["most"], where),
    )


def _of_misses(text: str, points: Points, relation: str, most: str) -> Limit:
    """Parses `misses = 0`, `misses <= 3`, `misses < 0.1%`."""
    match = _COUNT.fullmatch(most.strip())
    number = float(match["number"]) if match else -1.0
    if match is None or (relation == "=" and number != 0.0) or (relation == "<" and number == 0.0):
        raise UsageError(
            f"--limit {text}: misses are a number of cycles, or a share of them in %",
            remedy="For example 'cyclic/* misses = 0', 'misses <= 3' or 'misses < 0.1%'",
        )
    is_share = bool(match["share"]) and relation != "="
    return Limit(
        text=text,
        points=points,
        statistic=MISSES,
        relation="<" if relation == "<" else "<=",
        most=number / 100.0 if is_share else number,
        is_share=is_share,
    )


def _level(name: str, where: str) -> float:
    try:
        level = float(name[1:]) / 100.0
    except ValueError:
        raise UsageError(f"{where}: {name} is not a number", remedy=_REMEDY) from None
    if not 0.0 < level < 1.0:
        raise UsageError(f"{where}: {name} is not a percentile", remedy=_REMEDY)
    return level
