# SPDX-License-Identifier: Apache-2.0
"""A source tree of the kernel instead of the one that its kernel.toml names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.target_name import TargetName, own_source
from kadenz.errors import UsageError
from kadenz.images.source import kernel_source
from kadenz.lab.condition import Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign
    from kadenz.config.kernel import Kernel

PINNED = "pinned"
_NAMED = re.compile(r"([\w.-]+)=(.+)")


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

    @property
    def tree(self) -> Path | None:
        """The folder; None for PINNED."""
        return None if self.source == PINNED else Path(self.source)

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """The image is built from this tree."""
        setup.kernel_source = self.tree


@dataclass(frozen=True)
class KernelTreeChoice(Choice):
    """The trees to compare, each with the kernel it belongs to; "": the only one of the run."""

    sources: tuple[tuple[str, str], ...] = ()

    title = "Kernel"
    order = 10
    changes_image = True
    options = (
        Option(
            "--kernel-source",
            "Source tree of the kernel instead of the pinned one; NAME=DIR for one of several "
            "kernels. May be repeated, one run for each.",
            metavar="[NAME=]DIR|pinned",
            many=True,
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names trees."""
        return cls.named(values.get("kernel_source", ()))

    @classmethod
    def named(cls, texts: Sequence[str]) -> Self:
        """From the values of the option: "DIR", "NAME=DIR"."""
        return cls(tuple(_parsed(text) for text in texts))

    def check(self, targets: Sequence[TargetName]) -> None:
        """Each tree belongs to one kernel of the run and is that kernel; none is missing."""
        targets = [target for target in targets if target.kernel]
        kernels = {target.kernel: inventory.kernel(target.kernel) for target in targets}
        built = [name for name, kernel in kernels.items() if _is_built(kernel)]
        for name, source in self.sources:
            if name and name not in built:
                raise _not_built(name, source, kernels)
            if not name and len(built) != 1:
                raise _ambiguous(source, kernels, built)
        for target in targets:
            kernel = kernels[target.kernel]
            for kernel_tree in self.of(target.kernel) or [KernelTree(PINNED)]:
                tree = kernel_tree.tree or own_source(target)
                if tree is not None or (kernel.source is not None and not _from_crate(kernel)):
                    cores = inventory.board(target.board).cores
                    kernel_source(target.kernel, kernel, tree, cores=cores)

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """One for each tree of the target's kernel."""
        return self.of(target.kernel)

    def of(self, kernel: str) -> list[KernelTree]:
        """The trees of one kernel; none for a kernel that is not built with the image."""
        if not kernel or not _is_built(inventory.kernel(kernel)):
            return []
        return [KernelTree(source) for name, source in self.sources if name in ("", kernel)]


def _parsed(text: str) -> tuple[str, str]:
    named = _NAMED.fullmatch(text)
    return (named[1], named[2]) if named else ("", text)


def _is_built(kernel: Kernel) -> bool:
    return kernel.source is not None and not kernel.own_build


def _from_crate(kernel: Kernel) -> bool:
    return kernel.source is not None and kernel.source.crate is not None


def _not_built(name: str, source: str, kernels: Mapping[str, Kernel]) -> UsageError:
    if name in kernels:
        return UsageError(
            f"--kernel-source {name}={source}: {kernels[name].title} is not built with the image",
            remedy="Omit the option for this target",
        )
    return UsageError(
        f"--kernel-source {name}={source}: no target of this run has the kernel `{name}`",
        remedy=f"Its kernels are {', '.join(kernels)}; write ./{name}=… for a folder of that name",
    )


def _ambiguous(source: str, kernels: Mapping[str, Kernel], built: Sequence[str]) -> UsageError:
    if built:
        return UsageError(
            f"--kernel-source {source}: this run builds {len(built)} kernels",
            remedy=f"Say which one: --kernel-source {built[0]}={source}",
        )
    titles = ", ".join(kernel.title for kernel in kernels.values()) or "the kernel of --image"
    return UsageError(
        f"--kernel-source {source}: {titles} is not built with the image",
        remedy="Omit the option for this target",
    )
