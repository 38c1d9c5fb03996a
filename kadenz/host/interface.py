# SPDX-License-Identifier: Apache-2.0
"""Network interfaces of this Linux: checks that one can carry a fieldbus."""

from __future__ import annotations

from pathlib import Path

from kadenz.config.toml import did_you_mean
from kadenz.errors import TargetFailed, UsageError

_IFF_UP = 1  # netdevice(7): set by `ip link set NAME up`
_ARPHRD_ETHER = 1  # if_arp.h, ARPHRD_ETHER; the loopback is 772
ROOT = Path("/")


def interfaces(root: Path = ROOT) -> list[str]:
    """Names of the Ethernet interfaces."""
    folders = sorted((root / "sys/class/net").glob("*"))
    return [folder.name for folder in folders if _number(folder / "type") == _ARPHRD_ETHER]


def check_interface(name: str, option: str, root: Path = ROOT) -> None:
    """Checks that an interface is up and has a link. Raises UsageError if `name` is not an Ethernet
    interface, TargetFailed if it is down or has no link. `option` is the option that named it."""
    folder = root / "sys/class/net" / name
    if "/" in name or not folder.exists():
        raise UsageError(
            f"{option}={name}: no such network interface",
            remedy=did_you_mean(name, interfaces(root)),
        )
    if _number(folder / "type") != _ARPHRD_ETHER:
        raise UsageError(
            f"{option}={name}: not an Ethernet interface",
            remedy=did_you_mean(name, interfaces(root)),
        )
    flags = _number(folder / "flags")
    if flags is not None and not flags & _IFF_UP:
        raise TargetFailed(
            f"{option}={name}: the interface is down", remedy=f"Run `ip link set {name} up`"
        )
    if _number(folder / "carrier") == 0:
        raise TargetFailed(
            f"{option}={name}: the interface has no link",
            remedy="Check the cable and the power of the first device",
        )


def _number(file: Path) -> int | None:
    """The content of a sysfs file; None if unreadable (`carrier` of an interface that is down)."""
    try:
        return int(file.read_text(), 0)
    except (OSError, ValueError):
        return None
