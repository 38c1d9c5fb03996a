# SPDX-License-Identifier: Apache-2.0
"""What several looks at a silent target show: whether its processor moves, and where it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# Of QEMU's `info registers`: `pc 2001..` (RISC-V), `R15=0800..` (Arm), `PC=..` (Armv8), `RIP=..`.
_PC = re.compile(r"(?<![\w/])(?:pc|R15|PC|RIP)[ =]+([0-9a-fA-F]{8,16})")
_GENERAL = re.compile(r"(?<![\w/])(?:R\d\d|X\d\d|R[A-D]X|R[SD]I|x\d+/\w+)[ =]+([0-9a-fA-F]{8,16})")


@dataclass(frozen=True)
class Look:
    """A processor at one moment: its program counter, and its other registers if known."""

    pc: int
    registers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """A silent target, seen from outside.

    `words` are its registers and last output. `moves`: its processor executes more than one place,
    or computes there; None if nobody can look. `place` says where it was, "" if unknown.
    """

    words: str
    moves: bool | None = None
    place: str = ""


def looks_of(registers: Iterable[str]) -> list[Look]:
    """Looks from QEMU's words for `info registers`."""
    found = [(_PC.search(words), tuple(_GENERAL.findall(words))) for words in registers]
    return [Look(int(pc[1], 16), others) for pc, others in found if pc is not None]


def seen(words: str, looks: Sequence[Look], symbol_at: Callable[[int], str]) -> Seen:
    """What `looks`, at least two, show; `symbol_at` names the function of an address, or "".

    A processor stands still if it is at one place in at least half of them, always with the same
    registers: interrupts may take it elsewhere, and come back.
    """
    if len(looks) < 2:
        return Seen(words)
    (usual, count), *_ = Counter(look.pc for look in looks).most_common(1)
    states = {look.registers for look in looks if look.pc == usual}
    moves = 2 * count < len(looks) or len(states) > 1
    if not moves:
        return Seen(words, moves, f"at {symbol_at(usual) or hex(usual)}")
    functions = Counter((symbol_at(look.pc) or hex(look.pc)).partition("+")[0] for look in looks)
    named = [f"{name} ({n} of {len(looks)} looks)" for name, n in functions.most_common(3)]
    return Seen(words, moves, f"in {', '.join(named)}")
