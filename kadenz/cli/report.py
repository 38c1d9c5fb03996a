# SPDX-License-Identifier: Apache-2.0
"""kadenz report: one HTML page about runs; on request also its figures and tables as files."""

from __future__ import annotations

from pathlib import Path

import click

from kadenz.cli.deadline import asked_deadlines, deadline_option


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="HTML file, or a folder for report.html.",
)
@click.option("--title", default="", help="Title of the page. Default: the campaigns' names.")
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write every figure as SVG to this folder.",
)
@click.option(
    "--tables",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write every table as CSV, and all as tables.md, to this folder.",
)
@deadline_option
def report(
    runs: tuple[Path, ...],
    output: Path,
    title: str,
    figures: Path | None,
    tables: Path | None,
    deadlines: tuple[str, ...],
) -> int:
    """Write one self-contained HTML page about RUNs: run folders, or folders of runs.

    \b
    kadenz report runs/ --output reports/demo.html
    kadenz report runs/A runs/B --figures figures/ --tables tables/
    """
    from kadenz import __version__
    from kadenz.analysis import analyse
    from kadenz.analysis.answers import answer
    from kadenz.analysis.margins import margins
    from kadenz.analysis.published import load_if_there
    from kadenz.cli.folders import NamedRuns
    from kadenz.cli.output import json_text
    from kadenz.report import page as pages
    from kadenz.report import write_figures, write_page, write_tables
    from kadenz.report.answers import sentences
    from kadenz.report.labels import kernels, variant_names
    from kadenz.report.margins import lines
    from kadenz.report.render import write_text
    from kadenz.report.standings import standings
    from kadenz.report.systems_json import systems_json
    from kadenz.report.views import Detail

    named = NamedRuns(runs)
    asked = asked_deadlines(deadlines, named.runs)
    results = named.each(lambda run: analyse(run, deadlines=asked))
    answers = answer(named.runs, results, asked)
    opening = sentences(answers, variant_names(results))
    ahead = lines(margins(answers), [variant.letter for variant in answers.variants])
    table = standings(answers, results)
    published = load_if_there()
    campaigns = list(dict.fromkeys(result.manifest.campaign.name for result in results))

    def build(detail: Detail) -> pages.Page:
        return pages.build(
            results,
            published,
            title=title or f"Campaign {' and '.join(campaigns)} on {kernels(results)}",
            created=max(result.manifest.created for result in results),
            version=__version__,
            detail=detail,
            answers=opening,
            margins=ahead,
            standings=table,
        )

    file = output / "report.html" if output.suffix != ".html" else output
    written = write_page(build, file)
    count = "1 run" if len(results) == 1 else f"{len(results)} runs"
    click.echo(f"{file}: {count}, {file.stat().st_size / 1000:,.0f} kB")
    complete = build("full") if written.left_out and (figures or tables) else written
    if figures is not None:
        click.echo(f"{figures}: {len(write_figures(complete, figures))} figures")
    if tables is not None:
        click.echo(f"{tables}: {len(write_tables(complete, tables))} tables")
        write_text(tables / "systems.json", json_text(systems_json(answers, results)) + "\n")
    return named.conclude()
