# SPDX-License-Identifier: Apache-2.0
"""kadenz conformance: checks that kernel ports do what the suite relies on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.board_option import board_option, link_of
from kadenz.cli.names import complete_target
from kadenz.cli.option_groups import GroupedCommand
from kadenz.cli.output import write_json
from kadenz.cli.timeout_option import timeout_option
from kadenz.errors import EXIT_FAILED, EXIT_PASS

if TYPE_CHECKING:
    from kadenz.lab.conformance import Conformance


@click.command(cls=GroupedCommand)
@click.argument(
    "targets", metavar="TARGET...", nargs=-1, required=True, shell_complete=complete_target
)
@click.option(
    "--kernel-source",
    "kernel_sources",
    metavar="[NAME=]DIR|pinned",
    multiple=True,
    help="Source tree of the kernel instead of the pinned one; NAME=DIR for one of several "
    "kernels. May be repeated, one test for each.",
)
@click.option(
    "--image",
    "images",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    help="ELF file of an image that your own build made, for targets BOARD@TIER. May be repeated, "
    "one test for each.",
)
@timeout_option
@click.option("--json", "as_json", is_flag=True, help="Write one JSON array to standard output.")
@board_option
def conformance(
    targets: tuple[str, ...],
    kernel_sources: tuple[str, ...],
    images: tuple[Path, ...],
    timeout_s: float,
    as_json: bool,
    **link: Any,
) -> int:
    """Run the conformance test on TARGETs: check that the kernel port does what benchmarks rely on.

    Each case passes, fails, or is n/a because the kernel lacks the feature. Exits with 0 if on each
    TARGET no case failed and at least one passed; with 1 if a case failed, none passed, or the
    target did not finish.

    \b
    kadenz conformance freertos/stm32f4@emulated posix/linux@host
    kadenz conformance stm32f4@emulated --image build/app.elf
    """
    from kadenz.cli import show_error
    from kadenz.config.target_name import parse_target
    from kadenz.lab.conditions.image import ImageChoice
    from kadenz.lab.conditions.kernel_tree import PINNED, KernelTree, KernelTreeChoice
    from kadenz.lab.conformance import conformance as ask

    names = [parse_target(text) for text in dict.fromkeys(targets)]
    trees = KernelTreeChoice.named(kernel_sources)
    trees.check(names)
    given = ImageChoice(images)
    given.check(names)
    answers = []
    asked = [
        (name, one.tree, file)
        for name in names
        for one in trees.of(name.kernel) or [KernelTree(PINNED)]
        for file in given.of(name) or (None,)
    ]
    for name, tree, file in asked:
        answers.append(ask(name, tree=tree, given=file, link=link_of(link), silence_s=timeout_s))
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
    screen.print(styled("[bold]{}[/]{}", answer.target, kernel))
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
