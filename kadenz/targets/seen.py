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
# While an interrupt is handled: the mode of a Cortex-M; a RISC-V that accepts none (mstatus.MIE).
_HANDLER = re.compile(r"^XPSR=.*\bhandler\b", re.MULTILINE)
_MSTATUS = re.compile(r"\bmstatus\s+([0-9a-fA-F]+)")
_MIE = 1 << 3


@dataclass(frozen=True)
class Look:
    """A processor at one moment: its program counter, and its other registers if known.

    `handles`: it may be handling an interrupt.
    """

    pc: int
    registers: tuple[str, ...] = ()
    handles: bool = False


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
    return [
        Look(int(pc[1], 16), tuple(_GENERAL.findall(words)), _handles(words))
        for words in registers
        if (pc := _PC.search(words)) is not None
    ]


def _handles(words: str) -> bool:
    status = _MSTATUS.search(words)
    masked = status is not None and not int(status[1], 16) & _MIE
    return masked or _HANDLER.search(words) is not None


def seen(words: str, looks: Sequence[Look], symbol_at: Callable[[int], str]) -> Seen:
    """What `looks`, at least two, show; `symbol_at` names the function of an address, or "".

    A processor stands still if it is at one place in at least half of them, always with the same
    registers: interrupts take it elsewhere, and come back. Looks in their handlers are left out,
    unless all are: an emulator can be looked at when a timer expires more often than in between.
    """
    if len(looks) < 2:
        return Seen(words)
    outside = [look for look in looks if not look.handles]
    judged = outside if len(outside) > 1 else looks
    (usual, count), *_ = Counter(look.pc for look in judged).most_common(1)
    states = {look.registers for look in judged if look.pc == usual}
    moves = 2 * count < len(judged) or len(states) > 1
    if not moves:
        return Seen(words, moves, f"at {symbol_at(usual) or hex(usual)}")
    functions = Counter((symbol_at(look.pc) or hex(look.pc)).partition("+")[0] for look in judged)
    named = [f"{name} ({n} of {len(judged)} looks)" for name, n in functions.most_common(3)]
    return Seen(words, moves, f"in {', '.join(named)}")
