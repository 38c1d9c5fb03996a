# SPDX-License-Identifier: Apache-2.0
"""A guest: its kernel and what runs inside, its image, a boot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.manifest import ConditionEntry
from kadenz.config.target_name import TargetName
from kadenz.config.tuning import Tuning
from kadenz.errors import UsageError
from kadenz.images.guest import GuestImage, build_guest, plan_archive
from kadenz.lab.condition import Condition, Setup
from kadenz.lab.conditions.guest import NONE, GuestChoice
from kadenz.lab.conditions.load import load_entry
from kadenz.lab.conditions.tuning import tuning_entry
from kadenz.targets.guest import GuestTarget
from kadenz.targets.guest_kernel import GuestKernel

# An emulated second takes several seconds of this machine; a boot is silent for as long.
BOOT_S = 180.0
SLOWDOWN = 30.0
_POLICIES = ("fifo", "rr", "other")


@dataclass(frozen=True)
class Guest(Condition):
    """One variant of a guest."""

    kernel: GuestKernel
    load: str = ""  # "": no load requested
    tuning: str = ""  # a profile of tunings/, "" for none
    disturbance: str = ""

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Kernel, load, tuning, disturbance."""
        kernel, disturbance = self.kernel, self.disturbance
        every = (
            ConditionEntry(
                kind="guest kernel", value=kernel.origin, label=f"kernel {kernel.version}"
            ),
            load_entry(self.load),
            tuning_entry(self.tuning, self.tuning),
            ConditionEntry(kind="disturbance", value=disturbance, label="disturbed", usual=NONE),
        )
        return tuple(entry for entry in every if entry.value)

    @property
    def suffix(self) -> str:
        """The same, joined by hyphens."""
        load = f"-load-{self.load}" if self.load else ""
        tuning = f"-{self.tuning}" if self.tuning else ""
        return f"-{self.kernel.version}{load}{tuning}{'-disturbed' if self.disturbance else ''}"

    @property
    def loads(self) -> tuple[str, ...]:
        """The parts of its load."""
        return tuple(self.load.split("+")) if self.load not in ("", NONE) else ()

    def bare(self) -> Guest:
        """The same kernel with nothing inside: to ask it, not to measure it."""
        return Guest(self.kernel)

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """This guest boots."""
        setup.guest = self


def thread_rules(tuning: str) -> tuple[str, ...]:
    """The rules of a profile for threads, as kernels/linux/guest/init.c wants them.

    UsageError for a profile with anything else: a guest lives for one run under its kernel's own
    settings, so values, processors and interrupts cannot be tuned in it.
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
    """The archive with which the guest boots."""
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
    return GuestChoice().variants(name)[0]


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
