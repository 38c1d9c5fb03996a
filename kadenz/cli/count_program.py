# SPDX-License-Identifier: Apache-2.0
"""kadenz count for a program of Linux, which a guest executes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kadenz.cli.output import write_json
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.analysis import RunResult
    from kadenz.counting.execution import Execution
    from kadenz.counting.program import Program
    from kadenz.counting.recording import CountedRun
    from kadenz.report.count_program import ProgramCallFacts, SystemCallRow


@dataclass(frozen=True)
class Inputs:
    """What a program gets, as the command line has it."""

    arguments: Sequence[str] = ()
    files: Sequence[str] = ()
    standard_input: Path | None = None
    expected: Path | None = None
    guest: Sequence[str] = field(default_factory=tuple)

    def refuse(self) -> None:
        """UsageError if there is any: a firmware gets nothing of it."""
        options = {
            "--file": self.files,
            "--stdin": self.standard_input,
            "--expect": self.expected,
            "--guest": self.guest,
        }
        for option, value in options.items():
            if value:
                raise UsageError(
                    f"{option}: for a program of Linux, and --board names a board of a firmware",
                    remedy="Leave one of them out",
                )
        if self.arguments:
            raise UsageError(
                f"a firmware takes no arguments: {' '.join(self.arguments)}",
                remedy="Leave them out. A program of Linux is counted without --board",
            )


def checked_program(file: Path, inputs: Inputs) -> Program:
    """The program with its guest. UsageError with a remedy for what no guest can run."""
    from kadenz.config.key_values import Key, Notation
    from kadenz.counting.program import FLAVOURS, program

    keys = (
        Key("kernel", "Kernel: 6.12, 6.1, or a file: ./bzImage.", "VERSION|FILE"),
        Key("flavour", "With PREEMPT_RT or without.", "NAME", choices=tuple(FLAVOURS)),
    )
    notation = Notation("--guest", keys)
    asked = notation.merged(notation.parse(text) for text in inputs.guest)
    if inputs.expected is not None and not inputs.expected.is_file():
        raise UsageError(
            f"--expect: {inputs.expected} is not a file",
            remedy="Keep what the program has to write in a file, and name it",
        )
    return program(
        file,
        inputs.arguments,
        inputs.files,
        inputs.standard_input,
        flavour=asked.get("flavour", ""),
        asked_kernel=asked.get("kernel", ""),
    )


def shown_program(
    subject: Program, counted: CountedRun, execution: Execution, *, as_json: bool
) -> RunResult:
    """Prints the tables, or the JSON."""
    from kadenz.analysis import analyse
    from kadenz.cli.console import console, styled
    from kadenz.cli.tables import write_table
    from kadenz.report.count_program import (
        program_as_data,
        table_of_program,
        table_of_system_calls,
    )
    from kadenz.store import read_run

    result = analyse(read_run(counted.folder))
    facts = _facts(counted, execution)
    calls = _system_calls(subject, counted, execution)
    if as_json:
        write_json(
            {
                "run": str(counted.folder),
                "ended": execution.ended,
                "stored": execution.stored,
                "functions": program_as_data(result, facts, calls),
            }
        )
    else:
        write_table(console(), table_of_program(result, facts, execution.account))
        if calls:
            write_table(console(), table_of_system_calls(calls))
        console().print(styled("[dim]{}[/]", str(counted.folder)), soft_wrap=True)
    for warning in result.manifest.warnings:
        click.echo(f"warning: {warning.message}. {warning.remedy}".rstrip(), err=True)
    return result


def _facts(counted: CountedRun, execution: Execution) -> dict[str, ProgramCallFacts]:
    from kadenz.report.count import CallFacts
    from kadenz.report.count_program import ProgramCallFacts

    sums = [[0, 0] for _ in counted.functions]
    for block in execution.calls.blocks():
        for i, values in enumerate(block.more):
            sums[block.function][i] += int(values.sum())
    return {
        each.function.bench: ProgramCallFacts(
            CallFacts(each.interrupted, each.tally.unwound + each.tally.open, each.function.size),
            *sums[number],
        )
        for number, each in enumerate(counted.functions)
    }


def _system_calls(
    subject: Program, counted: CountedRun, execution: Execution
) -> list[SystemCallRow]:
    """By function, the most expensive first."""
    from kadenz.report.count_program import SystemCallRow

    calls = execution.calls.system_calls
    names = subject.linux.system_calls() if calls else {}
    ordered = sorted(calls, key=lambda each: (each.function, -each.instructions, each.count))
    return [
        SystemCallRow(
            counted.functions[each.function].function.name,
            "" if each.number is None else names.get(each.number, f"number {each.number}"),
            each.count,
            each.instructions,
        )
        for each in ordered
    ]
