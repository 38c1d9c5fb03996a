# SPDX-License-Identifier: Apache-2.0
"""Checks that the counter of an emulated target counts instructions, with a loop of known length.

A board's declaration is not trusted. Before anything is measured, a separate execution of the image
runs `clock/instructions`: two loops that differ by a known number of instructions
(arch/<name>/loop.c). It is separate so that no record starts at another moment. Emulators are
deterministic, so the answer is kept next to the image until image, emulator or arguments change.
"""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from typing import Any

import msgspec
from numpy.typing import NDArray

from kadenz.config import inventory, manifest
from kadenz.config.manifest import ClockEntry, EmulatorEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import Interrupted, TargetFailed
from kadenz.images.image import Image
from kadenz.json_text import read_json
from kadenz.lab.boot import Execution, run_plan
from kadenz.lab.catalog import keep_answer
from kadenz.lab.condition import Setup
from kadenz.lab.conditions.guest import Guest
from kadenz.lab.execution import make_target
from kadenz.lab.guests import BOOT_S
from kadenz.lab.plan import COUNTER_BENCH, Point, plan_text
from kadenz.wire.messages import Begin, End, Hello
from kadenz.wire.records import Assembler, Ending

# Short enough that most loops fit between two ticks of a kernel, long enough to tell one count in
# 100 instructions from one in 101.
LOOP = 50_000
# Together more instructions than 24 bits count: this detects a counter that wraps early.
LONG_LOOP, LONG_LOOPS = 2_000_000, 16
_POINTS = (
    Point(0, COUNTER_BENCH, 20, params={"instructions": LOOP}),
    Point(1, COUNTER_BENCH, LONG_LOOPS, params={"instructions": LONG_LOOP}),
)
_COARSEST = 100  # instructions per count
# The share that tick handlers of a kernel may add to a long loop.
_TICKS = 1.25
# A guest reads its clock through its kernel, which sets the rate by measuring: 1000 ppm; and in
# steps of up to 100 ns (riscv64) at both ends of the loop, another 1000 ppm.
_GUEST_TOLERANCE = 2e-3
_SILENCE_S = 60.0
_FILE = "counter.json"


class CounterCheck(msgspec.Struct, frozen=True):
    """The advance of a target's counter in the loops. `of` identifies image and emulator."""

    of: str
    loop: int  # counts in LOOP instructions: the least of the long loops less that of the short
    least: int  # counts in LONG_LOOP instructions
    most: int

    def instructions_per_count(self, unit: str, counts_expected: int) -> float:
        """Instructions per count. ValueError, with the deviation, if that is neither a whole number
        nor one over a whole number; for a guest if it is not the expected value."""
        if self.loop <= 0:
            raise ValueError(f"it advanced by {self.loop:,} in a loop of {LOOP:,} instructions")
        ratio = LOOP / self.loop
        if unit == "virtual ns":
            deviation = self.loop / (LOOP * counts_expected) - 1.0
            if abs(deviation) > _GUEST_TOLERANCE:
                raise ValueError(
                    f"it advanced by {self.loop:,} virtual ns in a loop of {LOOP:,} instructions, "
                    f"expected {LOOP * counts_expected:,}: {deviation:+.2%}"
                )
            ratio = 1.0 / counts_expected
        elif self.loop >= LOOP:
            if self.loop % LOOP:
                raise ValueError(self._odd())
        else:
            ratio = float(round(ratio))
            if ratio > _COARSEST or ratio < 2 or abs(self.loop - LOOP / ratio) > 1.0:
                raise ValueError(self._odd())
        right = LONG_LOOP / ratio
        if not right - 1.0 - right * _GUEST_TOLERANCE <= self.least <= self.most <= right * _TICKS:
            raise ValueError(
                f"it advanced by {self.least:,} to {self.most:,} in loops of {LONG_LOOP:,} "
                f"instructions, expected {right:,.0f}: it wraps before its stamps do"
            )
        return ratio

    def _odd(self) -> str:
        return (
            f"it advanced by {self.loop:,} in a loop of {LOOP:,} instructions, "
            f"{self.loop / LOOP - 1.0:+.2%}: neither a whole number of counts per instruction nor "
            f"of instructions per count (up to {_COARSEST})"
        )


