# SPDX-License-Identifier: Apache-2.0
"""Which parameters make two records one point: a parameter that is missing had its default."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kadenz.config.manifest import RecordEntry
from kadenz.config.params import Params, Value

Named = tuple[tuple[str, Value], ...]

# What runs of version 0.1 lack. Since then, a record states the defaults of its benchmark.
_LACKED: Params = {
    **{f"core{which}": 0 for which in ("", "_a", "_b", "_low", "_high")},
    "migrate": "none",
}


def same_point(record: RecordEntry, other: RecordEntry) -> bool:
    """Whether two records are of one point."""
    points = Points((record, other))
    return record.bench == other.bench and (
        points.of(record.bench, record.params) == points.of(other.bench, other.params)
    )


class Points:
    """The points of records that are compared, by their parameters."""

    def __init__(self, records: Iterable[RecordEntry]) -> None:
        self._defaults: dict[str, dict[str, set[Value]]] = {}
        self._everywhere: dict[str, set[str]] = {}  # what no record of the benchmark lacks
        for record in records:
            stated = self._defaults.setdefault(record.bench, {})
            for name, value in record.defaults.items():
                stated.setdefault(name, set()).add(value)
            names = set(record.params)
            self._everywhere[record.bench] = self._everywhere.get(record.bench, names) & names

    def of(self, bench: str, params: Params) -> Named:
        """The sorted parameters, without a default that some record of the benchmark leaves out.

        Where images differ in a default, the value of a missing parameter is unknown.
        """
        return tuple(param for param in sorted(params.items()) if not self._implied(bench, *param))

    def _implied(self, bench: str, name: str, value: Value) -> bool:
        if name in self._everywhere.get(bench, ()):
            return False
        stated = self._defaults.get(bench, {}).get(name)
        return stated == {value} if stated else _LACKED.get(name) == value


def columns_of(names: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """The column of each parameter in a table that also has the columns `taken`: its name, or
    `param_NAME` where that is the name of another column."""
    return {name: f"param_{name}" if name in taken else name for name in names}
