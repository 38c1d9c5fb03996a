# SPDX-License-Identifier: Apache-2.0
"""Which runs are repetitions of each other, and which are other systems."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.gating import gate
from kadenz.analysis.matching import match
from kadenz.analysis.runs import analyse
from kadenz.analysis.standings import standings
from kadenz.analysis.variants import variants_of
from kadenz.config.params import Params
from kadenz.errors import UsageError
from kadenz.store import Run, read_run
from tests.synthetic import (
    HIFIVE1,
    Point,
    manifest,
    under,
    write_run,
)

BENCH = "itc/mutex"


def guest(
    parent: Path,
    version: str,
    centre: int,
    *,
    factor: float = 1.0,
    source: str = "",
    board: str = "x86_64",
    **conditions: str,
) -> Run:
    """A run of a Linux guest with figures around `centre`; runs are never identical."""
    document = manifest(
        {**HIFIVE1, "name": f"linux/{board}@guest", "kernel": "linux", "board": board}
    )
    document.target.tier = "guest"
    document.target.kernel_name, document.target.kernel_version = "Linux", version
    kernel = source or f"Debian linux-image-{version}"
    document.conditions = under(**{"guest_kernel": kernel, "load": "none", **conditions})
    rng = np.random.default_rng(centre)
    values = (factor * (centre + 100 * rng.integers(0, 20, 500))).astype(np.uint32)
    return read_run(write_run(parent, document, [Point(BENCH, {"all": values})]))


def two_kernels(parent: Path, factor: float = 1.0) -> list[Run]:
    return [
        guest(parent, version, centre, factor=factor, load=load)
        for version, centre in (("6.1", 9_000), ("6.12", 12_000))
        for load in ("none", "cpu")
    ]


def test_two_kernel_versions_are_not_repetitions_of_one(tmp_path: Path) -> None:
    runs = two_kernels(tmp_path)
    verdict = gate(runs, runs)
    assert verdict.outcome == "pass"
    assert len(verdict.checks) == 8  # two kernels, two loads, median and p99


def test_a_run_from_before_a_parameter_matches_its_usual_value(tmp_path: Path) -> None:
    values = np.random.default_rng(1).integers(90, 110, 500).astype(np.uint32)
    later: tuple[Params, ...] = ({"rank_a": 7, "core": 0}, {"rank_a": 7, "core_a": 0, "core_b": 0})
    free: tuple[Params, ...] = ({}, {"migrate": "none"})
    old, new = (
        [
            read_run(
                write_run(
                    tmp_path / str(i),
                    manifest(HIFIVE1),
                    [
                        Point("itc/semaphore-counting-to-higher", {"all": values}, params),
                        Point("cyclic/wakeup-latency", {"core0": values}, cyclic),
                    ],
                )
            )
        ]
        for i, (params, cyclic) in enumerate(zip(later, free, strict=True))
    )
    points = compare_sides(old, new, statistics=["median"]).points
    assert [point.outcome for point in points] == ["equivalent"] * 2


C: Params = {"rank": 10, "migrate": "none", "later_us": 5}  # a suite with one more parameter
RUST: Params = {"rank": 10, "migrate": "none"}
TWINS: dict[str, tuple[Params, Params, Params, Params, bool]] = {
    "both": (RUST, RUST, {}, {}, True),
    "missing": (C, RUST, {}, {}, True),
    "missing on the other side": (RUST, C, {}, {}, True),
    "not the default": (C, RUST, {"later_us": 6}, {}, False),
    "another value of what both have": (C, RUST, {"rank": 8}, {}, False),
    "the same value of what both have": (C, RUST, {"rank": 8}, {"rank": 8}, True),
    "two defaults": ({"rank": 10}, {"rank": 8}, {}, {}, False),
    "two defaults, one value": ({"rank": 10}, {"rank": 8}, {"rank": 8}, {}, True),
}


def twins(parent: Path, case: str) -> list[Run]:
    """One benchmark in two images that differ in parameters or defaults; the second is quicker."""
    first_defaults, second_defaults, first_params, second_params, _ = TWINS[case]
    runs = []
    for place, (defaults, given) in enumerate(
        ((first_defaults, first_params), (second_defaults, second_params))
    ):
        values = np.full(500, 1_000 - 300 * place, np.uint32)
        values[::7] += 3
        point = Point(
            "cyclic/wakeup-latency",
            {"all": values},
            {**defaults, **given, "period_us": 1000},
            defaults={**defaults, "period_us": 1000},
        )
        word = f"image {place}"
        document = msgspec.structs.replace(manifest(HIFIVE1, id=word), variant=word)
        runs.append(read_run(write_run(parent, document, [point])))
    return runs


@pytest.mark.parametrize("case", TWINS)
def test_a_parameter_that_one_image_lacks_has_its_default(tmp_path: Path, case: str) -> None:
    left, right = twins(tmp_path, case)
    matched = TWINS[case][-1]
    comparison = compare_sides([left], [right], statistics=["median"])
    assert [point.outcome for point in comparison.points] == (["better"] if matched else [])
    variants = variants_of([left.manifest, right.manifest])
    (group,) = standings(variants, [analyse(left), analyse(right)], {})
    assert group.wins() == ([(1, ("cyclic/wakeup-latency",))] if matched else [])


def test_a_missing_parameter_without_one_default_is_no_match(tmp_path: Path) -> None:
    """Two images disagree on the default of what the third one lacks."""
    values = np.full(500, 1_000, np.uint32)
    images: tuple[Params, ...] = ({}, {"later": 1}, {"later": 2})
    sides = []
    for place, defaults in enumerate(images):
        point = Point(BENCH, {"all": values}, defaults, defaults=defaults)
        sides.append(read_run(write_run(tmp_path / str(place), manifest(HIFIVE1), [point])))
    assert len(compare_sides(sides[:1], sides[1:2], statistics=["median"]).points) == 1
    assert compare_sides(sides[:1], sides[1:], statistics=["median"]).points == ()


def test_a_tenth_slower_on_two_kernel_versions_fails(tmp_path: Path) -> None:
    verdict = gate(two_kernels(tmp_path, 1.10), two_kernels(tmp_path))
    assert verdict.outcome == "fail"
    assert verdict.count("fail") == len(verdict.checks) == 8


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ({"version": "6.1"}, {"version": "6.12"}, "Linux 6.1 → Linux 6.12"),
        ({"source": "tree A"}, {"source": "tree B"}, "guest kernel tree A → tree B"),
        ({}, {"tuning": "case2"}, "tuning none → case2"),
        ({}, {"disturbance": "period_us=9"}, "disturbance none → period_us=9"),
        ({}, {"load": "cpu"}, "load none → cpu"),
    ],
)
def test_a_deliberate_change_is_compared_and_named(
    tmp_path: Path, left: dict[str, str], right: dict[str, str], said: str
) -> None:
    left = {"version": "6.1", **left}
    right = {"version": "6.1", **right}
    (point,) = compare_sides(
        [guest(tmp_path, centre=9_000, **left)],  # type: ignore[arg-type]
        [guest(tmp_path, centre=12_000, **right)],  # type: ignore[arg-type]
        statistics=["median"],
    ).points
    assert point.outcome == "worse"
    assert said in point.target


def test_two_kernels_under_two_loads_are_compared_load_by_load(tmp_path: Path) -> None:
    sides = [
        [guest(tmp_path, version, centre, load=load) for load in ("none", "cpu")]
        for version, centre in (("6.1", 9_000), ("6.12", 12_000))
    ]
    points = compare_sides(*sides, statistics=["median"]).points
    assert [point.outcome for point in points] == ["worse"] * 2
    assert sum("load cpu" in point.target for point in points) == 1


def test_the_match_of_one_target_does_not_depend_on_others(tmp_path: Path) -> None:
    """One board got a new kernel, the other kept its kernel: both are compared."""
    left = [guest(tmp_path, "6.1", 9_000, board=board) for board in ("x86_64", "riscv64")]
    right = [
        guest(tmp_path, "6.1", 9_000, board="x86_64"),
        guest(tmp_path, "6.12", 12_000, board="riscv64"),
    ]
    points = compare_sides(left, right, statistics=["median"]).points
    assert [point.outcome for point in points] == ["equivalent", "worse"]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("version", ("6.1", "6.6")),
        ("tuning", ("case1", "case2")),
        ("disturbance", ("period_us=1", "period_us=2")),
        ("source", ("tree A", "tree B")),
    ],
)
def test_a_side_that_mixes_systems_is_refused(
    tmp_path: Path, kind: str, values: tuple[str, str]
) -> None:
    def run(**what: str) -> Run:
        return guest(tmp_path, centre=9_000, **{"version": "6.12", **what})  # type: ignore[arg-type]

    mixed = [run(**{kind: value}) for value in values]
    with pytest.raises(UsageError, match=values[0]) as error:
        compare_sides(mixed, [run(load="cpu")])
    assert error.value.remedy.startswith("Name the run folders of one")


def test_repetitions_of_one_system_are_kept_together(tmp_path: Path) -> None:
    runs = [guest(tmp_path, "6.1", 9_000) for _ in range(3)]
    (same,) = match(runs, runs).baseline.values()
    assert len(same.runs) == 3


def test_a_groups_name_has_its_distinguishing_conditions(tmp_path: Path) -> None:
    runs = two_kernels(tmp_path)
    assert {key.group for key in match(runs, runs).baseline} == {
        f"linux/x86_64@guest (counter), Linux {version}{load}"
        for load in ("", ", load cpu")
        for version in ("6.1", "6.12")
    }
    assert {key.group for key in match(runs[:1], runs[:1]).baseline} == {
        "linux/x86_64@guest (counter)"
    }
