# SPDX-License-Identifier: Apache-2.0
"""A plan's points on one target, seen by the scope: instructions, or cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import TimingModel
from kadenz.config.target_name import parse_target
from kadenz.images.image import Image, build_image
from kadenz.lab.condition import Setup
from kadenz.lab.execution import make_target
from kadenz.lab.plan import Point, plan_text
from kadenz.targets import timing_model
from kadenz.targets.rtl import RtlTarget
from kadenz.targets.scope import RecordSpans
from kadenz.targets.scoped import ScopedQemuTarget

Parameters = Mapping[str, int | tuple[int, int]]


@dataclass(frozen=True)
class Build:
    """A target, and what its image is built from."""

    target: str
    tree: Path | None = None  # of the kernel; None: the pinned one
    extra: tuple[Path, ...] = field(default=())  # C files outside the suite

    def image(self) -> Image:
        """The image for the scope."""
        name = parse_target(self.target)
        return build_image(name, "scope", tree=self.tree, extra_bench=self.extra)


def modelled(build: Build, parameters: Parameters) -> ScopedQemuTarget:
    """An emulated target under its board's model with some parameters known."""
    board = parse_target(build.target).board
    tier = inventory.board(board).tier.emulated
    assert tier is not None and tier.model is not None
    given = TimingModel(name=tier.model.name, parameters=dict(parameters))
    return ScopedQemuTarget(tier, build.image().elf, timing_model.model(board, given))


def spans(
    build: Build, instrument: str, parameters: Parameters, points: Sequence[Point]
) -> dict[int, RecordSpans]:
    """By the point's number, in one execution. `instrument` is `scope` or `model`."""
    if instrument == "model":
        return _records(modelled(build, parameters), points)
    target = make_target(parse_target(build.target), instrument, build.image(), Setup())
    assert isinstance(target, ScopedQemuTarget | RtlTarget)
    return _records(target, points)


def _records(
    target: ScopedQemuTarget | RtlTarget, points: Sequence[Point]
) -> dict[int, RecordSpans]:
    target.open(plan_text(list(points)))
    while target.read(1.0) is not None:
        pass
    target.close()
    return target.records
