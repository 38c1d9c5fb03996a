# SPDX-License-Identifier: Apache-2.0
"""kadenz trace: who ran when in a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.names import complete_target, complete_work
from kadenz.cli.option_groups import GroupedCommand, image_options
from kadenz.cli.profile import exit_code, print_json
from kadenz.errors import KadenzError

if TYPE_CHECKING:
    from kadenz.config.timeline import Timeline

_SAMPLES = 20  # a picture needs few


@click.command(cls=GroupedCommand)
@click.argument(
    "work", metavar="BENCHMARK...", nargs=-1, required=True, shell_complete=complete_work
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    shell_complete=complete_target,
    help="An emulated target; may be repeated.",
)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter, or `samples` (default 20); values with commas make a sweep.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where run folders go. Default: the lab's, else runs.",
)
@click.option("--name", default="", help="Name of the runs of this call. Default: date and time.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    help="Seconds of silence after which a target counts as hung.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON array to standard output.")
@image_options
def trace(
    work: tuple[str, ...],
    targets: tuple[str, ...],
    settings: tuple[str, ...],
    output: Path | None,
    name: str,
    timeout_s: float,
    as_json: bool,
    **conditions: Any,
) -> int:
    """Show who ran when in BENCHMARKs: threads, exceptions, samples and calls of the kernel.

    Each run folder gets `timelines/`: for each record a file for Perfetto and Chrome, a VCD for
    GTKWave and PulseView, and a picture of two samples.

    \b
    kadenz trace itc/queue --target freertos/stm32f4@emulated
    kadenz trace itc/queue --target freertos/stm32f4@emulated --set samples=100
    """
    from kadenz.cli.run import display_of, measured, stoppable
    from kadenz.cli.run_request import lab_defaults, overrides_of, requests_of, run_name
    from kadenz.lab.preparing import Request
    from kadenz.store import read_run
    from kadenz.store.timelines import read_timelines

    output, _ = lab_defaults(output, None)
    wanted = partial(
        Request,
        instrument="scope",
        overrides={"samples": [_SAMPLES], **overrides_of(settings)},
        timeout_s=timeout_s,
        run_name=run_name(name, output),
        traced=True,
    )
    requests = requests_of(wanted, work, targets, conditions, quick=False)
    with stoppable() as stop, display_of(as_json) as display:
        results = measured(requests, output, display, stop)
    runs = [one for one in results if not isinstance(one, KadenzError)]
    found = [(one.folder, read_timelines(read_run(one.folder))) for one in runs]
    if as_json:
        print_json([timeline for _, timelines in found for timeline in timelines])
    for folder, timelines in found:
        _write(folder, timelines, shown=not as_json)
    return exit_code(results, stopped=stop.is_set())


def _write(folder: Path, timelines: Sequence[Timeline], *, shown: bool) -> None:
    from rich.markup import escape

    from kadenz.cli.console import console
    from kadenz.cli.tables import write_table
    from kadenz.report.timelines import shares, write_files

    files = write_files(timelines, folder)
    if not shown:
        return
    screen = console()
    for one in timelines:
        write_table(screen, shares(one))
    for file in files:
        screen.print(f"[dim]{escape(str(file))}[/]", soft_wrap=True)
