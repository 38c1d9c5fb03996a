# SPDX-License-Identifier: Apache-2.0
"""An instruction of RV32IMC, on a machine of which only a part is known.

A value is known, or it is one of a few, or an offset from an address that is not known, or it is
unknown. A compare of unsigned numbers leaves a few: so the entries of a jump table are known.
Memory is known where the caller names words, on the stack, and where nothing writes it. Two ways
that meet leave what both agree on.

Of the stack only the slots of saved registers (ra, s0 to s11) are known. A store through an unknown
pointer is taken to meet neither these nor the named words: the compiler's code keeps its registers,
and the kernel's counters are written by name. Encodings and names of instructions: The RISC-V
Instruction Set Manual, volumes I and II.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple

from kadenz.images.instructions import Instruction

MIE = 8  # of mstatus: interrupts are on

_BITS = 0xFFFFFFFF
_NAMES = (
    "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 "
    "s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
)
_REGISTER = {name: number for number, name in enumerate(_NAMES.split())}
_RA, _SP, _GP = _REGISTER["ra"], _REGISTER["sp"], _REGISTER["gp"]
_SAVED = {"ra", *(f"s{number}" for number in range(12))}
_KEPT = {"zero", "sp", "gp", "tp", *_SAVED} - {"ra"}
_SYMBOL = re.compile(r"\s*<[^>]*>")
_MEMORY = re.compile(r"(-?\d+)\((\w+)\)")
_MOST_VALUES = 256  # of a few: entries of a jump table
_NO_RESULT = {"nop", "fence", "fence.i", "wfi"}


class Place(NamedTuple):
    """An address by its distance from one that is not known."""

    base: str
    offset: int


class Enabled(NamedTuple):
    """A copy of mstatus, of which only MIE is known: 0 or 8."""

    bit: int


class Among(NamedTuple):
    """One of a few numbers."""

    numbers: frozenset[int]


class Pointer(NamedTuple):
    """What a word of the kernel holds, whatever it is: a pointer to a thread. A steady one is the
    same whenever its thread runs: the pointer to itself."""

    word: int
    steady: bool


Value = int | Place | Enabled | Among | Pointer | None  # None: unknown
Constants = Callable[[int], int | None]  # the word at an address that nothing writes


class State(NamedTuple):
    """What is known: registers by number, words of memory by address, mcause."""

    registers: tuple[Value, ...]
    memory: Mapping[int | Place, Value]
    cause: int | None = None

    @classmethod
    def at_entry(cls, global_pointer: int, memory: Mapping[int | Place, Value]) -> State:
        """On entry to a function: the stack's slots are known by their distance from `sp`."""
        registers: list[Value] = [None] * len(_REGISTER)
        registers[0], registers[_SP], registers[_GP] = 0, Place("sp", 0), global_pointer
        return cls(tuple(registers), dict(memory))

    def read(self, operand: str) -> Value:
        """A register or a number."""
        if operand in _REGISTER:
            return self.registers[_REGISTER[operand]]
        try:
            return int(operand, 0) & _BITS
        except ValueError:
            return None

    def writing(self, register: str, value: Value) -> State:
        """With a register's new value."""
        number = _REGISTER.get(register, 0)
        if number == 0:
            return self
        registers = list(self.registers)
        registers[number] = value
        return self._replace(registers=tuple(registers))

    def calling(self, back: int) -> State:
        """With the return address of a call."""
        return self.writing("ra", back)

    def called(self) -> State:
        """Behind a call of which nothing is known but the calling convention: it keeps s0 to s11,
        sp, gp and tp (RISC-V ELF psABI, chapter “Integer Register Convention”)."""
        registers = tuple(
            value if name in _KEPT else None
            for name, value in zip(_REGISTER, self.registers, strict=True)
        )
        return self._replace(registers=registers)

    def returning(self) -> State:
        """Behind a return: what lies below the stack's end is no more."""
        end = self.registers[_SP]
        if not isinstance(end, Place):
            return self
        memory = {
            place: value
            for place, value in self.memory.items()
            if not isinstance(place, Place) or place >= end
        }
        return self._replace(memory=memory)

    def rereading(self) -> State:
        """Without what registers have of pointers that are not steady: these words change."""
        registers = tuple(
            None if isinstance(value, Pointer) and not value.steady else value
            for value in self.registers
        )
        return self if registers == self.registers else self._replace(registers=registers)

    def storing(self, address: Value, value: Value) -> State:
        """With a word of memory that was written. Of other words than the named nothing is kept."""
        if isinstance(address, int) and address not in self.memory:
            return self
        if not isinstance(address, int | Place) or isinstance(self.memory.get(address), Pointer):
            return self
        return self._replace(memory={**self.memory, address: value})

    def agreeing(self, other: State) -> State:
        """The values that both states know, and that are equal."""
        if self == other:
            return self
        registers = tuple(
            a if a == b else None for a, b in zip(self.registers, other.registers, strict=True)
        )
        memory = {
            place: value if other.memory.get(place) == value else None
            for place, value in self.memory.items()
            if place in other.memory
        }
        return State(registers, memory, self.cause if self.cause == other.cause else None)


