# SPDX-License-Identifier: Apache-2.0
"""Bounds of a core with caches: above what its Verilog takes, by hand-made code and by arrivals."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kadenz.bounds.lines import Cache, Fetched, kept
from kadenz.bounds.loads import Loads
from kadenz.images.instructions import Instruction
from kadenz.store import read_run
from tests.bounds import spans
from tests.rtl.test_arrivals import GIVE
from tests.rtl.test_cores import kadenz

pytestmark = pytest.mark.counted
VEXRISCV = "freertos/vexriscv@rtl"
SERVICES = (GIVE, "critical/mutex-unlock", "critical/thread-create")
LINE_FETCH = 11  # cycles
LINE = 32  # bytes
SPANS = 40
CACHE = Cache(LINE, 128, LINE_FETCH, 12, 20, 8)


def both(codes: list[str], folder: Path, seed: int = 1) -> list[tuple[int, int]]:
    """What each span takes on the Verilog, and its bound."""
    elf = spans.assembled(spans.program(codes, Random(seed)), folder)
    return list(zip(spans.measured(elf, folder), spans.bounded(elf), strict=True))


@pytest.mark.parametrize("seed", [1, 2])
def test_random_code_takes_no_longer_than_its_bound(seed: int, tmp_path: Path) -> None:
    """Half of the spans compressed; lines and data that displace each other."""
    random = Random(seed)
    codes = [spans.span(random) for _ in range(SPANS)]
    for code, (cycles, bound) in zip(codes, both(codes, tmp_path, seed), strict=True):
        assert cycles <= bound, code


# Each of them thirty times: a hazard that always happens.
HAZARDS = [
    "lw a0, {n}({b})",
    "lw a0, {n}({b})\n add a1, a1, a0",
    "sw a1, 128({b})\n lw a0, {n}({b})\n add a1, a1, a0",
    "sw a1, {n}(s5)\n lw a0, {n}(s5)\n add a1, a1, a0",
    "lw a0, {n}({b})\n csrw mscratch, a0",
    "lw a0, {n}({b})\n bne zero, zero, before_1",
    "lw a0, {n}({b})\n beq zero, zero, 1f\n j before_0\n .rept 7\n nop\n .endr\n1:",
    "lw a0, {n}({b})\n call away{k}_0",
    "lw t0, {n}({b})\n la t1, 1f\n jr t1\n nop\n1:",
    "beq zero, zero, 1f\n .rept 13\n nop\n .endr\n1:",
    "j 1f\n nop\n1:",
    "mul a0, a1, a2\n add a1, a0, a1",
    "div a0, a1, a2\n add a1, a0, a1",
]


def test_a_hazard_that_always_happens_is_in_the_bound(tmp_path: Path) -> None:
    codes = [
        "\n".join(
            hazard.format(n=4 * (i % 8), b=("s5", "s6", "s7")[i % 3], k=i % 2) for i in range(30)
        )
        for hazard in HAZARDS
        for _ in range(2)  # compressed and not
    ]
    answers = both(codes, tmp_path)
    for code, (cycles, bound) in zip(codes, answers, strict=True):
        assert cycles <= bound, code
    # Loads alone, which miss each time: a bound is near.
    assert all(bound < 1.4 * cycles for cycles, bound in answers[:2])


def test_instructions_more_and_lines_more_are_in_a_bound_exactly(tmp_path: Path) -> None:
    """Straight code of one program each: sixteen instructions more are two lines more."""
    answers = [both([".option norvc\n" + "nop\n" * count], tmp_path)[0] for count in (8, 24, 88)]
    (cycles, bounds) = zip(*answers, strict=True)
    for each in (cycles, bounds):
        assert each[1] - each[0] == 16 + 2 * LINE_FETCH
        assert each[2] - each[1] == 64 + 8 * LINE_FETCH


def test_lines_that_nothing_displaces_are_kept() -> None:
    ways = {
        "in": Fetched({1, 2}, frozenset()),
        "ahead": Fetched({3}, {1 + CACHE.lines}),
        "again": Fetched({1}, frozenset()),
    }
    assert kept(ways, CACHE) == {2, 3}


def code(address: int, text: str, kind: Any = "other") -> Instruction:
    return Instruction(address, 2, text, kind, "", None, 0)


def hits(*texts: str, joined: int | None = None) -> list[bool]:
    """Of straight code; `joined`: the place to which another way leads."""
    kinds = {"l": "load", "s": "store"}
    codes = [code(2 * i, text, kinds.get(text[0], "other")) for i, text in enumerate(texts)]
    ways = [(i, i + 1) for i in range(len(codes) - 1)]
    ways += [(-1, 0)] if joined is None else [(-1, joined)]
    loads = Loads(ways, lambda i: codes[i] if i >= 0 else None, CACHE)
    return [loads.hits(i) for i in range(len(codes))]


RUN = [f"lw a{i % 4},{4 * i}(sp)" for i in range(12)]


def test_loads_from_a_register_share_their_lines() -> None:
    """Twelve words are in three lines at most, wherever they are."""
    assert hits(*RUN) == [False] * 4 + [True] * 5 + [False] + [True] * 2


@pytest.mark.parametrize(
    ("between", "kept_hits"),
    [
        ("addi a0,a0,1", 2),
        ("lw a0,0(s1)", 0),  # may displace the line
        ("addi sp,sp,16", 0),
        ("sw a0,0(s1)", 0),  # may be of the same word
    ],
)
def test_what_lies_between_loads_may_end_their_run(between: str, kept_hits: int) -> None:
    answer = hits(*RUN[:7], between, *RUN[7:9])
    assert answer[-2:] == [True] * kept_hits + [False] * (2 - kept_hits)


def test_loads_that_may_displace_each_other_are_no_run() -> None:
    far = ("lw a0,-2048(s1)", "lw a1,2044(s1)")
    near = ("lw a0,-2048(s1)", "lw a1,0(s1)")
    assert [hits(*(pair * 4))[-2:] for pair in (far, near)] == [[False] * 2, [True] * 2]


def test_code_that_is_entered_on_two_ways_knows_no_loads_before() -> None:
    assert not any(hits(*RUN, joined=8)[8:12])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vexriscv")


@pytest.fixture(scope="module")
def given(folder: Path) -> dict[str, dict[str, Any]]:
    options = ("--target", VEXRISCV, "--json", "--output", str(folder))
    answer = kadenz("bound", *SERVICES, "--set", "waiter=0,1", *options)
    assert answer.exception is None and answer.return_value == 0, answer.output
    rows = json.loads(answer.stdout[answer.stdout.index("[\n") :])
    return {row["benchmark"]: row for row in rows}


def test_every_arrival_is_below_its_bound(given: dict[str, dict[str, Any]]) -> None:
    assert set(given) == set(SERVICES)
    for row in given.values():
        for lane in ("handler", "task"):
            end = row[lane]
            assert end["tried"] <= end["bound"] < 12 * end["tried"], row
            assert end["bound"] == sum(end["parts"].values()), row
    assert given[GIVE]["handler"]["section"].startswith("xQueueGenericSend+")
    assert given[GIVE]["handler"]["parts"]["lines of code"] > 0


def test_every_arrival_in_empty_caches_is_below_the_same_bound(
    given: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    options = ("--caches", "flushed", "--target", VEXRISCV, "--output", str(tmp_path))
    answer = kadenz("worst", GIVE, "--set", "waiter=1", *options)
    assert answer.exception is None and answer.return_value == 0, answer.output
    (folder,) = tmp_path.iterdir()
    run = read_run(folder)
    (record,) = [record for record in run.manifest.records if record.bench == GIVE]
    for lane in ("handler", "task"):
        series = next(each for each in record.series if each.name == lane)
        most = run.samples(record, series).max()
        end = given[GIVE][lane]
        assert end["tried"] < most <= end["bound"]
