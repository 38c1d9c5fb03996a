# SPDX-License-Identifier: Apache-2.0
"""Places of an image that a bound needs: vectors, marks, the kernel's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kadenz.bounds.machine import Place, Pointer, State, Value, outcomes, parts_of, stored
from kadenz.bounds.premises import Premises
from kadenz.bounds.unfolding import Node, Unfolded
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.code import Code, Function
from kadenz.images.instructions import Instruction
from kadenz.targets.scope_plugin import marker_address

_ARRIVALS = "suite/core/arrivals.c"  # handler and thread of an interrupt
_TAKES_TRAPS = "kdz_riscv_take_traps"  # of arch/riscv: writes mtvec
_VECTORED = 1  # of mtvec
_MOST_STRAIGHT = 64  # instructions of start-up code


@dataclass(frozen=True)
class Layout:
    """Addresses: of the first trap vector, and whether each interrupt has its own; the global
    pointer; the marker of the scope; the scheduler's lock, 0 for none; the words that each thread
    has its own value of, those that are 0 unless an interrupt is served, and those that are 0 until
    one was; the pointers that a lock's end compares; the functions that switch; the first statement
    of the handler, and the thread that it wakes."""

    vectors: int
    vectored: bool
    global_pointer: int
    marker: int
    lock: int
    per_thread: tuple[int, ...]
    in_interrupts: tuple[int, ...]
    resting: tuple[int, ...]
    pointers: tuple[tuple[int, bool], ...]  # each with whether it is the running thread's own
    switches: tuple[int, ...]
    handler: Function
    responder: Function

    @classmethod
    def of(cls, elf: Elf, code: Code, premises: Premises) -> Layout:
        """Of an image of the suite. UsageError for one that lacks a part."""
        kernel, facts = premises.kernel, premises.facts
        addresses = {name: start for start, _, name in elf.functions}
        for name in facts.switches:
            if name not in addresses:
                raise _lacks(elf, f"no function {name}, which kernel.toml names")
        gp = _executed(code, elf.entry, "gp", 0)
        base = _executed(code, addresses.get(_TAKES_TRAPS, 0), "mtvec", gp)
        lock = kernel.scheduler_lock
        pointers = (kernel.current_thread, facts.should_run) if facts.should_run else ()
        counts = Counter(symbol.name for symbol in elf.symbols)
        names = (*facts.per_thread, *facts.in_interrupts, *pointers, *([lock] if lock else []))
        for name in names:
            if counts[name] != 1:
                raise _lacks(elf, f"{counts[name]} variables {name}, which kernel.toml names")
        variables = {symbol.name: symbol.address for symbol in elf.symbols}
        parts = _functions(elf, code)
        if not {"handle", "respond"} <= set(parts):
            raise _lacks(elf, f"no handler of {_ARRIVALS}")
        return cls(
            vectors=base & ~3,
            vectored=bool(base & _VECTORED),
            global_pointer=gp,
            marker=marker_address(elf.path),
            lock=variables[lock] if lock else 0,
            per_thread=tuple(variables[name] for name in facts.per_thread),
            in_interrupts=tuple(variables[name] for name in facts.in_interrupts),
            # Of another version of the kernel, which lacks one, less is known.
            resting=tuple(variables[name] for name in facts.resting if counts[name] == 1),
            pointers=tuple((variables[name], name == kernel.current_thread) for name in pointers),
            switches=tuple(addresses[name] for name in facts.switches),
            handler=parts["handle"],
            responder=parts["respond"],
        )

    @property
    def owes(self) -> frozenset[Pointer]:
        """The pointers that a lock's end compares; empty where it switches by itself."""
        return frozenset(Pointer(word, steady) for word, steady in self.pointers)

    def vector(self, cause: int) -> int:
        """Where a trap begins, by mcause."""
        interrupt = cause >> 31
        return self.vectors + (4 * (cause & 0xFF) if interrupt and self.vectored else 0)

    def entry_state(
        self, *, locked: bool = False, kept: int | None = 0, resting: Collection[int] = ()
    ) -> State:
        """On entry to a service. `kept`: the value of the words that each thread has. `resting`:
        words that are 0."""
        memory: dict[int | Place, Value] = dict.fromkeys(self.per_thread, kept)
        memory |= dict.fromkeys((*self.in_interrupts, *resting), 0)
        memory |= {pointer.word: pointer for pointer in self.owes}
        return State.at_entry(self.global_pointer, memory | {self.lock: int(locked)})

    def marked(self, unfolded: Unfolded, mark: int) -> set[Node]:
        """The nodes that store a mark."""
        nodes = set()
        for node, state in unfolded.states.items():
            if node in unfolded.open:
                continue
            instruction = unfolded.instruction(node)
            if instruction.kind == "store" and stored(instruction, state) == (self.marker, mark):
                nodes.add(node)
        return nodes


def _functions(elf: Elf, code: Code) -> dict[str, Function]:
    """The handler and the thread of the suite's file of arrivals, by name."""
    names = {"handle", "respond"}
    functions = [code.function_at(start) for start, _, name in elf.functions if name in names]
    return {function.name: function for function in functions if function.file == _ARRIVALS}


def _executed(code: Code, address: int, register: str, global_pointer: int) -> int:
    """What straight code from an address on writes into gp, or into a CSR."""
    state = State.at_entry(global_pointer, {})
    for instruction in _straight(code, address):
        name, operands = parts_of(instruction)
        if name == "csrw" and operands[0] == register:
            value = state.read(operands[1])
            if isinstance(value, int):
                return value
        state = outcomes(instruction, state, masked=True)[0].state
        if name in ("add", "addi") and operands[0] == register == "gp":
            value = state.read("gp")
            if isinstance(value, int):
                return value
    raise UsageError(
        f"the start of the image sets no {register} that can be read",
        remedy="Bounds are for images of the suite",
    )


def _straight(code: Code, address: int) -> Iterator[Instruction]:
    for _ in range(_MOST_STRAIGHT):
        instruction = code.instruction(address)
        if instruction is None:
            return
        if instruction.flow == "branch" and instruction.target is not None:
            address = (
                instruction.target if instruction.text.startswith("j ") else instruction.follows
            )
            continue
        if instruction.flow:
            return
        yield instruction
        address = instruction.follows


def _lacks(elf: Elf, what: str) -> UsageError:
    return UsageError(
        f"{elf.path}: the image has {what}", remedy="Bounds are for images of the suite"
    )
