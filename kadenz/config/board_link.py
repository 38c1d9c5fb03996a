# SPDX-License-Identifier: Apache-2.0
"""How a board on the desk is reached: its debug server, its probe, and the way of its results."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, Protocol

# The ways by which frames leave a board: kadenz/targets/board has one file for each.
Way = Literal["uart", "rtt"]
WAYS: tuple[Way, ...] = ("uart", "rtt")
BY_HAND = "none"  # as a server: the image was loaded by hand, frames come over the serial line


class PowerSwitch(Protocol):
    """The switch of one board's supply."""

    def cycle(self) -> None:
        """Switches the board off and on. TargetFailed with the reason if that is impossible."""


@dataclass(frozen=True)
class BoardLink:
    """Every field may be empty: then it is the board's default."""

    port: str = ""  # serial line: "/dev/serial/by-id/…"
    probe: str = ""  # "vid:pid:serial", or the serial number alone
    server: str = ""  # file of servers/, "NAME@HOST:PORT" of one that runs, or "none"
    command: tuple[str, ...] = ()  # the user's own command instead of the server's
    results: str = ""  # one of WAYS
    power: PowerSwitch | None = None  # of the place where the board stands

    def over(self, other: BoardLink) -> BoardLink:
        """This link, with `other` where it says nothing."""
        names = [field.name for field in fields(self)]
        return BoardLink(**{name: getattr(self, name) or getattr(other, name) for name in names})


DEFAULT = BoardLink()  # everything as the board says
