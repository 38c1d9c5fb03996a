# SPDX-License-Identifier: Apache-2.0
"""A firmware on an emulated board or a simulated core, executed until something ends it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import Board, EmulatedTier, RtlTier
from kadenz.config.manifest import (
    BuildEntry,
    ClockEntry,
    ConditionEntry,
    FootprintEntry,
    TargetEntry,
    Tier,
)
from kadenz.config.manifest import Warning as RunWarning
from kadenz.config.profile import FunctionEntry
from kadenz.config.toml import did_you_mean
from kadenz.counting.execution import Execution
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.images.code import Code
from kadenz.images.elf_facts import ElfFacts, build_elsewhere, read_facts
from kadenz.images.footprint import UNKNOWN, footprint
from kadenz.images.given_image import check_machine, check_memory
from kadenz.targets.calls import Why
from kadenz.targets.firmware import Ended, FirmwareTarget, Watching
from kadenz.targets.flows import Symbol, symbols
from kadenz.targets.rtl_firmware import RtlFirmwareTarget, check_calls
from kadenz.values.keeper import Keeper

_READ_S = 0.1
# Semihosting for AArch32 and AArch64, section 6.
_REFUSED = {0x01: "SYS_OPEN", 0x0E: "SYS_REMOVE", 0x0F: "SYS_RENAME", 0x12: "SYS_SYSTEM"}
_STILL_S = 3.0  # of real time in which the core executes nothing
_CONSOLE_BYTES = 1 << 20  # that are kept
# Armv7-M Architecture Reference Manual, table B1-4; RISC-V Privileged Architecture, mcause.
_FAULTS = {
    "armv6m": {3: "HardFault"},
    "armv7m": {3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault"},
    "riscv": {
        1: "instruction access fault",
        2: "illegal instruction",
        4: "misaligned load",
        5: "load access fault",
        6: "misaligned store",
        7: "store access fault",
    },
}


@dataclass(frozen=True)
class Firmware:
    """An image that another build made, and the board that is to execute it."""

    elf: Elf
    facts: ElfFacts
    board_name: str
    board: Board
    tier: EmulatedTier | RtlTier

    companions = ("handlers", "threads")
    part = "firmware"  # in a profile, if nothing names another

    @property
    def tier_name(self) -> Tier:
        """As in the name of a target."""
        return "emulated" if isinstance(self.tier, EmulatedTier) else "rtl"

    @property
    def clock(self) -> ClockEntry:
        """What its samples count."""
        if isinstance(self.tier, EmulatedTier):
            return ClockEntry(
                clock_class="instruction", name="scope", hz=0, bits=64, unit="instruction"
            )
        return ClockEntry(
            clock_class="cycle-exact", name="scope", hz=self.tier.hz, bits=64, unit="cycle"
        )

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Its functions, by address."""
        return symbols(self.elf)

    def function_entry(self, symbol: Symbol) -> FunctionEntry:
        """A function as a profile has it: its part is that of the footprint."""
        if self._code is None:
            return FunctionEntry(symbol.name, self.part, "")
        function = self._code.function_at(symbol.address)
        part = self.part if function.part == UNKNOWN else function.part
        return FunctionEntry(function.name, part, function.file)

    @cached_property
    def _code(self) -> Code | None:
        """None where neither a linker map nor symbols of functions say what code is from."""
        code = Code(self.elf, self.board_name)
        try:
            code.function_at(self.symbols[0].address)
        except UsageError:
            return None
        return code

    @property
    def label(self) -> str:
        """For the number of a run: the board."""
        return self.board_name

    @property
    def conditions(self) -> list[ConditionEntry]:
        """None: files alone decide."""
        return []

    def target(self, ended: str) -> TargetEntry:
        """The entry of a run."""
        return TargetEntry(
            name=f"{self.board_name}@{self.tier_name}",
            kernel="",
            board=self.board_name,
            tier=self.tier_name,
            instrument="scope",
            arch=self.board.arch,
            kernel_name="firmware",
            kernel_version="",
            capabilities=[],
            settings={"ended": ended},
            cores=1,
            tick_hz=0,
            title=self.board.title,
        )

    @property
    def build(self) -> BuildEntry:
        """The build, as far as the file states it."""
        entry = build_elsewhere(self.elf, self.facts, f"image {self.elf.path}")
        entry.footprint = _footprint(self.elf.path)
        return entry


