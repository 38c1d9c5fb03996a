# SPDX-License-Identifier: Apache-2.0
"""The fieldbus of a target that has one: on which interface its devices are, in which layout."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import HostTier
from kadenz.config.target_name import TargetName, known_targets, parse_target
from kadenz.errors import ConfigError, TargetFailed, UsageError
from kadenz.host.interface import check_interface

_INTERFACE, _LAYOUT = "--bus-interface", "--bus-layout"


@dataclass(frozen=True)
class BusChoice:
    """What the user wants of the bus; what is empty is the target's own: its simulated devices."""

    interface: str = ""  # a network card with real devices behind it
    layout: Path | None = None  # which device is what, in a file of the target's own format

    def __bool__(self) -> bool:
        return bool(self.interface) or self.layout is not None

    def __str__(self) -> str:
        """As it was written on the command line."""
        words = [f"{_INTERFACE} {self.interface}"] if self.interface else []
        words += [f"{_LAYOUT} {self.layout}"] if self.layout is not None else []
        return " ".join(words)

    def arguments(self, tier: HostTier) -> list[str]:
        """For the target's program."""
        found = [tier.bus_interface_argument, self.interface] if self.interface else []
        if self.layout is not None:
            found += [tier.bus_layout_argument, str(self.layout.resolve())]
        return found

    def settings(self) -> dict[str, str]:
        """What the target cannot say of itself: the digest of the layout's file as it is now."""
        if self.layout is None:
            return {}
        return {"layout_sha256": hashlib.sha256(_content(self.layout)).hexdigest()}


def has_bus(name: TargetName) -> bool:
    """Whether the target's program can be told an interface and a layout."""
    host = inventory.board(name.board).tier.host
    return name.tier == "host" and host is not None and bool(host.bus_interface_argument)


def check_bus(names: Sequence[TargetName], choice: BusChoice) -> None:
    """Every mistake that can be seen before anything is built.

    Raises UsageError for a target without a bus, an interface or a file that is not there, and
    TargetFailed for an interface that is down.
    """
    if not choice:
        return
    for name in names:
        if not has_bus(name):
            others = [text for text in known_targets() if has_bus(parse_target(text))]
            raise UsageError(
                f"{choice}: {name} has no bus",
                remedy=f"Name a target that has one with --target: {', '.join(others)}",
            )
    if choice.layout is not None:
        _content(choice.layout)
    if choice.interface:
        check_interface(choice.interface, _INTERFACE)


def refused(choice: BusChoice, failure: TargetFailed) -> ConfigError | TargetFailed:
    """What to tell when a target that was only asked for its benchmarks failed: of what it was
    given, the layout is all it has looked at by then."""
    if choice.layout is None:
        return failure
    return ConfigError(
        f"{_LAYOUT} {choice.layout}: the target does not take this layout",
        remedy="Its reason is above; fieldbus/kadenz-motion/layouts/indy7.toml is an example",
        detail=failure.detail,
    )


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{_LAYOUT} {file}: {error.strerror}",
            remedy="Name a layout file; fieldbus/kadenz-motion/layouts/indy7.toml is an example",
        ) from None
