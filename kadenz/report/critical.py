# SPDX-License-Identifier: Apache-2.0
"""The longest sections of each kernel service that nothing preempts."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.overheads import CRITICAL
from kadenz.analysis.profiles import view
from kadenz.config.profile import MaskedEntry, Profile
from kadenz.report.digits import ABSENT
from kadenz.report.profiles import callers
from kadenz.report.table import Cell, Table, whole, words

_Longest = tuple[Profile, MaskedEntry] | None


def table(profiles: Sequence[Profile]) -> Table | None:
    """A row for each service, over all its records; None without `critical/`."""
    services = dict.fromkeys(one.bench for one in profiles if one.bench.startswith(CRITICAL))
    if not services:
        return None
    rows = []
    for service in services:
        some = [one for one in profiles if one.bench == service]
        sections = [_longest(some, kind) for kind in ("masked", "locked", "held")]
        cells = [cell for one in sections for cell in (_length(one), _where(one))]
        rows.append((words(service.removeprefix(CRITICAL)), *cells))
    target = next(one.target for one in profiles)
    return Table(
        name="critical",
        title=f"{target}: longest sections that nothing preempts, in {profiles[0].unit}s",
        columns=(
            "Service",
            "Interrupts off",
            "begins in",
            "Scheduler locked",
            "begins in ",
            "Either",
            "begins in  ",
        ),
        rows=tuple(rows),
        numeric=frozenset({1, 3, 5}),
        notes=("Either: interrupts off or the scheduler locked, without a gap between them.",),
    )


def _longest(profiles: Sequence[Profile], kind: str) -> _Longest:
    found = [
        (section.instructions, place, section)
        for place, one in enumerate(profiles)
        for lane in one.lanes
        for section in getattr(view(lane, "all"), kind)[:1]
    ]
    if not found:
        return None
    _, place, section = max(found, key=lambda item: item[0])
    return profiles[place], section


def _length(found: _Longest) -> Cell:
    return Cell(ABSENT) if found is None else whole(found[1].instructions)


def _where(found: _Longest) -> Cell:
    return words("" if found is None else callers(*found))
