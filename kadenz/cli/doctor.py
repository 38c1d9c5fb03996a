# SPDX-License-Identifier: Apache-2.0
"""kadenz doctor: what this machine and its targets can do, and what is missing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kadenz.cli.console import screen_of, styled
from kadenz.cli.doctor_lanes import CLAIMS, lanes, verdict
from kadenz.cli.output import write_json
from kadenz.errors import EXIT_FAILED, EXIT_INCONCLUSIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from kadenz.config.manifest import PreflightEntry
    from kadenz.host.clock import ClockCheck
    from kadenz.host.facts import Host
    from kadenz.targets.checkup import TargetCheck
    from kadenz.tools import Tool


@click.command()
@click.option(
    "--require",
    "claim",
    type=click.Choice(CLAIMS),
    help="Exit with 1 if a finding invalidates this claim about this Linux, with 4 if unknown.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def doctor(claim: str | None, as_json: bool) -> None:
    """Show what this machine and each target can do, what is missing, and how to get it.

    The first lines answer for each way to measure: whether emulated targets, simulated cores and
    guests are ready, which claims about this Linux its state allows, and the probes of boards. The
    preflight lists findings that affect figures of this Linux, most severe first, and the
    tuning profiles that remove them. Exits with 1 if no target can run.
    """
    from kadenz import tools
    from kadenz.host.clock import check_clock
    from kadenz.host.facts import NO_RIGHT, read_host
    from kadenz.targets.checkup import Missing, check_targets

    machine_tools = [tools.look_up(need) for need in tools.NEEDS]
    by_name = {tool.need.name: tool for tool in machine_tools}
    host, clock = read_host(), check_clock()
    targets = check_targets(
        lambda need: by_name.get(need.name) or tools.look_up(need),
        [
            Missing(warning.message, f"{warning.remedy}. Or measure with --allow no-realtime")
            for warning in host.warnings
            if warning.code in NO_RIGHT
        ],
    )
    ready = any(check.ready for check in targets)
    if as_json:
        _write_json(host, clock, machine_tools, targets, ready)
    else:
        _write_tables(host, clock, machine_tools, targets)
    code = 0 if claim is None else verdict(claim, host.preflight, clock)
    if code and claim is not None and not as_json:
        word = "may be invalid" if code == EXIT_INCONCLUSIVE else "are invalid"
        click.echo(f"error: {claim} of this Linux {word}: see the preflight", err=True)
    if not ready or code:
        sys.exit(code if ready else EXIT_FAILED)


def _zoom() -> Tool:
    """The plotting library of the report. It is a file, not a program."""
    from kadenz.report import zoom
    from kadenz.tools import Need, Tool

    library = zoom.library()
    problem = "" if library else f"{zoom.NAME} was not fetched: plots of a report cannot be zoomed"
    need = Need(zoom.NAME, zoom.PURPOSE, zoom.REMEDY)
    return Tool(need, None, library.version if library else "", problem)


def _write_json(
    host: Host, clock: ClockCheck, tools: list[Tool], targets: list[TargetCheck], ready: bool
) -> None:
    from kadenz import __version__
    from kadenz.targets.board import discovery as board

    pictures = _zoom()
    answer = {
        "kadenz": __version__,
        "ready": ready,
        "lanes": lanes(targets, host.preflight, clock, board.probes()),
        "host": host.entry,
        "warnings": host.warnings,
        "preflight": host.preflight,
        "clock": clock,
        "tools": [
            {
                "name": tool.need.name,
                "purpose": tool.need.purpose,
                "path": str(tool.path or ""),
                "version": tool.version,
                "problem": tool.problem,
                "remedy": tool.need.remedy if tool.problem else "",
            }
            for tool in tools
        ],
        "debug_servers": [
            {"name": name, "version": tool.version, "problem": tool.problem or tool.unchecked}
            for name, tool in board.servers().items()
        ],
        "probes": [str(probe) for probe in board.probes()],
        "pictures": {"name": pictures.need.name, "version": pictures.version}
        | {"problem": pictures.problem, "remedy": pictures.need.remedy if pictures.problem else ""},
        "targets": [
            {
                "name": check.name,
                "title": check.title,
                "ready": check.ready,
                "instruments": check.instruments,
                "missing": check.missing,
                "missing_for_scope": check.missing_for_scope,
                "note": check.note,
            }
            for check in targets
        ],
    }
    write_json(answer, indent=2)


def _write_tables(
    host: Host, clock: ClockCheck, tools: list[Tool], targets: list[TargetCheck]
) -> None:
    from kadenz.cli.tables import write_rows
    from kadenz.targets.board import discovery as board

    console = screen_of(sys.stdout)
    write_rows(console, [*lanes(targets, host.preflight, clock, board.probes()).items()], indent=0)
    console.print()
    _machine(console, host)
    _preflight(console, host.preflight)
    _clock(console, clock)
    _tools(console, [*tools, _zoom()])
    _debug_servers(console)
    show_targets(console, targets)


def _debug_servers(console: Console) -> None:
    from kadenz.targets.board import discovery as board

    console.print(styled("\n[bold]Debug servers[/] of boards"))
    table = _table()
    for name, tool in board.servers().items():
        state = tool.problem or tool.unchecked or tool.version or "present"
        table.add_row(_mark(not tool.problem), name, state)
    console.print(table)
    listed = ", ".join(map(str, board.probes())) or "none"
    _say(console, f"probes on USB: {listed}")


def _machine(console: Console, host: Host) -> None:
    entry = host.entry
    kind = f"virtual ({entry.virtual})" if entry.virtual else "not virtual"
    console.print(styled("[bold]This machine[/]"))
    _say(console, f"{entry.cpu}, {entry.cpus} processors, {kind}")
    _say(console, f"{entry.os}, Linux {entry.kernel}, {entry.preempt}")


def _preflight(console: Console, preflight: Sequence[PreflightEntry]) -> None:
    console.print(styled("\n[bold]Preflight[/] for figures of this Linux, most severe first"))
    for entry in preflight:
        if entry.verdict == "finding":
            effect = "[red]invalidates {}[/]: {}" if entry.invalidates else "{}{}"
            mark = styled("[red]✗[/]") if entry.invalidates else styled("[yellow]![/]")
            _say(console, entry.message, mark)
            _say(console, styled(effect, " and ".join(entry.invalidates), entry.effect))
            profiles = f"kadenz tune apply {' | '.join(entry.tunings)}" if entry.tunings else ""
            remedy = f". Or: {entry.remedy}" if profiles and entry.remedy else entry.remedy
            _say(console, styled("[dim]{}[/]", profiles + remedy))
    for entry in preflight:
        if entry.verdict == "unknown":
            _say(console, f"{entry.code}: unknown: {entry.message}", styled("[dim]?[/]"))
    good = [entry.code for entry in preflight if entry.verdict == "good"]
    if good:
        _say(console, styled("[dim]Checks passed: {}[/]", ", ".join(good)), styled("[green]✓[/]"))
    if len(good) == len(preflight):
        _say(console, "all preflight checks passed", styled("[green]✓[/]"))
    _say(console, styled("[dim]No effect on instruction counts of emulated and guest targets[/]"))


def _clock(console: Console, clock: ClockCheck) -> None:
    console.print(styled("\n[bold]Clock[/] CLOCK_MONOTONIC"))
    _say(
        console,
        f"smallest step {clock.resolution_ns} ns (nominal {clock.nominal_resolution_ns} ns), a "
        f"read costs at most {clock.read_cost_ns:.0f} ns; both measured through Python",
    )
    backward = clock.backward_steps or "no"
    _say(
        console,
        f"{backward} steps backwards in {clock.readings} reads on one processor and across "
        f"{clock.processors}; longest gap between two reads "
        f"{clock.longest_gap_ns / 1000:.0f} us",
    )
    for rate in clock.rates:
        _say(
            console,
            f"rate {rate.ppm:+.2f} ± {rate.uncertainty_ppm:.2f} ppm against {rate.against}",
        )
    for problem in clock.problems:
        _say(console, problem, styled("[red]✗[/]"))
    if not clock.problems:
        limit = max(clock.resolution_ns, round(clock.read_cost_ns))
        _say(console, f"single spans are reliable down to about {limit} ns", styled("[green]✓[/]"))


def _tools(console: Console, tools: list[Tool]) -> None:
    console.print(styled("\n[bold]Tools[/]"))
    table = _table()
    for tool in tools:
        state = tool.problem or tool.version or "present"
        table.add_row(_mark(not tool.problem), tool.need.name, state, tool.need.purpose)
    console.print(table)
    for tool in tools:
        if tool.problem:
            _say(console, styled("[dim]{}: {}[/]", tool.need.name, tool.need.remedy))


def show_targets(console: Console, targets: list[TargetCheck]) -> None:
    """One row per target: readiness, instruments, and missing tools or rights."""
    console.print(styled("\n[bold]Targets[/]"))
    table = _table()
    remedies: dict[str, None] = {}
    for check in targets:
        missing = check.missing or check.missing_for_scope
        problems = "; ".join([requirement.problem for requirement in missing] or [check.note])
        table.add_row(_mark(check.ready), check.name, _state(check), problems)
        remedies.update(dict.fromkeys(requirement.remedy for requirement in missing))
    console.print(table)
    for remedy in remedies:
        _say(console, styled("[dim]{}[/]", remedy))


def _state(check: TargetCheck) -> str:
    if not check.ready:
        return "cannot run"
    if check.name.endswith("@board"):
        return "can be built"  # an attached board is only detected when it is measured
    if check.missing_for_scope:
        return "ready, except for the scope"
    return f"ready: {', '.join(check.instruments)}"


def _mark(good: bool) -> Text:
    return styled("[green]✓[/]") if good else styled("[red]✗[/]")


def _table() -> Table:
    """Columns: a mark, a name that is never cut, a state, and text that may wrap."""
    from rich.table import Table

    table = Table(box=None, pad_edge=True, show_header=False, padding=(0, 1))
    table.add_column()
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column(style="dim", overflow="fold")  # a version longer than the column
    return table


def _say(console: Console, text: str | Text, mark: str | Text = " ") -> None:
    """Prints one indented paragraph with a mark in front."""
    from rich.table import Table

    line = Table.grid(padding=(0, 1, 0, 1))
    line.add_row(mark, text)
    console.print(line)
