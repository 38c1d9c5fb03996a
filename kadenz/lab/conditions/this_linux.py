# SPDX-License-Identifier: Apache-2.0
"""Rights and settings that a measurement of this Linux may do without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kadenz.config.key_values import Key
from kadenz.config.manifest import ConditionEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.target_name import TargetName
from kadenz.errors import TargetFailed
from kadenz.lab.condition import Allowance, Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign

_IDLE_STATES = Stamp(
    code="idle-states-allowed",
    message="measured with idle states on (--allow idle-states): wake-ups include leaving them",
)


@dataclass(frozen=True)
class Allowed(Condition):
    """Allowances of a program on this machine."""

    allowances: frozenset[Allowance]

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Idle states. A right that may be missing changes nothing where it is not."""
        if "idle-states" not in self.allowances:
            return ()
        return (ConditionEntry(kind="idle states", value="allowed", usual="held off"),)

    @property
    def warnings(self) -> list[Stamp]:
        """Idle states are stamped here; missing rights are findings of the machine itself."""
        return [_IDLE_STATES] if "idle-states" in self.allowances else []

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """Passes them to the program."""
        setup.allowed |= self.allowances - {"weak-load"}  # the lab's own


@dataclass(frozen=True)
class ThisLinuxChoice(Choice):
    """What may be missing."""

    allowances: frozenset[Allowance] = frozenset()

    title = "This Linux"
    order = 60
    options = (
        Option(
            "--allow",
            "Measure all the same, and stamp a warning. May be repeated.",
            metavar="NAME",
            kind="names",
            many=True,
            keys=(
                Key("weak-load", "A load stays below its required rate."),
                Key("no-realtime", "There is no right to SCHED_FIFO or to locked memory."),
                Key("idle-states", "The processor's idle states are on."),
            ),
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line and the lab allow."""
        return cls(frozenset(values.get("allow", ())))

    def check(self, targets: Sequence[TargetName]) -> None:
        """TargetFailed if a host target lacks the rights it needs."""
        from kadenz.host.facts import NO_RIGHT, read_host

        on_host = [name for name in targets if name.tier == "host"]
        if not on_host or "no-realtime" in self.allowances:
            return
        missing = [warning for warning in read_host().warnings if warning.code in NO_RIGHT]
        if missing:
            raise TargetFailed(
                f"{on_host[0]}: {missing[0].message}",
                remedy=f"{missing[0].remedy}. Or pass --allow no-realtime, which stamps it",
            )

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One, on this Linux."""
        return [Allowed(self.allowances)] if self.allowances and target.tier == "host" else []
