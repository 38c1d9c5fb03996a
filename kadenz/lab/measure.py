# SPDX-License-Identifier: Apache-2.0
"""One target's run: its clock first, then every point, under its conditions, into one folder."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from kadenz import __version__
from kadenz.config import inventory
from kadenz.config.manifest import SCHEMA_VERSION, Manifest, TargetEntry, Tier
from kadenz.host.clock import RateOverRun
from kadenz.host.facts import Host
from kadenz.images.provenance import describe
from kadenz.lab import tuning_in_force
from kadenz.lab.boots import Boots
from kadenz.lab.clock import checks_rate, enter_measurements, enter_rate
from kadenz.lab.condition import Active, Running
from kadenz.lab.hello import stamps
from kadenz.lab.job import Job, Result, Turn
from kadenz.lab.plan import RATE_BENCH
from kadenz.lab.progress import Progress
from kadenz.lab.rate import enter_rate_of_board, measures_rate
from kadenz.lab.resuming import at_work, keep_rates, take_up
from kadenz.lab.target_notes import enter_warning
from kadenz.store import Run, RunWriter


def measure(job: Job, output: Path, progress: Progress, stop: threading.Event) -> Result:
    """Measures one target under its conditions.

    Raises StoreError if the disk refuses, and KadenzError if a condition cannot be established:
    LoadFailed for a load that is not effective, TargetFailed for a tuning that cannot be set.
    Other failures are in the result.
    """
    left = job.points if job.rest is None else [p for boot in job.rest.boots for p in boot]
    progress.started(job.label, left, job.clock())
    run = Running(job.label, output, progress, stop, job.host)
    with ExitStack() as conditions:
        active = [conditions.enter_context(condition.active(run)) for condition in job.conditions]
        result = _measure(job, run, active)
    result.failures += run.failures
    return result


def _measure(job: Job, run: Running, active: Sequence[Active]) -> Result:
    begun = time.monotonic()
    document = _manifest(job, run.host)
    if job.counter is not None:
        job.counter.enter(document.clock)
        document.warnings += job.counter.warnings
    document.warnings += job.warnings
    for condition in active:
        condition.begin(document)
    tuning_in_force.begin(document)
    if job.rest is not None:
        take_up(document, job.rest)
    board = inventory.board(job.name.board).tier.board
    rate = RateOverRun() if checks_rate(document.clock, job.name.tier) else None
    result = Result(str(job.name), run.output, document, job.image.elf.path)
    with _writer(job, run.output, document) as writer:
        boots = Boots(job, run, writer, result.failures)
        stamp_benchmark_notes(job, writer)
        why = boots.measure()
        if job.rest is not None:
            keep_rates(document, job.rest)  # a load judges the new records alone
        for condition in reversed(active):
            why = condition.end(document, why, result.failures)
        enter_measurements(document, Run(writer.folder, document))
        if rate is not None:
            enter_rate(document.clock, rate)
        if board is not None and measures_rate(document.clock, job.name.tier):
            way = job.setup.link.results or board.results
            enter_rate_of_board(document, Run(writer.folder, document), board, way)
        tuning_in_force.end(document)
        document.records.sort(key=lambda record: record.id)
        document.duration_s = round(document.duration_s + time.monotonic() - begun, 3)
        result.folder = writer.finish(why)
    run.progress.finished(run.label, result.folder)
    return result


def _writer(job: Job, output: Path, document: Manifest) -> RunWriter:
    earlier = job.rest.folder if job.rest is not None else None
    of_board = job.name.tier == "board" and any(point.bench == RATE_BENCH for point in job.points)
    quiet = job.name.tier == "host" or of_board
    try:
        return RunWriter(output, document, quiet=quiet, earlier=earlier)
    except BlockingIOError:
        raise at_work(earlier or output) from None


def stamp_benchmark_notes(job: Job, writer: RunWriter) -> None:
    """Enters the board's notes on the planned benchmarks into the run, and warns of each."""
    tiers = inventory.board(job.name.board).tier
    tier = {"emulated": tiers.emulated, "guest": tiers.guest}.get(job.name.tier)
    planned = sorted({point.bench for point in job.points})
    for globs, text in tier.benchmark_notes.items() if tier is not None else ():
        noted = [bench for bench in planned if any(fnmatchcase(bench, g) for g in globs.split())]
        writer.manifest.benchmark_notes |= dict.fromkeys(noted, text)
        if noted:
            enter_warning(writer, "benchmark-note", f"in {', '.join(noted)}, {text}")


def _manifest(job: Job, host: Host) -> Manifest:
    now = datetime.now(UTC)
    on_host = job.name.tier == "host"
    warnings = [warning for condition in job.conditions for warning in condition.warnings]
    turn = job.origin.turn or Turn("", 0, 0)
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version=__version__,
        kadenz_describe=describe(Path(__file__)),
        id=f"{now:%Y%m%d-%H%M%S}-{job.name.kernel}-{job.name.board}{job.suffix}",
        created=now.isoformat(timespec="seconds"),
        duration_s=0.0,
        partial=False,
        partial_reason="",
        campaign=job.origin.campaign,
        target=_target_entry(job),
        clock=job.clock(),
        build=job.image.entry,
        host=host.entry,
        emulator=job.make().emulator(),
        conditions=job.entries(),
        warnings=[
            *(host.warnings if on_host else []),
            *stamps(job.image, job.catalog.hello),
            *warnings,
        ],
        records=[],
        planned=sorted(point.id for point in job.points),
        preflight=list(host.preflight) if on_host else [],
        name=job.origin.run_name,
        variant=turn.variant,
        round=turn.round,
        place=turn.place,
        call=job.origin.call,
    )


def _target_entry(job: Job) -> TargetEntry:
    hello = job.catalog.hello
    tier: Tier = job.name.tier  # type: ignore[assignment]  # checked by parse_target
    return TargetEntry(
        name=str(job.name),
        kernel=job.name.kernel,
        board=job.name.board,
        tier=tier,
        instrument=job.instrument,
        arch=hello.arch,
        kernel_name=hello.kernel,
        kernel_version=hello.kernel_version,
        capabilities=hello.capabilities,
        settings=hello.settings | job.settings(),
        cores=hello.cores,
        tick_hz=hello.tick_hz,
        title=inventory.board(job.name.board).title,
    )


def sha256_of(file: Path) -> str:
    """Digest of a campaign's file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
