# SPDX-License-Identifier: Apache-2.0
"""The two sides of a folder of rounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.variants import two_variants
from kadenz.errors import UsageError
from kadenz.store import Run, read_run
from tests.synthetic import (
    LINUX,
    Point,
    manifest,
    nanoseconds,
    under,
    write_run,
)


def run_of(parent: Path, variant: str, number: int, place: int, load: str = "none") -> Run:
    document = manifest(LINUX)
    document.variant, document.round, document.place = variant, number, place
    document.conditions = under(load=load)
    centre = 3000 if load == "none" else 4000
    values = nanoseconds(centre, 1000, np.random.default_rng(10 * number + place))
    return read_run(write_run(parent, document, [Point("itc/mutex", {"all": values})]))


def rounds(parent: Path, names: str = "AB", count: int = 3) -> list[Run]:
    """A B, B A, A B."""
    return [
        run_of(parent, name, number, place)
        for number in range(1, count + 1)
        for place, name in enumerate(names if number % 2 else names[::-1], 1)
    ]


def test_the_first_variant_of_the_first_round_is_the_baseline(tmp_path: Path) -> None:
    left, right = two_variants(rounds(tmp_path)[::-1])
    assert [run.manifest.variant for run in (*left, *right)] == ["A"] * 3 + ["B"] * 3
    assert [run.manifest.round for run in right] == [1, 2, 3]


def test_an_unfinished_round_counts_for_neither_side(tmp_path: Path) -> None:
    runs = rounds(tmp_path)
    runs[-1].manifest.partial = True
    left, right = two_variants(runs)
    assert (len(left), len(right)) == (2, 2)


def test_of_more_than_two_variants_two_must_be_named(tmp_path: Path) -> None:
    runs = rounds(tmp_path, "ABC", 1)
    with pytest.raises(UsageError, match="3 variants"):
        two_variants(runs)
    left, right = two_variants(runs, ("C", "A"))
    assert (left[0].manifest.variant, right[0].manifest.variant) == ("C", "A")
    with pytest.raises(UsageError, match='no variant "D"'):
        two_variants(runs, ("A", "D"))


def test_two_loads_on_two_targets_are_two_sides(tmp_path: Path) -> None:
    runs = []
    for place, (target, load) in enumerate([(t, v) for v in "AB" for t in ("x@host", "y@host")], 1):
        target_run = run_of(tmp_path, f"{target}, load {load}", 1, place)
        target_run.manifest.target.name = target
        runs.append(target_run)
    left, right = two_variants(runs)
    assert [run.manifest.variant for run in left] == ["x@host, load A", "y@host, load A"]
    assert two_variants(runs, ("load B", "load A"))[0] == right
    with pytest.raises(UsageError, match="part of several"):
        two_variants(runs, ("load", "load B"))


def test_variants_are_not_mixed_as_runs_of_one_system(tmp_path: Path) -> None:
    runs = rounds(tmp_path)
    with pytest.raises(UsageError, match="2 variants: A, B"):
        compare_sides(runs, runs)


def test_several_calls_in_one_folder_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="several calls"):
        two_variants([*rounds(tmp_path), *rounds(tmp_path)])


def test_a_folder_without_variants_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a comparison"):
        two_variants([run_of(tmp_path, "", 0, 0)])


def test_two_loads_of_one_target_are_compared_and_more_are_refused(tmp_path: Path) -> None:
    idle, disk = (
        [run_of(tmp_path, "", 0, seed, load) for seed in (1, 2, 3)] for load in ("none", "disk")
    )
    (median,) = compare_sides(idle, disk, statistics=["median"]).points
    assert median.outcome == "worse" and "load none → disk" in median.target
    both = compare_sides([*idle, *disk], [*idle, *disk], statistics=["median"]).points
    assert [point.outcome for point in both] == ["equivalent"] * 2
    cpu = [run_of(tmp_path, "", 0, 9, "cpu")]
    with pytest.raises(UsageError, match="load"):
        compare_sides([*idle, *disk], cpu)
