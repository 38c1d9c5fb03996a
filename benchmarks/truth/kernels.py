# SPDX-License-Identifier: Apache-2.0
"""The kernels for a published figure: the pinned one, and trees of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kadenz.analysis.published import PublishedFigure
from kadenz.config import inventory
from kadenz.images.source import kernel_source
from kadenz.images.tree import version_in


class Kernel(NamedTuple):
    """A kernel's source."""

    name: str  # of its folder
    tree: Path | None  # None: the pinned one
    title: str

    def concerns(self, figure: PublishedFigure) -> bool:
        """The pinned one is compared with every figure, a tree with those of its version."""
        pinned = inventory.kernel(self.name).source
        if self.tree is None or pinned is None or pinned.left_to_user:
            return True
        return self.title.rpartition(" ")[2].removeprefix("V") in figure.kernel


def kernels(name: str, trees: Sequence[tuple[str, Path]]) -> Iterator[Kernel]:
    """The pinned source of a kernel, if it has one, and the given trees of it."""
    kernel = inventory.kernel(name)
    assert kernel.source is not None
    fetched = [] if kernel.source.left_to_user else [None]
    for tree in [*fetched, *(tree for of, tree in trees if of == name)]:
        source = kernel_source(name, kernel, tree)
        assert source is not None
        version = version_in(source.folder, kernel.source)
        yield Kernel(name, tree, f"{kernel.title} {version}")


def given(text: str) -> tuple[str, Path]:
    """`KERNEL=DIR` of the command line."""
    name, _, folder = text.partition("=")
    return name, Path(folder).expanduser()
