# SPDX-License-Identifier: Apache-2.0
"""A program of the user's that a guest runs instead of the board's own: a fieldbus master."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName, known_targets, parse_target
from kadenz.errors import UsageError
from kadenz.images.given_program import GivenProgram
from kadenz.lab.condition import Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign


@dataclass(frozen=True)
class ProgramGiven(Condition):
    """One program on one ring. `build.parts` of the manifest have the digests of both."""

    program: GivenProgram

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """The program with its arguments, and the file of its ring."""
        program = self.program
        name = ConditionEntry(kind="program", value=str(program), label=program.file.name)
        if program.ring is None:
            return (name,)
        return (name, ConditionEntry(kind="ring", value=program.ring.name))

    @property
    def suffix(self) -> str:
        """The name of the program."""
        return f"-{re.sub(r'[^A-Za-z0-9.-]', '-', self.program.file.name)}"

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """This program is packed and started."""
        setup.program = self.program


@dataclass(frozen=True)
class ProgramChoice(Choice):
    """The program to measure, on guests whose board has network cards."""

    program: GivenProgram | None = None

    title = "Your own program"
    order = 25
    options = (
        Option(
            "--program",
            "A fieldbus master, measured as it is on a guest with network cards: its file, and its "
            "arguments. Its interface is in KADENZ_INTERFACE.",
            metavar="'FILE ARGUMENT…'",
        ),
        Option(
            "--ring",
            "The devices that it drives, as a file of the segment. Default: the board's.",
            metavar="FILE",
            kind="file",
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names a program, beside the lab's file."""
        command, ring = values.get("program"), values.get("ring")
        if command is None:
            if ring:
                raise UsageError("--ring is the ring of a program", remedy="Name it with --program")
            return cls()
        try:
            file, *arguments = shlex.split(command) or [""]
            if not file:
                raise ValueError("it names no file")
        except ValueError as error:
            raise UsageError(
                f"--program {command}: {error}",
                remedy="Write it as a shell would: --program './my-master eth0'",
            ) from None
        return cls(GivenProgram(Path(file), tuple(arguments), Path(ring) if ring else None))

    def check(self, targets: Sequence[TargetName]) -> None:
        """UsageError unless every target can run the program, and its ring is valid."""
        if self.program is None:
            return
        for target in targets:
            if not _takes_programs(target):
                able = [name for name in known_targets() if _takes_programs(parse_target(name))]
                raise UsageError(
                    f"--program: {target} has no network cards that it could use",
                    remedy=f"Name a target that has: {', '.join(able)}",
                )
            self.program.check(inventory.board(target.board).arch)

    def variants(self, target: TargetName) -> Sequence[ProgramGiven]:
        """The program, if there is one."""
        return [ProgramGiven(self.program)] if self.program is not None else []


def _takes_programs(target: TargetName) -> bool:
    guest = inventory.board(target.board).tier.guest if target.tier == "guest" else None
    return guest is not None and guest.program is not None and guest.program.card is not None
