# SPDX-License-Identifier: Apache-2.0
"""kadenz compare: a verdict for every benchmark point of two sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.deadline import asked_deadlines, deadline_option
from kadenz.cli.figures import Percent
from kadenz.cli.output import write_json
from kadenz.cli.verdict_options import between_runs_option, statistics_option
from kadenz.errors import EXIT_INCONCLUSIVE, EXIT_PASS, EXIT_REGRESSION, UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from kadenz.analysis.answers import PairAnswer
    from kadenz.analysis.comparing import Configurations, SideBySide
    from kadenz.analysis.profiles import Explained
    from kadenz.analysis.sizes import SizePair
    from kadenz.analysis.verdict import Outcome, Verdict
    from kadenz.store import Run

_COLOURS = {
    "better": "green",
    "worse": "red",
    "equivalent": "dim",
    "inconclusive": "yellow",
    "not-comparable": "yellow",
    "context": "dim",
}
# Words of the summary line.
_COUNTED: dict[str, Outcome] = {
    "better": "better",
    "worse": "worse",
    "equal": "equivalent",
    "undecided": "inconclusive",
    "not comparable": "not-comparable",
    "not judged": "context",
}


@click.command()
@click.argument("baseline", metavar="A", type=click.Path(path_type=Path))
@click.argument("candidate", metavar="[B]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    "more_baseline",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another run for side A; may be repeated.",
)
@click.option(
    "--candidate",
    "more_candidate",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another run for side B; may be repeated.",
)
@click.option(
    "--variant",
    "variants",
    metavar="NAME",
    multiple=True,
    help="Variants of folder A to compare, if it holds more than two; give it twice.",
)
@click.option(
    "--threshold",
    type=Percent(),
    metavar="PERCENT",
    default="5%",
    show_default=True,
    help="Smallest relative change that matters: 5 or 5%.",
)
@statistics_option("mean, median, max or a percentile such as p99.9; may be repeated.")
@deadline_option
@between_runs_option
@click.option(
    "--each",
    is_flag=True,
    help="Judge each point alone: 1 in 20 unchanged points is then reported as changed.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Show the functions behind each difference, of runs of `kadenz profile` or `count`.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def compare(
    baseline: Path,
    candidate: Path | None,
    more_baseline: tuple[Path, ...],
    more_candidate: tuple[Path, ...],
    variants: tuple[str, ...],
    threshold: float,
    statistics: tuple[str | float, ...],
    deadlines: tuple[str, ...],
    between_runs: float,
    each: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """Compare run(s) B against run(s) A. A folder of runs counts as all its runs.

    Without B, A is a folder of `kadenz run --rounds`, and its two variants are the sides. Only
    several runs a side show the spread between runs. Figures of two clock classes or instruction
    sets are shown side by side, without a ratio. Exit code 0: no point is worse; 3: at least one
    is; 4: none is, but the data cannot decide every point.

    \b
    kadenz compare runs/before runs/after --threshold 3%
    kadenz compare runs/rounds --variant "load none" --variant "load disk"
    """
    from kadenz.analysis.comparing import compare_sides
    from kadenz.cli.compare_explain import explained, print_explained

    sides = _sides(baseline, candidate, more_baseline, more_candidate, variants)
    functions, unexplained = explained(*sides) if explain else ([], "")
    result = compare_sides(
        *sides,
        statistics=statistics,
        threshold=threshold,
        together=not each,
        between_runs=between_runs,
        deadlines=asked_deadlines(deadlines, [*sides[0], *sides[1]]),
    )
    if not result.points:
        raise UsageError(
            "the sides have no benchmark point in common",
            remedy="See `kadenz show` for the points of a run",
        )
    if as_json:
        _print_json(result, threshold, functions, unexplained, _sizes(*sides))
    else:
        _print_text(result, threshold)
        _print_sizes(*sides)
        if explain:
            print_explained(functions, unexplained)
    return exit_code(result)


def exit_code(result: SideBySide) -> int:
    """3 if a point is worse, 4 if a point is undecided or none was judged, else 0."""
    if result.regressions:
        return EXIT_REGRESSION
    return EXIT_INCONCLUSIVE if result.inconclusive or not result.judged else EXIT_PASS


def _sides(
    baseline: Path,
    candidate: Path | None,
    more_baseline: Sequence[Path],
    more_candidate: Sequence[Path],
    variants: Sequence[str],
) -> tuple[list[Run], list[Run]]:
    from kadenz.analysis.variants import two_variants
    from kadenz.cli.folders import find_runs

    if candidate is None and not more_candidate:
        return two_variants(find_runs([baseline, *more_baseline]), variants)
    if variants:
        raise UsageError(
            "--variant chooses both sides from folder A, but B was given as well",
            remedy="Omit B or --variant",
        )
    others = [candidate, *more_candidate] if candidate is not None else list(more_candidate)
    return find_runs([baseline, *more_baseline]), find_runs(others)


def _print_json(
    result: SideBySide,
    threshold: float,
    functions: Sequence[Explained],
    unexplained: str,
    sizes: Sequence[SizePair],
) -> None:
    from kadenz.analysis.answers import pair
    from kadenz.analysis.margins import between
    from kadenz.cli.compare_explain import as_rows
    from kadenz.report.margins import rows

    answer = {
        "threshold": threshold,
        "exit_code": exit_code(result),
        "counts": {word: result.count(outcome) for word, outcome in _COUNTED.items()},
        "differences": list(differences(result.configurations)),
        "points": [_point(point) for point in result.points],
        "margins": rows([between(pair(result, threshold))], "AB"),
        "only_baseline": [key.name for key in result.only_baseline],
        "only_candidate": [key.name for key in result.only_candidate],
        "partial": result.partial,
        "explained": as_rows(functions),
        "unexplained": unexplained,
        "sizes": [
            {
                "target": size.target,
                "bench": size.bench,
                "kind": size.kind,
                "baseline": size.bytes[0],
                "candidate": size.bytes[1],
            }
            for size in sizes
        ],
    }
    write_json(answer)


def _sizes(before: Sequence[Run], after: Sequence[Run]) -> list[SizePair]:
    from kadenz.analysis.sizes import size_pairs

    return size_pairs(before, after)


def _print_sizes(before: Sequence[Run], after: Sequence[Run]) -> None:
    """Prints the sizes that differ."""
    from kadenz.cli.console import console, styled

    for size in _sizes(before, after):
        if size.more:
            name = f"{size.bench} {size.kind}" if size.bench else f"{size.target} {size.kind}"
            console().print(styled("{}: {}", name, size.text))


def _point(point: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {
        "target": point.target,
        "bench": point.bench,
        "params": point.params,
        "lane": point.lane,
        "statistic": point.statistic,
        "outcome": point.outcome,
        "units": [unit.key for unit in point.units],
        "clock_classes": list(point.classes),
        "exact": point.exact,
        "reason": point.reason,
    }
    comparison = point.comparison
    for side, number in (("baseline", 0), ("candidate", 1)):
        row[side] = point.figures[number]
    if comparison is not None:
        ratio = comparison.ratio
        row["change"] = None if ratio is None else ratio.value - 1.0
        row["change_low"] = None if ratio is None else ratio.low - 1.0
        row["change_high"] = None if ratio is None else ratio.high - 1.0
        row["detectable_change"] = comparison.detectable
        row["runs"] = [comparison.baseline_runs, comparison.candidate_runs]
        row["p_changed"] = comparison.p_changed
        row["p_together"] = point.p_together
        row["between_runs"] = comparison.between_runs
    elif point.exact and point.change is not None:
        row |= dict.fromkeys(("change", "change_low", "change_high"), point.change[0] - 1.0)
    effect = point.effect
    row["superiority"] = None if effect is None else effect.value
    row["superiority_low"] = None if effect is None else effect.low
    row["superiority_high"] = None if effect is None else effect.high
    return row


def _print_text(result: SideBySide, threshold: float) -> None:
    from kadenz.analysis.answers import pair
    from kadenz.analysis.change import percent
    from kadenz.analysis.verdict import ONE_RUN
    from kadenz.cli.console import console, styled

    screen = console()
    for name in result.partial:
        screen.print(styled("[yellow]warning[/] {} is partial", name))
    for configurations in result.configurations:
        name = f"{configurations.target}: " if configurations.target else ""
        if configurations.differences:
            screen.print(styled("[bold]{}the configurations differ[/]", name))
            screen.print(difference_table(configurations))
        else:
            screen.print(f"{name}the configurations are the same")
    for target in dict.fromkeys(point.target for point in result.points):
        points = [point for point in result.points if point.target == target]
        screen.print(styled("\n[bold]{}[/]", target))
        _print_points(screen, points, threshold)
    for side, keys in (("A", result.only_baseline), ("B", result.only_candidate)):
        if keys:
            names = "; ".join(key.name for key in keys)
            screen.print(styled("[yellow]only in {}[/] {}", side, names))
    if any(point.reason == ONE_RUN for point in result.points):
        screen.print(styled("[yellow]undecided[/] {}", ONE_RUN))
    for caveat in dict.fromkeys(
        p.comparison.caveat for p in result.points if p.comparison and p.reason != ONE_RUN
    ):
        if caveat:
            screen.print(styled("[dim]{}[/]", caveat))
    spreads = [p.comparison.between_runs for p in result.points if p.comparison]
    known = [spread for spread in spreads if spread is not None]
    if known:
        largest = percent(max(known)).lstrip("+")
        spread = f"runs of one side differ by up to {largest} (sd of a figure)"
        screen.print(styled("[dim]{}[/]", spread))
    for bench, note in result.notes:
        screen.print(styled("[yellow]note[/] {}: {}", bench, note))
    screen.print(_summary(result, threshold))
    _print_answer(screen, pair(result, threshold))


def _print_answer(screen: Console, both: PairAnswer) -> None:
    from kadenz.analysis.margins import between
    from kadenz.cli.answering import print_margins, print_sentences
    from kadenz.cli.console import styled
    from kadenz.report.answers import compared
    from kadenz.report.margins import NOT_THE_SAME

    print_sentences(screen, compared(both, "A", "B"))
    margins = between(both)
    print_margins(screen, [margins], "AB")
    if any(margin.unlike for margin in margins.margins):
        screen.print(styled("[dim]{}[/]", NOT_THE_SAME))


def _summary(result: SideBySide, threshold: float) -> Text:
    """Counts the comparisons by outcome; rare outcomes are named only if they occur."""
    from kadenz.cli.console import styled

    parts = []
    for label, outcome in _COUNTED.items():
        count = result.count(outcome)
        if count or outcome not in ("not-comparable", "context"):
            colour = _COLOURS[outcome] if count else "dim"
            parts.append(styled("[{}]{} {}[/]", colour, count, label))
    count = len(result.points)
    head = f"\n{count} comparison{'s' * (count != 1)} at {100.0 * threshold:g} %: "
    return styled("{}{}", head, styled(", ").join(parts))


def _table() -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def differences(every: Iterable[Configurations]) -> Iterator[dict[str, object]]:
    """Differences as entries of a JSON document."""
    for configurations in every:
        for difference in configurations.differences:
            yield {
                "target": configurations.target,
                "group": difference.group,
                "key": difference.key,
                "values": dict(zip(configurations.labels, difference.values, strict=True)),
            }


def difference_table(configurations: Configurations) -> Table:
    """Differences: one row for each setting, one column for each run."""

    table = _table()
    table.add_column("what", no_wrap=True)
    for label in configurations.labels:
        table.add_column(label, overflow="fold")
    for difference in configurations.differences:
        table.add_row(f"{difference.group}: {difference.key}", *difference.values)
    return table


def _point_table(points: Sequence[Verdict], threshold: float) -> Table:
    from kadenz.report import digits, labels

    table = _table()
    for name in ("benchmark", "point", "statistic"):
        table.add_column(name, no_wrap=True)
    for name in ("A", "B", "change", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("B > A", justify="right", no_wrap=True)
    table.add_column("unit · class", no_wrap=True)
    table.add_column("verdict")
    same = labels.constants_of(points)
    for point in points:
        varied = {k: v for k, v in point.params.items() if k not in same[point.bench]}
        where = ", ".join(part for part in (labels.parameters(varied), point.lane) if part)
        table.add_row(
            point.bench,
            where,
            point.statistic,
            *(digits.number(figure) for figure in point.figures),
            *_change(point),
            _effect(point),
            " | ".join(dict.fromkeys(labels.unit(unit) for unit in point.units)),
            _verdict(point, threshold),
        )
    return table


def _print_points(screen: Any, points: Sequence[Verdict], threshold: float) -> None:
    from kadenz.cli.console import fits

    table = _point_table(points, threshold)
    if fits(screen, table):
        screen.print(table)
    else:
        _write_points(screen, points, threshold)


def _write_points(screen: Any, points: Sequence[Verdict], threshold: float) -> None:
    """The same for a narrow terminal: two lines a statistic below each point's heading."""
    from itertools import groupby

    from rich.padding import Padding

    from kadenz.cli.console import styled
    from kadenz.report import digits, labels

    same = labels.constants_of(points)

    def heading(point: Verdict) -> Text:
        varied = {k: v for k, v in point.params.items() if k not in same[point.bench]}
        where = ", ".join(part for part in (labels.parameters(varied), point.lane) if part)
        units = " | ".join(dict.fromkeys(labels.unit(unit) for unit in point.units))
        return styled("[bold]{}[/]  {}  [dim]{}[/]", point.bench, where, units)

    screen.print(
        styled("[dim]A → B, change with its 95 % interval, share of pairs where B exceeds A[/]")
    )
    for title, group in groupby(points, key=heading):
        screen.print(title)
        for point in group:
            before, after = (digits.number(figure) for figure in point.figures)
            change, interval = _change(point)
            effect = _effect(point)
            parts = [change, interval, f"B > A {effect}" if effect else ""]
            text = "  ".join(part for part in parts if part)
            screen.print(Padding(f"{point.statistic:7} {before} → {after}  {text}", (0, 0, 0, 2)))
            screen.print(Padding(_verdict(point, threshold), (0, 0, 0, 10)))