def _footprint(file: Path) -> list[FootprintEntry]:
    """Flash and RAM of an image, by its linker map or its symbols; nothing if it has neither."""
    try:
        return footprint(file)
    except UsageError:
        return []


def firmware(file: Path, board_name: str) -> Firmware:
    """The firmware in `file` on a board, `ibex` or with its tier `ibex@rtl`. UsageError if the
    board cannot execute it."""
    name, _, asked = board_name.partition("@")
    board = inventory.board(name)
    tier = _tier(board_name, name, asked, board)
    facts = read_facts(file)
    elf = Elf(file)
    if elf.hosted:
        raise UsageError(
            f"{file}: a program for an operating system, not a firmware",
            remedy="Leave --board out: a guest with Linux executes it",
        )
    check_machine(file, facts, name, board, option="--board BOARD")
    check_memory(file, facts, name, board)
    return Firmware(elf, facts, name, board, tier)


def _tier(option: str, name: str, asked: str, board: Board) -> EmulatedTier | RtlTier:
    """The tier that `option` asks for; without one the board's first."""
    tiers = {"emulated": board.tier.emulated, "rtl": board.tier.rtl}
    offered = {kind: tier for kind, tier in tiers.items() if tier is not None}
    if not offered:
        known = [
            other
            for other, each in inventory.boards().items()
            if each.tier.emulated or (each.tier.rtl and each.cores == 1)
        ]
        raise UsageError(
            f"--board {option}: no emulator of kadenz has this board",
            remedy=f"Calls are counted on {', '.join(sorted(known))}",
        )
    if asked and asked not in offered:
        raise UsageError(
            f"--board {option}: {name} has no tier `{asked}` on which calls are counted",
            remedy=did_you_mean(asked, [f"{name}@{kind}" for kind in offered]),
        )
    tier = offered[asked] if asked else next(iter(offered.values()))
    if isinstance(tier, RtlTier):
        check_calls(option, tier, board.cores)
    return tier


@contextmanager
def executed(
    image: Firmware,
    watching: Watching,
    stop: threading.Event,
    progress: Callable[[int], None] = lambda _: None,
    *,
    fresh: bool = False,
) -> Iterator[Execution]:
    """Executes it to its end, or takes an equal execution from the store unless `fresh`. The calls
    can be read inside. `progress` gets the calls so far.

    Raises TargetFailed if it does not even start, or differs from an equal one that is stored.
    """
    begun = time.monotonic()
    target = _target(image, watching)
    target.keeper = Keeper(f"{image.board_name}@{image.tier_name}", fresh=fresh)
    try:
        target.boot()
        console, still = _followed(target, stop, progress)
        ended = target.end()
        how = _How(image, watching, ended, still, stop.is_set())
        asked = target.asked
        if not (how.problem or stop.is_set() or asked):
            target.vouch()
        yield Execution(
            calls=ended.calls,
            flows=ended.flows,
            ended=how.sentence,
            problem=how.problem,
            remedy=how.remedy,
            stopped=stop.is_set(),
            console=console,
            duration_s=round(time.monotonic() - begun, 3),
            emulator=target.emulator(),
            value=target.value if not asked else None,
            warnings=_asked(asked) if asked else [],
        )
    finally:
        target.close()
    if target.difference is not None:
        raise target.difference


def _asked(call: str) -> list[RunWarning]:
    return [
        RunWarning(
            code="asks-this-machine",
            message=f"the firmware asked for the time, or for a name, of this machine ({call})",
            remedy="Two counts may differ, and the next one is executed again. A clock of the "
            "board is the same each time",
        )
    ]


def _target(image: Firmware, watching: Watching) -> FirmwareTarget | RtlFirmwareTarget:
    if isinstance(image.tier, EmulatedTier):
        return FirmwareTarget(image.tier, image.elf, watching)
    return RtlFirmwareTarget(image.tier, image.elf, watching)


