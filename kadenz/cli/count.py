# SPDX-License-Identifier: Apache-2.0
"""kadenz count: each call of a function in a firmware as it is, in instructions or cycles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.output import write_json
from kadenz.errors import EXIT_FAILED, EXIT_PASS, TargetFailed, UsageError

if TYPE_CHECKING:
    from kadenz.analysis import RunResult
    from kadenz.counting.firmware import Execution
    from kadenz.counting.functions import Function, Functions
    from kadenz.counting.recording import CountedRun
    from kadenz.report.count import CallFacts

_LIMIT_S = 1.0


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.option(
    "--board",
    required=True,
    metavar="BOARD[@TIER]",
    help="The board: stm32f4, or ibex@rtl, a simulated core. Default tier: the board's first.",
)
@click.option(
    "--function",
    "functions",
    metavar="NAME",
    multiple=True,
    help="A function: its symbol, with wildcards ('can_*'), or its address, 0x…; may be repeated.",
)
@click.option(
    "--functions-from",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Functions that another runner timed, by the names in its output.",
)
@click.option(
    "--from",
    "begins",
    metavar="PLACE",
    multiple=True,
    help="Begin of a span: a symbol, symbol+0x1c, an address, main.c:120; may be repeated.",
)
@click.option(
    "--to", "ends", metavar="PLACE", multiple=True, help="End of the span of the same number."
)
@click.option("--until", metavar="PLACE", help="End when the firmware comes to this place.")
@click.option("--until-text", metavar="OUTPUT", default="", help="End when its console has OUTPUT.")
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=1e-6, max=1e6),
    metavar="SECONDS",
    default=_LIMIT_S,
    show_default=True,
    help="End after SECONDS of virtual time.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the run folder goes. Default: the lab's, else runs.",
)
@click.option("--name", default="", help="Name of the run. Default: date and time.")
@click.option("--fresh", is_flag=True, help="Take nothing from the store: execute it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def count(
    image: Path,
    board: str,
    functions: Sequence[str],
    functions_from: Path | None,
    begins: Sequence[str],
    ends: Sequence[str],
    until: str | None,
    until_text: str,
    limit_s: float,
    output: Path | None,
    name: str,
    fresh: bool,
    as_json: bool,
) -> int:
    """Count the instructions of each call of a function in IMAGE, your firmware as it is.

    IMAGE is a linked ELF file for an emulated board, or for a simulated core: then its clock
    cycles are counted. It needs no suite, no marks and no other build. Each call is a sample, with
    the calls inside it, without the handlers of interrupts. So is each way from one place of the
    code to another. The firmware runs until it ends itself by semihosting or by a core's register,
    or until one of --until, --until-text and --limit. The run folder is like all others: show,
    compare, gate and archive read it.

    \b
    kadenz count firmware.elf --board stm32f4 --function pid_update
    kadenz count firmware.elf --board hifive1-revb --function 'can_*' \\
        --until-text 'self test passed'
    kadenz count firmware.elf --board stm32f4 --function pid_update \\
        --until shutdown --limit 2 --output runs/now
    kadenz count firmware.elf --board stm32f4 --from read_sensor --to write_output
    kadenz count firmware.elf --board stm32f4 --from main.c:120 --to main.c:140
    kadenz count firmware.elf --board ibex@rtl --function pid_update
    """
    from kadenz.cli.measuring import stoppable
    from kadenz.cli.run_request import lab_defaults, run_name
    from kadenz.counting.firmware import executed, firmware
    from kadenz.counting.functions import Functions
    from kadenz.counting.recording import record
    from kadenz.targets.firmware import Watching

    if not image.exists():
        raise UsageError(f"{image}: no such file", remedy="Pass the linked image of your build")
    checked = firmware(image, board)
    known = Functions(checked.elf)
    chosen = [*known.chosen(functions), *known.spans(begins, ends)]
    if functions_from is not None:
        chosen += _timed(known, functions_from, board, chosen)
    if not chosen:
        raise UsageError(
            f"{image}: nothing to count",
            remedy="Name a function with --function, or a span with --from and --to",
        )
    watching = Watching(
        [(function.address, function.size, function.end) for function in chosen],
        limit_s,
        known.address(until, "--until") if until else None,
        until_text,
    )
    output, _ = lab_defaults(output, None)
    run = run_name(name, output)
    with (
        stoppable() as stop,
        _progress(image) as progress,
        executed(checked, watching, stop, progress, fresh=fresh) as execution,
    ):
        counted = record(checked, chosen, execution, output, run)
    result = _shown(counted, execution, as_json=as_json)
    return _exit_code(result, execution)


def _timed(known: Functions, file: Path, board: str, chosen: Sequence[Function]) -> list[Function]:
    """The functions of a runner's output that are not chosen yet. Says which format it has, and
    which names are no functions."""
    from kadenz.counting.runner_names import read_names

    output = read_names(file)
    timed, missing = known.timed(output, board)
    count = len(output.timed) - len(missing)
    click.echo(
        f"{file}: output of {output.format}: {count} of {len(output.timed)} names are functions",
        err=True,
    )
    for name in missing:
        click.echo(f"not counted: {name}: no function has this name; it may be inlined", err=True)
    addresses = {function.address for function in chosen if not function.is_span}
    return [function for function in timed if function.address not in addresses]


def _progress(image: Path) -> Any:
    """Shows the calls so far, on a terminal."""
    from contextlib import contextmanager

    from kadenz.cli.console import progress_bars

    @contextmanager
    def bars() -> Any:
        with progress_bars(transient=True) as bar:
            task = bar.add_task(f"{image.name}: starts", total=None)
            yield lambda calls: bar.update(task, description=f"{image.name}: {calls:,} calls")

    return bars()


def _shown(counted: CountedRun, execution: Execution, *, as_json: bool) -> RunResult:
    """Prints the table, or the JSON."""
    from kadenz.analysis import analyse
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.count import as_data, table_of_calls
    from kadenz.store import read_run

    result = analyse(read_run(counted.folder))
    facts = _facts(counted)
    ended = execution.ended or "interrupted"
    if execution.value is not None and execution.stored:
        ended += f". From the store, measured {execution.value.day}"
    if as_json:
        write_json(
            {
                "run": str(counted.folder),
                "ended": execution.ended,
                "stored": execution.stored,
                "functions": as_data(result, facts),
            }
        )
    else:
        write_table(console(), table_of_calls(result, facts, ended))
        console().print(styled("[dim]{}[/]", str(counted.folder)), soft_wrap=True)
    for warning in result.manifest.warnings:
        click.echo(f"warning: {warning.message}. {warning.remedy}".rstrip(), err=True)
    return result


def _facts(counted: CountedRun) -> dict[str, CallFacts]:
    from kadenz.report.count import CallFacts

    return {
        each.function.bench: CallFacts(
            each.interrupted, each.tally.unwound + each.tally.open, each.function.size
        )
        for each in counted.functions
    }


def _exit_code(result: RunResult, execution: Execution) -> int:
    """0, or 1 with the reason: the firmware failed, a function was not called, or Ctrl-C."""
    if execution.problem:
        raise TargetFailed(
            execution.problem,
            remedy="The calls until then are in the run folder; --limit ends a firmware that "
            "does not end",
            detail=execution.last_output,
        )
    bad = [record for record in result.records if record.entry.status == "failed"]
    for record in bad:
        click.echo(f"{record.bench}: failed: {record.reason}", err=True)
    return EXIT_FAILED if bad or execution.stopped else EXIT_PASS
