# SPDX-License-Identifier: Apache-2.0
"""From a target's name to the class that executes its image."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import Board, HostTier
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.images.guest import GuestImage
from kadenz.images.image import Image
from kadenz.lab import tuning_in_force
from kadenz.lab.bus import BusChoice
from kadenz.lab.guests import Guest, guest_target
from kadenz.targets.base import Target
from kadenz.targets.process import ProcessTarget

# What a program of this machine may do without: rights to real time, sleeping processors held off.
Allowance = Literal["no-realtime", "idle-states"]


def make_target(
    name: TargetName,
    instrument: str,
    image: Image,
    *,
    port: str,
    allowed: Collection[Allowance],
    guest: Guest | None = None,
    bus: BusChoice | None = None,
) -> Target:
    """A fresh execution of `image`. `port` is a board's serial line; `allowed` and `bus` concern a
    host."""
    if name.tier == "guest":
        if guest is None or not isinstance(image, GuestImage):
            raise TypeError(f"{name}: a guest needs its kernel and its archive")
        return guest_target(name, guest, image)
    tiers = inventory.board(name.board).tier
    if name.tier == "emulated" and tiers.emulated is not None:
        if instrument == "scope":
            from kadenz.targets.scoped import ScopedQemuTarget

            return ScopedQemuTarget(tiers.emulated, image.elf)
        from kadenz.targets.qemu import QemuTarget

        return QemuTarget(tiers.emulated, image.elf)
    if name.tier == "board" and tiers.board is not None:
        from kadenz.targets.serial_board import BoardTarget

        return BoardTarget(tiers.board, image.elf.path, port)
    host = tiers.host or HostTier()
    words = {"no-realtime": host.no_realtime_argument, "idle-states": host.idle_states_argument}
    options = [words[allowance] for allowance in sorted(allowed) if words[allowance]]
    options += bus.arguments(host) if bus is not None else []
    command = [str(image.elf.path), *host.arguments, *options]
    return ProcessTarget(tuning_in_force.on_every_processor(command), suite=not host.crate)


def check_instrument(name: TargetName, instrument: str) -> None:
    """UsageError when this target cannot be measured by `instrument`."""
    offered = [i for i in inventory.board(name.board).instruments if i == "counter" or scoped(name)]
    if instrument not in offered:
        raise UsageError(
            f"{name} cannot be measured with the instrument `{instrument}`",
            remedy=f"It offers {', '.join(offered)}",
        )


def check_tools(name: TargetName) -> None:
    """ToolMissing when the target's emulator is not there: told before anything is built."""
    tiers = inventory.board(name.board).tier
    tier = {"emulated": tiers.emulated, "guest": tiers.guest}.get(name.tier)
    if tier is not None:
        tools.require(tier.qemu)


def scoped(name: TargetName) -> bool:
    """Whether the scope, a plugin of QEMU, can watch this tier."""
    return name.tier == "emulated"


def clock_unit(name: TargetName, board: Board) -> str:
    """What one tick of a target's clock is, as board.toml says."""
    tier = {
        "host": board.tier.host,
        "guest": board.tier.guest,
        "emulated": board.tier.emulated,
        "board": board.tier.board,
    }[name.tier]
    return tier.clock_unit if tier is not None else "tick"
