# SPDX-License-Identifier: Apache-2.0
"""The longest sections of each kernel service that nothing preempts."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.overheads import CRITICAL
from kadenz.analysis.profiles import view
from kadenz.config.profile import LockEntry, MaskedEntry, Profile
from kadenz.report.digits import ABSENT
from kadenz.report.families import Family
from kadenz.report.profiles import callers
from kadenz.report.table import Cell, Table, text_cell, whole

_Longest = tuple[Profile, MaskedEntry] | None


def table_of_sections(profiles: Sequence[Profile]) -> Table | None:
    """A row for each service, over all its records; None without `critical/`."""
    services = dict.fromkeys(
        profile.bench for profile in profiles if profile.bench.startswith(CRITICAL)
    )
    if not services:
        return None
    lock = profiles[0].lock  # of one image, as all profiles of a run
    rows = [
        _row(service, [profile for profile in profiles if profile.bench == service], lock)
        for service in services
    ]
    target = next(profile.target for profile in profiles)
    return Table.headed(
        "Service | >Interrupts off | begins in | >Scheduler locked | begins in  | >Either | "
        "begins in  ",
        name="critical",
        title=f"{target}: longest sections that nothing preempts, in {profiles[0].unit}s",
        rows=rows,
        notes=(
            "Either: interrupts off, the scheduler locked or a handler executing, without a gap.",
            *((f"Scheduler locked, n/a: {lock.lacks}.",) if lock.lacks else ()),
        ),
    )


def _longest(profiles: Sequence[Profile], kind: str) -> _Longest:
    sections = [
        (section.instructions, place, section)
        for place, profile in enumerate(profiles)
        for lane in profile.lanes
        if lane.is_of_samples
        for section in getattr(view(lane, "all"), kind)[:1]
    ]
    if not sections:
        return None
    _, place, section = max(sections, key=lambda item: item[0])
    return profiles[place], section


def _row(service: str, profiles: Sequence[Profile], lock: LockEntry) -> tuple[Cell, ...]:
    """Length and begin of the longest section of each kind, over all records of a service."""
    masked, locked, held = (_cells(_longest(profiles, k)) for k in ("masked", "locked", "held"))
    if lock.lacks:
        locked = text_cell("n/a"), text_cell("")
    elif not lock.known:  # a longer section may have passed unseen
        locked = held = text_cell("not known"), text_cell("")
    return text_cell(service.removeprefix(CRITICAL)), *masked, *locked, *held


def _cells(longest: _Longest) -> tuple[Cell, Cell]:
    if longest is None:
        return Cell(ABSENT), text_cell("")
    return whole(longest[1].instructions), text_cell(callers(*longest))


FAMILIES = (Family("critical", "Sections that nothing preempts", 85),)