class Outcome(NamedTuple):
    """Where an instruction leads, the known state there, and whether interrupts are off."""

    address: int
    state: State
    masked: bool


def _no_constant(address: int) -> int | None:
    return None


def outcomes(
    instruction: Instruction, state: State, *, masked: bool, constants: Constants = _no_constant
) -> list[Outcome]:
    """All that an instruction may lead to, apart from calls, returns, traps and jumps through
    registers, which the caller follows."""
    name, operands = parts_of(instruction)
    if instruction.flow == "branch":
        ways = _branch(instruction, name, [state.read(text) for text in operands])
        return [
            Outcome(address, _compared(instruction, name, operands, state, address), masked)
            for address in ways
        ]
    if name.startswith("csr"):
        return _csr(instruction, name, operands, state, masked=masked)
    after = _computed(instruction, name, operands, state, constants)
    return [Outcome(instruction.follows, after, masked)]


def parts_of(instruction: Instruction) -> tuple[str, list[str]]:
    """Its name and its operands: "add", ["a5", "a5", "-1"]."""
    return _parts(instruction.text)


@cache
def _parts(text: str) -> tuple[str, list[str]]:
    name, _, rest = text.partition(" ")
    return name, [part.strip() for part in _SYMBOL.sub("", rest).split(",")] if rest else []


def jump_register(instruction: Instruction) -> str:
    """The register through which it calls or jumps: "a5"."""
    _, operands = parts_of(instruction)
    last = operands[-1] if operands else ""
    memory = _MEMORY.fullmatch(last)
    return memory[2] if memory and memory[1] == "0" else last


def added(a: Value, b: Value) -> Value:
    """The sum, where both are known, and one of them is a single value."""
    if isinstance(a, Among) and isinstance(b, int):
        return Among(frozenset((number + b) & _BITS for number in a.numbers))
    if isinstance(a, int) and isinstance(b, int):
        return (a + b) & _BITS
    if isinstance(a, int):
        a, b = b, a
    return (
        Place(a.base, a.offset + _signed(b))
        if isinstance(a, Place) and isinstance(b, int)
        else None
    )


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def _computed(
    instruction: Instruction, name: str, operands: list[str], state: State, constants: Constants
) -> State:
    if instruction.kind == "store":
        place = _address(operands[1], state) if len(operands) == 2 else None
        if name == "sw":
            saves = isinstance(place, int) or operands[0] in _SAVED
            return state.storing(place, state.read(operands[0]) if saves else None)
        if name.startswith(("amo", "sc.")):  # they also have a result
            return state.writing(operands[0], None)
        return state.storing(_of_word(place), None)
    if name in _NO_RESULT or not operands:
        return state
    return state.writing(operands[0], _result(instruction, name, operands, state, constants))


def _result(
    instruction: Instruction, name: str, operands: list[str], state: State, constants: Constants
) -> Value:
    if instruction.kind == "load":
        place = _address(operands[1], state)
        return _loaded(place, state, constants) if name == "lw" else None
    if name in ("lui", "auipc"):
        upper = int(operands[1], 0) << 12
        return (upper + (instruction.address if name == "auipc" else 0)) & _BITS
    if name in ("mv", "li"):
        return state.read(operands[1])
    values = [state.read(text) for text in operands[1:]]
    return _arithmetic(name.removesuffix("i"), values)


def _loaded(place: Value, state: State, constants: Constants) -> Value:
    if isinstance(place, Among):
        return _among(constants(address) for address in place.numbers)
    if isinstance(place, int) and place not in state.memory:
        return constants(place)
    return state.memory.get(place) if isinstance(place, int | Place) else None


def _among(numbers: Iterable[int | None]) -> Value:
    """One of these numbers; unknown if one of them is."""
    known = set(numbers)
    return None if None in known else Among(frozenset(n for n in known if n is not None))


def _arithmetic(name: str, values: list[Value]) -> Value:
    for place, value in enumerate(values):
        if isinstance(value, Among):
            each = ([*values[:place], n, *values[place + 1 :]] for n in value.numbers)
            results = [_arithmetic(name, operands) for operands in each]
            return _among(result if isinstance(result, int) else None for result in results)
    if name == "add":
        return added(values[0], values[1])
    if isinstance(values[0], Enabled):
        return _enabled(name, values[0], values[1])
    compute = _COMPUTED.get(name)
    if compute is None or not all(isinstance(value, int) for value in values):
        return None
    return compute(*values) & _BITS  # type: ignore[arg-type]  # all are numbers


