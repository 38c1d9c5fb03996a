# SPDX-License-Identifier: Apache-2.0
"""A sample with an interrupt in every cycle of it: which targets can, and what a run says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kadenz.config import inventory
from kadenz.config.board import Board
from kadenz.config.manifest import (
    ARRIVALS,
    ARRIVING,
    BESIDE,
    DELAY,
    SECONDS,
    STEP,
    ConditionEntry,
    Instrument,
)
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.lab.beside import Beside
from kadenz.lab.condition import Condition, Setup
from kadenz.lab.offsets import sweeps
from kadenz.targets.arrivals import Arrivals, Asked, Sweep

_LONG_S = 300.0  # a sweep with more of it left is said to be long
_WINDOW_S, _WINDOW = 5.0, 8  # seconds and arrivals at least, in which a pace is measured

FURTHER = 16384  # every other one, at most, has an arrival; those behind the last one have none


@dataclass(frozen=True)
class EveryArrival(Condition):
    """An interrupt in every cycle of one sample, or in one of several, in one state."""

    asked: Asked

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Kind `arrivals`: in the image a thread waits that no other run has; then the state."""
        step = self.asked.step
        if self.asked.by_timer:
            by = ConditionEntry(
                kind=ARRIVING,
                value="by a timer of the board",
                label="arrivals by a timer",
                usual="none",
            )
            apart = ConditionEntry(kind=STEP, value=str(step), usual="1")
            return by, apart, *self._states
        each = "every cycle" if step == 1 else f"one cycle in {step}"
        label = "every arrival" if step == 1 else f"one arrival in {step}"
        value = f"{each} of sample {self.asked.sample + 1}"
        if self.asked.second:
            second = SECONDS[self.asked.second]
            label, value = f"{label} and {self.asked.second}", f"{value}, with {second} in {each}"
        if self.asked.elsewhere:
            label, value = f"{label} on the other core", f"{value}, on the other core"
        entry = ConditionEntry(kind=ARRIVING, value=value, label=label, usual="none")
        return entry, *self._states, *self._beside

    @property
    def _beside(self) -> Iterator[ConditionEntry]:
        if self.asked.beside:
            yield ConditionEntry(kind=BESIDE, value=self.asked.beside, usual="none")
        if self.asked.delay:
            yield ConditionEntry(kind=DELAY, value=str(self.asked.delay), usual="0")

    @property
    def _states(self) -> Iterator[ConditionEntry]:
        for name, threads in self.asked.state:
            yield ConditionEntry(kind=name, value=str(threads), usual="0")

    @property
    def suffix(self) -> str:
        """What a run folder ends in: `-worst-tick-sleepers4`."""
        asked = self.asked
        parts = [asked.second, *(f"{name}{threads}" for name, threads in asked.state)]
        parts += [asked.beside, f"delay{asked.delay}" * bool(asked.delay)]
        return "-".join(["-worst", *filter(None, [*parts, "other" * asked.elsewhere])])

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The bench copies the machine before each cycle of that sample."""
        setup.arriving = self.asked


class Outlook:
    """Tells once that a sweep goes on with an earlier one, and once that it takes long."""

    def __init__(self, tell: Callable[[str], None], *, in_pairs: bool) -> None:
        self._tell, self._in_pairs = tell, in_pairs
        self._windows = 0  # in which its pace was measured
        self._since: tuple[float, int] | None = None  # the window that is open
        self._is_told = False

    def look(self, sweep: Sweep, now: float) -> None:
        """Takes how far it is at `now`, in seconds on any clock."""
        if self._since is None and sweep.earlier:
            self._tell(
                f"goes on behind {sweep.earlier:,} of {sweep.planned:,} arrivals that an earlier "
                "call tried"
            )
        if self._since is None or sweep.tried < self._since[1]:
            self._since = now, sweep.tried
        took, tried = now - self._since[0], sweep.tried - self._since[1]
        if self._is_told or took < _WINDOW_S or tried < _WINDOW:
            return
        left = sweep.planned - sweep.tried
        left_s = left * took / tried
        self._windows, self._since = self._windows + 1, (now, sweep.tried)
        # The first arrivals take longest: no later one has come to a state of theirs yet.
        if self._windows > 1 and left_s > _LONG_S:
            self._is_told = True
            step = self._step(left_s)
            self._tell(
                f"{left:,} arrivals are left, which takes about {_about(left_s)}; "
                f"--step {step} tries one cycle in {step}"
            )

    def _step(self, left_s: float) -> int:
        """Of the steps 10, 100 …, the first that takes no long time."""
        step = 10
        while left_s / step ** (2 if self._in_pairs else 1) > _LONG_S:
            step *= 10
        return step


def _about(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60):,} h"


def check_arrivals(name: TargetName, instrument: str) -> None:
    """UsageError for a target where nobody can raise an interrupt at a moment that is chosen."""
    board = inventory.board(name.board)
    if instrument == "counter":
        _check_timer(name, board)
        return
    emulated = board.tier.emulated if name.tier == "emulated" else None
    raised = name.tier == "rtl" or (emulated is not None and emulated.interrupt is not None)
    rtl = board.tier.rtl if name.tier == "rtl" else None
    is_told = board.cores == 1 or (rtl is not None and bool(rtl.interrupt))
    if raised and is_told and instrument == "scope":
        return
    why = "needs the instrument `scope`"
    if not is_told:
        why = f"has {board.cores} cores, and its board.toml no `interrupt` in the tier `rtl`"
    if emulated is not None and not raised:
        why = "has no `interrupt` in the tier `emulated` of its board.toml"
    remedy = (
        "Name a simulated core, or a board of the tier `emulated`: --target freertos/ibex@rtl, "
        "--target freertos/stm32f4@emulated"
    )
    if not is_told:
        beside = f"kadenz worst {' '.join(sweeps())} --target {name}"
        remedy += f". Or try a call against another core: {beside}"
    raise UsageError(
        f"{name}: an interrupt cannot be tried in every cycle: it {why}", remedy=remedy
    )


def instrument_of(name: TargetName) -> Instrument:
    """What sees the arrivals of a target: the scope where something outside raises them, else the
    counter, and a timer of the board raises them."""
    board = inventory.board(name.board)
    return (
        "scope" if name.tier in ("rtl", "emulated") and "scope" in board.instruments else "counter"
    )


def _check_timer(name: TargetName, board: Board) -> None:
    """UsageError for a target whose board has no timer that raises the interrupt by itself."""
    if not name.kernel:
        raise UsageError(
            f"{name}: an image of another build arms no timer, so no interrupt arrives at a moment "
            "that is chosen",
            remedy="Name a kernel, so that kadenz builds an image that does: --target "
            f"freertos/{name.board}@{name.tier}",
        )
    rust = inventory.in_rust(name.kernel)
    if name.tier in ("rtl", "emulated", "board") and board.timer and board.cores == 1 and not rust:
        return
    why = "has no `timer` in its board.toml"
    if rust:
        why = "takes its stamps in Rust, which arm no timer"
    elif board.timer:
        why = f"has {board.cores} cores" if board.cores > 1 else f"has the tier {name.tier}"
    raise UsageError(
        f"{name}: an interrupt cannot arrive at a moment that is chosen: it {why}",
        remedy="Give its board a timer that raises the interrupt "
        "(docs/how-to/add-a-board.md#a-timer-that-interrupts), or name a simulated core or a board "
        "in QEMU: --target freertos/ibex@rtl, --target freertos/stm32f4@emulated",
    )


def check_following(
    name: TargetName, instrument: str, asked: Sequence[Asked], profiled: bool
) -> None:
    """UsageError for what needs a machine that goes back to an earlier state, which QEMU does not:
    an arrival with a second one in every cycle, and one that is followed afterwards."""
    seconds = [each.second for each in asked if each.second]
    is_kept = name.tier == "rtl" and instrument == "scope"
    if is_kept or not (profiled or seconds):
        return
    option = "--why" if profiled else f"--with {seconds[0]}"
    raise UsageError(
        f"{name}: {option} needs a simulated core, whose state is kept before each arrival"
        + (", and the instrument `scope`" if name.tier == "rtl" else ""),
        remedy=f"Leave {option} out, or name one: --target freertos/ibex@rtl",
    )


def check_beside(name: TargetName, asked: Sequence[Asked], beside: Beside) -> None:
    """UsageError for options of several cores on one, and for those of one core on several."""
    if inventory.board(name.board).cores == 1:
        if beside.options:
            raise UsageError(
                f"{name}: it has one core, and {beside.options[0]} is of another one",
                remedy=f"Leave {' and '.join(beside.options)} out, or name two: --target "
                "freertos/ibex2@rtl",
            )
        return
    seconds = [f"--with {each.second}" for each in asked if each.second]
    states = [f"--state {state}" for each in asked for state, threads in each.state if threads]
    if seconds or states:
        option = (seconds or states)[0]
        raise UsageError(
            f"{name}: it has several cores, where an interrupt is tried without {option}",
            remedy=f"Leave {option} out, or name one core: --target freertos/ibex@rtl",
        )


def further_samples(name: TargetName, asked: Asked) -> int:
    """How many samples follow those that have no arrival: in QEMU, and where a timer of the board
    raises it, each arrival has one."""
    return FURTHER if name.tier == "emulated" or asked.by_timer else 0


def functions_of(arrivals: Arrivals, elf: Elf) -> dict[str, str]:
    """The functions that the arrivals interrupted: name by address, `0x80000458`."""
    starts = {}
    for pc in {int(pc) for lane in ARRIVALS for pc in arrivals.values(lane, "pc")}:
        name, _, inside = elf.symbol_at(pc).partition("+")
        if name:
            starts[pc - int(inside, 16)] = name
    return {f"{start:#x}": name for start, name in sorted(starts.items())}
