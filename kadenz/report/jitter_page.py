# SPDX-License-Identifier: Apache-2.0
"""One self-contained page about one series: `kadenz jitter FILE --html`."""

from __future__ import annotations

from pathlib import Path

from kadenz import __version__
from kadenz.analysis.jitter import JitterResult
from kadenz.analysis.units import CLASS_MEANING, Unit
from kadenz.report.jitter import tail_plot, views
from kadenz.report.jitter_words import jitter_lines, tail_lines
from kadenz.report.render import render_template, write_text
from kadenz.report.svg.panel import Plot
from kadenz.stats.tail import Tail


def write_jitter_page(
    file: Path, title: str, of: JitterResult, tail: Tail | None, unit: Unit, limit: str
) -> None:
    """Write the views, the tail and what they say to `file`. StoreError when that fails."""
    plots: list[Plot] = views(title, "series", of, unit, 0)
    if tail is not None and tail.peaks.size:
        plots.append(tail_plot(title, "series", tail, unit, 0))
    lines = jitter_lines(of, unit) + (tail_lines(tail, unit) if tail else [])
    html = render_template(
        "jitter.html.j2",
        title=title,
        version=__version__,
        plots=plots,
        lines="\n".join([*lines, *([f"limit       {limit}"] if limit else [])]),
        clock_class=unit.clock_class,
        meaning=CLASS_MEANING[unit.clock_class],
    )
    write_text(file, html)
