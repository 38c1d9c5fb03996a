# SPDX-License-Identifier: Apache-2.0
"""kadenz conformance: checks that kernel ports do what the suite relies on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.board_option import board_option
from kadenz.cli.names import complete_target
from kadenz.cli.option_groups import GroupedCommand, any_image_options
from kadenz.cli.output import write_json
from kadenz.cli.timeout_option import timeout_option
from kadenz.config.board_link import BoardLink
from kadenz.errors import EXIT_FAILED, EXIT_PASS

if TYPE_CHECKING:
    from kadenz.lab.conformance import Conformance


@click.command(cls=GroupedCommand)
@click.argument(
    "targets", metavar="TARGET...", nargs=-1, required=True, shell_complete=complete_target
)
@timeout_option
@click.option("--json", "as_json", is_flag=True, help="One JSON array on standard output.")
@board_option
@any_image_options
def conformance(
    targets: tuple[str, ...],
    timeout_s: float,
    board: dict[str, Any],
    as_json: bool,
    **conditions: Any,
) -> int:
    """Run the conformance test on TARGETs: check that the kernel port does what benchmarks rely on.

    Each case passes, fails, or is n/a because the kernel lacks the feature. Exits with 0 if on each
    TARGET no case failed and at least one passed; with 1 if a case failed, none passed, or the
    target did not finish.

    \b
    kadenz conformance freertos/stm32f4@emulated posix/linux@host
    kadenz conformance freertos/hifive1-revb@emulated --isa rv32ima
    kadenz conformance stm32f4@emulated --image build/app.elf
    """
    from kadenz.cli import show_error
    from kadenz.config.target_name import parse_target
    from kadenz.lab.conditions import check_images, image_choices
    from kadenz.lab.conformance import conformance as ask
    from kadenz.lab.variants import combinations

    names = [parse_target(text) for text in dict.fromkeys(targets)]
    check_images(names, conditions)
    asked = [
        (name, variant)
        for name in names
        for variant in combinations(name, image_choices(name, conditions, given=True))
    ]
    answers = []
    for name, variant in asked:
        answers.append(ask(name, conditions=variant, link=BoardLink(**board), silence_s=timeout_s))
        if not as_json:
            _write(answers[-1])
    if as_json:
        write_json([_row(answer) for answer in answers])
    codes = [show_error(answer.failure) for answer in answers if answer.failure is not None]
    codes += [EXIT_FAILED for answer in answers if not answer.conforms]
    return max(codes, default=EXIT_PASS)


def _write(answer: Conformance) -> None:
    """One line per case with its reason, if any, below it; then the counts."""
    from rich.padding import Padding

    from kadenz.cli.console import console, styled

    screen = console()
    hello = answer.hello
    kernel = f": {hello.kernel} {hello.kernel_version}, {hello.arch}" if hello is not None else ""
    target = ", ".join((answer.target, *answer.conditions))
    screen.print(styled("[bold]{}[/]{}", target, kernel))
    colours = {"pass": "green", "fail": "bold red", "n/a": "dim"}
    for case in answer.cases:
        colour = colours[case.result]
        screen.print(styled("  [{}]{:4}[/]  {}", colour, case.result, case.case))
        if case.reason:
            screen.print(Padding(styled("[dim]{}[/]", case.reason), (0, 0, 0, 8), expand=False))
    screen.print(
        f"  {answer.count('pass')} passed, {answer.count('fail')} failed, "
        f"{answer.count('n/a')} not applicable"
        + ("" if answer.failure is None else "; the target did not finish")
    )


def _row(answer: Conformance) -> dict[str, Any]:
    hello = answer.hello
    return {
        "target": answer.target,
        "conditions": answer.conditions,
        "kernel": hello.kernel if hello else "",
        "kernel_version": hello.kernel_version if hello else "",
        "conforms": answer.conforms,
        "passed": answer.count("pass"),
        "failed": answer.count("fail"),
        "not_applicable": answer.count("n/a"),
        "cases": [
            {"case": case.case, "result": case.result, "reason": case.reason}
            for case in answer.cases
        ],
        "error": answer.failure.message if answer.failure else "",
    }
