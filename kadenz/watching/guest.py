# SPDX-License-Identifier: Apache-2.0
"""A program under watch in a guest: recorded inside by its launcher, read here when it has ended.

The times are virtual: the clock counts instructions (docs/explanation/guests.md).
"""

from __future__ import annotations

import re
import shlex
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import GuestTier
from kadenz.config.manifest import (
    ClockEntry,
    ConditionEntry,
    EmulatorEntry,
    TargetEntry,
    Warning,  # noqa: A004
)
from kadenz.config.target_name import TargetName
from kadenz.errors import Interrupted, TargetFailed, ToolMissing, UsageError
from kadenz.host.facts import read_host
from kadenz.images.guest import plan_archive
from kadenz.images.linux_program import Beside, LinuxProgram, linux_program
from kadenz.targets.guest import GuestTarget, modules_of
from kadenz.targets.guest_kernel import GuestKernel
from kadenz.targets.launched import ProgramEnd, launch_plan, launcher, program_end
from kadenz.values.keeper import Keeper
from kadenz.watching.decoding import PATTERNS
from kadenz.watching.guest_ring import GuestRing
from kadenz.watching.live import Recording
from kadenz.watching.machines import Machine
from kadenz.watching.overhead import Overhead
from kadenz.watching.selection import Selection
from kadenz.watching.threads import Observer
from kadenz.watching.units import VIRTUAL

