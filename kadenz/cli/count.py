# SPDX-License-Identifier: Apache-2.0
"""kadenz count: each call of a function in a firmware or a program as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.output import write_json
from kadenz.cli.program_inputs import program_inputs
from kadenz.cli.run_folder_options import run_folder_options
from kadenz.errors import EXIT_FAILED, EXIT_PASS, TargetFailed, UsageError

if TYPE_CHECKING:
    from kadenz.analysis import RunResult
    from kadenz.cli.count_program import Inputs
    from kadenz.counting.execution import Execution
    from kadenz.counting.functions import Function
    from kadenz.counting.recording import CountedRun
    from kadenz.counting.runner_names import RunnerOutput
    from kadenz.report.count import CallFacts

    # The functions that an output stands for, and its names that stand for none.
    _Find = Callable[[RunnerOutput], tuple[list[Function], list[str]]]

_LIMIT_S = 1.0


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--board",
    metavar="BOARD[@TIER]",
    help="A firmware's board: stm32f4, or ibex@rtl, a simulated core. Default: its first tier.",
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
    help="End after SECONDS of virtual time. A program that it ends has failed.",
)
@program_inputs
@click.option(
    "--expect",
    "expected",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What the program has to write to standard output.",
)
@click.option(
    "--guest",
    metavar="KEY=VALUE,…",
    multiple=True,
    help="The program's kernel: kernel=6.12 or kernel=./bzImage, flavour=plain|rt.",
)
@run_folder_options(several=False)
@click.option("--fresh", is_flag=True, help="Take nothing from the store: execute it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def count(
    image: Path,
    arguments: Sequence[str],
    board: str | None,
    functions: Sequence[str],
    functions_from: Path | None,
    begins: Sequence[str],
    ends: Sequence[str],
    until: str | None,
    until_text: str,
    limit_s: float,
    files: Sequence[str],
    standard_input: Path | None,
    expected: Path | None,
    guest: Sequence[str],
    output: Path | None,
    name: str,
    fresh: bool,
    as_json: bool,
) -> int:
    """Count the instructions of each call of a function in IMAGE, your build as it is.

    IMAGE is a linked ELF file for an emulated board, or for a simulated core: then its clock
    cycles are counted; or without --board a program of Linux, which a guest executes with
    ARGUMENTS. It needs no suite, no marks and no other build. Each call is a sample, with the
    calls inside it, without the handlers of interrupts and without the kernel. So is each way from
    one place of the code to another. A firmware runs until it ends itself by semihosting or by a
    core's register, or until one of --until, --until-text and --limit. The run folder is like all
    others: show, compare, gate and archive read it.

    \b
    kadenz count firmware.elf --board stm32f4 --function pid_update
    kadenz count firmware.elf --board hifive1-revb --function 'can_*' \\
        --until-text 'self test passed'
    kadenz count firmware.elf --board stm32f4 --function pid_update \\
        --until shutdown --limit 2 --output runs/now
    kadenz count firmware.elf --board stm32f4 --from read_sensor --to write_output
    kadenz count firmware.elf --board stm32f4 --from main.c:120 --to main.c:140
    kadenz count firmware.elf --board ibex@rtl --function pid_update
    kadenz count ./program --function 'parse_*' --file data.json -- data.json
    """
    from kadenz.cli.count_program import Inputs

    if not image.exists():
        raise UsageError(f"{image}: no such file", remedy="Pass the linked image of your build")
    inputs = Inputs(arguments, files, standard_input, expected, guest)
    wanted = _Wanted(
        image, functions, functions_from, begins, ends, limit_s, output, name, fresh, as_json
    )
    if board is None:
        if until or until_text:
            raise UsageError(
                "--until, --until-text: for a firmware, and there is no --board",
                remedy="Name its board. A program of Linux runs until it ends by itself",
            )
        return _count_program(wanted, inputs)
    inputs.refuse()
    return _count_firmware(wanted, board, until, until_text)


@dataclass(frozen=True)
class _Wanted:
    """What both kinds of images have."""

    image: Path
    functions: Sequence[str]
    functions_from: Path | None
    begins: Sequence[str]
    ends: Sequence[str]
    limit_s: float
    output: Path | None
    name: str
    fresh: bool
    as_json: bool

    def check(self, chosen: Sequence[Function]) -> None:
        """UsageError if nothing is to be counted."""
        if not chosen:
            raise UsageError(
                f"{self.image}: nothing to count",
                remedy="Name a function with --function, or a span with --from and --to",
            )

    def place(self) -> tuple[Path, str]:
        """Where the run goes, and its name."""
        from kadenz.cli.run_request import lab_defaults, run_name

        output, _ = lab_defaults(self.output, None)
        return output, run_name(self.name, output)


def _count_firmware(wanted: _Wanted, board: str, until: str | None, until_text: str) -> int:
    from kadenz.cli.measuring import stoppable
    from kadenz.counting.firmware import executed, firmware
    from kadenz.counting.functions import Functions
    from kadenz.counting.recording import record
    from kadenz.targets.firmware import Watching

    checked = firmware(wanted.image, board)
    known = Functions(checked.elf)
    chosen = [*known.chosen(wanted.functions), *known.spans(wanted.begins, wanted.ends)]
    if wanted.functions_from is not None:
        chosen += _timed(wanted.functions_from, lambda output: known.timed(output, board), chosen)
    wanted.check(chosen)
    watching = Watching(
        [(function.address, function.size, function.end) for function in chosen],
        wanted.limit_s,
        known.address(until, "--until") if until else None,
        until_text,
    )
    output, run = wanted.place()
    with (
        stoppable() as stop,
        _progress(wanted.image) as progress,
        executed(checked, watching, stop, progress, fresh=wanted.fresh) as execution,
    ):
        counted = record(checked, chosen, execution, output, run)
    result = _shown(counted, execution, as_json=wanted.as_json)
    return _exit_code(result, execution)


def _count_program(wanted: _Wanted, inputs: Inputs) -> int:
    from kadenz.cli.count_program import checked_program, shown_program
    from kadenz.cli.measuring import stoppable
    from kadenz.counting.program import executed, functions_of, timed_of
    from kadenz.counting.recording import record

    subject = checked_program(wanted.image, inputs)
    chosen = functions_of(subject.linux, wanted.functions, wanted.begins, wanted.ends)
    if wanted.functions_from is not None:
        chosen += _timed(
            wanted.functions_from, lambda output: timed_of(subject.linux, output), chosen
        )
    wanted.check(chosen)
    output, run = wanted.place()
    with (
        stoppable() as stop,
        _progress(wanted.image) as progress,
        executed(
            subject,
            chosen,
            wanted.limit_s,
            inputs.expected,
            stop,
            progress,
            fresh=wanted.fresh,
        ) as execution,
    ):
        counted = record(subject, chosen, execution, output, run)
        result = shown_program(subject, counted, execution, as_json=wanted.as_json)
    return _exit_code(result, execution)


def _timed(file: Path, find: _Find, chosen: Sequence[Function]) -> list[Function]:
    """The functions of a runner's output that are not chosen yet. Says which format it has, and
    which names are no functions."""
    from kadenz.counting.runner_names import read_names

    output = read_names(file)
    timed, missing = find(output)
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
        write_table(console(), table_of_calls(result, facts, execution.account))
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
    """0, or 1 with the reason: the image failed, a function was not called, or Ctrl-C."""
    if execution.problem:
        kept = "The calls until then are in the run folder"
        raise TargetFailed(
            execution.problem,
            remedy="; ".join(filter(None, [kept, execution.remedy])),
            detail=execution.last_output,
        )
    bad = [record for record in result.records if record.entry.status == "failed"]
    for record in bad:
        click.echo(f"{record.bench}: failed: {record.reason}", err=True)
    return EXIT_FAILED if bad or execution.stopped else EXIT_PASS