@dataclasses.dataclass(frozen=True)
class Counter:
    """A counter that was checked, and how its counts become instructions."""

    check: CounterCheck
    instructions_per_count: float
    guest: bool
    hello: Hello

    def enter(self, clock: ClockEntry) -> None:
        """Enters the reference of the clock into a manifest."""
        what = f"a loop of {LOOP:,} instructions: {self.check.loop:,} "
        clock.checked_against = what + ("virtual ns" if self.guest else "counts")
        clock.instructions_per_count = self.instructions_per_count
        if self.guest:
            right = LOOP / self.instructions_per_count
            clock.rate_error_ppm = round((self.check.loop / right - 1.0) * 1e6, 3)

    @property
    def warnings(self) -> list[manifest.Warning]:
        """One if counts are converted: the figures then have a step."""
        ratio = self.instructions_per_count
        if self.guest or ratio == 1.0:
            return []
        clock = self.hello.clock
        steps = (
            f"one count is {ratio:g} instructions"
            if ratio > 1
            else f"{1 / ratio:g} counts are one instruction"
        )
        text = (
            f"the counter {clock.name}, declared with {clock.hz:,} Hz, does not count "
            f"once per instruction: {steps}. Figures are its counts times {ratio:g}"
        )
        return [
            manifest.Warning(
                code="counter-converted",
                message=text,
                remedy="Measure with --instrument scope, which counts each instruction",
            )
        ]


def check_counter(
    name: TargetName, instrument: str, image: Image, guest: Guest | None, stop: threading.Event
) -> Counter | None:
    """Checks the counter of an emulated target with a known loop, or reads the kept result.

    None if no counter is declared to count instructions: silicon, this machine, the scope. Raises
    TargetFailed if its counts are not instructions, Interrupted if `stop` was set before.
    """
    if name.tier not in ("emulated", "guest") or instrument in ("scope", "model"):
        return None
    bare = guest.bare(runs_suite=True) if guest is not None else None
    target = make_target(name, instrument, image, Setup(guest=bare))
    of = identity(image, target.emulator(), _POINTS)
    file = image.folder / _FILE
    try:
        hello, check = read_json(file.read_bytes(), tuple[Hello, CounterCheck])
    except (OSError, msgspec.DecodeError):
        hello, check = None, None
    if hello is None or check is None or check.of != of:
        kept = _Kept()
        hello = _run(name, target, kept, _SILENCE_S + (BOOT_S if guest else 0.0), stop)
        check = kept.check(of)
        keep_answer(image, _FILE, (hello, check))
    tiers = inventory.board(name.board).tier
    shift = tiers.guest.icount_shift if guest and tiers.guest else 0
    unit = "virtual ns" if guest else "instruction"
    try:
        ratio = check.instructions_per_count(unit, 1 << shift)
    except ValueError as wrong:
        raise TargetFailed(
            f"{name}: the counter {hello.clock.name}, declared with {hello.clock.hz:,} Hz and "
            f"{hello.clock.bits} bits, does not count instructions: {wrong}",
            remedy="Measure with --instrument scope, or give the board a counter that advances "
            "once in a whole number of instructions (icount_shift in board.toml)",
        ) from None
    return Counter(check, ratio, guest is not None, hello)


def identity(image: Image, emulator: EmulatorEntry | None, asked: object) -> str:
    """A digest of what decides the answer of an image to a plan of the lab's own."""
    parts = [(part.part, part.sha256) for part in image.entry.parts]
    encoded = msgspec.json.encode((image.entry.elf_sha256, parts, emulator, asked))
    return hashlib.sha256(encoded).hexdigest()


def _run(
    name: TargetName, target: Any, kept: _Kept, silence_s: float, stop: threading.Event
) -> Hello:
    assembler = Assembler(kept)
    execution = Execution(target, str(name), plan_text(_POINTS), lambda: silence_s)
    outcome = run_plan(execution, assembler, stop)
    if outcome.stopped:
        raise Interrupted(
            f"stopped while the counter of {name} was checked: nothing was measured",
            remedy="Run it again",
        )
    if outcome.failure is not None:
        raise outcome.failure
    if assembler.hello is None or kept.wrong:
        raise TargetFailed(
            f"{name}: its counter could not be checked with a known loop: "
            f"{kept.wrong or 'it sent no HELLO'}",
            remedy="Measure with --instrument scope, or correct the counter of the board",
        )
    return assembler.hello


class _Kept:
    """The lanes of both points; `wrong` says why they are not valid."""

    def __init__(self) -> None:
        self.values_of: dict[tuple[int, int], list[int]] = {}
        self.wrong = ""

    def opened(self, begin: Begin) -> None:
        """Does nothing: the lists begin with the first values."""

    def values(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """Keeps values as integers, by record and lane."""
        self.values_of.setdefault((record, lane), []).extend(int(v) for v in values)

    def closed(self, begin: Begin, end: End | None, ending: Ending) -> None:
        """Notes the first reason against a record."""
        if ending.status != "ok":
            self.wrong = self.wrong or ending.reason or ending.status

    def check(self, of: str) -> CounterCheck:
        """The counts that the extra instructions of the long loops took."""
        short, long = (self.values_of[0, lane] for lane in (0, 1))
        base = min(self.values_of[1, 0])
        spans = [value - base for value in self.values_of[1, 1]]
        return CounterCheck(of, min(long) - min(short), min(spans), max(spans))
