# SPDX-License-Identifier: Apache-2.0
"""Lines of an instruction cache of one way that code may fetch, on its way and ahead of it.

A line that no other line of the same code displaces is fetched once at most, whatever the cache had
before: "persistence" in Ferdinand and Wilhelm, "Efficient and precise cache behavior prediction for
real-time systems", Real-Time Systems 17, 1999.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple, TypeVar

from kadenz.images.code import Code
from kadenz.images.instructions import Instruction

W = TypeVar("W")


class Cache(NamedTuple):
    """Two caches of one way and one size, of instructions and of data: bytes of a line, lines;
    cycles by which a line of code and a load are late at most; bytes that the core may have begun
    to fetch behind a jump, and behind one that decode takes."""

    line_bytes: int
    lines: int
    line_late: int
    load_late: int
    ahead: int
    predicted: int

    @property
    def bytes(self) -> int:
        """How many bytes each of the two caches has."""
        return self.line_bytes * self.lines


class Fetched(NamedTuple):
    """Addresses of lines over the cache's line size: those of the next instruction that may have to
    be fetched, and those that the core may have begun to fetch and leaves behind."""

    entered: Set[int]
    ahead: Set[int]

    @property
    def all(self) -> Set[int]:
        """The lines of both kinds, whatever they cost."""
        return self.entered | self.ahead


class Lines:
    """The lines of steps through an image's code."""

    def __init__(self, code: Code, cache: Cache) -> None:
        self._code, self.cache = code, cache
        self._behind: dict[tuple[int, int], frozenset[int]] = {}

    def of(self, instruction: Instruction) -> Set[int]:
        """An instruction may lie in two."""
        size = self.cache.line_bytes
        last = instruction.follows - 1
        return frozenset(range(instruction.address // size, last // size + 1))

    def step(self, first: Instruction, second: Instruction) -> Fetched:
        """Of the way from an instruction to the next one."""
        here, there = self.of(first), self.of(second)
        straight = second.address == first.follows
        if straight and not _predicted(first) and first.flow in ("", "branch"):
            return Fetched((there - here) | self._again(first), frozenset())
        if _predicted(first) and first.target is not None and second.address != first.target:
            ahead = self._begun(first.target, self.cache.ahead)
        elif _predicted(first):
            ahead = self._begun(first.follows, self.cache.predicted)
        else:
            ahead = self._begun(first.follows, self.cache.ahead)
        return Fetched(there, ahead - there)

    def _again(self, first: Instruction) -> Set[int]:
        """A load may jump to itself, behind which the core may have followed a jump: to a line that
        displaces the load's, and is displaced by it."""
        if first.kind != "load":
            return frozenset()
        here = self.of(first)
        places = {line % self.cache.lines for line in here}
        others = {
            x
            for x in self._begun(first.follows, self.cache.ahead) - here
            if x % self.cache.lines in places
        }
        return here | others if others else frozenset()

    def _begun(self, address: int, room: int) -> frozenset[int]:
        if (address, room) not in self._behind:
            instructions = self._following(address, room)
            self._behind[address, room] = frozenset().union(*map(self.of, instructions))
        return self._behind[address, room]

    def _following(self, address: int, room: int) -> Iterator[Instruction]:
        """What the core may fetch from an address on, also along jumps that decode predicts."""
        while room > 0 and (instruction := self._code.instruction(address)) is not None:
            yield instruction
            room -= instruction.size
            if instruction.target is not None and _predicted(instruction):
                yield from self._following(instruction.target, room)
            address = instruction.follows


def _predicted(instruction: Instruction) -> bool:
    """Whether decode jumps: at a direct jump, and at a branch back."""
    target = instruction.target
    if target is None:
        return False
    return not instruction.text.startswith("b") or target < instruction.address


def kept(fetched: Mapping[W, Fetched], cache: Cache) -> Set[int]:
    """The lines that no other one of the same steps displaces."""
    places: dict[int, set[int]] = defaultdict(set)
    for lines in fetched.values():
        for line in lines.all:
            places[line % cache.lines].add(line)
    return {line for lines in places.values() if len(lines) == 1 for line in lines}
