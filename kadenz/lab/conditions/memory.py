# SPDX-License-Identifier: Apache-2.0
"""Wait states of the memories of a simulated SoC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.lab.condition import Choice, Condition, Option, Setup
from kadenz.targets.rtl_core import core_file

if TYPE_CHECKING:
    from kadenz.config.board import RtlTier
    from kadenz.config.campaign import Campaign

_FLAG, _MOST = "--wait-states", 1000


@dataclass(frozen=True)
class WaitStates(Condition):
    """The wait states of every memory of a machine, and its caches."""

    wait: tuple[tuple[str, int], ...]  # by memory
    usual: tuple[int, ...]  # the board's, in the same order
    asked: frozenset[str]  # the memories that the user named
    caches: str
    shared: tuple[str, ...] = ()  # memories that serve one access at a time, of all buses

    @property
    def labels(self) -> tuple[str, ...]:
        """`rom_wait 4`, for each memory that the user named."""
        return tuple(f"{name}_wait {wait}" for name, wait in self.wait if name in self.asked)

    @property
    def suffix(self) -> str:
        """What a run folder of these wait states ends in: `-rom4-ram0`."""
        return "".join(f"-{name}{wait}" for name, wait in self.wait if name in self.asked)

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Kinds `rom_wait`, `ram_wait` and so on: every figure depends on them."""
        return tuple(
            ConditionEntry(kind=f"{name}_wait", value=str(wait), usual=str(usual))
            for (name, wait), usual in zip(self.wait, self.usual, strict=True)
        )

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The machine is started with them."""
        setup.wait_states = dict(self.wait)

    def settings(self) -> dict[str, str]:
        """The same, the caches, and the memories that all buses share."""
        shared = ", ".join(self.shared) or "none"
        waits = {entry.kind: entry.value for entry in self.entries}
        return {**waits, "caches": self.caches, "shared_memories": shared}


@dataclass(frozen=True)
class WaitStatesChoice(Choice):
    """The values to sweep, by memory."""

    sweeps: tuple[tuple[str, tuple[int, ...]], ...] = ()

    title = "Simulated cores"
    order = 17
    options = (
        Option(
            _FLAG,
            "Cycles that an access to a memory of a simulated core takes beyond the first: "
            "rom=0,1,4,10. One run for each combination. Default: the board's.",
            metavar="MEMORY=N[,N…]",
            kind="keys",
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line and the lab sweep."""
        waits = values.get("wait_states", {})
        return cls(tuple((name, _numbers(name, texts)) for name, texts in waits.items()))

    def check(self, targets: Sequence[TargetName]) -> None:
        """UsageError for a memory that no machine has, or without a simulated core."""
        tiers = [tier for name in targets if (tier := _tier(name)) is not None]
        known = sorted({memory.name for tier in tiers for memory in tier.memory})
        for name, _ in self.sweeps:
            if not tiers:
                raise UsageError(
                    f"{_FLAG} {name}: no target of this run is a simulated core",
                    remedy="Name a target of tier rtl with --target",
                )
            if name not in known:
                raise UsageError(
                    f"{_FLAG} {name}: no machine of this run has such a memory",
                    remedy=did_you_mean(name, known),
                )

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """Every combination, on a simulated core."""
        tier = _tier(target)
        if tier is None:
            return []
        swept = dict(self.sweeps)
        names = [memory.name for memory in tier.memory]
        values = [swept.get(memory.name, (memory.wait,)) for memory in tier.memory]
        usual = tuple(memory.wait for memory in tier.memory)
        asked = frozenset(swept)
        shared = tuple(memory.name for memory in tier.memory if memory.shared)
        caches = core_file(tier.core).caches
        return [
            WaitStates(tuple(zip(names, waits, strict=True)), usual, asked, caches, shared)
            for waits in product(*values)
        ]


def _tier(target: TargetName) -> RtlTier | None:
    return inventory.board(target.board).tier.rtl if target.tier == "rtl" else None


def _numbers(name: str, texts: Sequence[str]) -> tuple[int, ...]:
    """The wait states of one memory. UsageError for anything but numbers in range."""
    if not all(re.fullmatch("[0-9]{1,9}", text) and int(text) <= _MOST for text in texts):
        raise UsageError(
            f"{_FLAG} {name}={','.join(texts)}: expected MEMORY=N,N… with 0 to {_MOST} wait states",
            remedy=f"For example {_FLAG} rom=0,1,4,10",
        )
    return tuple(dict.fromkeys(int(text) for text in texts))
