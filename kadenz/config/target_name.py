# SPDX-License-Identifier: Apache-2.0
"""Names of targets: `kernel/board@tier`, as in `freertos/hifive1-revb@emulated`."""

from __future__ import annotations

import re
from typing import NamedTuple

from kadenz.config import inventory
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError

_NAME = re.compile(r"^(?P<kernel>[a-z0-9-]+)/(?P<board>[a-z0-9_-]+)@(?P<tier>[a-z]+)$")


class TargetName(NamedTuple):
    """A kernel on a board under one tier."""

    kernel: str
    board: str
    tier: str

    def __str__(self) -> str:
        return f"{self.kernel}/{self.board}@{self.tier}"


def known_targets() -> list[str]:
    """All targets of the checkout: each kernel on each of its boards under each tier."""
    boards = inventory.boards()
    return [
        f"{kernel}/{board}@{tier}"
        for kernel, description in inventory.kernels().items()
        for board in description.boards
        if board in boards
        for tier in boards[board].tier.names()
    ]


def parse_target(text: str) -> TargetName:
    """The target called `text`. Raises UsageError with the nearest name if there is none."""
    known = known_targets()
    match = _NAME.match(text)
    if match is None:
        raise UsageError(
            f"`{text}` is not a target: expected kernel/board@tier",
            remedy=did_you_mean(text, known),
        )
    if text not in known:
        raise UsageError(f"no target `{text}`", remedy=did_you_mean(text, known))
    return TargetName(**match.groupdict())
