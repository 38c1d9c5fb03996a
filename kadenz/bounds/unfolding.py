# SPDX-License-Identifier: Apache-2.0
"""The ways through a function, with the functions that it calls unfolded into it.

A node is an instruction in a context: the return addresses of the calls that led there. So the
value analysis of machine.py knows the arguments of each call. Interrupts that are off and a locked
scheduler are part of a node, so that a section is a set of nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kadenz.bounds.machine import Among, State, jump_register, outcomes
from kadenz.images.code import Code
from kadenz.images.instructions import Instruction

_MOST_NODES = 200_000
_ENDS = ("unimp", "c.unimp", "ebreak", "c.ebreak")  # of the image: faults
LIBRARIES = ("C library", "compiler library")  # parts of an image


class Node(NamedTuple):
    """An instruction of a context; whether interrupts are off there, and the scheduler locked."""

    context: tuple[int, ...]
    address: int
    masked: bool
    locked: bool


class Unfolded:
    """All ways from an address on.

    `ways`: each node with the next ones. A call in open code, with interrupts on and the scheduler
    not locked, is passed over where it leads through a register or into a library: such code is in
    no section, and what a sample executed of it is followed by itself. `traps`: nodes that call the
    kernel by an exception; their next node is behind it. `ends`: nodes that return from the
    function, or from an exception. `open`: nodes from which nothing can be followed, each with the
    reason; `by_register`: those of them that lead through a register.
    """

    def __init__(
        self,
        code: Code,
        *,
        lock: int = 0,
        calls: Mapping[int, int] | None = None,
        never: Collection[int] = (),
    ) -> None:
        """`lock`: the address of the scheduler's lock, 0 for none. `calls`: where calls through a
        register lead, by address. `never`: addresses to which no way leads."""
        self._code, self._lock, self._calls = code, lock, dict(calls or {})
        self._never = frozenset(never)
        self.states: dict[Node, State] = {}
        self.ways: dict[Node, list[Node]] = {}
        self.traps: set[Node] = set()
        self.ends: set[Node] = set()
        self.open: dict[Node, str] = {}
        self.by_register: set[Node] = set()
        self._work: deque[Node] = deque()

    def follow(self, address: int, state: State, *, masked: bool) -> None:
        """Follows all ways from an address."""
        self._meet((), address, state, masked=masked)
        while self._work and len(self.states) < _MOST_NODES:
            node = self._work.pop()
            self.ways[node] = self._next(node)
        for node in self._work:
            self.open[node] = f"more than {_MOST_NODES:,} nodes"

    def instruction(self, node: Node) -> Instruction:
        """Of a node. KeyError where the image has no code."""
        instruction = self._code.instruction(node.address)
        if instruction is None:
            raise KeyError(node.address)
        return instruction

    def _meet(
        self, context: tuple[int, ...], address: int, state: State, *, masked: bool
    ) -> list[Node]:
        """The node there; none where no way leads."""
        if address in self._never:
            return []
        locked = self._lock in state.memory and state.memory[self._lock] != 0
        node = Node(context, address, masked, locked)
        known = self.states.get(node)
        agreed = state if known is None else known.agreeing(state)
        if known is None or agreed != known:
            self.states[node] = agreed
            self._work.append(node)
        return [node]

    def _next(self, node: Node) -> list[Node]:
        state, context, masked = self.states[node], node.context, node.masked
        instruction = self._code.instruction(node.address)
        if instruction is None:
            return self._stop(node, "the image has no code there")
        if instruction.text in _ENDS:
            return []
        if instruction.flow in ("call", "jump"):
            return self._leave(node, instruction, state)
        if instruction.flow in ("trap", "exit", "return"):
            return self._return(node, instruction, state)
        return [
            following
            for way in outcomes(instruction, state, masked=masked, constants=self._code.word)
            for following in self._meet(context, way.address, way.state, masked=way.masked)
        ]

    def _return(self, node: Node, instruction: Instruction, state: State) -> list[Node]:
        """From a function or an exception; an exception that is raised comes back at once."""
        context, masked = node.context, node.masked
        if instruction.flow == "trap":
            self.traps.add(node)
            # Registers, stack and the kernel's words for each thread are as it left them.
            return self._meet(context, instruction.follows, state, masked=masked)
        if instruction.flow == "return" and context:
            return self._meet(context[:-1], context[-1], state.returning(), masked=masked)
        self.ends.add(node)
        return []

    def _leave(self, node: Node, instruction: Instruction, state: State) -> list[Node]:
        target: int | None = instruction.target
        back, calls = instruction.follows, instruction.flow == "call"
        if target is None:
            value = state.read(jump_register(instruction))
            if isinstance(value, Among) and not calls:
                return self._by_table(node, sorted(value.numbers), state)
            target = value if isinstance(value, int) else self._calls.get(node.address)
        if calls and not (node.masked or node.locked) and self._is_passed(target):
            return self._meet(node.context, back, state.called(), masked=False)
        if target is None:
            self.by_register.add(node)
            return self._stop(node, f"`{instruction.text}` leads through a register")
        if not calls:
            return self._meet(node.context, target, state, masked=node.masked)
        if back in node.context:
            return self._stop(node, "a function calls itself")
        return self._meet((*node.context, back), target, state.calling(back), masked=node.masked)

    def _by_table(self, node: Node, entries: Sequence[int], state: State) -> list[Node]:
        """Each entry of a table is a way; the lowest bit does not count (jalr)."""
        return [
            following
            for entry in dict.fromkeys(entry & ~1 for entry in entries)
            for following in self._meet(node.context, entry, state, masked=node.masked)
        ]

    def _is_passed(self, target: int | None) -> bool:
        return target is None or self._code.function_at(target).part in LIBRARIES

    def _stop(self, node: Node, why: str) -> list[Node]:
        self.open[node] = why
        return []