def _followed(
    target: FirmwareTarget | RtlFirmwareTarget,
    stop: threading.Event,
    progress: Callable[[int], None],
) -> tuple[str, bool]:
    """The console, and whether the core stands still; returns when nothing more is to come."""
    console = bytearray()
    worked, before = time.monotonic(), (-1, 0.0)
    asked_at = math.inf
    while (data := target.read(_READ_S)) is not None:
        if len(console) < _CONSOLE_BYTES:
            console += data
        progress(target.calls_so_far)
        now, ns = time.monotonic(), target.virtual_ns
        if stop.is_set():
            target.ask_to_end()
            asked_at = min(asked_at, now)
        if now - asked_at > _STILL_S:  # it does not look any more
            break
        if ns is None:
            continue
        # Of the thread that executes; the other one may wait for its processor all the time.
        _, waited = max(target.thread_times().values(), default=(0.0, 0.0))
        if ns != before[0]:
            worked, before = now, (ns, waited)
        elif now - worked - (waited - before[1]) > _STILL_S:  # not for want of a processor
            return console.decode(errors="replace"), True
    return console.decode(errors="replace"), False


@dataclass(frozen=True)
class _How:
    """Judges how an execution ended. `still`: the core executed nothing any more."""

    image: Firmware
    watching: Watching
    ended: Ended
    still: bool
    stopped: bool

    @property
    def sentence(self) -> str:
        """How it ended, for the run."""
        if self.stopped:
            return "interrupted (Ctrl-C)"
        why = self.ended.calls.end.why if self.ended.calls.end is not None else None
        if why is Why.UNTIL and self.watching.until is not None:
            return f"reached {self._place(self.watching.until)}"
        ends = {
            Why.TEXT: f"printed {self.watching.until_text!r}",
            Why.REFUSED: "by a call of semihosting that is not answered",
            Why.LIMIT: f"the limit of {self.watching.limit_s:g} s of virtual time",
        }
        if why in ends:
            return ends[why]
        if self.still or why is Why.ASLEEP:
            return "the core executes nothing more: it sleeps for good, or its handlers fault"
        said = [*self.ended.messages.splitlines(), "without a message"]
        alive = f"by itself, with exit status {self.ended.status}"
        return alive if why is not None else f"{self._program} died: {said[0]}"

    @property
    def problem(self) -> str:
        """What was wrong; "" if nothing."""
        end = self.ended.calls.end
        if self.stopped or (end is not None and end.why in (Why.UNTIL, Why.TEXT)):
            return ""
        if end is None:
            return self.sentence
        if end.why is Why.REFUSED:
            return (
                f"the firmware asked for a file or a program of this machine by semihosting, in "
                f"{self._place(end.address)}: {self._refused}"
            )
        if end.fault:
            faults = _FAULTS.get(self.image.board.arch, {})
            return (
                f"the firmware faulted ({faults.get(end.fault, end.fault)}) and was still in "
                f"{self._place(end.address)} at {self.sentence}"
            )
        if end.why is Why.ITSELF and self.ended.status:
            return f"the firmware ended with exit status {self.ended.status}"
        return self._missing

    @property
    def remedy(self) -> str:
        """What would mend the problem; "" if only the firmware can."""
        end = self.ended.calls.end
        if end is not None and end.why is Why.REFUSED:
            return "Only the console, `:tt`, is answered: build the firmware without its files"
        late = end is not None and end.why is Why.LIMIT and not end.fault
        return "--limit gives the firmware more time" if late else ""

    @property
    def _refused(self) -> str:
        """The semihosting call that was not answered."""
        assert self.ended.calls.end is not None
        number = self.ended.calls.end.fault
        return _REFUSED.get(number, f"call {number:#x}")

    @property
    def _missing(self) -> str:
        """Which asked end did not come; "" if none was asked."""
        if self.watching.until is not None:
            return f"{self._place(self.watching.until)} was not reached: {self.sentence}"
        if self.watching.until_text:
            return f"{self.watching.until_text!r} was not printed: {self.sentence}"
        return ""

    @property
    def _program(self) -> str:
        return "the emulator" if isinstance(self.image.tier, EmulatedTier) else "the simulator"

    def _place(self, address: int) -> str:
        symbol = self.image.elf.symbol_at(address)
        return symbol.removesuffix("+0x0") or f"{address:#010x}"
