# SPDX-License-Identifier: Apache-2.0
"""A tuning of this Linux around each run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.key_values import Key
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, UsageError
from kadenz.lab.condition import NONE, Active, Choice, Condition, Option, Running

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign


CPUS = Key(
    "cpus",
    "Processors to set apart for real time, 2-3. Default: the profile's.",
    "LIST",
    "processors",
)


@dataclass(frozen=True)
class Tuning(Condition):
    """This Linux tuned by a profile, or shown not to be."""

    profile: str  # a profile of tunings/ or its file, or NONE
    cpus: str = ""  # set apart for real time, instead of the profile's

    def __str__(self) -> str:
        """As on the command line, with the short name of the profile."""
        from kadenz.tuning.lifecycle import short_name

        return short_name(self.profile) + (f",cpus={self.cpus}" if self.cpus else "")

    @property
    def suffix(self) -> str:
        """The same, in letters of a file name."""
        return f"-tuning-{re.sub('[,=]', '-', str(self))}"

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """The tuning as requested; a profile in force adds what could not be set."""
        return (tuning_entry(str(self)),)

    def active(self, run: Running) -> AbstractContextManager[Active]:
        """Applied before the run and restored after it."""
        from kadenz.lab.tuning_around import tuning_applied

        return tuning_applied(self.profile, self.cpus, run)


def tuning_entry(value: str, label: str = "") -> ConditionEntry:
    """A tuning of this Linux or of a guest's threads."""
    return ConditionEntry(kind="tuning", value=value, label=label, usual=NONE)


def _profiles(typed: str) -> Iterable[tuple[str, str]]:
    try:
        return [(name, "") for name in (NONE, *inventory.tuning_files()) if name.startswith(typed)]
    except KadenzError:
        return []


@dataclass(frozen=True)
class TuningChoice(Choice):
    """The profiles to measure under."""

    tunings: tuple[Tuning, ...] = ()

    title = "Tuning of this Linux"
    order = 30
    options = (
        Option(
            "--tuning",
            "Tune this Linux with a profile around each run, then restore it: none, latency, "
            "isolated …; `kadenz tune list` shows them. One run for each. Needs root.",
            metavar="PROFILE",
            many=True,
            keys=(CPUS,),
            complete=_profiles,
            or_file=True,
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line tunes this machine."""
        return cls(
            tuple(Tuning(request.name, **request.keys) for request in values.get("tuning", ()))
        )

    def check(self, targets: Sequence[TargetName]) -> None:
        """Raises KadenzError if a tuning could not be set around a run."""
        from kadenz.lab.tuning_around import check_tunings

        check_tunings([(tuning.profile, tuning.cpus) for tuning in self.tunings], targets)

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each profile on this Linux. UsageError for a target that no profile affects."""
        if target.tier == "host":
            return list(dict.fromkeys(self.tunings))
        if not self.tunings or any(tuning.profile == NONE for tuning in self.tunings):
            return []
        raise UsageError(
            f"--tuning {self.tunings[0]} tunes this Linux: {target} is unaffected by it (tier "
            f"{target.tier})",
            remedy="Tune kernel threads of a guest with --guest tuning=PROFILE"
            if target.tier == "guest"
            else "Name a target of tier host with --target, or add --tuning none for the others",
        )
