# SPDX-License-Identifier: Apache-2.0
"""What several runs answer together, as the report says it, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from kadenz.analysis import RunResult
    from kadenz.report.answers import Sentence
    from kadenz.store import Run


def print_answers(screen: Console, runs: Sequence[Run], results: Sequence[RunResult]) -> None:
    """A sentence a question, from the same place as those of the report."""
    from kadenz.analysis.answers import answer
    from kadenz.report.answers import sentences
    from kadenz.report.labels import variant_names

    print_sentences(screen, sentences(answer(runs, results), variant_names(results)))


def print_sentences(screen: Console, found: Sequence[Sentence]) -> None:
    """Question and answer, a line each."""
    from rich.markup import escape

    for one in found:
        screen.print(f"[bold]{escape(one.question)}[/] {escape(one.answer)}")
