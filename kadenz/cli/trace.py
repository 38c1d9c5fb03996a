# SPDX-License-Identifier: Apache-2.0
"""kadenz trace: who ran when in a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.option_groups import GroupedCommand
from kadenz.cli.recording import Asked, print_json, record, recording_options

if TYPE_CHECKING:
    from kadenz.config.manifest import Instrument
    from kadenz.config.timeline import Timeline

_SAMPLES = 20  # a picture needs few
_SECONDS = 1  # of periodic tasks: ten periods of the slowest


@click.command(cls=GroupedCommand)
@recording_options(
    "An emulated target, or this Linux; may be repeated.",
    "A parameter, or `samples` (default 20); values with commas make a sweep.",
)
@click.option(
    "--instrument",
    type=click.Choice(["scope", "records"]),
    default="scope",
    show_default=True,
    help="For emulated targets. `records`: the target reads its own counter, for benchmarks that "
    "time themselves; the timeline then has no row of samples.",
)
def trace(instrument: Instrument, **values: Any) -> int:
    """Show who ran when in BENCHMARKs: threads, exceptions, samples and calls of the kernel.

    Each run folder gets `timelines/`: for each record a file for Perfetto and Chrome, a VCD for
    GTKWave and PulseView, and a picture of two samples. This Linux is traced by its kernel; the
    motion program records the releases of its tasks itself.

    A FILE.dat instead of a BENCHMARK is a recording of trace-cmd. Its `timelines/` are beside it.

    \b
    kadenz trace itc/queue --target freertos/stm32f4@emulated
    kadenz trace itc/queue --target freertos/stm32f4@emulated --set samples=100
    kadenz trace itc/message-queue --target posix/linux@host
    kadenz trace workload/taskset --target freertos/stm32f4@emulated \\
        --instrument records
    kadenz trace motion --target posix/indy7@host
    kadenz trace trace.dat
    """
    from kadenz.analysis.timelines import timelines_of
    from kadenz.capture.trace_cmd import SUFFIX
    from kadenz.errors import UsageError
    from kadenz.store import read_run

    asked = Asked.of(values)
    if any(word.endswith(SUFFIX) for word in asked.work):
        return _recordings(asked)
    if not asked.targets:
        raise UsageError(
            "no target to trace",
            remedy="Name one: --target kernel/board@emulated, or one @host",
        )
    recorded = record(
        asked, _by_instrument(asked.targets, instrument), defaults=_length(asked), traced=True
    )
    run_timelines = [(run.folder, timelines_of(read_run(run.folder))) for run in recorded.runs]
    if asked.as_json:
        print_json([timeline for _, timelines in run_timelines for timeline in timelines])
    codes = [recorded.exit_code()]
    for folder, timelines in run_timelines:
        if timelines:
            _write(folder, timelines, shown=not asked.as_json)
        else:
            codes.append(_nothing_traced(folder))
    return max(codes)


def _recordings(asked: Asked) -> int:
    """Draws recordings of trace-cmd."""
    from kadenz.analysis.linux_timeline import recorded_timeline
    from kadenz.capture.trace_cmd import SUFFIX, reported
    from kadenz.errors import EXIT_PASS, UsageError
    from kadenz.ftrace import events_of

    others = [word for word in asked.work if not word.endswith(SUFFIX)]
    if others or asked.targets or asked.settings or any(asked.conditions.values()):
        raise UsageError(
            f"{asked.work[0]}: a recording takes no target, benchmark or setting",
            remedy="kadenz trace FILE.dat",
        )
    timelines = []
    for word in asked.work:
        file = Path(word)
        timeline = recorded_timeline(events_of(reported(file)), file.name)
        if timeline is None:
            raise UsageError(
                f"{file}: no program starts in this recording",
                remedy="trace-cmd record -F -c -C mono -e sched -e irq -e syscalls PROGRAM",
            )
        timelines.append(timeline)
        _write(asked.output or file.parent, [timeline], shown=not asked.as_json)
    if asked.as_json:
        print_json(timelines)
    return EXIT_PASS


def _nothing_traced(folder: Path) -> int:
    """Says that a run has no timeline; the exit code."""
    from kadenz.cli import show_error
    from kadenz.errors import TargetFailed

    return show_error(
        TargetFailed(
            f"{folder}: no timeline: none of its records says who ran when",
            remedy="See its records: kadenz show. For a benchmark that times itself, use "
            "--instrument records. For the motion program, trace the campaign motion",
        )
    )


def _length(asked: Asked) -> dict[str, list[int]]:
    """How much to record if the call does not say."""
    from kadenz.config.target_name import parse_target
    from kadenz.lab.profile.watching import records_releases

    if {"samples", "seconds"} & {setting.partition("=")[0] for setting in asked.settings}:
        return {}
    periodic = all(records_releases(parse_target(name)) for name in asked.targets)
    return {"seconds": [_SECONDS]} if periodic else {"samples": [_SAMPLES]}


def _by_instrument(targets: Sequence[str], instrument: Instrument) -> dict[Instrument, list[str]]:
    """The plugin watches emulated targets; Linux and the motion program record themselves."""
    from kadenz.config.target_name import parse_target
    from kadenz.lab.profile.watching import records_releases

    host = [name for name in targets if name.endswith("@host")]
    motion = [name for name in host if records_releases(parse_target(name))]
    rest = [name for name in targets if name not in host]
    linux = [name for name in host if name not in motion]
    by_instrument: dict[Instrument, list[str]] = {instrument: rest} if rest or not host else {}
    if linux:
        by_instrument["ftrace"] = linux
    if motion:
        by_instrument["counter"] = motion
    return by_instrument


def _write(folder: Path, timelines: Sequence[Timeline], *, shown: bool) -> None:
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.timelines import shares, write_files

    files = write_files(timelines, folder)
    for timeline in timelines:
        for warning in timeline.warnings:
            click.echo(f"warning: {timeline.bench}: {warning}", err=True)
    if not shown:
        return
    screen = console()
    for timeline in timelines:
        write_table(screen, shares(timeline))
    for file in files:
        screen.print(styled("[dim]{}[/]", str(file)), soft_wrap=True)
