# SPDX-License-Identifier: Apache-2.0
"""Loads that find their line in a data cache of one way, whatever it had before.

Loads behind each other in straight code, from one register that nothing writes in between, lie in
as many lines as their distance allows, wherever the first one is. Lines that are less than a cache
apart do not displace each other. Of other loads nothing is known: each may displace any line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar

from kadenz.bounds.lines import Cache
from kadenz.bounds.machine import parts_of
from kadenz.images.instructions import Instruction

N = TypeVar("N", bound=Hashable)

_FROM = re.compile(r"(-?\d+)\((\w+)\)")
_NEAR = 4  # instructions behind a store, in which a load of the same word may be executed again


class Loads(Generic[N]):
    """The loads on some ways."""

    def __init__(
        self,
        ways: Iterable[tuple[N, N]],
        instruction: Callable[[N], Instruction | None],
        cache: Cache,
    ) -> None:
        """`instruction`: of a node; None for a node without code."""
        self._instruction, self._cache = instruction, cache
        self._origins: dict[N, set[N]] = {}
        for a, b in ways:
            self._origins.setdefault(b, set()).add(a)

    def hits(self, node: N) -> bool:
        """Whether a node is a load that needs no line more than those before it may have needed,
        and no store is near."""
        load = _load(self._instruction(node))
        if load is None:
            return False
        near = list(islice(self._before(node), _NEAR))
        if len(near) < _NEAR or any(code.kind == "store" for code in near):
            return False
        base, offset = load
        offsets = [offset]
        for code in self._before(node):
            other = _load(code)
            if _writes(code, base) or (code.kind == "load" and (other or ("",))[0] != base):
                break
            if other is not None:
                offsets.append(other[1])
        together = max(offsets) - min(offsets) <= self._cache.bytes - self._cache.line_bytes
        return together and self._lines(offsets) == self._lines(offsets[1:])

    def _before(self, node: N) -> Iterator[Instruction]:
        """The instructions of the straight code that alone leads to a node, nearest first."""
        while True:
            origins, to = self._origins.get(node, set()), self._instruction(node)
            if len(origins) != 1 or to is None:
                return
            (node,) = origins
            code = self._instruction(node)
            if code is None or code.flow or code.follows != to.address:
                return
            yield code

    def _lines(self, offsets: Sequence[int]) -> int:
        """In how many lines such loads are, at most."""
        if not offsets:
            return 0
        distance = max(offsets) - min(offsets)
        return min(len(set(offsets)), 1 + -(-distance // self._cache.line_bytes))


def _load(code: Instruction | None) -> tuple[str, int] | None:
    """The register and the offset of a load."""
    if code is None or code.kind != "load":
        return None
    _, operands = parts_of(code)
    place = _FROM.fullmatch(operands[-1]) if operands else None
    return (place[2], int(place[1])) if place else None


def _writes(code: Instruction, register: str) -> bool:
    """Whether an instruction of straight code may write a register."""
    _, operands = parts_of(code)
    return code.kind != "store" and register in operands[:1]
