# SPDX-License-Identifier: Apache-2.0
"""Groups runs into variants, and splits a folder of interleaved rounds into two sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.analysis.systems import aligned, values_of
from kadenz.config.manifest import Manifest
from kadenz.errors import UsageError
from kadenz.store import Run

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_Place = tuple[str, str, int]  # campaign, target ("" where targets are the sides), round


@dataclass(frozen=True)
class Variant:
    """A system under one combination of conditions; `runs` are indices of the original list."""

    letter: str
    runs: tuple[int, ...]


def variants_of(manifests: Sequence[Manifest]) -> list[Variant]:
    """The variants of `manifests` in order of appearance: A, B, C, ….

    Rounds of one call of `kadenz run --rounds` form one variant. A run without rounds is its own
    variant, because a change between two calls may not be in the manifest.
    """
    by_key: dict[object, list[int]] = {}
    seen: Counter[object] = Counter()
    for number, (manifest, system) in enumerate(zip(manifests, aligned(manifests), strict=True)):
        key: object = number
        if manifest.variant:
            name: tuple[object, ...] = (
                manifest.target.name,
                manifest.target.instrument,
                manifest.variant,
            )
            name = manifest.campaign.name, *name, values_of(system)
            place = *name, manifest.round
            key = *name, seen[place]  # the same round twice: another call
            seen[place] += 1
        by_key.setdefault(key, []).append(number)
    return [Variant(_letter(n), tuple(runs)) for n, runs in enumerate(by_key.values())]


def _letter(number: int) -> str:
    """A to Z, then A2 to Z2."""
    turn, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(turn + 1) if turn else "")


def two_variants(runs: Sequence[Run], wanted: Sequence[str] = ()) -> tuple[list[Run], list[Run]]:
    """The runs of two variants (baseline, candidate), each in the order of measurement.

    The varied condition (load, kernel tree) defines the sides, and both contain every target; if
    only targets were varied, they are the sides. `wanted` names two variants, or parts of their
    names; () takes both if there are two, the first one measured as the baseline. Rounds that one
    variant lacks are left out, so that both met the same machine state, and so are partial runs.
    UsageError if there are not two clear sides.
    """
    stamped = [run for run in runs if run.manifest.variant and not run.manifest.partial]
    if not stamped:
        raise UsageError(
            "A alone is not a comparison: it has no complete run of a variant",
            remedy="Name B as well, or measure with `kadenz run --rounds N`",
        )
    by_target = not any(_beside_target(run) for run in stamped)
    sides: dict[str, dict[_Place, Run]] = {}
    for run in sorted(stamped, key=lambda run: (run.manifest.round, run.manifest.place)):
        manifest = run.manifest
        name = manifest.variant if by_target else _beside_target(run)
        place = manifest.campaign.name, "" if by_target else manifest.target.name, manifest.round
        twin = sides.setdefault(name, {}).setdefault(place, run)
        if twin is not run:
            raise UsageError(
                f"{twin.path.name} and {run.path.name} are both round {manifest.round} of "
                f"{manifest.variant}: the folder contains several calls of `kadenz run`",
                remedy="Name the folder of one call",
            )
    left, right = (sides[name] for name in _two(list(sides), wanted))
    both = [place for place in left if place in right]
    if not both:
        raise UsageError("no round is complete for both variants", remedy="Repeat the measurement")
    return [left[place] for place in both], [right[place] for place in both]


def _beside_target(run: Run) -> str:
    """The variant without the target's name."""
    return run.manifest.variant.removeprefix(run.manifest.target.name).removeprefix(", ")


def _two(names: list[str], wanted: Sequence[str]) -> list[str]:
    known = ", ".join(f'"{name}"' for name in names)
    chosen = []
    for word in wanted:
        matches = [name for name in names if name == word] or [n for n in names if word in n]
        if len(matches) != 1:
            raise UsageError(
                f'no variant "{word}"' if not matches else f'"{word}" is part of several variants',
                remedy=f"Variants: {known}",
            )
        chosen += matches
    chosen = chosen if wanted else names
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise UsageError(
            f"{len(set(chosen))} variant{'s' if len(set(chosen)) > 1 else ''}, but a comparison "
            "needs two",
            remedy=f"Name two with --variant: {known}",
        )
    return chosen
