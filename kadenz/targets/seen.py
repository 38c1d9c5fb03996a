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
# While an interrupt is handled, a Cortex-M has a mode of its own. A RISC-V accepts none
# (mstatus.MIE), as in any critical section, and keeps the place of the last one in mepc.
_HANDLER = re.compile(r"^XPSR=.*\bhandler\b", re.MULTILINE)
_MSTATUS = re.compile(r"\bmstatus\s+([0-9a-fA-F]+)")
_MEPC = re.compile(r"\bmepc\s+([0-9a-fA-F]+)")
_MIE = 1 << 3


@dataclass(frozen=True)
class Look:
    """A processor at one moment: its program counter, and its other registers if known.

    `handles`: it handles an interrupt, or may do so if that came at `interrupted`.
    """

    pc: int
    registers: tuple[str, ...] = ()
    handles: bool = False
    interrupted: int | None = None


@dataclass(frozen=True)
class Seen:
    """A silent target, seen from outside.

    `report` is its registers and last output. `moves`: its processor executes more than one place,
    or computes there; None if nobody can look. `place` says where it was, "" if unknown.
    """

    report: str
    moves: bool | None = None
    place: str = ""


def looks_of(registers: Iterable[str]) -> list[Look]:
    """Looks from QEMU's words for `info registers`."""
    return [
        Look(int(pc[1], 16), tuple(_GENERAL.findall(dump)), *_handling(dump))
        for dump in registers
        if (pc := _PC.search(dump)) is not None
    ]


def _handling(dump: str) -> tuple[bool, int | None]:
    status, came_at = _MSTATUS.search(dump), _MEPC.search(dump)
    if status is not None and came_at is not None and not int(status[1], 16) & _MIE:
        return True, int(came_at[1], 16)
    return _HANDLER.search(dump) is not None, None


def seen(report: str, looks: Sequence[Look], symbol_at: Callable[[int], str]) -> Seen:
    """What `looks`, at least two, show; `symbol_at` names the function of an address, or "".

    A processor stands still if it is at one place in at least half of them, always with the same
    registers: interrupts take it elsewhere, and come back. Looks into their handlers are left out,
    because an emulator can be looked at when a timer expires more often than in between.
    """
    if len(looks) < 2:
        return Seen(report)
    outside = [look for look in looks if not look.handles]
    usual = _place(outside) if len(outside) > 1 else None
    inside = [look for look in looks if look.handles]
    if usual is not None and all(look.interrupted in (None, usual) for look in inside):
        often = len(inside) > len(outside)
        also = f", in a handler in {len(inside)} of {len(looks)} looks" if often else ""
        return Seen(report, False, f"at {symbol_at(usual) or hex(usual)}{also}")
    usual = _place(looks)
    if usual is not None:
        return Seen(report, False, f"at {symbol_at(usual) or hex(usual)}")
    functions = Counter((symbol_at(look.pc) or hex(look.pc)).partition("+")[0] for look in looks)
    named = [f"{name} ({n} of {len(looks)} looks)" for name, n in functions.most_common(3)]
    return Seen(report, True, f"in {', '.join(named)}")


def _place(looks: Sequence[Look]) -> int | None:
    """Where a processor stands still; None if it moves."""
    (usual, count), *_ = Counter(look.pc for look in looks).most_common(1)
    states = {look.registers for look in looks if look.pc == usual}
    return usual if 2 * count >= len(looks) and len(states) == 1 else None
