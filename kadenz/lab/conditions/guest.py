# SPDX-License-Identifier: Apache-2.0
"""Kernel, load, tuning and disturbance of a Linux guest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Self

from kadenz.config import inventory
from kadenz.config.campaign import GuestSettings
from kadenz.config.key_values import Key
from kadenz.config.manifest import ConditionEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.quantity import Quantity, parse_quantity
from kadenz.config.target_name import TargetName, known_targets
from kadenz.config.toml import did_you_mean
from kadenz.config.tuning import Tuning
from kadenz.errors import KadenzError, TargetFailed, UsageError
from kadenz.lab.condition import NONE, Choice, Condition, Option, Setup
from kadenz.lab.conditions.load import load_entry
from kadenz.lab.conditions.tuning import tuning_entry

if TYPE_CHECKING:
    from kadenz.config.campaign import Campaign
    from kadenz.targets.guest_kernel import GuestKernel

_DISTURBANCE = "period_us={},busy_us={}"  # as the first program of a guest reads it
_TIMER = "timer"  # in a callback of one, not in a thread
_POLICIES = ("fifo", "rr", "other")


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
class Guest(Condition):
    """One variant of a guest."""

    kernel: GuestKernel
    load: str = ""  # "": no load requested
    tuning: str = ""  # a profile of tunings/, "" for none
    disturbance: str = ""
    runs_suite: bool = False  # also where the board names a program

    @property
    def entries(self) -> tuple[ConditionEntry, ...]:
        """Kernel, load, tuning, disturbance."""
        kernel, disturbance = self.kernel, self.disturbance
        every = (
            ConditionEntry(kind="guest kernel", value=kernel.value, label=kernel.label),
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

    @property
    def warnings(self) -> list[Stamp]:
        """What its kernel lacks, if that is one of the user's."""
        notes = self.kernel.notes
        return [Stamp(code="guest-kernel", message=note) for note in notes]

    def refused(self, failure: KadenzError) -> KadenzError:
        """Names a kernel of the user's that did not come up, and what to look at."""
        if not self.kernel.by_path:
            return failure
        return TargetFailed(
            f"{failure.message}, under the kernel {self.kernel.image}",
            remedy="The last lines of its console are above. Build it with the settings of "
            "docs/how-to/measure-your-own-kernel.md; without a line, it has no driver of the "
            "board's console",
            detail=failure.detail,
        )

    def bare(self, *, runs_suite: bool = False) -> Guest:
        """The same kernel with nothing beside: to ask it, not to measure it."""
        return Guest(self.kernel, runs_suite=runs_suite)

    def set_up(self, setup: Setup, target: TargetName) -> None:
        """Makes this the guest that boots."""
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


