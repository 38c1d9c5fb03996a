# SPDX-License-Identifier: Apache-2.0
"""Kernel, load, tuning and disturbance of a Linux guest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.campaign import GuestSettings
from kadenz.config.kernel import GuestKernels
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.lab.condition import Choice, Option

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign
    from kadenz.lab.guests import Guest

NONE = "none"
_DISTURBANCE = ("period_us", "busy_us")


def _known_loads() -> dict[str, str]:
    from kadenz.targets.guest import LOADS

    return {NONE: "nothing next to the benchmark", **LOADS}


def _loads(typed: str) -> Iterable[tuple[str, str]]:
    given, plus, _ = typed.rpartition("+")
    return [
        (value, text)
        for name, text in _known_loads().items()
        if (not plus or name not in (NONE, *given.split("+")))
        and (value := f"{given}{plus}{name}").startswith(typed)
    ]


@dataclass(frozen=True)
class GuestChoice(Choice):
    """The variants of guests. Empty fields mean the campaign's, then the default."""

    kernels: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    tunings: tuple[str, ...] = ()  # profiles of tunings/
    disturbance: str = ""  # "period_us=1001,busy_us=50"
    wanted: GuestSettings = field(default_factory=GuestSettings)  # of the campaign

    title = "Linux guests"
    order = 20
    options = (
        Option(
            "--guest-kernel",
            "Kernel of guests: 6.12, 6.1. One run for each; replaces the campaign's.",
            metavar="VERSION",
            many=True,
        ),
        Option(
            "--guest-load",
            "Load inside guests: none, cpu, memory, syscalls, timers, or several: cpu+timers. One "
            "run for each; replaces the campaign's.",
            metavar="NAME",
            many=True,
            complete=_loads,
        ),
        Option(
            "--guest-tuning",
            "Profile of tunings/ for kernel threads of guests, or none. One run for each; replaces "
            "the campaign's.",
            metavar="NAME",
            many=True,
        ),
        Option(
            "--guest-disturbance",
            "Add a kernel thread to guests that holds the processor for M µs every N µs.",
            metavar="period_us=N,busy_us=M",
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """The command line's, then the campaign's [guest] table."""
        return cls(
            tuple(values.get("guest_kernel", ())),
            tuple(values.get("guest_load", ())),
            tuple(values.get("guest_tuning", ())),
            values.get("guest_disturbance") or "",
            campaign.guest,
        )

    def variants(self, target: TargetName) -> Sequence[Guest]:
        """The product of kernels, loads and tunings.

        Raises UsageError for an unknown name, ToolMissing if a kernel is not in the cache. A
        version that only the campaign names is left out if the board does not have it.
        """
        if target.tier != "guest":
            return []
        from kadenz.lab.guests import Guest, thread_rules
        from kadenz.targets import guest_kernel

        kernels = inventory.kernel(target.kernel).guest
        assert kernels is not None  # a kernel whose boards have the tier: tests/config
        loads = self.loads or self.wanted.loads or ("",)
        for load in loads:
            _check_load(load)
        disturbance = _checked(self.disturbance)
        versions = self._versions(target, kernels)
        found = [guest_kernel.find(target.board, kernels, version) for version in versions]
        plain = "" if not self.loads and not self.wanted.loads else NONE
        of_campaign = self.wanted.tunings if kernels.flavour == "rt" else ()
        tunings = self.tunings or of_campaign or (NONE,)
        for tuning in tunings:
            thread_rules(tuning)
        return [
            Guest(
                kernel,
                load if load != NONE else plain,
                tuning if tuning != NONE else "",
                disturbance,
            )
            for kernel, load, tuning in product(found, loads, tunings)
        ]

    def _versions(self, target: TargetName, kernels: GuestKernels) -> list[str]:
        offered = list(kernels.versions[target.board])
        for version in self.kernels:
            if version not in offered:
                raise UsageError(
                    f"--guest-kernel {version}: {target} has no such kernel",
                    remedy=f"It has {', '.join(offered)}",
                )
        wanted = self.kernels or self.wanted.kernels
        return [version for version in wanted if version in offered] or offered[:1]


def _check_load(load: str) -> None:
    for part in load.split("+") if load not in ("", NONE) else ():
        if part not in _known_loads():
            raise UsageError(
                f"guest load `{load}`: there is no `{part}`",
                remedy=did_you_mean(part, [*_known_loads()]),
            )


def _checked(disturbance: str) -> str:
    """The words of a disturbance. UsageError unless they are period_us and busy_us, in range."""
    if not disturbance:
        return ""
    found: dict[str, int] = {}
    for word in disturbance.split(","):
        key, _, value = word.partition("=")
        if key in _DISTURBANCE and value.isdecimal():
            found[key] = int(value)
    if set(found) != set(_DISTURBANCE) or not 0 < found["busy_us"] < found["period_us"]:
        raise UsageError(
            f"--guest-disturbance {disturbance}: expected period_us=N,busy_us=M with M below N",
            remedy="For example --guest-disturbance period_us=1001,busy_us=50",
        )
    return ",".join(f"{key}={found[key]}" for key in _DISTURBANCE)