def _enabled(name: str, copy: Enabled, value: Value) -> Value:
    """Of a copy of mstatus: one bit alone is a number."""
    if not isinstance(value, int) or name not in ("and", "or"):
        return None
    if name == "or":
        return Enabled(copy.bit | value & MIE)
    return copy.bit if value == MIE else Enabled(copy.bit & value)


_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "sll": lambda a, b: a << (b & 31),
    "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: _signed(a) >> (b & 31),
    "mul": lambda a, b: a * b,
}


def _address(operand: str, state: State) -> Value:
    match = _MEMORY.fullmatch(operand)
    return added(state.read(match[2]), int(match[1]) & _BITS) if match else None


def _of_word(address: Value) -> Value:
    """The word that holds a byte; the stack is aligned to words."""
    if isinstance(address, Place):
        return address._replace(offset=address.offset & ~3)
    return address & ~3 if isinstance(address, int) else None


_TAKEN: dict[str, Callable[[int, int], bool]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: _signed(a) < _signed(b),
    "bge": lambda a, b: _signed(a) >= _signed(b),
    "bgt": lambda a, b: _signed(a) > _signed(b),
    "ble": lambda a, b: _signed(a) <= _signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
    "bgtu": lambda a, b: a > b,
    "bleu": lambda a, b: a <= b,
}


def _branch(instruction: Instruction, name: str, values: list[Value]) -> list[int]:
    assert instruction.target is not None
    if name == "j":
        return [instruction.target]
    a, b = (values[0], 0) if name.endswith("z") else (values[0], values[1])
    taken = _TAKEN.get(name.removesuffix("z"))
    if taken is None or not isinstance(a, int) or not isinstance(b, int):
        return list(dict.fromkeys((instruction.target, instruction.follows)))
    return [instruction.target if taken(a, b) else instruction.follows]


# Branches that compare unsigned numbers, with what holds on their way and on the other one: which
# operand is bounded by the other, and whether it may be equal.
_UNSIGNED = {
    "bltu": ((0, False), (1, True)),
    "bgeu": ((1, True), (0, False)),
    "bgtu": ((1, False), (0, True)),
    "bleu": ((0, True), (1, False)),
}


def _compared(
    instruction: Instruction, name: str, operands: list[str], state: State, address: int
) -> State:
    """On the way to an address: what an unsigned compare with a known number says of a register."""
    if name not in _UNSIGNED or instruction.target == instruction.follows:
        return state
    small, equal = _UNSIGNED[name][address != instruction.target]
    value, limit = state.read(operands[small]), state.read(operands[1 - small])
    if not isinstance(limit, int) or not isinstance(value, Among | None):
        return state
    numbers = range(limit + equal)
    if not 0 < len(numbers) <= _MOST_VALUES:
        return state
    known = value.numbers if value is not None else frozenset(numbers)
    return state.writing(operands[small], Among(known.intersection(numbers) or known))


def equal_on_way(instruction: Instruction, state: State, address: int) -> frozenset[Value]:
    """The values that are equal if a branch leads to an address; empty where none are."""
    name, operands = parts_of(instruction)
    taken = {"beq": instruction.target, "bne": instruction.follows}.get(name)
    if taken != address or instruction.target == instruction.follows:
        return frozenset()
    return frozenset(state.read(text) for text in operands[:2])


def _csr(
    instruction: Instruction, name: str, operands: list[str], state: State, *, masked: bool
) -> list[Outcome]:
    """Of mstatus only MIE is known; of the others only mcause."""
    what = name.removeprefix("csr").removeprefix("r").removesuffix("i")  # "w", "s", "c", "" reads
    reads = name.startswith("csrr")
    register = operands[1] if reads else operands[0]
    after = state
    if reads:
        known: dict[str, Value] = {"mstatus": Enabled(0 if masked else MIE), "mcause": state.cause}
        after = state.writing(operands[0], known.get(register))
    ways = [masked]
    if register == "mstatus" and what:
        ways = _masks(what, state.read(operands[-1]), masked=masked)
    return [Outcome(instruction.follows, after, way) for way in ways]


def _masks(what: str, value: Value, *, masked: bool) -> list[bool]:
    """Whether interrupts are off after a write, set or clear of mstatus: one, or both."""
    if isinstance(value, Enabled):
        value = value.bit
    if not isinstance(value, int):
        return {"w": [True, False], "s": sorted({masked, False}), "c": sorted({masked, True})}[what]
    switched = bool(value & MIE)
    if what == "w":
        return [not switched]
    return [what == "c" if switched else masked]


def stored(instruction: Instruction, state: State) -> tuple[Value, Value] | None:
    """The address and the value of a store of a word; None for another instruction."""
    name, operands = parts_of(instruction)
    if name != "sw":
        return None
    return _address(operands[1], state), state.read(operands[0])
