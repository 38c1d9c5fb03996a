# SPDX-License-Identifier: Apache-2.0
"""The instruction set that an image is compiled for: the chip's own, or a subset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.lab.condition import Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign


@dataclass(frozen=True)
class InstructionSet(Condition):
    """One of the board's instruction sets."""

    isa: str  # the compiler's name: "rv32ima"
    usual: str  # the board's first

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """One entry, by the compiler's name of the instruction set."""
        isa = self.isa
        return (ConditionEntry(kind="instruction set", value=isa, label=isa, usual=self.usual),)

    @property
    def suffix(self) -> str:
        """What a run folder of this instruction set ends in: `-rv32imac`."""
        return f"-{self.isa}"

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The image is compiled for it; the board's first needs no image of its own."""
        setup.isa = self.isa if self.isa != self.usual else ""


@dataclass(frozen=True)
class InstructionSetChoice(Choice):
    """The instruction sets to compare."""

    asked_for: tuple[str, ...] = ()

    title = "Instruction set"
    order = 15
    changes_image = True
    options = (
        Option(
            "--isa",
            "Instruction set of the image, one of the board's `instruction_sets`; may be repeated, "
            "one run for each.",
            metavar="NAME",
            many=True,
            complete=lambda typed: _known(typed),
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names instruction sets."""
        return cls(tuple(values.get("isa", ())))

    def check(self, targets: Sequence[TargetName]) -> None:
        """UsageError for an instruction set that none of the targets' boards has."""
        offered = {isa for name in targets for isa in _sets(name.board)}
        for isa in self.asked_for:
            if isa not in offered:
                raise UsageError(
                    f"--isa {isa}: no board of these targets has this instruction set",
                    remedy=did_you_mean(isa, sorted(offered))
                    if offered
                    else "`instruction_sets` in board.toml lists them; leave --isa out",
                )

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each of them that the target's board has."""
        offered = _sets(target.board) if target.kernel else ()  # an image has its own
        return [InstructionSet(isa, offered[0]) for isa in self.asked_for if isa in offered]


def _sets(board: str) -> tuple[str, ...]:
    return inventory.board(board).instruction_sets


def _known(typed: str) -> Iterable[tuple[str, str]]:
    return [
        (isa, board.title)
        for board in inventory.boards().values()
        for isa in board.instruction_sets
        if isa.startswith(typed)
    ]
