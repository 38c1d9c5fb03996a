# SPDX-License-Identifier: Apache-2.0
"""Families of benchmarks: what only one of them shows.

A family is the part of a benchmark's name before the slash. A module of this folder declares its
`FAMILIES`; a family that no module declares is the user's: it stands before these under its name,
with what every benchmark has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kadenz.analysis.results import RunResult
from kadenz.discovery import modules_of
from kadenz.report.table import Table
from kadenz.report.tables import Named

_USERS = 0  # the place of families that no module declares


@dataclass(frozen=True)
class Family:
    """`place` orders families. `table` and `row`, for JSON, give None without a record to show.

    `headlines` are the benchmarks that describe a system at a glance, with short names.
    """

    name: str
    title: str
    place: int
    table: Callable[[Named], Table | None] | None = None
    row: Callable[[RunResult], dict[str, Any] | None] | None = None
    headlines: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def users(self) -> bool:
        """Whether its benchmarks are the user's, of a lab or a file."""
        return self.place == _USERS


@cache
def declared() -> dict[str, Family]:
    """Every declared family by its name, in the order of their places."""
    families = [family for module in modules_of(__name__) for family in module.FAMILIES]
    families.sort(key=lambda family: family.place)
    return {family.name: family for family in families}


def family_of(bench: str) -> Family:
    """The family of a benchmark."""
    name = bench.partition("/")[0]
    return declared().get(name) or Family(name, name, _USERS)


def families_of(benches: Iterable[str]) -> dict[Family, list[str]]:
    """The benchmarks by family, families in their order and benchmarks in the given one."""
    by_family: dict[Family, list[str]] = {}
    for bench in dict.fromkeys(benches):
        by_family.setdefault(family_of(bench), []).append(bench)
    return dict(sorted(by_family.items(), key=lambda item: item[0].place))


def headlines(benches: Iterable[str]) -> dict[str, str]:
    """Short names of those benchmarks that describe a system at a glance, in the order of a card:
    the user's first."""
    short = {
        bench: name for family in declared().values() for bench, name in family.headlines.items()
    }
    measured = dict.fromkeys(benches)
    mine = {bench: bench for bench in measured if family_of(bench).users}
    return mine | {bench: name for bench, name in short.items() if bench in measured}