@dataclass(frozen=True)
class GuestChoice(Choice):
    """The variants of guests. Empty fields mean the campaign's, then the default."""

    kernels: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    tunings: tuple[str, ...] = ()  # profiles of tunings/
    disturbance: str = ""  # "50us/1001us"
    wanted: GuestSettings = field(default_factory=GuestSettings)  # of the campaign

    title = "Linux guests"
    order = 20
    options = (
        Option(
            "--guest",
            "What guests run, instead of the campaign's. Values with commas give one run each.",
            kind="keys",
            keys=(
                Key(
                    "kernel",
                    "Kernel: 6.12, 6.1, or the file of one of your own: ./bzImage, 'build/*'.",
                    "VERSION|FILE",
                    kind="name or file",
                    many=True,
                ),
                Key(
                    "load",
                    "Load inside: none, cpu, memory, syscalls, timers, or several: cpu+timers.",
                    "NAME",
                    many=True,
                    complete=_loads,
                ),
                Key(
                    "tuning",
                    "Profile of tunings/ for its kernel threads, or none.",
                    "PROFILE",
                    many=True,
                ),
                Key(
                    "disturbance",
                    "A kernel thread that holds the processor so long in each period: 50us/1001us; "
                    "timer:1200us/200ms: the callback of a timer.",
                    "BUSY/PERIOD",
                ),
            ),
        ),
    )

    @classmethod
    def asked(cls, values: Mapping[str, Any], campaign: Campaign) -> Self:
        """The command line's, then the campaign's [guest] table."""
        keys = values.get("guest", {})
        return cls(
            keys.get("kernel", ()),
            keys.get("load", ()),
            keys.get("tuning", ()),
            keys.get("disturbance", ""),
            campaign.guest,
        )

    def check(self, targets: Sequence[TargetName]) -> None:
        """UsageError for words of the command line, if no target is a guest."""
        asked = self.kernels or self.loads or self.tunings or self.disturbance
        if asked and not any(name.tier == "guest" for name in targets):
            guests = [text for text in known_targets() if text.endswith("@guest")]
            raise UsageError(
                "--guest: no target of this run is a guest",
                remedy=f"Leave it out, or name one with --target: {', '.join(guests)}",
            )
        if self.kernels:
            from kadenz.targets.guest_kernels import check_files

            check_files(self.kernels, targets)

    def variants(self, target: TargetName) -> Sequence[Guest]:
        """The product of kernels, loads and tunings.

        Raises UsageError for an unknown name and a kernel that cannot boot, ToolMissing if a
        version is not in the cache. A kernel that the board cannot boot is left out if only the
        campaign names it, or if it is a file: `check` has shown that another target takes it.
        """
        if target.tier != "guest":
            return []
        from kadenz.targets.guest_kernels import kernels_of

        kernels = inventory.kernel(target.kernel).guest
        assert kernels is not None  # a kernel whose boards have the tier: tests/config
        loads = self.loads or self.wanted.loads or ("",)
        for load in loads:
            _check_load(load)
        disturbance = checked_disturbance(self.disturbance)
        guest_kernels = kernels_of(target, self.kernels, self.wanted.kernels)
        for kernel in guest_kernels if disturbance else ():
            _check_disturbed(kernel)
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
            for kernel, load, tuning in product(guest_kernels, loads, tunings)
        ]


def _check_disturbed(kernel: GuestKernel) -> None:
    if kernel.disturbance is None:
        raise UsageError(
            f"--guest disturbance: no module for the kernel {kernel.image}",
            remedy=f"Copy {inventory.root() / 'kernels/linux/disturbance'} to a folder DIR, build "
            "it with the kernel's own tree, make -C LINUX M=DIR modules, and copy disturbance.ko "
            f"to {kernel.modules}",
        )
    kernel.checked(kernel.disturbance)


def _check_load(load: str) -> None:
    for part in load.split("+") if load not in ("", NONE) else ():
        if part not in _known_loads():
            raise UsageError(
                f"guest load `{load}`: there is no `{part}`",
                remedy=did_you_mean(part, [*_known_loads()]),
            )


def checked_disturbance(disturbance: str) -> str:
    """A disturbance as guests read it. UsageError unless it is BUSY/PERIOD in whole µs, with or
    without `timer:` before it."""
    if not disturbance:
        return ""
    where = f"--guest disturbance={disturbance}"
    kind, colon, length = disturbance.rpartition(":")
    busy, _, period = length.partition("/")
    try:
        busy_us, period_us = (_whole_us(parse_quantity(text, where)) for text in (busy, period))
    except (UsageError, ValueError):
        busy_us = period_us = 0
    if not 0 < busy_us < period_us or (colon and kind != _TIMER):
        raise UsageError(
            f"{where}: expected BUSY/PERIOD or {_TIMER}:BUSY/PERIOD in whole µs, with BUSY below "
            "PERIOD",
            remedy="For example --guest disturbance=50us/1001us",
        )
    by_timer = f",{_TIMER}=1" if colon else ""
    return _DISTURBANCE.format(period_us, busy_us) + by_timer


def _whole_us(quantity: Quantity) -> int:
    """A time in µs. Raises ValueError for a fraction or a count."""
    microseconds = round(quantity.microseconds, 6)
    if microseconds != int(microseconds):
        raise ValueError(str(quantity))
    return int(microseconds)
