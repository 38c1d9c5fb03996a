# SPDX-License-Identifier: Apache-2.0
"""The studies' own table layouts, our figures next to the published ones.

Published rows are shown as printed, in their unit and clock class; ours in ours. Nothing is
converted, except cycles by a study's own equation, and no ratio is formed: the reader must first
decide what a ratio would mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kadenz.analysis.published import PublishedFigure
from kadenz.report.studies import (
    arm2022,
    cereia2011,
    kioxia2019,
    kioxia2019_clock,
    mazzi2021,
    mazzi2021_switches,
    single_points,
    yoo2024,
    yoo2024_motion,
)
from kadenz.report.svg.panel import Plot
from kadenz.report.table import Table
from kadenz.report.tables import Named

_IN_LAYOUTS = {
    *((yoo2024.PAPER, place) for place in (yoo2024.TABLE_3, yoo2024.TABLE_4, yoo2024.FIGURE)),
    *((yoo2024_motion.PAPER, place) for place in yoo2024_motion.PLACES),
    *((mazzi2021.PAPER, place) for place in (mazzi2021.TABLE, *mazzi2021.FIGURES)),
    (mazzi2021.PAPER, mazzi2021_switches.TABLE),
    (cereia2011.PAPER, cereia2011.TABLE),
    (kioxia2019.PAPER, kioxia2019.SIZES),
    (arm2022.PAPER, arm2022.PLACE),
}


def tables(figures: Sequence[PublishedFigure], runs: Named) -> list[Table]:
    """Every layout that `runs` have measurements for."""
    layouts = (
        yoo2024.table_3(figures, runs),
        yoo2024.table_4(figures, runs),
        yoo2024.figure_15(figures, runs),
        *(yoo2024_motion.motion_table(figures, runs, place) for place in yoo2024_motion.PLACES),
        mazzi2021.iteration_table(figures, runs),
        mazzi2021_switches.switch_table(figures, runs),
        cereia2011.load_table(figures, runs),
        kioxia2019.size_table(figures, runs),
        *kioxia2019.object_tables(figures, runs),
        kioxia2019_clock.reading_table(figures, runs),
        kioxia2019_clock.rate_table(figures, runs),
        arm2022.core_table(figures, runs),
        arm2022.explanations(figures, runs),
        arm2022.contention(runs),
        single_points.figure_table(figures, runs, _IN_LAYOUTS),
    )
    return [table for table in layouts if table is not None]


def figures(runs: Named) -> Iterator[tuple[str, list[Plot]]]:
    """Figures of studies redrawn with `runs`, each with its title; only those with plots."""
    drawn = (
        ("Figure 15 of Yoo and Choi 2024", yoo2024.plots(runs)),
        ("Figures 2 to 5 of Cereia, Bertolotti and Scanzio 2011", cereia2011.plots(runs)),
    )
    yield from ((title, plots) for title, plots in drawn if plots)
