# SPDX-License-Identifier: Apache-2.0
"""kadenz compare: two sides of runs, a verdict for every benchmark point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.errors import EXIT_INCONCLUSIVE, EXIT_PASS, EXIT_REGRESSION, UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from kadenz.analysis.comparing import Configurations, PointComparison, SideBySide

_COLOURS = {
    "better": "green",
    "worse": "red",
    "equivalent": "dim",
    "inconclusive": "yellow",
    "not-comparable": "yellow",
}


@click.command()
@click.argument("baseline", metavar="A", type=click.Path(path_type=Path))
@click.argument("candidate", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    "more_baseline",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="One more run on A's side; may be repeated.",
)
@click.option(
    "--candidate",
    "more_candidate",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="One more run on B's side; may be repeated.",
)
@click.option(
    "--threshold",
    default="5%",
    show_default=True,
    help="Relative change that matters, e.g. 5% or 0.05.",
)
@click.option(
    "--statistic",
    "statistics",
    multiple=True,
    default=("median", "p99"),
    show_default=True,
    help="mean, median or a percentile such as p99.9; may be repeated.",
)
@click.option(
    "--across-classes",
    is_flag=True,
    help="Show figures of different clock classes side by side, without a verdict.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def compare(
    baseline: Path,
    candidate: Path,
    more_baseline: tuple[Path, ...],
    more_candidate: tuple[Path, ...],
    threshold: str,
    statistics: tuple[str, ...],
    across_classes: bool,
    as_json: bool,
) -> int:
    """Compare run(s) B against run(s) A. A folder that holds several runs counts as all of them.

    Several runs a side show the spread between runs, which one run cannot. Exit code 0: no point is
    worse; 3: at least one is; 4: none is, but the data cannot decide every point.

    \b
    kadenz compare runs/before runs/after --threshold 3%
    """
    from kadenz.analysis.comparing import compare_sides
    from kadenz.cli.folders import find_runs

    limit = _threshold(threshold)
    result = compare_sides(
        find_runs([baseline, *more_baseline]),
        find_runs([candidate, *more_candidate]),
        statistics=[_statistic(name) for name in statistics],
        threshold=limit,
        across_classes=across_classes,
    )
    if not result.points:
        raise UsageError(
            "the sides have no benchmark point in common",
            remedy="See `kadenz show` for the points of a run",
        )
    if as_json:
        _print_json(result, limit)
    else:
        _print_text(result, limit)
    return exit_code(result)


def exit_code(result: SideBySide) -> int:
    """3 when something is worse, 4 when something is undecided, else 0."""
    if result.regressions:
        return EXIT_REGRESSION
    return EXIT_INCONCLUSIVE if result.inconclusive else EXIT_PASS


def _threshold(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1.0:
        raise UsageError(f"--threshold {text}: not a share", remedy="For example --threshold 5%")
    return value


def _statistic(name: str) -> str | float:
    if name in ("mean", "median"):
        return name
    try:
        level = float(name.removeprefix("p")) / 100.0
    except ValueError:
        level = 0.0
    if not name.startswith("p") or not 0.0 < level < 1.0:
        raise UsageError(
            f"--statistic {name}: not known", remedy="mean, median, or a percentile such as p99.9"
        )
    return level


def _print_json(result: SideBySide, threshold: float) -> None:
    import msgspec

    answer = {
        "threshold": threshold,
        "exit_code": exit_code(result),
        "differences": [
            {
                "target": made.target,
                "group": one.group,
                "key": one.key,
                "values": dict(zip(made.labels, one.values, strict=True)),
            }
            for made in result.configurations
            for one in made.differences
        ],
        "points": [_point(point) for point in result.points],
        "only_baseline": result.only_baseline,
        "only_candidate": result.only_candidate,
        "partial": result.partial,
    }
    click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=1))


def _point(point: PointComparison) -> dict[str, Any]:
    row: dict[str, Any] = {
        "target": point.target,
        "bench": point.bench,
        "params": point.params,
        "lane": point.lane,
        "statistic": point.statistic,
        "outcome": point.outcome,
        "units": [unit.key for unit in point.units],
        "clock_classes": list(point.classes),
        "reason": point.reason,
    }
    made = point.comparison
    for side, number in (("baseline", 0), ("candidate", 1)):
        row[side] = point.figures[number]
    if made is not None:
        row["change"] = None if made.ratio is None else made.ratio.value - 1.0
        row["change_low"] = None if made.ratio is None else made.ratio.low - 1.0
        row["change_high"] = None if made.ratio is None else made.ratio.high - 1.0
        row["detectable_change"] = made.detectable
        row["runs"] = [made.baseline_runs, made.candidate_runs]
    return row


def _print_text(result: SideBySide, threshold: float) -> None:
    from rich.markup import escape

    from kadenz.cli.console import console

    screen = console()
    for name in result.partial:
        screen.print(f"[yellow]warning[/] {escape(name)} is partial")
    for made in result.configurations:
        name = f"{escape(made.target)}: " if made.target else ""
        if made.differences:
            screen.print(f"[bold]{name}the configurations differ[/]")
            screen.print(_difference_table(made))
        else:
            screen.print(f"{name}the configurations are the same")
    for target in dict.fromkeys(point.target for point in result.points):
        own = [point for point in result.points if point.target == target]
        screen.print(f"\n[bold]{escape(target)}[/]")
        screen.print(_point_table(own))
    for side, names in (("A", result.only_baseline), ("B", result.only_candidate)):
        if names:
            screen.print(f"[yellow]only in {side}[/] {escape('; '.join(names))}")
    for caveat in dict.fromkeys(p.comparison.caveat for p in result.points if p.comparison):
        if caveat:
            screen.print(f"[dim]{escape(caveat)}[/]")
    worse = result.regressions
    screen.print(
        f"\n{len(result.points)} comparisons at {100.0 * threshold:g} %: "
        f"[{'red' if worse else 'dim'}]{worse} worse[/], {result.inconclusive} undecided"
    )


def _table() -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))


def _difference_table(made: Configurations) -> Table:
    from rich.markup import escape

    table = _table()
    table.add_column("what", no_wrap=True)
    for label in made.labels:
        table.add_column(escape(label), overflow="fold")
    for one in made.differences:
        table.add_row(f"{one.group}: {one.key}", *(escape(value) for value in one.values))
    return table


def _point_table(points: Sequence[PointComparison]) -> Table:
    from rich.markup import escape

    from kadenz.report import labels, numbers

    table = _table()
    for name in ("benchmark", "point", "statistic"):
        table.add_column(name, no_wrap=True)
    for name in ("A", "B", "change", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit · class", no_wrap=True)
    table.add_column("verdict")
    same = labels.constants_of(points)
    for point in points:
        own = {k: v for k, v in point.params.items() if k not in same[point.bench]}
        where = ", ".join(part for part in (labels.parameters(own), point.lane) if part)
        table.add_row(
            escape(point.bench),
            escape(where),
            point.statistic,
            *(numbers.number(figure) for figure in point.figures),
            *(escape(text) for text in _change(point)),
            " | ".join(dict.fromkeys(labels.unit(unit) for unit in point.units)),
            _verdict(point),
        )
    return table


def _verdict(point: PointComparison) -> str:
    """The outcome; where undecided, what these data could have shown, or why there is none."""
    from rich.markup import escape

    from kadenz.report.numbers import percent

    words = f"[{_COLOURS[point.outcome]}]{point.outcome}[/]"
    made = point.comparison
    if point.outcome == "inconclusive" and made is not None and made.detectable is not None:
        return f"{words}, {percent(made.detectable).replace('+', '±')} would have been seen"
    if point.outcome in ("inconclusive", "not-comparable"):
        return f"{words} {escape(point.reason)}"
    return words


def _change(point: PointComparison) -> tuple[str, str]:
    """The relative change and its interval."""
    from kadenz.report.numbers import percent

    ratio = point.comparison.ratio if point.comparison else None
    if ratio is None:
        return "", ""
    return percent(ratio.value - 1.0), f"[{percent(ratio.low - 1.0)}, {percent(ratio.high - 1.0)}]"
