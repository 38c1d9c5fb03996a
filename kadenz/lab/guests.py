# SPDX-License-Identifier: Apache-2.0
"""Guests: which kernels a target is measured under, with which load inside, and their images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.campaign import GuestSettings
from kadenz.config.kernel import GuestKernels
from kadenz.config.target_name import TargetName
from kadenz.config.toml import did_you_mean
from kadenz.config.tuning import Tuning
from kadenz.errors import UsageError
from kadenz.images.guest import GuestImage, build_guest, plan_archive
from kadenz.targets import guest_kernel
from kadenz.targets.guest import LOADS, GuestTarget
from kadenz.targets.guest_kernel import GuestKernel

NONE = "none"
# An emulated second costs several of this machine, and a boot is silent for as long.
BOOT_S = 180.0
SLOWDOWN = 30.0
_POLICIES = ("fifo", "rr", "other")
_DISTURBANCE = ("period_us", "busy_us")


@dataclass(frozen=True)
class GuestChoice:
    """What the user wants of guests; what is empty is the campaign's, or the default."""

    kernels: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    tunings: tuple[str, ...] = ()  # profiles of tunings/
    disturbance: str = ""  # "period_us=1001,busy_us=50"


@dataclass(frozen=True)
class Guest:
    """One variant of a guest."""

    kernel: GuestKernel
    load: str = ""  # "" where nobody asked for any
    tuning: str = ""  # a profile of tunings/, "" for none
    disturbance: str = ""

    @property
    def suffix(self) -> str:
        """For the names of run folders."""
        load = f"-load-{self.load}" if self.load else ""
        tuning = f"-{self.tuning}" if self.tuning else ""
        return load + tuning + ("-disturbed" if self.disturbance else "")

    @property
    def label(self) -> str:
        """Behind the target's name."""
        load = f", load {self.load}" if self.load else ""
        tuning = f", {self.tuning}" if self.tuning else ""
        disturbed = ", disturbed" if self.disturbance else ""
        return f" ({self.kernel.version}{load}{tuning}{disturbed})"

    @property
    def loads(self) -> tuple[str, ...]:
        """The parts of its load."""
        return tuple(self.load.split("+")) if self.load not in ("", NONE) else ()

    @property
    def conditions(self) -> dict[str, str]:
        """For the manifest."""
        found = {"guest kernel": self.kernel.origin}
        if self.load:
            found["load"] = self.load
        if self.tuning:
            found["tuning"] = self.tuning
        if self.disturbance:
            found["disturbance"] = self.disturbance
        return found


def guests_of(name: TargetName, wanted: GuestSettings, choice: GuestChoice) -> list[Guest | None]:
    """The variants to measure a target in, [None] where it is no guest; `wanted` by the campaign.

    Raises UsageError for what is unknown, ToolMissing where a kernel is not in the cache. A version
    that a campaign names and this board does not have is left out, one the user named is an error.
    """
    if name.tier != "guest":
        return [None]
    kernels = inventory.kernel(name.kernel).guest
    assert kernels is not None  # a kernel whose boards have the tier: tests/config
    loads = choice.loads or wanted.loads or ("",)
    for load in loads:
        _check_load(load)
    disturbance = _checked(choice.disturbance)
    versions = _versions(name, kernels, wanted, choice)
    found = [guest_kernel.find(name.board, kernels, version) for version in versions]
    plain = "" if not choice.loads and not wanted.loads else NONE
    tunings = choice.tunings or (wanted.tunings if kernels.flavour == "rt" else ()) or (NONE,)
    for tuning in tunings:
        thread_rules(tuning)
    return [
        Guest(
            kernel,
            load if load != NONE else plain,
            tuning if tuning != NONE else "",
            disturbance,
        )
        for kernel in found
        for load in loads
        for tuning in tunings
    ]


def thread_rules(tuning: str) -> tuple[str, ...]:
    """The rules of a profile for threads, as kernels/linux/guest/init.c wants them.

    UsageError for a profile with anything else: a guest lives for one run, and what a run
    finds is the kernel's own, so values, processors and interrupts have nothing to act on.
    """
    if tuning in ("", NONE):
        return ()
    profile, _ = inventory.read_tuning(tuning)
    bare = Tuning(
        title=profile.title,
        based_on=profile.based_on,
        study=profile.study,
        notes=profile.notes,
        thread=profile.thread,
    )
    if profile != bare or any(rule.cpus or rule.policy not in _POLICIES for rule in bare.thread):
        raise UsageError(
            f"tuning `{tuning}` does more than give kernel threads a policy, which is all that can "
            "be tuned in a guest",
            remedy="Use cereia2011-case1 or cereia2011-case2, or a profile with [[thread]] alone",
        )
    return tuple(f"{rule.match}:{rule.policy}:{rule.priority or 0}" for rule in profile.thread)


def guest_image(name: TargetName, guest: Guest, extra_bench: Sequence[Path]) -> GuestImage:
    """The archive that the guest boots with."""
    kernel = guest.kernel
    return build_guest(
        name,
        kernel.version,
        kernel.origin,
        kernel.image,
        kernel.disturbance,
        extra_bench=extra_bench,
    )


def default_guest(name: TargetName) -> Guest:
    """The guest whose catalog stands for its target."""
    found = guests_of(name, GuestSettings(), GuestChoice())[0]
    assert found is not None
    return found


def guest_target(name: TargetName, guest: Guest, image: GuestImage) -> GuestTarget:
    """A fresh boot."""
    tier = inventory.board(name.board).tier.guest
    assert tier is not None

    def pack(plan: str) -> bytes:
        return image.initrd.read_bytes() + plan_archive(plan)

    load = "" if guest.load == NONE else guest.load
    return GuestTarget(
        tier,
        guest.kernel,
        pack,
        load=load,
        threads=thread_rules(guest.tuning),
        disturbance=guest.disturbance,
    )


def _versions(
    name: TargetName, kernels: GuestKernels, settings: GuestSettings, choice: GuestChoice
) -> list[str]:
    offered = list(kernels.versions[name.board])
    for version in choice.kernels:
        if version not in offered:
            raise UsageError(
                f"--guest-kernel {version}: {name} has no such kernel",
                remedy=f"It has {', '.join(offered)}",
            )
    wanted = choice.kernels or settings.kernels
    return [version for version in wanted if version in offered] or offered[:1]


def _check_load(load: str) -> None:
    for part in load.split("+") if load not in ("", NONE) else ():
        if part not in LOADS:
            raise UsageError(
                f"guest load `{load}`: there is no `{part}`",
                remedy=did_you_mean(part, [NONE, *LOADS]),
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
            f"--guest-disturbance {disturbance}: period_us=N,busy_us=M with M below N is expected",
            remedy="For example --guest-disturbance period_us=1001,busy_us=50",
        )
    return ",".join(f"{key}={found[key]}" for key in _DISTURBANCE)
