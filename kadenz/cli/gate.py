# SPDX-License-Identifier: Apache-2.0
"""kadenz gate: pass or fail a run against a baseline and limits. For CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kadenz.cli.archive_option import archive_option
from kadenz.cli.baseline import Folders
from kadenz.cli.deadline import asked_deadlines, deadline_option
from kadenz.cli.output import write_json
from kadenz.cli.verdict_options import (
    between_runs_option,
    max_worse_option,
    statistics_option,
)
from kadenz.errors import (
    EXIT_INCONCLUSIVE,
    EXIT_PASS,
    EXIT_REGRESSION,
    StoreError,
    UsageError,
)

if TYPE_CHECKING:
    from kadenz.analysis.checks import Check
    from kadenz.analysis.gating import Gate
    from kadenz.store import Run

_CODES = {"pass": EXIT_PASS, "fail": EXIT_REGRESSION, "inconclusive": EXIT_INCONCLUSIVE}
_COLOURS = {"pass": "green", "fail": "red", "inconclusive": "yellow"}


@click.command(options_metavar="")
@click.argument("runs", metavar="RUN... [OPTIONS]", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--against",
    cls=Folders,
    metavar="BASELINE...",
    multiple=True,
    help="Baseline run(s) to compare RUN with: every word up to the next option. archive:LABEL "
    "stands for the newest runs in the archive with that label.",
)
@archive_option
@max_worse_option("Largest acceptable change for the worse.")
@click.option(
    "--limit",
    "limits",
    metavar="LIMIT",
    multiple=True,
    help="e.g. 'cyclic/wakeup-latency p99.9 < 100us' (or max, median, mean), 'cyclic/* misses = 0' "
    "or 'cyclic/* misses < 0.1%'; may be repeated.",
)
@deadline_option
@statistics_option("Statistic to compare with the baseline; may be repeated.")
@between_runs_option
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option(
    "--summary",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append Markdown, e.g. to $GITHUB_STEP_SUMMARY.",
)
@click.option(
    "--comment",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a pull request's comment: what changed, by how much, in which function.",
)
@click.option("--link", metavar="URL", default="", help="Of all figures, in the comment.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def gate(
    runs: tuple[Path, ...],
    against: tuple[str, ...],
    archive: str,
    max_worse: float,
    limits: tuple[str, ...],
    deadlines: tuple[str, ...],
    statistics: tuple[str | float, ...],
    between_runs: float,
    junit: Path | None,
    summary: Path | None,
    comment: Path | None,
    link: str,
    as_json: bool,
) -> int:
    """Pass or fail RUN against a baseline, limits, or both.

    Exit code 0: every check passed; 3: at least one failed; 4: none failed, but the data cannot
    decide all of them (too few samples, a point that was not measured, a partial run, a RUN
    without a baseline, a baseline that does not exist yet). Files are written whatever the exit
    code.

    \b
    kadenz gate runs/new --against runs/released --max-worse 5%
    kadenz gate runs/new --limit 'cyclic/* max < 100us' --junit gate.xml
    kadenz gate runs/new --against archive:main
    kadenz gate runs/new --deadline 100us --limit 'cyclic/* misses = 0'
    """
    from kadenz.analysis.gating import gate as decide
    from kadenz.analysis.limits import parse_limit
    from kadenz.cli.baseline import baseline_runs
    from kadenz.cli.folders import find_runs

    if not runs:
        taken = f": {', '.join(against)} follow --against" if against else ""
        raise UsageError(
            f"no RUN is named{taken}",
            remedy="Name it first: kadenz gate RUN... --against BASELINE...",
        )
    _check_link(link, comment)
    if not against and not limits:
        raise UsageError(
            "neither a baseline nor a limit was given",
            remedy="Pass --against BASELINE or --limit LIMIT",
        )
    candidates = find_runs(runs)
    baseline = baseline_runs(against, archive, candidates)
    answer = decide(
        candidates,
        baseline.runs,
        max_worse=max_worse,
        statistics=statistics,
        limits=[parse_limit(text) for text in limits],
        between_runs=between_runs,
        deadlines=asked_deadlines(deadlines, candidates),
        lacking=baseline.lacking,
    )
    if junit is not None:
        from kadenz.report.junit import junit as document

        _write(junit, document(answer, candidates), append=False)
    if summary is not None:
        from kadenz.report.gate_summary import gate_markdown

        name = ", ".join(run.path.name for run in candidates)
        _write(summary, gate_markdown(answer, name=name).encode(), append=True)
    if comment is not None:
        _write(comment, _comment(answer, baseline.runs, candidates, link).encode(), append=False)
    if as_json:
        _print_json(answer)
    else:
        _print_text(answer)
    return _CODES[answer.outcome]


def _check_link(link: str, comment: Path | None) -> None:
    if link and (comment is None or not link.startswith(("http://", "https://"))):
        why = "not an address of the web" if comment is not None else "there is no comment"
        raise UsageError(
            f"--link {link}: {why}",
            remedy="--comment comment.md --link https://example.org/figures",
        )


def _comment(answer: Gate, before: Sequence[Run], after: Sequence[Run], link: str) -> str:
    from kadenz.analysis.profiles import explain, is_profiled
    from kadenz.analysis.sizes import size_pairs
    from kadenz.report.gate_comment import Compared, gate_comment

    profiled = [[run for run in side if is_profiled(run)] for side in (before, after)]
    try:
        explained = explain(*profiled)
    except UsageError:  # nothing in common
        explained = []
    return gate_comment(answer, Compared(size_pairs(before, after), explained), link=link)


def _write(file: Path, content: bytes, *, append: bool) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab" if append else "wb") as out:
            out.write(content)
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be written: {error.strerror}", remedy="Name another file"
        ) from None


def _print_json(answer: Gate) -> None:
    from kadenz.cli.compare import differences

    document = {
        "outcome": answer.outcome,
        "exit_code": _CODES[answer.outcome],
        "differences": list(differences(answer.configurations)),
        "checks": answer.checks,
        "without_baseline": answer.new,
        "not_judged": dict(answer.not_judged),
    }
    write_json(document)


def _print_text(answer: Gate) -> None:
    """Prints the differences, one line for each check that did not pass, and the counts."""
    from kadenz.cli.compare import difference_table
    from kadenz.cli.console import console, styled

    screen = console()
    for configurations in answer.configurations:
        where = f"{configurations.target}: " if configurations.target else ""
        if configurations.differences:
            screen.print(styled("[bold]{}the configurations differ[/]", where))
            screen.print(difference_table(configurations))
        else:
            screen.print(f"{where}the configurations are the same")
    for check in answer.checks:
        if check.outcome != "pass":
            screen.print(
                styled("[{}]{}[/] {}", _COLOURS[check.outcome], check.outcome, _line(check))
            )
    if answer.new:
        screen.print(styled("[dim]without a baseline: {}[/]", "; ".join(answer.new)))
    for bench, note in answer.not_judged:
        screen.print(styled("[yellow]not judged[/] {}: {}", bench, note))
    total = len(answer.checks)
    screen.print(
        styled(
            "\n[{}]{}[/]: {} check{}, {} failed, {} undecided",
            _COLOURS[answer.outcome],
            answer.outcome,
            total,
            "s" * (total != 1),
            answer.count("fail"),
            answer.count("inconclusive"),
        )
    )


def _line(check: Check) -> str:
    from kadenz.report import labels

    where = [check.target, check.bench, labels.parameters(check.params), check.lane]
    where += [check.statistic, f"expected {check.asked}"]
    kind = f" {check.unit} ({check.clock_class})" if check.measured and check.clock_class else ""
    heading = ", ".join(word for word in where if word)
    return "; ".join(part for part in (heading, check.measured + kind, check.reason) if part)
