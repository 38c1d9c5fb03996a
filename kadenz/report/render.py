# SPDX-License-Identifier: Apache-2.0
"""The page as one file; figures as SVG, tables as Markdown and CSV."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup

from kadenz.analysis.units import CLASS_MEANING
from kadenz.errors import StoreError
from kadenz.report.page import DETAILS, Detail, Page
from kadenz.report.svg.panel import standalone
from kadenz.report.svg.style import DARK, LIGHT, RULES
from kadenz.report.table import join, to_csv
from kadenz.report.zoom import library

# A page that opens on a telephone and travels by mail.
MAX_BYTES = 1_000_000


def write_page(build: Callable[[Detail], Page], output: Path) -> Page:
    """Write the page to `output`; returns it as written.

    `build` makes the page in some detail: when the file would pass 1 MB, time series are left out,
    then histograms, then all plots, and the page says so. The full set is always there by
    `write_figures`. StoreError when the file cannot be written.
    """
    for detail in DETAILS:
        page = build(detail)
        html = render(page)
        if len(html.encode()) <= MAX_BYTES:
            break
    write_text(output, html)
    return page


def render(page: Page) -> str:
    """HTML with everything inside: no file, no network, no script needed to read it."""
    found = library() if page.overlays else None
    return render_template("report.html.j2", page=page, zoom=found)


def render_template(name: str, **values: object) -> str:
    """A template of kadenz/report/templates with the style inside."""
    return _environment().get_template(name).render(**values)


def write_figures(page: Page, folder: Path) -> list[Path]:
    """Every plot as an SVG file in `folder`; returns them."""
    written = []
    for plot in page.all_plots:
        file = folder / f"{plot.name}.svg"
        write_text(file, standalone(plot))
        written.append(file)
    return written


def write_tables(page: Page, folder: Path) -> list[Path]:
    """Every table as CSV, and all of them as tables.md, in `folder`; returns the files."""
    written = []
    for table in page.all_tables:
        file = folder / f"{table.name}.csv"
        write_text(file, to_csv(table))
        written.append(file)
    everything = folder / "tables.md"
    write_text(everything, f"# {page.title}\n\n" + join(page.all_tables))
    return [*written, everything]


def write_text(file: Path, text: str) -> None:
    """Write a file and the folders it needs. StoreError when that cannot be done."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="") as out:
            out.write(text)
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be written: {error.strerror}", remedy="Choose another --output"
        ) from None


@cache
def _environment() -> jinja2.Environment:
    templates = files("kadenz.report") / "templates"
    loader = jinja2.FunctionLoader(lambda name: (templates / name).read_text(encoding="utf-8"))
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = Markup(
        f":root{{{LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}"
        f"{(templates / 'style.css').read_text(encoding='utf-8')}{RULES}"
        f"@media print{{:root{{{LIGHT}}}}}"
    )
    environment.globals["classes"] = CLASS_MEANING
    for name, file in (("page_script", "script.js"), ("zoom_script", "zoom.js")):
        environment.globals[name] = Markup((templates / file).read_text(encoding="utf-8"))
    environment.filters["svg"] = Markup
    return environment
