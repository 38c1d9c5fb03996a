# SPDX-License-Identifier: Apache-2.0
"""Sides of a comparison out of one folder of interleaved rounds."""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.errors import UsageError
from kadenz.store import Run


def two_variants(runs: Sequence[Run], wanted: Sequence[str] = ()) -> tuple[list[Run], list[Run]]:
    """The runs of two variants (baseline, candidate), each in the order of its rounds.

    `wanted` names them; () takes both of a folder with two, the first of the first round as the
    baseline. A round that one of them lacks is left out, so that both met the same machine, and so
    are partial runs. UsageError where two sides cannot be told.
    """
    rounds: dict[str, dict[int, Run]] = {}
    ordered = sorted(runs, key=lambda run: (run.manifest.round, run.manifest.place))
    for run in ordered:
        if run.manifest.variant and not run.manifest.partial:
            own = rounds.setdefault(run.manifest.variant, {})
            twin = own.setdefault(run.manifest.round, run)
            if twin is not run and twin.manifest.campaign == run.manifest.campaign:
                raise UsageError(
                    f"{twin.path.name} and {run.path.name} are both round {run.manifest.round} of "
                    f"{run.manifest.variant}: the folder holds several calls of `kadenz run`",
                    remedy="Name the folder of one call",
                )
    names = list(wanted) or list(rounds)
    known = ", ".join(f'"{name}"' for name in rounds)
    if not rounds:
        raise UsageError(
            "A alone is no comparison: no complete run in it belongs to a variant",
            remedy="Name B as well, or measure with `kadenz run --rounds N`",
        )
    missing = [name for name in names if name not in rounds]
    if missing:
        raise UsageError(f'no variant "{missing[0]}"', remedy=f"There are {known}")
    if len(names) != 2 or len(set(names)) != 2:
        raise UsageError(
            f"{len(set(names))} variants, and a comparison has two sides",
            remedy=f"Name two with --variant: {known}",
        )
    left, right = (rounds[name] for name in names)
    both = [number for number in left if number in right]
    if not both:
        raise UsageError("no round is complete for both variants", remedy="Measure again")
    return [left[number] for number in both], [right[number] for number in both]
