# SPDX-License-Identifier: Apache-2.0
"""Names of targets: `kernel/board@tier`, as in `freertos/hifive1-revb@emulated`, or a lab's own.

`board@tier` is a target for an image that another build made: its kernel comes with it.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from kadenz.config import inventory
from kadenz.config.board_link import BoardLink
from kadenz.config.lab_file import Lab, LabTarget, find_lab
from kadenz.config.toml import did_you_mean
from kadenz.errors import ConfigError, KadenzError, UsageError

_NAME = re.compile(r"^(?:(?P<kernel>[a-z0-9-]+)/)?(?P<board>[a-z0-9_-]+)@(?P<tier>[a-z]+)$")
# Tiers that start an image which another build made.
IMAGE_TIERS = ("emulated", "rtl", "board")


class TargetName(NamedTuple):
    """A kernel on a board under one tier; `lab_name` is the name of its [target] table in the lab.

    The kernel is "" for an image that another build made, until the image names it.
    """

    kernel: str
    board: str
    tier: str
    lab_name: str = ""

    def __str__(self) -> str:
        return self.lab_name or self.parts

    @property
    def parts(self) -> str:
        """The name that every lab understands: `freertos/stm32f4@emulated`."""
        return f"{self.kernel}/{self.board}@{self.tier}".removeprefix("/")


def known_targets() -> list[str]:
    """All targets: each kernel on each of its boards under each tier, then those of the lab."""
    boards = inventory.boards()
    targets = [
        f"{kernel}/{board}@{tier}"
        for kernel, board in inventory.pairs()
        for tier in boards[board].tier.names()
    ]
    lab = find_lab()
    return targets + ([] if lab is None else list(lab.file.target))


def parse_target(text: str, known: list[str] | None = None) -> TargetName:
    """The target called `text`. Raises UsageError with the nearest name if there is none.

    `known` are the `known_targets()`, if the caller has them.
    Raises ConfigError if its kernel, its board or its table in the lab's file is invalid.
    """
    lab = find_lab()
    if lab is not None and text in lab.file.target:
        return _of_lab(lab, text)
    known = known_targets() if known is None else known
    match = _NAME.match(text)
    name = (
        None if match is None else TargetName(match["kernel"] or "", match["board"], match["tier"])
    )
    if name is not None and not name.kernel and name.board in inventory.boards():
        return _for_an_image(name)
    tiers = [target for target in known if target.startswith(f"{text}@")]
    if name is None and tiers:
        silicon_last = sorted(tiers, key=lambda target: target.endswith("@board"))
        raise UsageError(
            f"`{text}` names no tier: expected kernel/board@tier",
            remedy=f"Name one: {', '.join(silicon_last)}",
        )
    if name is None or not name.kernel:
        raise UsageError(
            f"`{text}` is not a target: expected kernel/board@tier, or board@tier with --image",
            remedy=did_you_mean(text, known),
        )
    if text not in known:
        raise _unknown(name, known)
    return name


def lab_target(name: TargetName) -> LabTarget:
    """The target's table in the lab's file; one without settings if it has none."""
    lab = find_lab() if name.lab_name else None
    if lab is None or name.lab_name not in lab.file.target:
        return LabTarget(kernel=name.kernel or "unknown", board=name.board, tier=name.tier)
    return lab.file.target[name.lab_name]


def own_source(name: TargetName) -> Path | None:
    """The source tree of the kernel that the lab's file names for this target; None: pinned."""
    lab, source = find_lab(), lab_target(name).source
    return lab.folder / source if lab is not None and source else None


def own_image(name: TargetName) -> Path | None:
    """The image that the lab's file names for this target; None: it names none."""
    lab, image = find_lab(), lab_target(name).image
    return lab.folder / image if lab is not None and image else None


def own_link(name: TargetName) -> BoardLink:
    """How the lab's file says that the target's board is reached; empty if it does not."""
    return lab_target(name).link


def own_place(name: TargetName) -> str:
    """The place of a rack where the lab's file says that the target's board stands; "": none."""
    return lab_target(name).place


def problems() -> list[KadenzError]:
    """An error for every invalid [target] table of the lab."""
    lab = find_lab()
    errors: list[KadenzError] = []
    for text in [] if lab is None else lab.file.target:
        try:
            parse_target(text)
        except KadenzError as error:
            errors.append(error)
    return errors


def _for_an_image(name: TargetName) -> TargetName:
    """A board under a tier, for an image that brings its kernel."""
    tiers = [tier for tier in inventory.board(name.board).tier.names() if tier in IMAGE_TIERS]
    if name.tier not in tiers:
        raise UsageError(
            f"`{name}` names no kernel, and {name.board} takes no image of another build on the "
            f"tier {name.tier}",
            remedy=did_you_mean(str(name), [f"{name.board}@{tier}" for tier in tiers])
            if tiers
            else "Name a target as kernel/board@tier",
        )
    return name


def _unknown(name: TargetName, known: list[str]) -> KadenzError:
    """The error for parts that make no target: the invalid file if there is one."""
    for read, part in ((inventory.kernel, name.kernel), (inventory.board, name.board)):
        try:
            read(part)
        except ConfigError as error:
            return error
        except UsageError:
            continue
    return UsageError(f"no target `{name}`", remedy=did_you_mean(str(name), known))


def _of_lab(lab: Lab, text: str) -> TargetName:
    """A lab's target; ConfigError for everything that can be wrong in its table."""
    table = lab.file.target[text]
    where = f"{lab.path}: [target.{text}]"
    try:
        name = parse_target(TargetName(table.kernel, table.board, table.tier).parts)
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", remedy=error.remedy) from None
    misplaced = [field.name for field in fields(table.link) if getattr(table.link, field.name)]
    if misplaced and table.tier != "board":
        raise ConfigError(
            f"{where}: `{misplaced[0]}` is for the tier board, this is {table.tier}",
            remedy='Remove it, or write tier = "board"',
        )
    if table.source and not (lab.folder / table.source).is_dir():
        raise ConfigError(
            f"{where}: `source`: {lab.folder / table.source} is not a folder",
            remedy="Give the kernel's source tree, relative to the lab",
        )
    if table.image and not (lab.folder / table.image).is_file():
        raise ConfigError(
            f"{where}: `image`: {lab.folder / table.image} is not a file",
            remedy="Give the ELF file of your build, relative to the lab",
        )
    return name._replace(lab_name=text)


def parse_image_name(text: str) -> TargetName:
    """As `parse_target`; without a tier, the board's first one: all tiers run the same image."""
    known = known_targets()
    if "@" in text or text in known:
        return parse_target(text)
    images = {name.partition("@")[0]: name for name in reversed(known)}
    if text not in images:
        raise UsageError(f"no target `{text}`", remedy=did_you_mean(text, sorted(images)))
    return parse_target(images[text])
