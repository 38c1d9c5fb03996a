# SPDX-License-Identifier: Apache-2.0
"""Network interfaces of this Linux: whether one can carry a fieldbus now."""

from __future__ import annotations

from pathlib import Path

from kadenz.config.toml import did_you_mean
from kadenz.errors import TargetFailed, UsageError

_IFF_UP = 1  # netdevice(7): set by `ip link set NAME up`
_ARPHRD_ETHER = 1  # if_arp.h, ARPHRD_ETHER; the loopback is 772
ROOT = Path("/")


def interfaces(root: Path = ROOT) -> list[str]:
    """The Ethernet interfaces there are, by name."""
    folders = sorted((root / "sys/class/net").glob("*"))
    return [folder.name for folder in folders if _number(folder / "type") == _ARPHRD_ETHER]


def check_interface(name: str, option: str, root: Path = ROOT) -> None:
    """UsageError when `name` is no Ethernet interface, TargetFailed when it is down or without a
    link. `option` is what named it."""
    folder = root / "sys/class/net" / name
    if "/" in name or not folder.exists():
        raise UsageError(
            f"{option} {name}: there is no such network interface",
            remedy=did_you_mean(name, interfaces(root)),
        )
    if _number(folder / "type") != _ARPHRD_ETHER:
        raise UsageError(
            f"{option} {name}: that is no Ethernet interface",
            remedy=did_you_mean(name, interfaces(root)),
        )
    flags = _number(folder / "flags")
    if flags is not None and not flags & _IFF_UP:
        raise TargetFailed(
            f"{option} {name}: the interface is down", remedy=f"Run `ip link set {name} up`"
        )
    if _number(folder / "carrier") == 0:
        raise TargetFailed(
            f"{option} {name}: the interface has no link",
            remedy="Check the cable, and that the first device has power",
        )


def _number(file: Path) -> int | None:
    """What a file of sysfs says; None where it says nothing (carrier of one that is down)."""
    try:
        return int(file.read_text(), 0)
    except (OSError, ValueError):
        return None
