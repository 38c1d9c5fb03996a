# SPDX-License-Identifier: Apache-2.0
"""What the caches of a simulated core hold when a sample begins: what ran before, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.lab.condition import Choice, Condition, Option, Setup
from kadenz.targets.rtl_core import core_file

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign

_FLAG = "--caches"
_HOT = "hot"
# The caches that are emptied at each BEGIN, by the value of the option.
_FLUSHED: Mapping[str, tuple[str, ...]] = {
    _HOT: (),
    "flushed": ("instructions", "data"),
    "instructions-flushed": ("instructions",),
    "data-flushed": ("data",),
}


@dataclass(frozen=True)
class CacheState(Condition):
    """The state of both caches at each BEGIN of a sample."""

    state: str  # of _FLUSHED

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Kind `cache_state`; runs that do not state it have what ran before in their caches."""
        label = f"caches {self.state}"
        return (ConditionEntry(kind="cache_state", value=self.state, label=label, usual=_HOT),)

    @property
    def suffix(self) -> str:
        """What a run folder of this state ends in: `-flushed`."""
        return f"-{self.state}"

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The bench empties them."""
        setup.flushed_caches = _FLUSHED[self.state]


@dataclass(frozen=True)
class CacheStateChoice(Choice):
    """The states to compare."""

    states: tuple[str, ...] = ()

    title = "Simulated cores"
    order = 18
    options = (
        Option(
            _FLAG,
            "What the caches of a simulated core hold when a sample begins: "
            f"{', '.join(_FLUSHED)}; hot is what ran before. May be repeated, one run for each. "
            "Needs --instrument scope.",
            metavar="STATE",
            many=True,
            complete=lambda typed: [(state, "") for state in _FLUSHED],
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names states."""
        return cls(tuple(dict.fromkeys(values.get("caches", ()))))

    def check(self, targets: Sequence[TargetName]) -> None:
        """UsageError for a state that is none, or without a core whose caches can be emptied."""
        for state in self.states:
            if state not in _FLUSHED:
                raise UsageError(
                    f"{_FLAG} {state}: no such state", remedy=did_you_mean(state, [*_FLUSHED])
                )
        if self.states and not any(map(_flushes, targets)):
            raise UsageError(
                f"{_FLAG} {self.states[0]}: no target of this run has caches that can be emptied",
                remedy="Name a simulated core with caches, for instance --target "
                "freertos/vexriscv@rtl",
            )

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each state, on a core whose caches can be emptied."""
        return [CacheState(state) for state in self.states] if _flushes(target) else []


def _flushes(target: TargetName) -> bool:
    tier = inventory.board(target.board).tier.rtl if target.tier == "rtl" else None
    return tier is not None and core_file(tier.core).flushes
