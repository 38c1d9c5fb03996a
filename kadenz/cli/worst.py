# SPDX-License-Identifier: Apache-2.0
"""kadenz worst: an interrupt in every cycle of a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.option_groups import GroupedCommand, declared, simulated_core_options
from kadenz.cli.output import write_json
from kadenz.cli.recording import Asked, Recorded, record, recording_options
from kadenz.config.manifest import SECONDS
from kadenz.lab.beside import CORES, MOST_OFFSETS
from kadenz.lab.states import OPTION, states_of

if TYPE_CHECKING:
    from kadenz.analysis import RunResult
    from kadenz.config.manifest import Instrument

_SAMPLES = 4  # the last one is tried: caches are warm


@click.command(cls=GroupedCommand)
@recording_options(
    "A simulated core, or a board in QEMU; may be repeated.",
    "A parameter, or `samples` (default 4, of smp/offset 4002): every cycle of the last one is "
    "tried.",
    json="object",
)
@simulated_core_options
@declared(OPTION, "States of the kernel")
@click.option(
    "--instrument",
    type=click.Choice(["scope", "counter"]),
    help="scope: the simulator raises the interrupt. counter: a timer of the board does. "
    "Default: scope where a target has it.",
)
@click.option(
    "--step",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Try one cycle in STEP, with a timer of the board one of its ticks in STEP: for a long "
    "service.",
)
@click.option(
    "--with",
    "second",
    type=click.Choice([*SECONDS]),
    help="Try each arrival with a tick of the kernel, with another request of the same line, or "
    "with one of another device, in every cycle: all pairs.",
)
@click.option(
    "--beside",
    "kinds",
    metavar="KIND[,KIND…]",
    default="",
    help="On several cores: what another one does meanwhile: idle, loop, memory or calls. One run "
    "for each; without it, for all.",
)
@click.option(
    "--offsets",
    type=click.IntRange(1, MOST_OFFSETS),
    default=1,
    show_default=True,
    help="On several cores: the other one begins its work at N offsets from the service. One run "
    "for each.",
)
@click.option(
    "--core",
    type=click.Choice(CORES),
    default=CORES[0],
    show_default=True,
    help="On several cores: the one that gets the interrupt.",
)
@click.option(
    "--why",
    is_flag=True,
    help="Follow the worst arrival and a typical one, function by function.",
)
def worst(
    instrument: Instrument | None,
    step: int,
    second: str | None,
    kinds: str,
    offsets: int,
    core: str,
    why: bool,
    state: Mapping[str, Sequence[str]],
    **values: Any,
) -> int:
    """Find the worst moment at which an interrupt can arrive in a SERVICE: every cycle is tried.

    A SERVICE is a benchmark: every cycle between its two stamps is an arrival. Before each, the
    state of the simulated core is kept; it gets the interrupt, runs until the handler and the
    thread that it wakes have begun, and goes back. In QEMU every instruction is an arrival, each in
    a sample of its own. The run keeps one value for each arrival, with its cycle, what it
    interrupted, and whether interrupts were off or the scheduler locked. On a real board, and with
    `--instrument counter`, a timer of the board raises the interrupt, one tick later each time.

    On several cores another core works meanwhile, in the image of this command alone. SERVICE may
    be smp/offset there, without an interrupt: a call, and another core that begins to work at every
    offset from its begin, with each kind of work.

    \b
    kadenz worst critical/semaphore-give --target freertos/ibex@rtl
    kadenz worst critical --target freertos/ibex@rtl
    kadenz worst critical --target freertos/stm32f4@emulated
    kadenz worst critical/semaphore-give --set waiter=1 \\
        --target freertos/ibex@rtl --why
    kadenz worst critical/queue-send --target freertos/ibex@rtl \\
        --wait-states rom=0,4
    kadenz worst critical/sleep --target freertos/ibex@rtl \\
        --state waking=0,1,2,4,8
    kadenz worst critical/semaphore-give --set waiter=1 \\
        --target freertos/ibex@rtl --with tick
    kadenz worst critical/semaphore-give --target freertos/ibex@board
    kadenz worst critical/semaphore-give --target freertos/ibex2@rtl \\
        --beside calls --offsets 16
    kadenz worst smp/offset --target freertos/ibex2@rtl
    """
    from kadenz.lab.beside import Beside, kinds_of
    from kadenz.lab.offsets import is_sweep
    from kadenz.targets.arrivals import Asked as Arriving

    asked = Asked.of(values)
    beside = Beside(kinds_of(kinds), offsets, core)
    options = {
        "--instrument scope": instrument == "scope",
        "--step": step != 1,
        "--with": second,
        "--state": state,
        "--why": why,
        **dict.fromkeys(beside.options, True),
    }
    if is_sweep(asked.work, [option for option, given in options.items() if given]):
        return _beside_another_core(asked)
    recorded = record(
        asked,
        _by_instrument(asked.targets, instrument),
        defaults={"samples": [_SAMPLES]},
        profiled=why,
        arriving=Arriving(0, step=step, second=second or ""),
        states=states_of(state),
        beside=beside,
    )
    results = _shown(asked, recorded)
    if why:
        _write_why(results, shown=not asked.as_json)
    return recorded.exit_code()


def _beside_another_core(asked: Asked) -> int:
    """A call, over the offset at which another core begins to work."""
    from kadenz.lab.offsets import every_kind

    recorded = record(asked, {"counter": asked.targets}, defaults=every_kind(asked.work))
    _shown(asked, recorded)
    return recorded.exit_code()


def _shown(asked: Asked, recorded: Recorded) -> list[RunResult]:
    """Writes the tables of the runs, or their JSON; what was read of them."""
    from kadenz.analysis import analyse
    from kadenz.cli.console import console
    from kadenz.cli.tables import write_table
    from kadenz.report.labels import labelled
    from kadenz.report.summary import run_summary
    from kadenz.report.views.offsets import table_of_offsets
    from kadenz.report.worst import sweep_rows, table_of_arrivals, tables_of_states
    from kadenz.store import read_run

    results = [analyse(read_run(run.folder)) for run in recorded.runs]
    named = labelled(results)
    if asked.as_json:
        runs = [run_summary(result) for result in results]
        write_json({"runs": runs, "states": sweep_rows(named)})
        return results
    every = (table_of_arrivals(named), *tables_of_states(named), table_of_offsets(named))
    tables = [*filter(None, every)]
    for table in tables:
        write_table(console(), table)
    if not tables:
        recorded.say_why_none()
    return results


def _by_instrument(
    targets: Sequence[str], instrument: Instrument | None
) -> dict[Instrument, list[str]]:
    """The targets of the instrument that was asked for, or of those that see their arrivals."""
    from kadenz.config.target_name import parse_target
    from kadenz.lab.arrivals import instrument_of

    if instrument is not None or not targets:
        return {instrument or "scope": list(targets)}
    by: dict[Instrument, list[str]] = {}
    for target in targets:
        by.setdefault(instrument_of(parse_target(target)), []).append(target)
    return by


def _write_why(results: Sequence[RunResult], *, shown: bool) -> None:
    """Writes the profiles of the runs' arrivals, and shows where the worst ones differ."""
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.labels import labelled
    from kadenz.report.profiles import write_files
    from kadenz.report.worst import tables_of_why
    from kadenz.store import read_run
    from kadenz.store.profiles import read_profiles

    for label, result in labelled(results):
        profiles = read_profiles(read_run(result.path))
        if not profiles:
            continue
        page, *_ = write_files(profiles, result.path / "profiles")
        if shown:
            for table in tables_of_why(label, result, profiles):
                write_table(console(), table)
            console().print(styled("[dim]{}[/]", str(page)), soft_wrap=True)
