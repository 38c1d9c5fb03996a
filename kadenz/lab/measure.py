# SPDX-License-Identifier: Apache-2.0
"""One target's run: its clock first, then every point, into one run folder."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kadenz import __version__
from kadenz.config import inventory, manifest
from kadenz.config.manifest import (
    SCHEMA_VERSION,
    CampaignEntry,
    ClockEntry,
    HostEntry,
    Instrument,
    Manifest,
    TargetEntry,
    Tier,
)
from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, WireDamaged
from kadenz.host.clock import RateOverRun
from kadenz.host.tracefs import traced
from kadenz.images.image import Image
from kadenz.images.provenance import describe
from kadenz.lab import tuning_in_force
from kadenz.lab.boot import Outcome, run_plan
from kadenz.lab.bus import BusChoice
from kadenz.lab.catalog import Catalog
from kadenz.lab.clock import checks_rate, clock_entry, enter_measurements, enter_rate
from kadenz.lab.counter import Counter
from kadenz.lab.events import by_kind, enter_events
from kadenz.lab.execution import clock_unit
from kadenz.lab.guests import BOOT_S, SLOWDOWN, Guest
from kadenz.lab.holding import held
from kadenz.lab.loads import Beside
from kadenz.lab.plan import Point, batches, plan_text
from kadenz.lab.progress import Progress
from kadenz.lab.session import Session
from kadenz.load.definitions import Options
from kadenz.store import Run, RunWriter
from kadenz.targets.base import Target
from kadenz.targets.guest import NOT_SETTLED, GuestTarget
from kadenz.targets.scope import ScopeDamaged
from kadenz.wire.records import Assembler

# Kinds of notes of a target that become warnings of the run; a chatty one would hide the others.
_NOTES_MAX = 20
_LANES_MAX = 64  # threads of cyclic/wakeup-latency


@dataclass
class Job:
    """What is to be measured on one target."""

    name: TargetName
    instrument: Instrument
    image: Image
    catalog: Catalog
    points: list[Point]
    make: Callable[[], Target]
    host: HostEntry
    warnings: list[manifest.Warning]
    campaign: CampaignEntry
    conditions: dict[str, str]
    timeout_s: float
    preflight: list[manifest.PreflightEntry] = field(default_factory=list)
    load: str = ""  # beside it; "": nobody asked for any
    load_options: Options = field(default_factory=Options)
    counter: Counter | None = None  # of an emulated target: checked before anything is measured
    guest: Guest | None = None  # the kernel and what runs inside, of a target of tier guest
    bus: BusChoice = field(default_factory=BusChoice)
    variant: str = ""  # of interleaved rounds (rounds.py), as are the next two; "": of none
    round: int = 0
    place: int = 0

    @property
    def suffix(self) -> str:
        """What tells its run folder from that of another job on the same kernel and board."""
        instrument = "" if self.instrument == "counter" else f"-{self.instrument}"
        load = f"-load-{self.load}" if self.load else ""
        guest = self.guest.suffix if self.guest else ""
        return f"{instrument}{load}{guest}" + (f"-round-{self.round}" if self.round else "")

    @property
    def label(self) -> str:
        """The target, its kernel where it has several, the load and the round where asked for."""
        turn = f", round {self.round}" if self.round else ""
        if self.guest is not None:
            return f"{self.name}{self.guest.label}{turn}"
        return (f"{self.name}, load {self.load}" if self.load else str(self.name)) + turn


@dataclass
class Result:
    """A run on the disk, and everything that went wrong on its way."""

    target: str
    folder: Path
    manifest: Manifest
    failures: list[KadenzError] = field(default_factory=list)


def measure(job: Job, output: Path, progress: Progress, stop: threading.Event) -> Result:
    """Measures one target. Raises StoreError when the disk refuses and LoadFailed when the load
    beside it does not bite; other failures are in Result.

    A target that dies is started again with the points it has not reached, so that one bad
    benchmark does not cost the rest.
    """
    progress.started(job.label, job.points, clock_of(job))
    load = Beside(job.load, job.load_options, output, job.label, progress, stop)
    with load:
        return _measure(job, output, load)


def _measure(job: Job, output: Path, load: Beside) -> Result:
    name, progress = job.label, load.progress
    begun = time.monotonic()
    document = _manifest(job)
    if job.counter is not None:
        job.counter.enter(document.clock)
        document.warnings += job.counter.warnings
    load.begin(document)
    tuning_in_force.begin(document)
    rate = RateOverRun() if checks_rate(document.clock, job.name.tier) else None
    failures: list[KadenzError] = []
    with RunWriter(output, document, quiet=job.name.tier == "host") as writer:
        session = Session(writer, name, job.points, job.catalog.benches, progress)
        session.scoped = job.instrument == "scope"
        _stamp_benchmark_notes(job, writer)
        why = _all_points(job, session, writer, progress, load.stop, failures)
        why = load.end(document, why, failures)
        enter_measurements(document, Run(writer.folder, document))
        if rate is not None:
            enter_rate(document.clock, rate)
        tuning_in_force.end(document)
        document.records.sort(key=lambda record: record.id)
        document.duration_s = round(time.monotonic() - begun, 3)
        folder = writer.finish(why)
    progress.finished(name, folder)
    return Result(str(job.name), folder, document, failures)


def _stamp_benchmark_notes(job: Job, writer: RunWriter) -> None:
    """Enters the board's notes on the planned benchmarks into the run, and warns of each."""
    emulated = inventory.board(job.name.board).tier.emulated
    if job.name.tier != "emulated" or emulated is None:
        return
    planned = {point.bench for point in job.points}
    for bench, text in emulated.benchmark_notes.items():
        if bench in planned:
            writer.manifest.benchmark_notes[bench] = text
            _warn(writer, "benchmark-note", f"in {bench}, {text}")


