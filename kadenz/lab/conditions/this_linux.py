# SPDX-License-Identifier: Apache-2.0
"""Rights and settings that a measurement of this Linux may do without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kadenz.config.manifest import ConditionEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.target_name import TargetName
from kadenz.errors import TargetFailed
from kadenz.lab.condition import Allowance, Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign

_IDLE_STATES = Stamp(
    code="idle-states-allowed",
    message="measured with idle states on (--allow-idle-states): wake-ups include leaving them",
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
        setup.allowed |= self.allowances


@dataclass(frozen=True)
class ThisLinuxChoice(Choice):
    """Real-time rights and idle states."""

    no_realtime: bool = False
    idle_states: bool = False

    title = "This Linux"
    order = 60
    options = (
        Option(
            "--allow-no-realtime",
            "Measure without the right to SCHED_FIFO or locked memory; stamps a warning.",
            kind="flag",
        ),
        Option(
            "--allow-idle-states",
            "Measure with the processor's idle states on; stamps a warning.",
            kind="flag",
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line allows."""
        return cls(
            no_realtime=bool(values.get("allow_no_realtime")),
            idle_states=bool(values.get("allow_idle_states")),
        )

    def check(self, targets: Sequence[TargetName]) -> None:
        """TargetFailed if a host target lacks the rights it needs."""
        from kadenz.host.facts import NO_RIGHT, read_host

        on_host = [name for name in targets if name.tier == "host"]
        if not on_host or self.no_realtime:
            return
        missing = [warning for warning in read_host().warnings if warning.code in NO_RIGHT]
        if missing:
            raise TargetFailed(
                f"{on_host[0]}: {missing[0].message}",
                remedy=f"{missing[0].remedy}. Or pass --allow-no-realtime, which stamps it",
            )

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One, on this Linux."""
        allowed: set[Allowance] = set()
        if self.no_realtime:
            allowed.add("no-realtime")
        if self.idle_states:
            allowed.add("idle-states")
        return [Allowed(frozenset(allowed))] if allowed and target.tier == "host" else []
