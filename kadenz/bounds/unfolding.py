# SPDX-License-Identifier: Apache-2.0
"""The ways through a function, with the functions that it calls unfolded into it.

A node is an instruction in a context: the return addresses of the calls that led there. So the
value analysis of machine.py knows the arguments of each call. Interrupts that are off and a locked
scheduler are part of a node, so that a section is a set of nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import NamedTuple

from kadenz.bounds.machine import Among, Pointer, State, equal_on_way, jump_register, outcomes
from kadenz.images.code import Code
from kadenz.images.instructions import Instruction

_MOST_NODES = 200_000
_ENDS = ("unimp", "c.unimp", "ebreak", "c.ebreak")  # of the image: faults
LIBRARIES = ("C library", "compiler library")  # parts of an image


class Node(NamedTuple):
    """An instruction of a context; whether interrupts are off there, and the scheduler locked;
    whether a thread may have become ready while it was, and a switch is owed to it."""

    context: tuple[int, ...]
    address: int
    masked: bool
    locked: bool
    owed: bool = False


class Unfolded:
    """All ways from an address on.

    `begins`: the first nodes. `ways`: each node with the next ones. A call in open code, with
    interrupts on and the scheduler not locked, is passed over where it leads through a register or
    into a library: such code is in no section, and what a sample executed of it is followed by
    itself. `passed`: those of them that are on a way to an owed switch. `traps`: nodes that give
    the processor up, by an exception or in a function that switches; their next node is where the
    thread goes on. `ends`: nodes that return from the function, or from an exception. `open`: nodes
    from which nothing can be followed, each with the reason; `by_register`: those of them that lead
    through a register.
    """

    def __init__(
        self,
        code: Code,
        *,
        lock: int = 0,
        calls: Mapping[int, Collection[int]] | None = None,
        never: Collection[int] = (),
        switches: Collection[int] = (),
        owes: Collection[Pointer] = (),
        resting: Collection[int] = (),
    ) -> None:
        """`lock`: the address of the scheduler's lock, 0 for none. `calls`: where calls through a
        register lead, by the address of the call or of the function that calls. `never`: addresses
        to which no way leads. `switches`: where the functions that switch begin. `owes`: the
        running thread and the one that should run; while they are equal, no switch is owed. Empty:
        a switch is never later than the lock. `resting`: words that are 0 behind a switch of
        threads, unless the scheduler is locked."""
        self._code, self._lock, self._calls = code, lock, dict(calls or {})
        self._never = frozenset(never)
        self._switches, self._owes = frozenset(switches), frozenset(owes)
        self._resting = tuple(resting)
        self.begins: list[Node] = []
        self.states: dict[Node, State] = {}
        self.ways: dict[Node, list[Node]] = {}
        self.traps: set[Node] = set()
        self.passed: set[Node] = set()
        self.ends: set[Node] = set()
        self.open: dict[Node, str] = {}
        self.by_register: set[Node] = set()
        self._work: deque[Node] = deque()

    def follow(self, address: int, state: State, *, masked: bool) -> None:
        """Follows all ways from an address."""
        self.begins += self._meet(Node((), address, masked, False), state)
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

    def _meet(self, node: Node, state: State) -> list[Node]:
        """The node, locked as the state is; none where no way leads."""
        if node.address in self._never:
            return []
        locked = self._lock in state.memory and state.memory[self._lock] != 0
        node = node._replace(locked=locked, owed=bool(self._owes) and (node.owed or locked))
        known = self.states.get(node)
        agreed = state if known is None else known.agreeing(state)
        if known is None or agreed != known:
            self.states[node] = agreed
            self._work.append(node)
        return [node]

    def _next(self, node: Node) -> list[Node]:
        state = self.states[node]
        instruction = self._code.instruction(node.address)
        if instruction is None:
            return self._stop(node, "the image has no code there")
        if instruction.text in _ENDS:
            return []
        if node.address in self._switches or instruction.flow == "trap":
            return self._give_up(node, instruction, state)
        if instruction.flow in ("call", "jump"):
            return self._leave(node, instruction, state)
        if instruction.flow in ("exit", "return"):
            return self._return(node, state) if instruction.flow == "return" else self._end(node)
        return self._step(node, instruction, state)

    def _step(self, node: Node, instruction: Instruction, state: State) -> list[Node]:
        """The nodes behind an instruction that stays in its function."""
        following = []
        for way in outcomes(instruction, state, masked=node.masked, constants=self._code.word):
            nobody = bool(self._owes) and self._owes == equal_on_way(
                instruction, state, way.address
            )
            to = node._replace(
                address=way.address, masked=way.masked, owed=node.owed and not nobody
            )
            # After such a read an interrupt may still make another thread the one that should run.
            following += self._meet(to, way.state.rereading() if node.locked else way.state)
        return following

    def _give_up(self, node: Node, instruction: Instruction, state: State) -> list[Node]:
        """The thread gives the processor up, and goes on later: registers, stack and the kernel's
        words for each thread are as it left them, or as a function leaves them."""
        self.traps.add(node)
        memory = dict(state.memory)
        memory |= dict.fromkeys(self._resting, None if node.locked else 0)
        state = state._replace(memory=memory)
        after = node._replace(address=instruction.follows, owed=False)
        if node.address in self._switches:
            return self._return(after, state.called(), end=node)
        return self._meet(after, state)

    def _return(self, node: Node, state: State, *, end: Node | None = None) -> list[Node]:
        """Behind the call that led to a node's function. `end`: the node that has none behind it
        where nothing called; None: this one."""
        if not node.context:
            return self._end(end or node)
        *context, back = node.context
        return self._meet(node._replace(context=tuple(context), address=back), state.returning())

    def _end(self, node: Node) -> list[Node]:
        self.ends.add(node)
        return []

    def _leave(self, node: Node, instruction: Instruction, state: State) -> list[Node]:
        calls = instruction.flow == "call"
        targets = self._targets(node, instruction, state)
        if calls and not (node.masked or node.locked) and self._is_passed(targets):
            if node.owed:
                self.passed.add(node)
            return self._meet(node._replace(address=instruction.follows), state.called())
        if not targets:
            self.by_register.add(node)
            return self._stop(node, f"`{instruction.text}` leads through a register")
        if calls and instruction.follows in node.context:
            return self._stop(node, "a function calls itself")
        if calls:
            back = instruction.follows
            node, state = node._replace(context=(*node.context, back)), state.calling(back)
        return [
            following
            for target in targets
            for following in self._meet(node._replace(address=target), state)
        ]

    def _targets(self, node: Node, instruction: Instruction, state: State) -> Collection[int]:
        """Where a call or a jump leads; each entry of a table is a target. Empty: unknown."""
        if instruction.target is not None:
            return (instruction.target,)
        value = state.read(jump_register(instruction))
        if isinstance(value, int):
            return (value,)
        if isinstance(value, Among) and instruction.flow == "jump":
            # The lowest bit does not count (jalr).
            return dict.fromkeys(entry & ~1 for entry in sorted(value.numbers))
        caller = self._code.function_at(node.address).start
        return self._calls.get(node.address) or self._calls.get(caller) or ()

    def _is_passed(self, targets: Collection[int]) -> bool:
        return all(self._code.function_at(target).part in LIBRARIES for target in targets)

    def _stop(self, node: Node, why: str) -> list[Node]:
        self.open[node] = why
        return []
