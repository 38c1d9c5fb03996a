# SPDX-License-Identifier: Apache-2.0
"""The answers of several runs together, printed in the terminal as in the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from kadenz.analysis import RunResult
    from kadenz.report.answers import Sentence
    from kadenz.store import Run


def print_answers(screen: Console, runs: Sequence[Run], results: Sequence[RunResult]) -> None:
    """Prints one sentence for each question, the same sentences as in the report."""
    from kadenz.analysis.answers import answer
    from kadenz.report.answers import sentences
    from kadenz.report.labels import variant_names

    print_sentences(screen, sentences(answer(runs, results), variant_names(results)))


def print_sentences(screen: Console, found: Sequence[Sentence]) -> None:
    """Prints each question with its answer on one line."""
    from kadenz.cli.console import styled

    for one in found:
        screen.print(styled("[bold]{}[/] {}", one.question, one.answer))
