# SPDX-License-Identifier: Apache-2.0
"""kadenz watch: every period of the real-time threads of an unmodified program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kadenz.cli.names import complete_target
from kadenz.cli.output import write_json
from kadenz.cli.program_inputs import program_inputs
from kadenz.cli.run_folder_options import run_folder_options
from kadenz.cli.watch_guest import GuestOptions
from kadenz.errors import EXIT_FAILED, EXIT_PASS, TargetFailed, UsageError

if TYPE_CHECKING:
    from kadenz.recordings.formats import RecordedFile
    from kadenz.report.watch import ThreadFacts
    from kadenz.watching.guest import GuestWatch
    from kadenz.watching.judging import Given, Judged
    from kadenz.watching.live import Recording


@dataclass(frozen=True)
class _Asked:
    """The values of the options. `recorded`: the recording that the source names; `in_guest`: the
    program in a guest."""

    source: Sequence[str]
    recorded: RecordedFile | None
    pid: int | None
    names: Sequence[str]
    seconds: float | None
    periods: Sequence[Given]
    deadlines: Sequence[Given]
    wait: bool
    live: bool
    in_guest: GuestWatch | None


@click.command()
@click.argument("source", metavar="[RECORDING | -- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--pid", type=click.IntRange(min=1), metavar="PID", help="Watch a running process.")
@click.option(
    "--thread",
    "names",
    metavar="NAME",
    multiple=True,
    help="Only threads of this name, with wildcards ('ctl*'), real-time or not; may be repeated.",
)
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(min=0.01, max=1e6),
    metavar="SECONDS",
    help="End after SECONDS. Default: with the program, or by Ctrl-C; in a guest 10, of its time.",
)
@click.option(
    "--period",
    "periods",
    metavar="[THREAD=]TIME",
    multiple=True,
    help="Period of the threads, instead of that of their releases: 1ms, or 'ctl*=500us'.",
)
@click.option(
    "--deadline",
    "deadlines",
    metavar="[THREAD=]TIME",
    multiple=True,
    help="By when a job must end, from its release. Default: the period.",
)
@click.option(
    "--live", is_flag=True, help="Show the figures of each thread meanwhile, once a second."
)
@click.option(
    "--wait", is_flag=True, help="Wait while another measurement of this Linux is running."
)
@click.option(
    "--target",
    metavar="TARGET",
    shell_complete=complete_target,
    help="Run the program in a guest: linux-rt/x86_64@guest. Default: on this Linux.",
)
@click.option(
    "--guest",
    metavar="KEY=VALUE,…",
    multiple=True,
    help="What the guest runs, as in run: kernel=6.12 or a file, load=, tuning=, disturbance=.",
)
@program_inputs
@click.option("--fresh", is_flag=True, help="Take nothing from the store: execute it in the guest.")
@run_folder_options(several=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def watch(
    source: Sequence[str],
    pid: int | None,
    names: Sequence[str],
    seconds: float | None,
    periods: Sequence[str],
    deadlines: Sequence[str],
    wait: bool,
    live: bool,
    target: str | None,
    guest: Sequence[str],
    files: Sequence[str],
    standard_input: Path | None,
    fresh: bool,
    output: Path | None,
    name: str,
    as_json: bool,
) -> int:
    """Watch the real-time threads of a program as it is: each period, and why it was late.

    The kernel's scheduler reports when a thread is released, starts, is preempted and sleeps.
    COMMAND needs no change and no marks. The period is found from the releases. For each late job
    the largest part above the usual is its cause: a thread, an interrupt, a lock, page faults.

    A RECORDING is of any machine: a file of trace-cmd, perf or Perfetto, or the folder of an LTTng
    trace; its first bytes tell which. This Linux is recorded as root, with tracefs. In a guest the
    program runs under another kernel: times count instructions, and two watches have the same
    bytes. The run folder is like all others: show, compare, gate and archive read it.

    \b
    kadenz watch -- ./controller --rate 1000
    kadenz watch --pid 4711 --for 30 --deadline 500us --live
    kadenz watch --thread 'ctl*' --for 10
    kadenz watch perf.data
    kadenz watch --target linux-rt/x86_64@guest --for 2 -- ./controller
    """
    from kadenz.cli.run_request import lab_defaults, run_name
    from kadenz.cli.watch_guest import checked_watch
    from kadenz.watching.judging import parse_given

    options = GuestOptions(target, guest, files, standard_input, fresh)
    _check_guest(options, source, pid, live=live)
    asked = _Asked(
        source,
        None if target else _recorded(source),
        pid,
        names,
        seconds,
        parse_given("--period", periods),
        parse_given("--deadline", deadlines),
        wait,
        live,
        checked_watch(source, names, seconds, options) if target else None,
    )
    _check(asked)
    output, _ = lab_defaults(output, None)
    run = run_name(name, output)
    recording = _recording(asked, as_json=as_json)
    judged = _judged(recording, asked)
    folder = _written(recording, judged, output, run)
    _show(folder, recording, judged, as_json=as_json)
    if recording.problem:
        raise TargetFailed(recording.problem, remedy=f"The jobs until then are in {folder}")
    return EXIT_FAILED if recording.stopped and asked.seconds is not None else EXIT_PASS


def _recorded(source: Sequence[str]) -> RecordedFile | None:
    """The recording that is named instead of a command. UsageError for a file that is neither."""
    from kadenz.recordings.formats import TOOLS, recognised

    if len(source) != 1:
        return None
    path, is_program = Path(source[0]), shutil.which(source[0]) is not None
    if is_program and not path.is_file():
        return None
    recorded = recognised(path)
    if recorded is None and not is_program:
        raise UsageError(
            f"{path}: neither a program nor a recording of {TOOLS}",
            remedy="Name a program with its path, or a recording with scheduler events",
        )
    return recorded


def _check_guest(
    options: GuestOptions, source: Sequence[str], pid: int | None, *, live: bool
) -> None:
    """UsageError for options of a guest without one, and for those that it has not."""
    if options.target is None:
        options.refuse()
        return
    if pid is not None or not source:
        raise UsageError(
            f"--target {options.target}: a guest begins with the program",
            remedy="Name it behind --: kadenz watch --target TARGET -- ./program",
        )
    if live:
        raise UsageError(
            "--live: a guest's recording leaves it at its end", remedy="Leave out --live"
        )


def _check(asked: _Asked) -> None:
    """UsageError for nothing to watch, or two things."""
    sources = [bool(asked.source), asked.pid is not None]
    if sum(sources) > 1:
        raise UsageError(
            "a command and --pid: one of them is watched", remedy="kadenz watch --pid PID"
        )
    if not any(sources) and not asked.names:
        raise UsageError(
            "nothing to watch",
            remedy="Name a command behind --, a process with --pid, threads with --thread, or a "
            "recording",
        )
    if asked.recorded and asked.seconds is not None:
        raise UsageError("--for: a recording has its length", remedy="Leave out --for")
    if asked.recorded and asked.live:
        raise UsageError("--live: a recording has ended", remedy="Leave out --live")


def _recording(asked: _Asked, *, as_json: bool) -> Recording:
    """Reads the file, or records. With `as_json`, standard output has nothing of the command."""
    from kadenz.cli.measuring import stoppable
    from kadenz.cli.watch_guest import watched_in_guest
    from kadenz.host.machine_lock import alone_on_this_linux
    from kadenz.watching.live import Wanted, record
    from kadenz.watching.live_process import Shown

    if asked.recorded:
        return _from_file(asked.recorded, asked)
    if asked.in_guest:
        with stoppable() as stop:
            return watched_in_guest(asked.in_guest, stop, as_json=as_json)
    wanted = Wanted(asked.source, asked.pid, asked.seconds, asked.names, as_json)
    with (
        stoppable() as stop,
        alone_on_this_linux(
            wait=asked.wait,
            waiting=lambda text: click.echo(f"waiting: {text}", err=True),
            stopped=stop.is_set,
        ),
    ):
        shown = Shown(asked.names, asked.periods, asked.deadlines) if asked.live else None
        return record(wanted, stop.is_set, lambda text: click.echo(text, err=True), shown)


def _from_file(recorded: RecordedFile, asked: _Asked) -> Recording:
    from kadenz.recordings.checks import checked
    from kadenz.watching.live import Recording
    from kadenz.watching.machines import of_recording
    from kadenz.watching.selection import Selection
    from kadenz.watching.threads import Observer

    selection = Selection((), asked.names, everything=True)
    observed = Observer(selection.keeps).observe(checked(recorded, _read_so_far))
    return Recording(
        observed=observed,
        selection=selection,
        ended=f"the recording of {recorded.format.tool} ended",
        problem="",
        stopped=False,
        overhead=None,
        lacking=(),
        full="",
        bytes=0,
        machine=of_recording(observed.cpus),
        title=recorded.path.resolve().name,
        file=recorded.path.resolve().name,
    )


def _read_so_far(count: int) -> None:
    click.echo(f"read {count:,} events", err=True)


def _judged(recording: Recording, asked: _Asked) -> list[Judged]:
    """The threads. TargetFailed without any, with the names that there are."""
    from kadenz.watching.judging import judge

    unit = recording.machine.unit
    judged = judge(recording.observed, recording.selection, asked.periods, asked.deadlines, unit)
    if judged:
        return judged
    seen = recording.selection.seen(recording.observed)
    names = f"; its threads: {', '.join(seen[:12])}" if seen else ""
    more = f" and {len(seen) - 12:,} more" if len(seen) > 12 else ""
    what = "no such thread was woken and slept" if asked.names else "no real-time thread"
    raise TargetFailed(
        f"{what} during the {recording.observed.seconds:.1f} s that were watched{names}{more}. "
        f"It ended: {recording.ended}",
        remedy="Name threads of any policy with --thread; watch longer with --for",
    )


def _written(recording: Recording, judged: Sequence[Judged], output: Path, run: str) -> Path:
    from kadenz.watching.describing import warnings
    from kadenz.watching.recording import Source, record

    observed = recording.observed
    source = Source(
        title=recording.title,
        ended=recording.ended,
        recording=recording.file,
        machine=recording.machine,
        warnings=warnings(observed, judged, recording.lacking, recording.full),
        duration_s=observed.seconds,
        console=recording.console,
    )
    return record(judged, source, output, run)


def _show(folder: Path, recording: Recording, judged: Sequence[Judged], *, as_json: bool) -> None:
    """Prints the tables, or the JSON."""
    from kadenz.analysis import analyse
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.watch import as_data, tables_of
    from kadenz.store import read_run
    from kadenz.watching.describing import cost_of_job, cost_of_live, cost_words

    result = analyse(read_run(folder))
    facts = [_facts(each) for each in judged]
    cost = recording.overhead
    notes = [f"Ended: {recording.ended}; {recording.observed.events:,} events."]
    if cost is not None:
        notes += [f"{cost_words(cost, recording.observed, recording.machine.unit)}."]
        notes += [f"{cost_text}." for each in judged if (cost_text := cost_of_job(each, cost))]
    if recording.live_s is not None:
        notes += [f"{cost_of_live(recording.live_s, recording.observed)}."]
    if as_json:
        write_json(
            {
                "run": str(folder),
                "ended": recording.ended,
                "events": recording.observed.events,
                "lost": [gap._asdict() for gap in recording.observed.gaps],
                "unit": recording.machine.unit.tick,
                "event_ns": cost.event_ns if cost else None,
                "live_s": recording.live_s,
                "threads": as_data(result, facts),
            }
        )
    else:
        for table in tables_of(result, facts, notes):
            write_table(console(), table)
        console().print(styled("[dim]{}[/]", str(folder)), soft_wrap=True)
    for warning in result.manifest.warnings:
        click.echo(f"warning: {warning.message}. {warning.remedy}".rstrip(), err=True)


def _facts(of: Judged) -> ThreadFacts:
    from kadenz.report.watch import CauseFacts, ThreadFacts
    from kadenz.watching.describing import evidence, longest, policy, release
    from kadenz.watching.recording import bench_of

    thread = of.thread
    return ThreadFacts(
        name=thread.name,
        pid=thread.pid,
        policy=policy(thread.priority),
        release=release(thread),
        evidence=evidence(of),
        late=of.late,
        missed=thread.missed,
        not_measured=thread.not_measured,
        benches={
            quantity: bench_of(of.label, quantity)
            for quantity in ("latency", "response", "execution")
        },
        causes=[
            CauseFacts(cause.name, cause.count, cause.median, cause.most, cause.detail)
            for cause in of.causes
        ],
        longest=longest(of),
    )
