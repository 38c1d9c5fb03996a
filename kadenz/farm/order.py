# SPDX-License-Identifier: Apache-2.0
"""One execution as a worker gets it, and what the worker hands back.

An order has everything that its samples depend on. A worker stores nothing: the frames travel to
the lab that asked, which is the only writer of the run folder.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadenz import __version__
from kadenz.config.manifest import BuildEntry, EmulatorEntry, ValueEntry
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.errors import TargetFailed, UsageError
from kadenz.host.machine_lock import order_on_this_linux
from kadenz.images.image import Image
from kadenz.lab.boot import Execution, run_plan
from kadenz.lab.condition import Setup
from kadenz.lab.execution import make_target
from kadenz.targets.base import Counted, RunsAhead, SharesProcessors, Target
from kadenz.targets.counted import CountedProcess
from kadenz.targets.processor import ThreadTimes
from kadenz.targets.scope import RecordSpans
from kadenz.targets.seen import Seen
from kadenz.wire.records import Assembler, NoRecords

TIERS = ("emulated", "rtl")  # that an order can be made for


@dataclass(frozen=True)
class Order:
    """An image, a plan, and the machine to execute them on."""

    target: TargetName
    instrument: str
    elf: bytes
    plan: str
    wait_states: Mapping[str, int]
    flushed_caches: Sequence[str]
    silence_s: float  # after which the target counts as hung
    fresh: bool = False  # not from the worker's store
    given: bool = False  # an image of another build
    kadenz: str = __version__


@dataclass(frozen=True)
class Played:
    """An execution that ended."""

    frames: bytes  # everything that the target sent
    failure: tuple[str, str, str] | None  # message, remedy, detail of a target that failed
    output: str  # outside the frames
    records: Mapping[int, RecordSpans]  # of the scope
    emulator: EmulatorEntry | None
    value: ValueEntry | None = None  # by the worker's store


@dataclass
class _Recorded:
    """Passes a target's bytes on, and keeps them."""

    target: Target
    frames: bytearray = field(default_factory=bytearray)

    def open(self, plan: str) -> None:
        self.target.open(plan)

    def read(self, timeout_s: float) -> bytes | None:
        data = self.target.read(timeout_s)
        self.frames += data or b""
        return data

    def stop(self) -> bool:
        return False

    def post_mortem(self) -> Seen:
        return self.target.post_mortem()

    def close(self) -> str:
        return self.target.close()

    def emulator(self) -> EmulatorEntry | None:
        return self.target.emulator()

    @property
    def value(self) -> ValueEntry | None:
        return self.target.value if isinstance(self.target, Counted) else None

    @property
    def difference(self) -> TargetFailed | None:
        return self.target.difference if isinstance(self.target, Counted) else None

    def vouch(self) -> None:
        if isinstance(self.target, Counted):
            self.target.vouch()

    def withdraw(self) -> None:
        if isinstance(self.target, Counted):
            self.target.withdraw()

    def thread_times(self) -> ThreadTimes:
        return self.target.thread_times() if isinstance(self.target, SharesProcessors) else {}

    def why_it_ended(self) -> str:
        why = getattr(self.target, "why_it_ended", None)
        return why() if why is not None else ""


class _RecordedAhead(_Recorded):
    """The same for a target whose silence means nothing."""

    def begin(self, plan: str) -> None:
        self.target.open(plan)

    def running(self) -> bool:
        return isinstance(self.target, RunsAhead) and self.target.running()


def execute(order: Order) -> Played:
    """Executes an order on this machine. Raises KadenzError if this machine cannot."""
    if order.kadenz != __version__:
        raise UsageError(
            f"this worker has kadenz {__version__}, the order is of {order.kadenz}",
            remedy="Install the same version on every machine of the farm",
        )
    with tempfile.TemporaryDirectory(prefix="kadenz-order-") as scratch:
        elf = Elf(Path(scratch) / "image.elf")
        elf.path.write_bytes(order.elf)
        image = Image(elf, Path(scratch), _no_build(elf.sha256))
        setup = Setup(
            wait_states=order.wait_states, flushed_caches=order.flushed_caches, fresh=order.fresh
        )
        real = make_target(order.target, order.instrument, image, setup)
        if order.given and isinstance(real, CountedProcess):
            real.keeper = None
        target = (_RecordedAhead if isinstance(real, RunsAhead) else _Recorded)(real)
        execution = Execution(
            target, str(order.target), order.plan, lambda: order.silence_s, image.elf.symbol_at
        )
        emulator = real.emulator()
        assembler = Assembler(NoRecords(), expects_samples=order.instrument == "counter")
        with order_on_this_linux(_waiting):
            outcome = run_plan(execution, assembler, threading.Event())
    return Played(
        bytes(target.frames),
        _parts(outcome.failure),
        outcome.output,
        getattr(real, "records", {}),
        emulator,
        target.value,
    )


def _waiting(reason: str) -> None:
    print(f"order waits: {reason}", file=sys.stderr, flush=True)


def _parts(failure: TargetFailed | None) -> tuple[str, str, str] | None:
    return None if failure is None else (failure.message, failure.remedy, failure.detail)


def _no_build(elf_sha256: str) -> BuildEntry:
    """The worker's run has no manifest: the lab that asked knows how the image was built."""
    return BuildEntry(
        compiler="",
        compiler_version="",
        flags="",
        elf_sha256=elf_sha256,
        text_bytes=0,
        data_bytes=0,
        bss_bytes=0,
        kernel_source="",
    )
