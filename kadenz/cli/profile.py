# SPDX-License-Identifier: Apache-2.0
"""kadenz profile: where the instructions or cycles between two stamps went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kadenz.cli.option_groups import GroupedCommand
from kadenz.cli.recording import Asked, print_json, record, recording_options


@click.command(cls=GroupedCommand)
@recording_options(
    "An emulated target, or a simulated Ibex; may be repeated.",
    "A parameter, or `samples`; values with commas make a sweep.",
)
@click.option("--quick", is_flag=True, help="Fewer samples: to see that it works.")
def profile(quick: bool, **values: Any) -> int:
    """Show where instructions or cycles of BENCHMARKs go: by function, part, call path and kind.

    Each run folder gets `profiles/`: a page with flame graphs, SVG, folded stacks, a file for
    speedscope, and the executed instructions with their source lines. `kadenz compare A B
    --explain` shows the difference of two such runs by function.

    \b
    kadenz profile itc/queue --target freertos/stm32f4@emulated
    kadenz profile itc/queue --target freertos/stm32f4@emulated \\
        --kernel-source my-tree
    kadenz profile itc/queue --target freertos/ibex@rtl
    """
    from kadenz.store import read_run
    from kadenz.store.profiles import read_profiles

    asked = Asked.of(values)
    recorded = record(asked, {"scope": asked.targets}, quick=quick, profiled=True)
    run_profiles = [(run.folder, read_profiles(read_run(run.folder))) for run in recorded.runs]
    if asked.as_json:
        print_json([profile for _, profiles in run_profiles for profile in profiles])
    for folder, profiles in run_profiles:
        if profiles:
            _write(folder, profiles, shown=not asked.as_json)
            if not asked.as_json:
                _write_critical(profiles)
    return recorded.exit_code()


def _write_critical(profiles: Sequence[Any]) -> None:
    """The longest section of each service, if services were profiled."""
    from kadenz.cli.console import console
    from kadenz.cli.tables import write_table
    from kadenz.report.families.critical import table_of_sections

    table = table_of_sections(profiles)
    if table is not None:
        write_table(console(), table)


def _write(folder: Path, profiles: Sequence[Any], *, shown: bool) -> None:
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.profiles import remarks, tables, write_files

    files = write_files(profiles, folder / "profiles")
    if not shown:
        return
    screen = console()
    for profile in profiles:
        for lane in profile.lanes:
            for table in tables(profile, lane):
                if table.rows:
                    write_table(screen, table)
            for remark in remarks(profile, lane):
                screen.print(remark)
    screen.print(styled("[dim]{}[/]", str(files[0])), soft_wrap=True)