def _verdict(point: Verdict, threshold: float) -> Text:
    """The outcome; for an undecided point also the detectable change or the reason."""
    from kadenz.cli.console import styled

    text: str = point.outcome
    if text == "equivalent":
        text = f"no difference within {100.0 * threshold:g} %"
    colour = _COLOURS[point.outcome]
    if point.outcome == "context" and point.nature != "context":
        text, colour = "not judged: see note", "yellow"
    if point.exact:
        return styled("[{}]{}[/], exact for this plan", colour, text)
    if point.outcome not in ("inconclusive", "not-comparable"):
        return styled("[{}]{}[/]", colour, text)
    return styled("[{}]{}[/]{}", colour, text, _why_undecided(point))


def _why_undecided(point: Verdict) -> str:
    from kadenz.analysis.change import percent
    from kadenz.analysis.verdict import ONE_RUN

    comparison = point.comparison
    if point.outcome == "not-comparable" or comparison is None:
        return f": {point.reason}"
    if point.reason == ONE_RUN:
        return ": one run per side"
    if comparison.verdict != "inconclusive":
        p = f", p {point.p_together:.2g}" if point.p_together is not None else ""
        return f": {comparison.verdict} alone, not significant after Holm correction{p}"
    if not comparison.decidable:
        return f": {comparison.reason.partition(',')[0]}"
    if comparison.detectable is not None and not comparison.coarse:
        detectable = percent(comparison.detectable).lstrip("+")
        return f": only changes above {detectable} are detectable"
    return f": {(comparison if comparison.coarse else point).reason.partition('. ')[0]}"


def _effect(point: Verdict) -> str:
    """Probability that a sample of B exceeds one of A, with the word for its magnitude."""
    effect = point.effect
    return "" if effect is None else f"{100.0 * effect.value:.0f} % {effect.magnitude}"


def _change(point: Verdict) -> tuple[str, str]:
    """The relative change and its interval."""
    from kadenz.analysis.change import change_words

    ratio = point.comparison.ratio if point.comparison else None
    if ratio is None:
        exact = point.change if point.exact else None
        return ("", "") if exact is None else (change_words(exact[0]), "")
    return change_words(ratio.value), f"[{change_words(ratio.low)}, {change_words(ratio.high)}]"
