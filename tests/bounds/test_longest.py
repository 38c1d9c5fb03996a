# SPDX-License-Identifier: Apache-2.0
"""The longest way through a graph, against closed forms and against every way tried."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from kadenz.bounds.longest import Limit, Shared, Unbounded, longest, loops, together

Costs = dict[tuple[str, str], int]


def cost(costs: Costs, rounds: Mapping[str, int] | None = None) -> int | None:
    way = longest(costs, "start", "end", lambda loop: (rounds or {}).get(loop.header))
    return None if way is None else way.cost


def test_the_longer_of_two_ways_counts() -> None:
    costs = {("start", "a"): 1, ("a", "end"): 5, ("start", "b"): 2, ("b", "end"): 3}
    assert cost(costs) == 6


def test_where_no_way_leads_there_is_none() -> None:
    assert cost({("start", "a"): 1, ("b", "end"): 1}) is None


@pytest.mark.parametrize(("rounds", "expected"), [(1, 111), (2, 121), (5, 151)])
def test_a_loop_begins_its_rounds_for_an_entry(rounds: int, expected: int) -> None:
    """Entry 1, a round 10 (4 and 6), and the way out, which is part of the last round: 100 + 10."""
    costs = {
        ("start", "head"): 1,
        ("head", "body"): 4,
        ("body", "head"): 6,
        ("body", "out"): 6,
        ("out", "end"): 100,
    }
    assert cost(costs, {"head": rounds}) == expected


@pytest.mark.parametrize(("most", "expected"), [(1, 30), (2, 50), (9, 70)])
def test_a_shared_cost_is_paid_as_often_as_it_says(most: int, expected: int) -> None:
    """Three rounds use its edge three times; another edge of its own is on no way."""
    costs = {("start", "a"): 1, ("a", "b"): 2, ("b", "a"): 1, ("b", "end"): 1}
    shared = [Shared(20, most, [("a", "b")]), Shared(100, 1, [("c", "d")])]
    way = longest(costs, "start", "end", lambda loop: 3, shared)
    assert way is not None
    assert (way.cost, way.shared) == (expected, 20 * min(most, 3))


@pytest.mark.parametrize(("most", "expected"), [(0, 2), (3, 31), (6, 61), (8, 71), (20, 91)])
def test_what_edges_amount_to_is_limited_for_each_entry(most: int, expected: int) -> None:
    """Two loops, of six rounds each, that copy a byte in each round: 10 and 5 cycles."""
    costs = {
        ("start", "a"): 1,
        ("a", "a"): 10,
        ("a", "b"): 0,
        ("b", "b"): 5,
        ("b", "end"): 0,
        ("start", "end"): 2,
    }
    copied = Limit({("a", "a"): 1, ("b", "b"): 1}, most, [("start", "a")])
    way = longest(costs, "start", "end", lambda loop: 7, limits=[copied])
    assert way is not None and way.cost == expected


def test_parts_that_only_the_ends_join_are_apart() -> None:
    edges = [("start", "a"), ("a", "b"), ("start", "c"), ("c", "end"), ("b", "end")]
    parts = together(edges, ("start", "end"))
    assert sorted(map(sorted, parts)) == [
        [("a", "b"), ("b", "end"), ("start", "a")],
        [("c", "end"), ("start", "c")],
    ]


def test_a_loop_of_no_rounds_is_not_entered() -> None:
    costs = {
        ("start", "head"): 1,
        ("head", "head"): 50,
        ("head", "end"): 1,
        ("start", "end"): 1,
    }
    assert cost(costs, {"head": 0}) == 1
    assert cost(costs, {"head": 3}) == 102


def test_an_inner_loop_is_entered_in_each_round_of_the_outer_one() -> None:
    costs = {
        ("start", "outer"): 0,
        ("outer", "inner"): 1,
        ("inner", "inner"): 10,
        ("inner", "outer"): 100,
        ("inner", "end"): 0,
    }
    assert [loop.header for loop in loops(costs)] == ["outer", "inner"]
    # Three rounds of the outer loop: 1 and three times 10 each; two of them go back for 100.
    assert cost(costs, {"outer": 3, "inner": 4}) == 3 * (1 + 30) + 200


def test_a_loop_without_a_bound_is_named() -> None:
    costs = {("start", "head"): 1, ("head", "head"): 1, ("head", "end"): 1}
    with pytest.raises(Unbounded, match="no bound") as refused:
        cost(costs)
    assert refused.value.node == "head"


def test_a_loop_with_two_entries_is_refused() -> None:
    costs = {
        ("start", "a"): 1,
        ("start", "b"): 1,
        ("a", "b"): 1,
        ("b", "a"): 1,
        ("a", "end"): 1,
    }
    with pytest.raises(Unbounded, match="several entries"):
        cost(costs, {"a": 2, "b": 2})


def test_a_loop_beside_the_way_costs_nothing() -> None:
    """Its flow would satisfy the balance of each node; its entries bound it."""
    costs = {
        ("start", "end"): 1,
        ("start", "a"): 0,
        ("a", "b"): 9,
        ("b", "a"): 9,
        ("b", "end"): 0,
    }
    assert cost(costs, {"a": 1}) == 9


@pytest.mark.parametrize("seed", range(20))
def test_every_way_of_a_random_graph_is_at_most_as_long(seed: int) -> None:
    """Unfolded by hand: each loop goes back to itself at most `rounds` - 1 times for an entry."""
    draw = random.Random(seed)
    nodes = ["start", *"abcdef", "end"]
    costs = {
        (a, b): draw.randrange(20)
        for place, a in enumerate(nodes)
        for b in nodes[place + 1 :]
        if draw.random() < 0.5
    }
    costs |= {("start", "a"): 1, ("f", "end"): 1}
    looping = {node: draw.randrange(1, 4) for node in "abcdef" if draw.random() < 0.5}
    costs |= {(node, node): draw.randrange(1, 20) for node in looping}

    def tried(node: str) -> int | None:
        if node == "end":
            return 0
        again = (looping.get(node, 1) - 1) * costs.get((node, node), 0)
        ends = [
            rest + length
            for (a, b), length in costs.items()
            if a == node != b and (rest := tried(b)) is not None
        ]
        return max(ends) + again if ends else None

    assert cost(costs, looping) == tried("start")