RING_KB = 64 << 10  # a million events; the guest has 512 MiB, and holds it twice when it leaves
_READ_S = 0.1
# A guest says nothing before the program has ended: of this machine's time, for its boot and for a
# second of its own under load.
_BOOT_S, _SLOWDOWN = 180.0, 30.0
_SAID = re.compile(r"^kadenz-launch: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class GuestSettings:
    """The guest that boots. `conditions` and `warnings` are what a run says of it."""

    target: TargetName
    kernel: GuestKernel
    load: str = ""  # names joined by `+`
    threads: Sequence[str] = ()  # rules for the kernel's threads
    disturbance: str = ""
    conditions: Sequence[ConditionEntry] = ()
    warnings: Sequence[Warning] = ()

    @property
    def tier(self) -> GuestTier:
        """The emulated machine, by the board's file."""
        tier = inventory.board(self.target.board).tier.guest
        assert tier is not None  # a target of this tier
        return tier


@dataclass(frozen=True)
class GuestWatch:
    """A program in a guest, and for how many seconds of the guest's time it is watched at most."""

    linux: LinuxProgram
    settings: GuestSettings
    seconds: float
    names: Sequence[str] = ()  # patterns of threads, also of the kernel's
    fresh: bool = False

    @property
    def title(self) -> str:
        """The program with its arguments: "controller --rate 1000"."""
        return shlex.join([self.linux.elf.path.name, *self.linux.arguments])

    @property
    def plan(self) -> str:
        """What the launcher reads."""
        events = [("ring", f"{RING_KB}"), *(("event", name) for name in PATTERNS)]
        return launch_plan(str(self.linux.path), self.seconds, [*self.linux.settings(), *events])

    def target(self) -> GuestTarget:
        """The guest, with what runs beside the program."""
        settings, kernel = self.settings, self.settings.kernel
        modules = kernel.module_files(modules_of(None, settings.load))
        disturbance = kernel.disturbance if settings.disturbance else None
        archive = self.linux.archive(Beside(bool(settings.load), tuple(modules), disturbance))
        target = GuestTarget(
            settings.tier,
            kernel,
            lambda plan: archive + plan_archive(plan),
            load=settings.load,
            threads=settings.threads,
            disturbance=settings.disturbance,
            program=launcher("watch"),
        )
        target.keeper = Keeper(f"{settings.target}", fresh=self.fresh)
        return target


def program_for(
    target: TargetName,
    file: Path,
    arguments: Sequence[str],
    files: Sequence[str],
    standard_input: Path | None,
) -> LinuxProgram:
    """The program in `file` with its inputs, for a guest. UsageError if that cannot run it."""
    linux, arch = linux_program(file, arguments, files, standard_input), target.board
    if linux.isa != arch:
        raise UsageError(
            f"{file}: a program for {linux.isa}, and {target} is {arch}",
            remedy=f"Name --target {target.kernel}/{linux.isa}@guest, or compile it for {arch}",
        )
    return linux


def record_in_guest(
    subject: GuestWatch, stopped: Callable[[], bool]
) -> tuple[Recording, ProgramEnd]:
    """Boots the guest, and watches until the program ends or its time is over.

    ToolMissing for a kernel that records no events, TargetFailed for a guest that does not come to
    the program's end, or differs from an equal one that is stored; Interrupted if `stopped`.
    """
    target = subject.target()
    try:
        target.open(subject.plan)
        end = program_end(_followed(target, subject, stopped))
        why = target.why_it_ended()
        if end is not None and not _problem(end):
            target.vouch()
        emulator = target.emulator()
    finally:
        output = target.close()
    if target.difference is not None:
        raise target.difference
    if end is None or not target.ended_well:
        raise _failure(subject, target.console, why, output)
    machine = _machine(subject, target, emulator)
    return _recording(subject, end, machine), end


def _followed(target: GuestTarget, subject: GuestWatch, stopped: Callable[[], bool]) -> bytes:
    """All that the guest sends."""
    stream = bytearray()
    patience_s = _BOOT_S + _SLOWDOWN * subject.seconds
    until = time.monotonic() + patience_s
    while (data := target.read(_READ_S)) is not None:
        stream += data
        if stopped():
            target.stop()
            raise Interrupted(
                "stopped (Ctrl-C) before the guest had ended: its recording leaves it at its end",
                remedy="--for SECONDS, of the guest's time, ends it earlier",
            )
        if time.monotonic() > until:
            raise TargetFailed(
                f"the guest did not end within {patience_s:,.0f} s",
                remedy="Watch for less time: --for SECONDS. Its last lines are above",
                detail=target.post_mortem().report,
            )
    return bytes(stream)


def _failure(
    subject: GuestWatch, console: str, why: str, output: str
) -> TargetFailed | ToolMissing:
    """Why there is no recording."""
    said = _SAID.findall(console)
    reason = said[-1] if said else why
    kernel = subject.settings.kernel
    if reason.startswith("tracefs:"):
        return ToolMissing(
            f"{subject.settings.target} with {kernel.label} cannot be watched: its kernel "
            "records no events (no tracefs)",
            remedy="Boot one with CONFIG_FTRACE, CONFIG_FTRACE_SYSCALLS and a tracer, as Debian's "
            "for x86_64 and aarch64 are, or one of your own: --guest kernel=FILE",
        )
    return TargetFailed(
        f"{subject.title}: the guest ended before its recording was out: {reason or 'see below'}",
        remedy="The last lines of its console are above",
        detail=output,
    )


def _recording(subject: GuestWatch, end: ProgramEnd, machine: Machine) -> Recording:
    settings = subject.settings
    ring = GuestRing(end.rest, f"{settings.target} with {settings.kernel.label}")
    program = () if subject.names else (ring.facts["program"],)  # nothing else runs in a guest
    selection = Selection(program, subject.names, everything=bool(subject.names))
    cost = ring.facts["cost_ns"] / max(1, ring.facts["cost_events"])
    dropped = ring.facts["dropped"]
    full = (
        f"the ring of {RING_KB >> 10} MiB was full: {dropped:,} events behind it were not recorded"
        if dropped
        else ""
    )
    return Recording(
        observed=Observer(selection.keeps).observe(ring.events()),
        selection=selection,
        ended=full or _ending(subject, end, left=bool(ring.facts["left"])),
        problem=_problem(end),
        stopped=False,
        overhead=Overhead(cost, cost, cost, ring.facts["cost_events"]),
        lacking=ring.lacking,
        full=full,
        bytes=ring.bytes,
        machine=machine,
        title=subject.title,
        console=(end.output + end.errors).decode(errors="replace"),
    )


def _ending(subject: GuestWatch, end: ProgramEnd, *, left: bool) -> str:
    length = f"{subject.seconds:g} s of the guest's time"
    if end.kind == "limit":
        return f"after {length}"
    by_itself = _problem(end) or "the program ended with exit status 0"
    return f"{by_itself}; what it had started was watched for {length}" if left else by_itself


def _problem(end: ProgramEnd) -> str:
    """Why the program's work is not whole; "" if it is, or its time was over."""
    if end.kind == "signal":
        try:
            return f"the program was killed by {signal.Signals(end.number).name}"
        except ValueError:
            return f"the program was killed by signal {end.number}"
    is_error = end.kind == "exit" and end.number
    return f"the program ended with exit status {end.number}" if is_error else ""


def _machine(subject: GuestWatch, target: GuestTarget, emulator: EmulatorEntry | None) -> Machine:
    settings, linux = subject.settings, subject.linux
    board = inventory.board(settings.target.board)
    text = shlex.join(linux.arguments)
    called = ConditionEntry(kind="arguments", value=text, changes_system=False)
    return Machine(
        target=TargetEntry(
            name=f"{settings.target}",
            kernel=settings.target.kernel,
            board=settings.target.board,
            tier="guest",
            instrument="ftrace",
            arch=board.arch,
            kernel_name="Linux",
            kernel_version=settings.kernel.release,
            capabilities=[],
            settings={},
            cores=1,
            tick_hz=0,
            title=board.title,
        ),
        clock=ClockEntry(
            clock_class="instruction",
            name="clock_monotonic",
            hz=0,
            bits=64,
            unit=settings.tier.clock_unit,
        ),
        host=read_host().entry,
        unit=VIRTUAL,
        build=linux.build,
        emulator=emulator,
        conditions=[*settings.conditions, *([called] if text else [])],
        loads=target.loads,
        warnings=[*settings.warnings, *target.warnings()],
        value=target.value,
    )
