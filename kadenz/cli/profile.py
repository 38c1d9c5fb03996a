# SPDX-License-Identifier: Apache-2.0
"""kadenz profile: where the instructions between two stamps went."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.names import complete_target, complete_work
from kadenz.cli.option_groups import GroupedCommand, image_options
from kadenz.errors import EXIT_FAILED, EXIT_PASS, KadenzError

if TYPE_CHECKING:
    from kadenz.lab.job import Result


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
    help="A parameter, or `samples`; values with commas make a sweep.",
)
@click.option("--quick", is_flag=True, help="Fewer samples: to see that it works.")
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
def profile(
    work: tuple[str, ...],
    targets: tuple[str, ...],
    settings: tuple[str, ...],
    quick: bool,
    output: Path | None,
    name: str,
    timeout_s: float,
    as_json: bool,
    **conditions: Any,
) -> int:
    """Show where the instructions of BENCHMARKs go: by function, part, call path and kind.

    Each run folder gets `profiles/`: a page with flame graphs, SVG, folded stacks, a file for
    speedscope, and the executed instructions with their source lines. `kadenz compare A B
    --explain` shows the difference of two such runs by function.

    \b
    kadenz profile itc/queue --target freertos/stm32f4@emulated
    kadenz profile itc/queue --target freertos/stm32f4@emulated --kernel-source my-tree
    """
    from kadenz.cli.run import display_of, measured, stoppable
    from kadenz.cli.run_request import lab_defaults, overrides_of, requests_of, run_name
    from kadenz.lab.preparing import Request

    output, _ = lab_defaults(output, None)
    wanted = partial(
        Request,
        instrument="scope",
        overrides=overrides_of(settings),
        timeout_s=timeout_s,
        run_name=run_name(name, output),
        profiled=True,
    )
    requests = requests_of(wanted, work, targets, conditions, quick=quick)
    with stoppable() as stop, display_of(as_json) as display:
        results = measured(requests, output, display, stop)
    return _conclude(results, as_json=as_json, stopped=stop.is_set())


def _conclude(results: Sequence[Result | KadenzError], *, as_json: bool, stopped: bool) -> int:
    from kadenz.store import read_run
    from kadenz.store.profiles import read_profiles

    runs = [result for result in results if not isinstance(result, KadenzError)]
    found = [(one.folder, read_profiles(read_run(one.folder))) for one in runs]
    if as_json:
        print_json([profile for _, profiles in found for profile in profiles])
    for folder, profiles in found:
        if profiles:
            _write(folder, profiles, shown=not as_json)
    return exit_code(results, stopped=stopped)


def exit_code(results: Sequence[Result | KadenzError], *, stopped: bool) -> int:
    """Shows what went wrong; the exit code."""
    from kadenz.cli import show_error

    runs = [result for result in results if not isinstance(result, KadenzError)]
    errors = [error for result in runs for error in result.failures]
    errors += [result for result in results if isinstance(result, KadenzError)]
    codes = [show_error(error) for error in errors]
    bad = [r for one in runs for r in one.manifest.records if r.status in ("failed", "invalid")]
    for record in bad:
        click.echo(f"{record.bench}: {record.status}: {record.reason}", err=True)
    if stopped or bad:
        codes.append(EXIT_FAILED)
    return max(codes, default=EXIT_PASS)


def print_json(found: Sequence[Any]) -> None:
    """One array on standard output."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1))


def _write(folder: Path, profiles: Sequence[Any], *, shown: bool) -> None:
    from rich.markup import escape

    from kadenz.cli.console import console
    from kadenz.cli.tables import write_table
    from kadenz.report.profiles import remarks, tables, write_files

    files = write_files(profiles, folder / "profiles")
    if not shown:
        return
    screen = console()
    for one in profiles:
        for lane in one.lanes:
            for table in tables(one, lane):
                if table.rows:
                    write_table(screen, table)
            for remark in remarks(one, lane):
                screen.print(escape(remark))
    screen.print(f"[dim]{escape(str(files[0]))}[/]", soft_wrap=True)
