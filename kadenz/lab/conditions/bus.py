# SPDX-License-Identifier: Apache-2.0
"""The fieldbus of a target that has one: its interface and its layout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.key_values import Key
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName, known_targets, parse_target
from kadenz.errors import ConfigError, KadenzError, UsageError
from kadenz.lab.condition import Choice, Condition, Option, Setup

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign

_FLAG = "--bus"
SIMULATED, BUILT_IN = "simulated", "built in"
_EXAMPLE = "fieldbus/kadenz-motion/layouts/indy7.toml is an example"


@dataclass(frozen=True)
class Bus(Condition):
    """A bus of the user's. Empty fields mean the target's own: its simulated devices."""

    interface: str = ""  # a network card with real devices behind it
    layout: Path | None = None  # which device is what, in a file of the target's own format
    second: str = ""  # another card, with the stamping input of a second acquisition

    # The target reads the layout when it starts, so its settings are those of this run.
    asks_anew = True

    def __str__(self) -> str:
        """As it was written on the command line."""
        keys = [f"interface={self.interface}"] if self.interface else []
        keys += [f"second={self.second}"] if self.second else []
        keys += [f"layout={self.layout}"] if self.layout is not None else []
        return f"{_FLAG} {','.join(keys)}"

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """The interface, and the layout with its digest."""
        entries = []
        if self.interface:
            value = " and ".join(name for name in (self.interface, self.second) if name)
            entries.append(ConditionEntry(kind="interface", value=value, usual=SIMULATED))
        if self.layout is not None:
            digest = self.settings()["layout_sha256"]
            name = self.layout.name
            entries.append(
                ConditionEntry(
                    kind="layout",
                    value=f"{name} {digest[:12]}",
                    label=f"layout {name}",
                    usual=BUILT_IN,
                )
            )
        return tuple(entries)

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """Arguments for the target's program."""
        tier = inventory.board(target.board).tier.host
        assert tier is not None  # BusChoice.check
        if self.interface:
            setup.arguments += [tier.bus_interface_argument, self.interface]
        if self.second:
            setup.arguments += [tier.bus_second_argument, self.second]
        if self.layout is not None:
            setup.arguments += [tier.bus_layout_argument, str(self.layout.resolve())]

    def settings(self) -> dict[str, str]:
        """The digest of the layout's file as it is now."""
        if self.layout is None:
            return {}
        return {"layout_sha256": hashlib.sha256(_content(self.layout)).hexdigest()}

    def refused(self, failure: KadenzError) -> KadenzError:
        """A target that lists its benchmarks has read nothing of the user's but the layout."""
        if self.layout is None:
            return failure
        return ConfigError(
            f"{_FLAG} layout={self.layout}: the target does not accept this layout",
            remedy=f"Its reason is above; {_EXAMPLE}",
            detail=failure.detail,
        )


def has_bus(name: TargetName) -> bool:
    """Whether the target's program takes an interface and a layout."""
    host = inventory.board(name.board).tier.host
    return name.tier == "host" and host is not None and bool(host.bus_interface_argument)


def _interfaces(typed: str) -> Iterable[tuple[str, str]]:
    from kadenz.host.interface import interfaces

    return [(name, "") for name in interfaces() if name.startswith(typed)]


@dataclass(frozen=True)
class BusChoice(Choice):
    """At most one bus."""

    bus: Bus = field(default_factory=Bus)

    title = "Fieldbus"
    order = 50
    options = (
        Option(
            _FLAG,
            "Real devices, or another layout, of a target that has a fieldbus.",
            kind="keys",
            keys=(
                Key(
                    "interface",
                    "Network interface with the real devices, eth1. Default: simulated ones.",
                    "NAME",
                    complete=_interfaces,
                ),
                Key(
                    "second",
                    "Network interface with the stamping input of acquisition=second, eth2.",
                    "NAME",
                    complete=_interfaces,
                ),
                Key(
                    "layout",
                    "File that describes each device and how it moves. Default: the target's own.",
                    "FILE",
                    "file",
                ),
            ),
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """Only the command line names a bus."""
        return cls(Bus(**values.get("bus", {})))

    def check(self, targets: Sequence[TargetName]) -> None:
        """UsageError for a target without a bus, an interface or a file that does not exist.

        TargetFailed for an interface that is down.
        """
        from kadenz.host.interface import check_interface

        if self.bus == Bus():
            return
        for name in targets:
            if not has_bus(name):
                others = [text for text in known_targets() if has_bus(parse_target(text))]
                raise UsageError(
                    f"{self.bus}: {name} has no bus",
                    remedy=f"Name a target that has one with --target: {', '.join(others)}",
                )
        if self.bus.layout is not None:
            _content(self.bus.layout)
        if self.bus.second and not self.bus.interface:
            raise UsageError(
                f"{self.bus}: only the second interface is named",
                remedy=f"Name that of the output, too: {_FLAG} interface=NAME,second=NAME",
            )
        if self.bus.second == self.bus.interface != "":
            raise UsageError(
                f"{self.bus}: both rings are at the same interface",
                remedy="Name two network cards: each ring has its own",
            )
        if self.bus.interface:
            check_interface(self.bus.interface, f"{_FLAG} interface")
        if self.bus.second:
            check_interface(self.bus.second, f"{_FLAG} second")

    def variants(self, target: TargetName) -> Sequence[Condition]:
        """The one bus of the call, if it names one."""
        return [self.bus] if self.bus != Bus() else []


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{_FLAG} layout={file}: {error.strerror}", remedy=f"Name a layout file; {_EXAMPLE}"
        ) from None
