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
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from scipy.optimize import LinearConstraint

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
class Limit(Generic[N]):
    """Uses of some edges amount to `most` at most for each use of one of the entries."""

    amounts: Mapping[tuple[N, N], int]
    most: int
    entries: Collection[tuple[N, N]]


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
    limits: Sequence[Limit[N]] = (),
) -> Longest[N] | None:
    """The longest way from `start` to `end` over edges with costs of 0 or more; None if there is
    none. `rounds` gives how often the first node of a loop is executed for an entry. `shared`:
    costs besides those of the edges. `limits`: what a way keeps besides.

    Raises Unbounded for a loop without such a number, and for one with several entries.
    """
    from scipy.optimize import Bounds, milp

    edges = _between(costs, start, end)
    if not edges:
        return None
    columns = {edge: column for column, edge in enumerate(edges)}
    rows = _Rows(columns)
    rows.flow(start, end)
    for loop in loops(edges):
        most = rounds(loop)
        if most is None:
            raise Unbounded(loop.header, "a loop has no bound")
        rows.at_most_0(
            (edge, 1 if edge[0] in loop.nodes else -(most - 1))
            for edge in edges
            if edge[1] == loop.header
        )
    for column, each in enumerate(shared, len(edges)):  # as often as its edges at most
        rows.at_most_0(((edge, -1) for edge in each.edges), column)
    for limit in limits:
        amounts = [*limit.amounts.items(), *((edge, -limit.most) for edge in limit.entries)]
        rows.at_most_0(amounts)
    count = len(edges) + len(shared)
    answer = milp(
        -np.array([*(costs[edge] for edge in edges), *(each.cost for each in shared)], float),
        constraints=rows.constraint(count),
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


class _Rows(Generic[N]):
    """Constraints of the programme. A column is an edge, or a shared cost."""

    def __init__(self, columns: Mapping[tuple[N, N], int]) -> None:
        self._columns = columns
        self._entries: list[tuple[int, int, int]] = []  # row, column, coefficient
        self._low: list[float] = []
        self._high: list[float] = []

    def flow(self, start: N, end: N) -> None:
        """As many ways lead to each node as from it; one begins, and one ends."""
        nodes = {n: row for row, n in enumerate(dict.fromkeys(n for e in self._columns for n in e))}
        for (origin, target), column in self._columns.items():
            self._entries += [(nodes[target], column, 1), (nodes[origin], column, -1)]
        self._low = [float((node == end) - (node == start)) for node in nodes]
        self._high = list(self._low)

    def at_most_0(
        self, terms: Iterable[tuple[tuple[N, N], int]], column: int | None = None
    ) -> None:
        """A sum over edges, of which others than the columns are on no way, and over one column."""
        row = len(self._low)
        known = [(self._columns[edge], factor) for edge, factor in terms if edge in self._columns]
        self._entries += [(row, at, factor) for at, factor in known]
        if column is not None:
            self._entries.append((row, column, 1))
        self._low.append(-np.inf)
        self._high.append(0)

    def constraint(self, count: int) -> LinearConstraint:
        """Of all rows, over a number of columns."""
        from scipy.optimize import LinearConstraint
        from scipy.sparse import coo_array

        rows, columns, values = np.array(self._entries).T
        matrix = coo_array((values, (rows, columns)), (len(self._low), count)).tocsc()
        return LinearConstraint(matrix, self._low, self._high)


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