def _all_points(
    job: Job,
    session: Session,
    writer: RunWriter,
    progress: Progress,
    stop: threading.Event,
    failures: list[KadenzError],
) -> str:
    """Every batch of the plan; "" or why the run is partial."""
    emulated = inventory.board(job.name.board).tier.emulated
    room = emulated.plan_bytes if job.name.tier == "emulated" and emulated else None
    apart = [part for batch in batches(job.points, room) for part in _apart(job, batch)]
    for batch in apart:
        left = batch
        while left:
            if stop.is_set():
                return "interrupted (Ctrl-C)"
            outcome = _boot(job, left, session, writer, progress, stop, failures)
            if outcome.stopped:
                return "interrupted (Ctrl-C)"
            before, left = left, [point for point in left if point.id not in session.seen]
            if outcome.failure is not None:
                failures.append(outcome.failure)
                _warn(writer, "target-failed", outcome.failure.message, outcome.failure.detail)
                if len(left) == len(before):  # it died before it measured anything
                    session.lost(left[0], outcome.failure.message)
                    return outcome.failure.message
            elif left:
                for point in left:
                    session.lost(point, "every frame of this record was lost")
                left = []
    return ""


def _may_stop(job: Job, points: Sequence[Point]) -> bool:
    """Whether a sample above a limit ends one of the points and the kernel's trace with it."""
    return job.name.tier == "host" and any(
        point.params.get("stop_above_us") and point.params.get("trace", 1) for point in points
    )


def _apart(job: Job, points: Sequence[Point]) -> Iterator[list[Point]]:
    """Points that may end with a trace have a program, and by that a trace, of their own."""
    together: list[Point] = []
    for point in points:
        if not _may_stop(job, [point]):
            together.append(point)
            continue
        if together:
            yield together
        yield [point]
        together = []
    if together:
        yield together


def _boot(
    job: Job,
    points: Sequence[Point],
    session: Session,
    writer: RunWriter,
    progress: Progress,
    stop: threading.Event,
    failures: list[KadenzError],
) -> Outcome:
    """One execution of the image with these points."""
    name = job.label
    target = job.make()
    assembler = Assembler(session, expects_samples=not session.scoped)
    planned = {point.id: point for point in points}

    def silence_s() -> float:
        """The time-out, and twice what the current record needs when it is periodic."""
        begin = assembler.current
        point = planned.get(begin.record) if begin else None
        boot_s, slowdown = (BOOT_S, SLOWDOWN) if job.guest is not None else (0.0, 2.0)
        if begin is None or point is None:
            return job.timeout_s + boot_s
        periods_us = [v for k, v in begin.params.items() if k in ("period_us", "interval_us")]
        # Each thread's period lies so much above the last one's.
        longest_us = max(periods_us, default=0) + begin.params.get("distance_us", 0) * _LANES_MAX
        return job.timeout_s + slowdown * 1e-6 * longest_us * point.samples

    def keep_up() -> None:
        writer.keep_up()
        session.look()

    bus = job.bus.settings()  # as it is when the target reads it
    with (
        traced(_may_stop(job, points)) as trace,
        held(target, points, job.catalog.hello.cores, writer) as paced,
    ):
        session.stored = paced.go_on if paced is not None else lambda: None
        outcome = run_plan(
            target,
            name,
            plan_text(points),
            assembler,
            silence_s=silence_s,
            stop=stop,
            symbol_at=job.image.elf.symbol_at,
            keep_up=keep_up,
        )
        if trace is not None:
            trace.keep(writer.folder / f"trace-{points[0].id:05d}.txt")
    if assembler.hello is not None:
        # The catalog may have been asked with fewer rights: what was measured is what counts.
        writer.manifest.target.settings = assembler.hello.settings | bus
    if isinstance(target, GuestTarget) and not outcome.stopped:
        _enter_guest_loads(job, target, writer)
    if session.scoped:
        try:
            session.take_trace(getattr(target, "records", {}))
        except ScopeDamaged as damage:
            session.take_trace({})
            outcome = Outcome(outcome.failure or damage, outcome.stopped, outcome.said)
    for text in assembler.texts:
        writer.say(text)
        progress.note(name, text)
    notes = by_kind(enter_events(writer.manifest.events, assembler.texts))
    for text in notes[:_NOTES_MAX]:
        _warn(writer, "target-note", text)
    more = len(notes) - _NOTES_MAX
    if more > 0:
        _warn(writer, "target-notes", f"the target said {more} things more: see console.txt")
    if outcome.said:
        writer.say(outcome.said)
    _report_findings(assembler, outcome, name, writer, failures)
    return outcome


