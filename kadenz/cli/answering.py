# SPDX-License-Identifier: Apache-2.0
"""The answers of several runs together, in the terminal as in the report, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kadenz.analysis import RunResult
    from kadenz.analysis.deadlines import Asked
    from kadenz.analysis.margins import Between
    from kadenz.report.answers import Sentence
    from kadenz.report.standings import Field, Standing
    from kadenz.store import Run

_STYLES = {"best": "bold", "near": "dim", "na": "dim", "bad": "red"}


def print_answers(
    screen: Console,
    runs: Sequence[Run],
    results: Sequence[RunResult],
    deadlines: Sequence[Asked] = (),
) -> None:
    """Prints the table of several systems, one sentence for each question, and the margins."""
    from kadenz.analysis.answers import answer
    from kadenz.analysis.margins import margins
    from kadenz.report.answers import sentences
    from kadenz.report.labels import variant_names
    from kadenz.report.standings import standings

    answers = answer(runs, results, deadlines)
    for group in standings(answers, results):
        if len(group.systems) > 1:  # one system alone has its figures above
            _print_standing(screen, group)
    print_sentences(screen, sentences(answers, variant_names(results)))
    print_margins(screen, margins(answers), [variant.letter for variant in answers.variants])


def as_json(
    runs: Sequence[Run], results: Sequence[RunResult], deadlines: Sequence[Asked] = ()
) -> dict[str, Any]:
    """`runs`, and of several the table of systems and their margins."""
    from kadenz.analysis.answers import answer
    from kadenz.report.summary import run_summary
    from kadenz.report.systems_json import systems_json

    summaries = [run_summary(result) for result in results]
    return {"runs": summaries} | systems_json(answer(runs, results, deadlines), results)


def print_margins(screen: Console, every: Sequence[Between], letters: Sequence[str]) -> None:
    """Prints how much one system is ahead of another, a line each."""
    from kadenz.report.margins import lines

    for line in lines(every, letters):
        screen.print(line)


def print_sentences(screen: Console, sentences: Sequence[Sentence]) -> None:
    """Prints each question with its answer on one line."""
    from kadenz.cli.console import styled

    for sentence in sentences:
        screen.print(styled("[bold]{}[/] {}", sentence.question, sentence.answer))


def _cell(field: Field) -> Text:
    from rich.text import Text

    figure = Text(field.text, _STYLES.get(field.kind, ""))
    return figure.append(f" {field.of_period}", "dim") if field.of_period else figure


def _print_standing(screen: Console, group: Standing) -> None:
    from rich.table import Table

    from kadenz.cli.console import styled

    screen.print(styled("[bold]{}[/]", group.title))
    for system in group.systems:
        screen.print(f"{system.letter} {system.label}, {system.kernel}")
    for block in group.blocks if group.lines else []:
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column("benchmark", overflow="fold")
        for place in block:
            table.add_column(group.systems[place].letter, justify="right", no_wrap=True)
        for row, line in zip(group.table.rows, group.lines, strict=True):
            point = f", {row[1].text}" if row[1].raw else ""
            fields = [line.fields[place] for place in block]
            table.add_row(
                f"{row[0].text}{point}",
                *(_cell(field) for field in fields),
            )
        screen.print(table)
    screen.print(group.answer)
    for remark in (group.decides, *group.footnotes):
        screen.print(styled("[dim]{}[/]", remark))
    screen.print()
