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
from kadenz.report.page import Page
from kadenz.report.svg.panel import standalone
from kadenz.report.svg.style import DARK, LIGHT, RULES
from kadenz.report.table import join, to_csv
from kadenz.report.views import DETAILS, Detail
from kadenz.report.whole import replaced
from kadenz.report.zoom import library
from kadenz.visible_text import markdown_text, visible

# Small enough for a phone and for e-mail.
MAX_BYTES = 1_000_000


def write_page(build: Callable[[Detail], Page], output: Path) -> Page:
    """Writes the page to `output` and returns it.

    `build` makes the page at a level of detail. If the file would exceed 1 MB, time series are left
    out, then histograms, then all plots, and the page says so; `write_figures` always writes the
    full set. StoreError if the file cannot be written.
    """
    for detail in DETAILS:
        page = build(detail)
        html = render(page)
        if len(html.encode()) <= MAX_BYTES:
            break
    write_text(output, html)
    return page


def render(page: Page) -> str:
    """Self-contained HTML, readable without other files, network or scripts."""
    zoom = library() if page.overlays else None
    return render_template("report.html.j2", page=page, zoom=zoom)


def render_template(name: str, **values: object) -> str:
    """A template of kadenz/report/templates with its style inlined."""
    return _environment().get_template(name).render(**values)


def write_figures(page: Page, folder: Path) -> list[Path]:
    """Writes every plot as an SVG file to `folder`; returns the files."""
    written = []
    for plot in page.all_plots:
        file = folder / f"{plot.name}.svg"
        write_text(file, standalone(plot))
        written.append(file)
    return written


def write_tables(page: Page, folder: Path) -> list[Path]:
    """Writes each table as CSV and all as tables.md to `folder`; returns the files."""
    written = []
    for table in page.all_tables:
        file = folder / f"{table.name}.csv"
        write_text(file, to_csv(table))
        written.append(file)
    everything = folder / "tables.md"
    write_text(everything, f"# {markdown_text(page.title)}\n\n" + join(page.all_tables))
    return [*written, everything]


def write_text(file: Path, text: str) -> None:
    """Writes a file and creates its folders, each character visible.

    StoreError if that fails: the old one then stays.
    """
    try:
        with replaced(file) as fresh, fresh.open("w", encoding="utf-8", newline="") as out:
            out.write(visible(text))
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be written: {error.strerror}",
            remedy="Name another file, or free some space",
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