def _enter_guest_loads(job: Job, target: GuestTarget, writer: RunWriter) -> None:
    """What loads inside a guest told of themselves; warnings where that, or quiet, is missing."""
    if not writer.manifest.loads:
        writer.manifest.loads = target.loads
    if NOT_SETTLED in target.console:
        _warn(
            writer,
            "guest-not-settled",
            "the kernel was still busy with work of its boot when the measurement began",
        )
    for glob in target.without_thread:
        _warn(
            writer,
            "tuning-without-thread",
            f"no thread of the guest's kernel is called `{glob}`: that rule did nothing",
        )
    told = {load.name for load in target.loads if load.verified}
    wanted = job.guest.loads if job.guest is not None else ()
    for name in wanted:
        if name not in told:
            _warn(writer, "load-not-verified", f"the load `{name}` inside the guest told no rate")


def _report_findings(
    assembler: Assembler,
    outcome: Outcome,
    name: str,
    writer: RunWriter,
    failures: list[KadenzError],
) -> None:
    """Damage on the line: a stamped warning each, and an error when something was lost."""
    lost = [f for f in assembler.findings if f.lost and f.kind != "restarted"]
    for finding in assembler.findings:
        writer.say(f"{finding.kind}: {finding.message}")
    # A target of another wire version has failed; its line is sound.
    if outcome.stopped or not assembler.findings or assembler.foreign:
        return
    kinds = ", ".join(sorted({f.kind for f in assembler.findings}))
    first = assembler.findings[0].message
    _warn(writer, "line-damaged", f"{len(assembler.findings)} damages ({kinds}): {first}")
    if lost:
        failures.append(
            WireDamaged(
                f"{name}: frames were damaged or lost: {lost[0].kind}: {lost[0].message}",
                remedy="The records concerned are marked; check the line and measure them again",
                detail="\n".join(f"{f.kind}: {f.message}" for f in lost[:20]),
            )
        )


def _warn(writer: RunWriter, code: str, message: str, detail: str = "") -> None:
    if detail:
        writer.say(detail)
    known = [(w.code, w.message) for w in writer.manifest.warnings]
    if (code, message) not in known:
        writer.manifest.warnings.append(manifest.Warning(code=code, message=message))


def _manifest(job: Job) -> Manifest:
    now = datetime.now(UTC)
    hello, board = job.catalog.hello, inventory.board(job.name.board)
    tier: Tier = job.name.tier  # type: ignore[assignment]  # checked by parse_target
    kernel, conditions = job.name.kernel, dict(job.conditions)
    if job.load:
        conditions["load"] = job.load
    if job.guest is not None:
        kernel = f"{kernel}-{job.guest.kernel.version}"
        conditions |= job.guest.conditions
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version=__version__,
        kadenz_describe=describe(Path(__file__)),
        id=f"{now:%Y%m%d-%H%M%S}-{kernel}-{job.name.board}{job.suffix}",
        created=now.isoformat(timespec="seconds"),
        duration_s=0.0,
        partial=False,
        partial_reason="",
        campaign=job.campaign,
        target=TargetEntry(
            name=str(job.name),
            kernel=job.name.kernel,
            board=job.name.board,
            tier=tier,
            instrument=job.instrument,
            arch=hello.arch,
            kernel_name=hello.kernel,
            kernel_version=hello.kernel_version,
            capabilities=hello.capabilities,
            settings=hello.settings | job.bus.settings(),
            cores=hello.cores,
            tick_hz=hello.tick_hz,
            title=board.title,
        ),
        clock=clock_of(job),
        build=job.image.entry,
        host=job.host,
        emulator=job.make().emulator(),
        conditions=conditions,
        warnings=list(job.warnings),
        records=[],
        preflight=list(job.preflight),
        variant=job.variant,
        round=job.round,
        place=job.place,
    )


def clock_of(job: Job) -> ClockEntry:
    """The clock of a job, before it is measured."""
    tier: Tier = job.name.tier  # type: ignore[assignment]  # checked by parse_target
    unit = clock_unit(job.name, inventory.board(job.name.board))
    return clock_entry(job.catalog.hello, tier, unit, job.host.virtual)


def sha256_of(file: Path) -> str:
    """Digest of a campaign's file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
