# SPDX-License-Identifier: Apache-2.0
"""A call of `kadenz run`, from its options to the runs that it made."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.deadline import planned_deadlines, stamp_deadlines
from kadenz.cli.output import say_in_handler
from kadenz.errors import EXIT_PASS, Interrupted

if TYPE_CHECKING:
    from kadenz.analysis.deadlines import Asked
    from kadenz.cli.run_options import RunOptions
    from kadenz.config.manifest import CallEntry
    from kadenz.errors import KadenzError
    from kadenz.lab.job import Job, Result
    from kadenz.lab.preparing import Request
    from kadenz.store import Run


@dataclass(frozen=True)
class Call:
    """A call of `kadenz run`."""

    options: RunOptions
    entry: CallEntry
    earlier: Sequence[Run] = ()  # runs of this call that was stopped; none: it is new


def measure_call(call: Call) -> int:
    """Measures what a call asks for, or what its earlier runs left. Returns the exit code."""
    from kadenz.cli.run_end import conclude
    from kadenz.cli.run_farm import on_farm
    from kadenz.cli.run_request import lab_defaults, note_needless_root, rounds_folder

    what, how, wanted = call.options.what, call.options.how, call.options.results
    output, rounds = lab_defaults(wanted.output, how.rounds)
    requests = _requests(call, output)
    note_needless_root(requests)
    if call.earlier:
        click.echo(f"starts {_starts(requests)}", err=True)
    asked = planned_deadlines(what.deadlines, [request.campaign for request in requests])
    as_json = wanted.as_json
    with on_farm(how.farm, requests) as farm:
        groups = partial(_jobs, farm.requests, asked, rounds, call.earlier)
        if how.dry_run:
            from kadenz.cli.dry_run import write_dry_run

            never = threading.Event()  # Ctrl-C raises KeyboardInterrupt here
            with display_of(as_json) as display:
                jobs = [job for group in groups(display, never) for job in group]
            write_dry_run(jobs, output, as_json=as_json)
            return EXIT_PASS
        folder = rounds_folder(output) if rounds else output
        if call.earlier:
            folder = call.earlier[0].path.parent
        with (
            stoppable() as stop,
            _alone(requests, stop, wait=how.wait),
            display_of(as_json) as display,
        ):
            results = _measured(map(farm.give, groups(display, stop)), folder, display, stop)
    if call.earlier and not results:
        click.echo("nothing is left to measure: every run of this call is complete", err=True)
        return EXIT_PASS
    code = conclude(results, wanted.report, as_json=as_json, stopped=stop.is_set())
    if rounds and results:
        click.echo(
            f"the rounds are in {folder}: kadenz compare {shlex.quote(str(folder))}", err=True
        )
    return code


def _starts(requests: Sequence[Request]) -> str:
    """The targets of requests, and the images that others made."""
    from kadenz.config.target_name import own_image

    targets = dict.fromkeys(name for request in requests for name in request.targets)
    images = {name: own_image(name) for name in targets}
    return ", ".join(f"{name} ({images[name]})" if images[name] else str(name) for name in targets)


def _requests(call: Call, output: Path) -> list[Request]:
    from kadenz.cli.run_request import overrides_of, requests_of, run_name
    from kadenz.lab.preparing import Request

    options = call.options
    what, how = options.what, options.how
    earlier = call.earlier[0].manifest.name if call.earlier else ""
    wanted = partial(
        Request,
        extra_bench=what.extra_bench,
        overrides=overrides_of(what.settings),
        link=options.link,
        timeout_s=how.timeout_s,
        fresh=how.fresh,
        run_name=earlier or run_name(options.results.name, output),
        call=call.entry,
    )
    return requests_of(
        wanted,
        what.work,
        what.targets,
        options.conditions,
        quick=what.quick,
        instrument=how.instrument,
    )


def _jobs(
    requests: Sequence[Request],
    asked: Sequence[Asked],
    rounds: int | None,
    earlier: Sequence[Run],
    display: Any,
    stop: threading.Event,
) -> Iterator[list[Job]]:
    """The jobs of each request; all requests are checked before the first is prepared."""
    from kadenz.lab.preparing import check, prepare
    from kadenz.lab.resuming import left_of
    from kadenz.lab.variants import interleaved

    for request in requests:
        check(request)
    for request in requests:
        jobs = prepare(request, display, stop)
        stamp_deadlines(jobs, asked)
        jobs = interleaved(jobs, rounds) if rounds else jobs
        yield left_of(jobs, earlier) if earlier else jobs


def _measured(
    groups: Iterator[list[Job]], folder: Path, display: Any, stop: threading.Event
) -> list[Result | KadenzError]:
    """Measures each group of jobs when it is prepared, until somebody stops it.

    Raises Interrupted if that was before the first was prepared.
    """
    from kadenz.lab.schedule import run as measure_all

    results: list[Result | KadenzError] = []
    try:
        for jobs in groups:
            results += measure_all(jobs, folder, display, stop)
            if stop.is_set():
                break
    except Interrupted:
        if not results:
            raise
    return results


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Ctrl-C once: stops measuring and keeps what was measured. Twice: quits immediately."""
    stop = threading.Event()

    def on_signal(number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        text = "stopping; samples that have arrived are kept (press Ctrl-C again to quit at once)"
        say_in_handler(text)

    before = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _alone(
    requests: Sequence[Request], stop: threading.Event, *, wait: bool
) -> AbstractContextManager[None]:
    """Keeps other measurements off this Linux while a target of it is measured."""
    from kadenz.host.machine_lock import alone_on_this_linux

    if not any(name.tier == "host" for request in requests for name in request.targets):
        return nullcontext()
    return alone_on_this_linux(
        wait=wait,
        waiting=lambda description: click.echo(f"waiting: {description}", err=True),
        stopped=stop.is_set,
    )


def measured(
    requests: Sequence[Request], folder: Path, display: Any, stop: threading.Event
) -> list[Result | KadenzError]:
    """Measures the jobs of each request once."""
    return _measured(_jobs(requests, (), None, (), display, stop), folder, display, stop)


def display_of(as_json: bool) -> Any:
    """Shows progress: a line that changes on a terminal, else lines."""
    from kadenz.cli.run_display import LineDisplay, LiveDisplay

    return LiveDisplay() if sys.stderr.isatty() and not as_json else LineDisplay()
