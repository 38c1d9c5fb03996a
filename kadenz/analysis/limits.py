# SPDX-License-Identifier: Apache-2.0
"""A limit on one figure, as a person writes it: `cyclic/wakeup-latency p99.9 < 100us`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kadenz.analysis.units import Unit
from kadenz.config.manifest import RecordEntry
from kadenz.errors import UsageError

_FORM = re.compile(
    r"(?P<bench>\S+)(?P<where>(?:\s+\w+=-?\d+)*)\s+(?P<statistic>max|mean|median|p[0-9.]+)"
    r"\s*<\s*(?P<number>[0-9.]+(?:e-?\d+)?)\s*(?P<unit>[^\s0-9]\S*)"
)
_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
_REMEDY = "For example --limit 'cyclic/wakeup-latency p99.9 < 100us'"


@dataclass(frozen=True)
class Limit:
    """`statistic` ("max", "mean", "median" or a level) of `bench` must lie below `number` `unit`.

    `bench` may hold wildcards; `params` are those that a point must have.
    """

    text: str
    bench: str
    params: dict[str, int]
    statistic: str | float
    number: float
    unit: str

    def concerns(self, entry: RecordEntry) -> bool:
        """True for a record this limit is about."""
        return fnmatchcase(entry.bench, self.bench) and all(
            entry.params.get(name) == value for name, value in self.params.items()
        )

    def within(self, unit: Unit) -> float:
        """The limit in the unit of figures. UsageError where the two cannot be compared."""
        if unit.is_time and unit.label == "µs" and self.unit in _MICROSECONDS:
            return self.number * _MICROSECONDS[self.unit]
        if self.unit in (unit.label, unit.key, unit.label.removesuffix("s")):
            return self.number
        raise UsageError(
            f"--limit {self.text}: figures are in {unit.label} there (clock class "
            f"{unit.clock_class}), not in {self.unit}",
            remedy=f"Give the limit in {unit.label}, or measure on a target whose clock is a time",
        )


def parse_limit(text: str) -> Limit:
    """`BENCH [PARAM=VALUE…] STATISTIC < NUMBER UNIT`. UsageError where it is something else."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"--limit {text}: not BENCHMARK [PARAMETER=VALUE…] STATISTIC < NUMBER UNIT",
            remedy=_REMEDY,
        )
    name = found["statistic"]
    statistic: str | float = name
    try:
        number = float(found["number"])
        if name.startswith("p"):
            statistic = float(name[1:]) / 100.0
    except ValueError:
        raise UsageError(f"--limit {text}: not a number", remedy=_REMEDY) from None
    if isinstance(statistic, float) and not 0.0 < statistic < 1.0:
        raise UsageError(f"--limit {text}: {name} is no percentile", remedy=_REMEDY)
    params = dict(word.split("=") for word in found["where"].split())
    return Limit(
        text=text.strip(),
        bench=found["bench"],
        params={key: int(value) for key, value in params.items()},
        statistic=statistic,
        number=number,
        unit=found["unit"],
    )
