# SPDX-License-Identifier: Apache-2.0
"""The end of `kadenz compare --explain`: the functions in which two sides differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.analysis.profiles import Explained
    from kadenz.store import Run

_SHOWN = 12  # functions of a point


def explained(before: Sequence[Run], after: Sequence[Run]) -> tuple[list[Explained], str]:
    """The lanes that both sides have profiled; or none, and what is missing with its remedy."""
    from kadenz.analysis.profiles import explain

    try:
        return explain(before, after), ""
    except UsageError as error:
        return [], f"not explained: {error.message}. {error.remedy}"


def as_rows(lanes: Sequence[Explained]) -> list[dict[str, Any]]:
    """Entries of a JSON document."""
    return [
        {
            "point": lane.title,
            "baseline": lane.spans[0],
            "candidate": lane.spans[1],
            "functions": [
                {"name": f.name, "part": f.part, "change": f.more, "calls": list(f.calls)}
                for f in lane.differences
            ],
        }
        for lane in lanes
    ]


def print_explained(lanes: Sequence[Explained], missing: str) -> None:
    """Prints each lane with its difference and the functions behind it, or what is `missing`."""
    from kadenz.cli.console import console, styled

    screen = console()
    if missing:
        screen.print(f"\n{missing}")
        return
    screen.print(styled("\n[bold]typical samples by function[/]"))
    for lane in lanes:
        before, after = lane.spans
        change = f"{before:,} → {after:,} ({after - before:+,} {lane.unit}s)"
        same = "" if lane.differences else ": the same functions"
        screen.print(f"{lane.title}: {change}{same}")
        for function in lane.differences[:_SHOWN]:
            screen.print(styled("  {} [dim]{}[/]", function.description, function.part))
        rest = lane.differences[_SHOWN:]
        if rest:
            screen.print(f"  {sum(f.more for f in rest):+,} in {len(rest)} other functions")
