# SPDX-License-Identifier: Apache-2.0
"""A sample with an interrupt in every cycle of it: which targets can, and what a run says of it."""

from __future__ import annotations

from dataclasses import dataclass

from kadenz.config import inventory
from kadenz.config.manifest import ARRIVALS, ARRIVING, ConditionEntry
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.lab.condition import Condition, Setup
from kadenz.targets.arrivals import Arrivals, Asked


@dataclass(frozen=True)
class EveryArrival(Condition):
    """An interrupt in every cycle of one sample, or in one of several, in one state."""

    asked: Asked

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Kind `arrivals`: in the image a thread waits that no other run has; then the state."""
        step = self.asked.step
        each = "every cycle" if step == 1 else f"one cycle in {step}"
        label = "every arrival" if step == 1 else f"one arrival in {step}"
        value = f"{each} of sample {self.asked.sample + 1}"
        if self.asked.ticks:
            label, value = f"{label} and tick", f"{value}, with a tick in {each}"
        held = (
            ConditionEntry(kind=name, value=str(threads), usual="0")
            for name, threads in self.asked.state
        )
        return ConditionEntry(kind=ARRIVING, value=value, label=label, usual="none"), *held

    @property
    def suffix(self) -> str:
        """What a run folder ends in: `-worst-tick-sleepers4`."""
        tick = "-tick" if self.asked.ticks else ""
        return f"-worst{tick}" + "".join(f"-{name}{threads}" for name, threads in self.asked.state)

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The bench copies the machine before each cycle of that sample."""
        setup.arriving = self.asked


def check_arrivals(name: TargetName, instrument: str) -> None:
    """UsageError for a target that cannot be forked before a cycle."""
    board = inventory.board(name.board)
    if name.tier == "rtl" and board.cores == 1 and instrument == "scope":
        return
    why = "is no simulated core"
    if name.tier == "rtl":
        why = f"has {board.cores} cores" if board.cores > 1 else "needs the instrument `scope`"
    raise UsageError(
        f"{name}: an interrupt cannot be tried in every cycle: it {why}",
        remedy="Name a simulated core: --target freertos/ibex@rtl",
    )


def functions_of(arrivals: Arrivals, elf: Elf) -> dict[str, str]:
    """The functions that the arrivals interrupted: name by address, `0x80000458`."""
    starts = {}
    for pc in {int(pc) for lane in ARRIVALS for pc in arrivals.values(lane, "pc")}:
        name, _, inside = elf.symbol_at(pc).partition("+")
        if name:
            starts[pc - int(inside, 16)] = name
    return {f"{start:#x}": name for start, name in sorted(starts.items())}
