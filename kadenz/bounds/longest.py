# SPDX-License-Identifier: Apache-2.0
"""The longest way through a graph with loops, by an integer linear programme.

Source of the method: Li and Malik, “Performance analysis of embedded software using implicit path
enumeration”, DAC 1995. A way is a flow of one unit; each loop has at most N rounds for each entry.
Some costs are not paid with each use of an edge, but a few times on the whole way. HiGHS solves it,
through scipy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

N = TypeVar("N", bound=Hashable)


class Unbounded(Exception):
    """No bound: the node where a loop begins, and why."""

    def __init__(self, node: Hashable, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


@dataclass(frozen=True)
class Longest(Generic[N]):
    """The cost of the longest way, how often it uses each edge, and what of the cost is shared."""

    cost: int
    edges: Mapping[tuple[N, N], int]
    shared: int = 0


@dataclass(frozen=True)
class Shared(Generic[N]):
    """A cost that some edges share: each use of one of them pays it, `most` times on a way."""

    cost: int
    most: int
    edges: Collection[tuple[N, N]]


@dataclass(frozen=True)
class Loop(Generic[N]):
    """A loop: the node where it is entered, and all its nodes."""

    header: N
    nodes: frozenset[N]


def longest(
    costs: Mapping[tuple[N, N], int],
    start: N,
    end: N,
    rounds: Callable[[Loop[N]], int | None],
    shared: Sequence[Shared[N]] = (),
) -> Longest[N] | None:
    """The longest way from `start` to `end` over edges with costs of 0 or more; None if there is
    none. `rounds` gives how often the first node of a loop is executed for an entry. `shared`:
    costs besides those of the edges.

    Raises Unbounded for a loop without such a number, and for one with several entries.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    edges = _between(costs, start, end)
    if not edges:
        return None
    nodes = {node: row for row, node in enumerate(dict.fromkeys(n for e in edges for n in e))}
    entries: list[tuple[int, int, int]] = []  # row, column, coefficient
    low, high = [0.0] * len(nodes), [0.0] * len(nodes)
    low[nodes[start]] = high[nodes[start]] = -1
    low[nodes[end]] = high[nodes[end]] = 1
    for column, (origin, target) in enumerate(edges):
        entries += [(nodes[target], column, 1), (nodes[origin], column, -1)]
    for loop in loops(edges):
        most = rounds(loop)
        if most is None:
            raise Unbounded(loop.header, "a loop has no bound")
        for column, (origin, target) in enumerate(edges):
            if target == loop.header:
                entries.append((len(low), column, 1 if origin in loop.nodes else -(most - 1)))
        low.append(-np.inf)
        high.append(0)
    columns_of = {edge: column for column, edge in enumerate(edges)}
    for column, each in enumerate(shared, len(edges)):  # as often as its edges at most
        entries.append((len(low), column, 1))
        entries += [(len(low), columns_of[edge], -1) for edge in each.edges if edge in columns_of]
        low.append(-np.inf)
        high.append(0)
    count = len(edges) + len(shared)
    rows, columns, values = np.array(entries).T
    answer = milp(
        -np.array([*(costs[edge] for edge in edges), *(each.cost for each in shared)], float),
        constraints=LinearConstraint(
            coo_array((values, (rows, columns)), (len(low), count)).tocsc(), low, high
        ),
        integrality=np.ones(count, int),
        bounds=Bounds(0, np.array([*(np.inf for _ in edges), *(each.most for each in shared)])),
    )
    if answer.x is None:
        raise Unbounded(start, f"the solver has no answer: {answer.message}")
    counts = np.rint(answer.x).astype(int).tolist()
    used = {edge: count for edge, count in zip(edges, counts, strict=False) if count}
    common = sum(
        each.cost * count for each, count in zip(shared, counts[len(edges) :], strict=True)
    )
    cost = sum(costs[edge] * count for edge, count in used.items()) + common
    return Longest(cost, used, common)


def loops(edges: Iterable[tuple[N, N]]) -> list[Loop[N]]:
    """The loops, outer ones first. Raises Unbounded for one that is entered at several nodes."""
    remaining, result = [list(edges)], []
    every = list(remaining[0])
    while remaining:
        for nodes in _cycles(inside := remaining.pop()):
            headers = {
                target for origin, target in every if target in nodes and origin not in nodes
            }
            if len(headers) != 1:
                raise Unbounded(next(iter(headers or nodes)), "a loop has several entries")
            header = headers.pop()
            result.append(Loop(header, frozenset(nodes)))
            within = [edge for edge in inside if {*edge} <= nodes and edge[1] != header]
            remaining.append(within)
    return result


def together(edges: Collection[tuple[N, N]], ends: Collection[N]) -> list[list[tuple[N, N]]]:
    """The edges in parts that have no node in common but the `ends`: a way uses one part."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    number: dict[N, int] = {}
    pairs = []
    for edge in edges:
        inner = [number.setdefault(node, len(number)) for node in edge if node not in ends]
        pairs.append((inner[0], inner[-1]) if inner else (0, 0))
    if not number:
        return [list(edges)]
    rows, columns = np.array(pairs).T
    shape = (len(number), len(number))
    graph = coo_matrix((np.ones(len(pairs)), (rows, columns)), shape).tocsr()
    _, labels = connected_components(graph, directed=False)
    parts: dict[int, list[tuple[N, N]]] = defaultdict(list)
    for edge, (row, _) in zip(edges, pairs, strict=True):
        parts[int(labels[row])].append(edge)
    return list(parts.values())


def _between(costs: Mapping[tuple[N, N], int], start: N, end: N) -> list[tuple[N, N]]:
    """The edges that lie on a way from `start` to `end`."""
    forward = _reached(costs, start)
    backward = _reached([(target, origin) for origin, target in costs], end)
    return [(a, b) for a, b in costs if {a, b} <= forward and {a, b} <= backward]


def _reached(edges: Iterable[tuple[N, N]], start: N) -> set[N]:
    following: dict[N, list[N]] = defaultdict(list)
    for origin, target in edges:
        following[origin].append(target)
    seen, todo = {start}, [start]
    while todo:
        for node in following[todo.pop()]:
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def _cycles(edges: list[tuple[N, N]]) -> list[set[N]]:
    """The strongly connected parts that have a cycle."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not edges:
        return []
    numbers = {node: place for place, node in enumerate(dict.fromkeys(n for e in edges for n in e))}
    rows, columns = np.array([(numbers[a], numbers[b]) for a, b in edges]).T
    shape = (len(numbers), len(numbers))
    graph = coo_matrix((np.ones(len(edges)), (rows, columns)), shape).tocsr()
    _, labels = connected_components(graph, directed=True, connection="strong")
    parts: dict[int, set[N]] = defaultdict(set)
    for node, place in numbers.items():
        parts[int(labels[place])].add(node)
    circular = {a for a, b in edges if a == b}
    return [nodes for nodes in parts.values() if len(nodes) > 1 or nodes & circular]
