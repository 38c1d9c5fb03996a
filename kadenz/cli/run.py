# SPDX-License-Identifier: Apache-2.0
"""kadenz run: measures campaigns and benchmarks on targets, each into a run folder."""

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

from kadenz.cli.board_options import board_options
from kadenz.cli.deadline import DEADLINE, planned_deadlines, stamp_deadlines
from kadenz.cli.names import complete_target, complete_work
from kadenz.cli.option_groups import WORDS, GroupedCommand, condition_options, option
from kadenz.cli.output import say_in_handler
from kadenz.cli.run_options import RunOptions
from kadenz.cli.timeout_option import TIMEOUT
from kadenz.errors import EXIT_PASS, UsageError

if TYPE_CHECKING:
    from kadenz.analysis.deadlines import Asked
    from kadenz.config.manifest import CallEntry
    from kadenz.errors import KadenzError
    from kadenz.lab.job import Job, Result
    from kadenz.lab.preparing import Request
    from kadenz.store import Run

_WHAT, _HOW, _RESULTS = "What to measure", "How to measure", "Results"


@click.command(cls=GroupedCommand)
@click.argument("work", metavar="[CAMPAIGN|BENCHMARK...]", nargs=-1, shell_complete=complete_work)
@option(
    _WHAT,
    "--target",
    "targets",
    multiple=True,
    shell_complete=complete_target,
    help="Where to measure; may be repeated. Default: the campaign's own targets.",
)
@option(
    _WHAT,
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter, or `samples`, `seconds`, `cold`; values with commas make a sweep.",
)
@option(_WHAT, "--quick", is_flag=True, help="Fewer samples: to see that it works.")
@option(_WHAT, "--deadline", "deadlines", **DEADLINE)
@option(
    _WHAT,
    "--bench",
    "extra_bench",
    type=click.Path(path_type=Path),
    multiple=True,
    help="C file of a benchmark outside the suite; may be repeated.",
)
@option(
    _HOW,
    "--instrument",
    type=click.Choice(["counter", "scope", "model", "pins"]),
    default="counter",
    show_default=True,
    help="How time is measured: by a counter on the target; from outside by a scope; from "
    "outside in cycles of a timing model of the core; or by the counter, with pins that a logic "
    "analyser sees.",
)
@option(
    _HOW,
    "--rounds",
    type=click.IntRange(min=1),
    help="Measure each variant (target and conditions) N times in alternating order, for "
    "`compare`. Default: the lab's, else once.",
    metavar="N",
)
@option(
    _HOW,
    "--farm",
    metavar="CONFIG",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Execute emulated targets and simulated cores on the workers of a farm, and acquire the "
    "places of boards.",
)
@option(
    _HOW,
    "--timeout",
    "timeout_s",
    **TIMEOUT,
)
@option(
    _HOW,
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="While another kadenz measures this Linux: wait for its end, or refuse.",
)
@option(
    _HOW,
    "--resume",
    default="",
    metavar="RUN",
    help="Measure the rest of a stopped call. RUN is one of its runs: a folder, a name, an id or "
    "`latest`.",
)
@option(
    _HOW,
    "--dry-run",
    is_flag=True,
    help="Build the images and show what would be measured and for how long; measure nothing.",
)
@option(
    _HOW,
    "--fresh",
    is_flag=True,
    help="Take nothing from the store of earlier executions: execute everything.",
)
@option(
    _RESULTS,
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where run folders go. Default: the lab's, else runs.",
)
@option(
    _RESULTS,
    "--name",
    default="",
    help="Name of the runs of this call, for `show NAME`. Default: date and time.",
)
@option(
    _RESULTS,
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an HTML page.",
)
@option(
    _RESULTS, "--json", "as_json", is_flag=True, help="Print one JSON object on standard output."
)
@board_options
@condition_options
def run(**values: Any) -> int:
    """Measure campaigns (by name or file) or single benchmarks.

    A condition with several values gives one run for each, and several conditions one run for each
    combination.

    \b
    kadenz run demo
    kadenz run --resume latest
    kadenz run yoo2024 --target freertos/stm32f4@emulated --quick
    kadenz run itc/queue --target posix/linux@host --set size_bytes=4,64,1024
    kadenz run cyclic/wakeup-latency --target posix/linux@host --deadline 100us
    kadenz run linux-ipc --load none --load disk --rounds 5
    kadenz run motion --bus-interface eth1 --bus-layout my-robot.toml
    kadenz run linux-ipc --tuning none --tuning latency --rounds 5
    """
    from kadenz.cli.run_resume import call_of, repeated

    words = click.get_current_context().meta[WORDS]
    options = RunOptions.of(values)
    if options.how.resume:
        return repeated(run, values)
    if not options.what.work:
        raise UsageError("nothing to measure", remedy="Name a campaign or a benchmark")
    return measure_call(Call(options, call_of(words)))


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

            with display_of(as_json) as display:
                jobs = [job for one in groups(display) for job in one]
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
            results = _measured(map(farm.give, groups(display)), folder, display, stop)
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
        instrument=how.instrument,
        extra_bench=what.extra_bench,
        overrides=overrides_of(what.settings),
        link=options.link,
        timeout_s=how.timeout_s,
        fresh=how.fresh,
        run_name=earlier or run_name(options.results.name, output),
        call=call.entry,
    )
    return requests_of(wanted, what.work, what.targets, options.conditions, quick=what.quick)


def _jobs(
    requests: Sequence[Request],
    asked: Sequence[Asked],
    rounds: int | None,
    earlier: Sequence[Run],
    display: Any,
) -> Iterator[list[Job]]:
    """The jobs of each request; all requests are checked before the first is prepared."""
    from kadenz.cli.run_resume import left_of
    from kadenz.lab.preparing import check, prepare
    from kadenz.lab.variants import interleaved

    for request in requests:
        check(request)
    for request in requests:
        jobs = prepare(request, display)
        stamp_deadlines(jobs, asked)
        jobs = interleaved(jobs, rounds) if rounds else jobs
        yield left_of(jobs, earlier) if earlier else jobs


def _measured(
    groups: Iterator[list[Job]], folder: Path, display: Any, stop: threading.Event
) -> list[Result | KadenzError]:
    """Measures each group of jobs when it is prepared, until somebody stops it."""
    from kadenz.lab.schedule import run as measure_all

    results: list[Result | KadenzError] = []
    for jobs in groups:
        results += measure_all(jobs, folder, display, stop)
        if stop.is_set():
            break
    return results


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Ctrl-C once: stops measuring and keeps what was measured. Twice: quits immediately."""
    stop = threading.Event()

    def on_signal(number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        text = "stopping; samples so far are kept (press Ctrl-C again to quit immediately)"
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
        waiting=lambda words: click.echo(f"waiting: {words}", err=True),
        stopped=stop.is_set,
    )


def measured(
    requests: Sequence[Request], folder: Path, display: Any, stop: threading.Event
) -> list[Result | KadenzError]:
    """Measures the jobs of each request once."""
    return _measured(_jobs(requests, (), None, (), display), folder, display, stop)


def display_of(as_json: bool) -> Any:
    """Shows progress: a line that changes on a terminal, else lines."""
    from kadenz.cli.run_display import LineDisplay, LiveDisplay

    return LiveDisplay() if sys.stderr.isatty() and not as_json else LineDisplay()
