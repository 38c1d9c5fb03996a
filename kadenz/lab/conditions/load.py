# SPDX-License-Identifier: Apache-2.0
"""A load on this Linux next to the benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from kadenz.config.key_values import Key
from kadenz.config.manifest import ConditionEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.processors import parse_cpus, show_cpus
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
NO_OPTIONS = Options()


@dataclass(frozen=True)
class Load(Condition):
    """One load, `none`, or "" for a target that has loads of its own."""

    name: str
    how: Options = field(default_factory=Options)
    elsewhere: tuple[str, ...] = ()  # loads that were asked for and do not affect this target

    def __str__(self) -> str:
        """As on the command line: `cpu,workers=2`."""
        workers = f",workers={self.how.workers}" if self.how.workers else ""
        cpus = f",cpus={show_cpus(frozenset(self.how.cpus))}" if self.how.cpus else ""
        return f"{self.name}{workers}{cpus}"

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """The load as requested; parts and rates are in `loads` of the manifest."""
        return (load_entry(str(self)),) if self.name else ()

    @property
    def suffix(self) -> str:
        """The same, in letters of a file name."""
        return f"-load-{re.sub('[,=]', '-', str(self))}" if self.name else ""

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

    loads: tuple[Load, ...] = ()
    where: str = "--load"  # who asked for them

    title = "Load on this Linux"
    order = 40
    options = (
        Option(
            "--load",
            "Load next to the benchmarks: none, cpu, disk, cpu+disk …; `kadenz list loads` shows "
            "them. One run for each; replaces the campaign's.",
            metavar="NAME",
            many=True,
            keys=(
                Key("workers", "Of each load of NAME. Default: its own.", "N", "count"),
                Key("cpus", "Processors it may use, 0,2-3. Default: all.", "LIST", "processors"),
                Key("scratch", "Folder for its files. Default: --output.", "DIR", "folder"),
            ),
            complete=_loads,
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """The command line's loads, else the campaign's; likewise how they run."""
        usual = Options(
            workers=campaign.load.workers,
            cpus=campaign.load.cpus,
            allow_weak="weak-load" in values.get("allow", ()),
        )
        loads = tuple(
            Load(
                request.name, _options(request.keys, NO_OPTIONS if request.name == NONE else usual)
            )
            for request in values.get("load", ())
        )
        if loads:
            return cls(loads)
        return cls(
            tuple(Load(name, NO_OPTIONS if name == NONE else usual) for name in campaign.loads),
            f"campaign {campaign.name}: `loads`",
        )

    def check(self, targets: Sequence[TargetName]) -> None:
        """Raises for unknown names, processors and missing programs."""
        for load in self.loads:
            try:
                parts_of(load.name)
                check_programs(load.name)
                if load.name != NONE:
                    chosen_cpus(load.how)
                elif load.how != Options():
                    raise UsageError(
                        f"load `{load}`: there is nothing to set",
                        remedy=f"Write {NONE} alone",
                    )
            except UsageError as error:
                raise UsageError(f"{self.where}: {error.message}", remedy=error.remedy) from None

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each load on this Linux. Any other target is measured once, without.

        UsageError if that was not asked for with `none`.
        """
        if not self.loads:
            return []
        loads = list(dict.fromkeys(self.loads))
        if target.tier == "host":
            return loads
        others = tuple(str(load) for load in loads if load.name != NONE)
        inside = target.tier == "guest"  # has loads of its own, and conditions that name them
        if any(load.name == NONE for load in loads):
            return [Load("" if inside else NONE, elsewhere=others)]
        raise UsageError(
            f"load `{loads[0]}` runs on this Linux: {target} is unaffected by it (tier "
            f"{target.tier})",
            remedy="Name loads inside a guest with --guest load=NAME"
            if inside
            else "Name a target of tier host with --target, or add --load none for the others",
        )


def _options(keys: Mapping[str, Any], usual: Options) -> Options:
    """How a load runs; a campaign's values where the command line has none."""
    given = dict(keys)
    if "cpus" in given:
        given["cpus"] = tuple(sorted(parse_cpus(given["cpus"])))
    return replace(usual, **given)
