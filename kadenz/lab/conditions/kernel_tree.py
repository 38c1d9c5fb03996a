# SPDX-License-Identifier: Apache-2.0
"""A source tree of the kernel instead of the pinned one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kadenz.config.target_name import TargetName
from kadenz.lab.condition import Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign

PINNED = "pinned"


@dataclass(frozen=True)
class KernelTree(Condition):
    """One tree. The manifest has its origin in `build.kernel_source`, whoever asked for it."""

    source: str  # a folder, or PINNED

    @property
    def labels(self) -> tuple[str, ...]:
        """The folder as the user wrote it."""
        return (f"kernel {self.source}",)

    @property
    def suffix(self) -> str:
        """The name of the folder."""
        return f"-kernel-{Path(self.source).resolve().name if self.source != PINNED else PINNED}"

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The image is built from this tree."""
        setup.kernel_source = None if self.source == PINNED else Path(self.source)


@dataclass(frozen=True)
class KernelTreeChoice(Choice):
    """The trees to compare."""

    sources: tuple[str, ...] = ()

    title = "Kernel"
    order = 10
    options = (
        Option(
            "--kernel-source",
            "Source tree of the kernel instead of the pinned one; may be repeated, one run for "
            "each.",
            metavar="DIR|pinned",
            many=True,
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names trees."""
        return cls(tuple(values.get("kernel_source", ())))

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each tree."""
        return [KernelTree(source) for source in self.sources]
