# SPDX-License-Identifier: Apache-2.0
"""One self-contained page about one series: `kadenz jitter FILE --html`."""

from __future__ import annotations

from pathlib import Path

from kadenz import __version__
from kadenz.analysis.jitter_views import SeriesResult
from kadenz.analysis.units import CLASS_MEANING, Unit
from kadenz.report.jitter_tables import tail_plot, views
from kadenz.report.jitter_words import series_lines
from kadenz.report.render import render_template, write_text
from kadenz.report.svg.panel import Plot


def write_jitter_page(file: Path, title: str, series: SeriesResult, unit: Unit, given: str) -> None:
    """Writes the views, the tail and their summary to `file`. `given` is the limit's unit, e.g. us.

    StoreError if the file cannot be written.
    """
    plots: list[Plot] = views(title, "series", series.jitter, unit, 0)
    if series.tail is not None and series.tail.peaks.size:
        plots.append(tail_plot(title, "series", series.tail, unit, 0))
    html = render_template(
        "jitter.html.j2",
        title=title,
        version=__version__,
        plots=plots,
        lines="\n".join(series_lines(series, unit, given)),
        clock_class=unit.clock_class,
        meaning=CLASS_MEANING[unit.clock_class],
    )
    write_text(file, html)
