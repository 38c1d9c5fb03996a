# SPDX-License-Identifier: Apache-2.0
"""A load on this Linux next to the benchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from kadenz.config.manifest import ConditionEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.processors import asked_cpus
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.lab.condition import Active, Choice, Condition, Option, Running
from kadenz.load.definitions import (
    ALL,
    NONE,
    Options,
    check_programs,
    chosen_cpus,
    names,
    parts_of,
    title,
)

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign

NOT_HERE = "load-not-applicable"


@dataclass(frozen=True)
class Load(Condition):
    """One load, `none`, or "" for a target that has loads of its own."""

    name: str
    how: Options
    elsewhere: tuple[str, ...] = ()  # loads that were asked for and do not affect this target

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """The name as it was asked for; parts and rates are in `loads` of the manifest."""
        return (load_entry(self.name),) if self.name else ()

    @property
    def suffix(self) -> str:
        """With the name of the load."""
        return f"-load-{self.name}" if self.name else ""

    @property
    def warnings(self) -> list[Stamp]:
        """One if the target is measured without a load that was asked for."""
        if not self.elsewhere:
            return []
        text = f"measured without {', '.join(self.elsewhere)}: loads run on this Linux and do not "
        return [Stamp(code=NOT_HERE, message=f"{text}affect targets of other tiers")]

    def active(self, run: Running) -> AbstractContextManager[Active]:
        """Started, shown to be effective, supervised and ended."""
        if self.name in ("", NONE):
            return super().active(run)
        from kadenz.lab.load_around import LoadAround

        return LoadAround(self.name, self.how, run)


def load_entry(name: str) -> ConditionEntry:
    """A load on this Linux or in a guest."""
    return ConditionEntry(kind="load", value=name, usual=NONE)


def _loads(typed: str) -> Iterable[tuple[str, str]]:
    """Loads; after a `+`, those that can still be added."""
    given, plus, _ = typed.rpartition("+")
    known = [name for name in names() if not plus or name not in (NONE, ALL, *given.split("+"))]
    return [
        (value, title(name))
        for name in known
        if (value := f"{given}{plus}{name}").startswith(typed)
    ]


@dataclass(frozen=True)
class LoadChoice(Choice):
    """The loads to measure under."""

    loads: tuple[str, ...] = ()
    how: Options = field(default_factory=Options)
    where: str = "--load"  # who asked for them

    title = "Load on this Linux"
    order = 40
    options = (
        Option(
            "--load",
            "Load next to the benchmarks: none, cpu, disk, cpu+disk …; `kadenz list` shows them. "
            "One run for each; replaces the campaign's.",
            metavar="NAME",
            many=True,
            complete=_loads,
        ),
        Option("--load-workers", "Workers of each load. Default: its own.", kind="count"),
        Option(
            "--load-cpus", "Processors a load may use, e.g. 0,2-3. Default: all.", metavar="LIST"
        ),
        Option(
            "--load-scratch",
            "Folder for a load's files while it runs. Default: --output.",
            kind="folder",
        ),
        Option(
            "--allow-weak-load",
            "Measure even if a load stays below its required rate; stamps a warning.",
            kind="flag",
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """The command line's loads, else the campaign's; likewise how they run."""
        loads, cpus = values.get("load") or (), values.get("load_cpus")
        how = Options(
            workers=values.get("load_workers") or campaign.load.workers,
            cpus=campaign.load.cpus
            if cpus is None
            else sorted(asked_cpus("--load-cpus", cpus, UsageError)),
            scratch=values.get("load_scratch"),
            allow_weak=bool(values.get("allow_weak_load")),
        )
        if loads:
            return cls(tuple(loads), how)
        return cls(tuple(campaign.loads), how, f"campaign {campaign.name}: `loads`")

    def check(self, targets: Sequence[TargetName]) -> None:
        """Raises for unknown names, processors and missing programs."""
        for load in self.loads:
            try:
                parts_of(load)
                check_programs(load)
            except UsageError as error:
                raise UsageError(f"{self.where}: {error.message}", remedy=error.remedy) from None
        if any(load != NONE for load in self.loads):
            chosen_cpus(self.how)

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each load on this Linux. Any other target is measured once, without.

        UsageError if that was not asked for with `none`.
        """
        if not self.loads:
            return []
        if target.tier == "host":
            return [Load(load, self.how) for load in dict.fromkeys(self.loads)]
        others = tuple(load for load in dict.fromkeys(self.loads) if load != NONE)
        inside = target.tier == "guest"  # has loads of its own, and conditions that name them
        if NONE in self.loads:
            return [Load("" if inside else NONE, self.how, others)]
        raise UsageError(
            f"load `{self.loads[0]}` runs on this Linux: {target} is unaffected by it (tier "
            f"{target.tier})",
            remedy="Name loads inside a guest with --guest-load"
            if inside
            else "Name a target of tier host with --target, or add --load none for the others",
        )
