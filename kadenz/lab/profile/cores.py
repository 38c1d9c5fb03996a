# SPDX-License-Identifier: Apache-2.0
"""How an instruction set shows exceptions and masked interrupts on a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kadenz.errors import UsageError
from kadenz.images.instructions import Instruction
from kadenz.targets.scope_plugin import ShownState

# Exception numbers of Armv7-M (ARM DDI 0403, B1.5.2): the kernel asks for SVCall and PendSV.
_SVCALL, _PENDSV, _SYSTICK = 11, 14, 15


@dataclass(frozen=True)
class Step:
    """From the last instruction of a run to the address where the path goes on."""

    last: Instruction
    address: int
    before: Mapping[str, int]  # the watched registers
    after: Mapping[str, int]


@dataclass(frozen=True)
class Change:
    """How many exceptions end, then whether one begins; `interrupt`: of a device or timer."""

    ends: int = 0
    begins: bool = False
    interrupt: bool = False


class Core(Protocol):
    """How an instruction set shows exceptions and masked interrupts in registers."""

    @property
    def registers(self) -> tuple[tuple[str, int], ...]:
        """To watch, with a mask each."""

    def masked(self, registers: Mapping[str, int]) -> bool:
        """Whether interrupts are switched off."""

    @property
    def shown(self) -> ShownState:
        """The same of one moment, and the tick of the kernel's timer."""

    def within(self, registers: Mapping[str, int]) -> bool:
        """Whether an exception is being handled."""

    def change(self, step: Step, handlers: tuple[int, ...], depth: int) -> Change:
        """The exceptions that end and begin in a step.

        `handlers`: the first addresses of those being handled, innermost last; `depth`: functions
        that the innermost one has called and not left, itself included.
        """


@dataclass(frozen=True)
class ArmM:
    """Armv6-M and Armv7-M: IPSR holds the number of the exception."""

    registers: tuple[tuple[str, int], ...]

    def masked(self, registers: Mapping[str, int]) -> bool:
        """BASEPRI masks the kernel's interrupts, the others mask all. Armv6-M has only PRIMASK."""
        return any(registers.get(name) for name in ("basepri", "primask", "faultmask"))

    @property
    def shown(self) -> ShownState:
        """SysTick is exception 15 (B1.5.2)."""
        masks = tuple((name, mask) for name, mask in self.registers if name != "xpsr")
        return ShownState(masks, (), f"xpsr:0x1ff:{_SYSTICK}")

    def within(self, registers: Mapping[str, int]) -> bool:
        """Whether the core is in handler mode: xpsr has an exception number."""
        return bool(registers.get("xpsr"))

    def change(self, step: Step, handlers: tuple[int, ...], depth: int) -> Change:
        """By the exception number; one that follows another without a return is tail-chained."""
        old, new = step.before.get("xpsr", 0), step.after.get("xpsr", 0)
        if old == new:
            return Change()
        interrupt = new > _PENDSV or new not in (0, _SVCALL, _PENDSV)
        if not new:
            return Change(ends=1)
        if not old:
            return Change(begins=True, interrupt=interrupt)
        returns = step.last.flow in ("return", "jump") and depth == 1
        if returns and len(handlers) > 1:  # back to the one that it had preempted
            return Change(ends=1)
        return Change(ends=int(returns), begins=True, interrupt=interrupt)


class RiscV:
    """RISC-V, machine mode: entering an exception clears MIE, `mret` restores it."""

    registers = (("mstatus", 0x8),)

    def masked(self, registers: Mapping[str, int]) -> bool:
        """Whether mstatus, watched by its bit MIE alone, is 0."""
        return registers.get("mstatus") == 0

    shown = ShownState((), registers, "mcause:0xffffffff:0x80000007:mtvec")

    def within(self, registers: Mapping[str, int]) -> bool:
        """Not visible in a register: a region is taken to begin outside."""
        return False

    def change(self, step: Step, handlers: tuple[int, ...], depth: int) -> Change:
        """By the last instruction, and by interrupts that go off without one."""
        last = step.last
        if last.flow == "exit":
            again = bool(handlers) and step.address == handlers[-1]  # before anything resumed
            return Change(ends=min(1, len(handlers)), begins=again, interrupt=again)
        if last.flow == "trap":
            return Change(begins=True)
        went_off = not self.masked(step.before) and self.masked(step.after)
        elsewhere = step.address not in (last.follows, last.target) and not last.flow_by_register
        if (went_off and not last.writes_state) or elsewhere:
            return Change(begins=True, interrupt=True)
        return Change()


_CORES: dict[str, Core] = {
    "armv6m": ArmM((("primask", 1), ("xpsr", 0x1FF))),
    "armv7m": ArmM((("basepri", 0xFF), ("primask", 1), ("faultmask", 1), ("xpsr", 0x1FF))),
    "riscv": RiscV(),
}


def core_of(arch: str) -> Core:
    """The core of a board's architecture. UsageError for one that has none here."""
    if arch not in _CORES:
        raise UsageError(
            f"images for {arch} cannot be profiled",
            remedy=f"Profile a target for {' or '.join(sorted(_CORES))}",
        )
    return _CORES[arch]
