# SPDX-License-Identifier: Apache-2.0
"""What an interrupt took, over the cycle in which it arrived; beneath, what it met there."""

from __future__ import annotations

from kadenz.analysis.structures.population import HANDLER, TASK, Population
from kadenz.report.svg.curves import Axis, Line, Row, curves
from kadenz.report.svg.panel import Caption, Plot


def arrivals_picture(shown: Population, scale: float, caption: Caption, width: float) -> Plot:
    """Both curves in the unit of the caption, which `scale` makes of ticks.

    Rows beneath show where the core took no interrupt, where the scheduler was locked, and which
    function was interrupted.
    """
    curve, moment = shown.curve, shown.moment
    ends = {HANDLER: shown.handler, TASK: shown.task}
    lines = [
        Line(
            name=name,
            at=curve.phase,
            values=values * scale,
            worst_at=float(ends[name].phase),
            worst=ends[name].max * scale,
            where=f"from {moment} {ends[name].phase:,}",
        )
        for name, values in curve.lanes.items()
    ]
    rows = (
        Row("interrupts off", "masked", curve.masked, ("b5",)),
        Row("scheduler locked", "locked", curve.locked, ("b4",)),
        Row("in", "in", curve.functions, ("b1", "w1"), named=True),
    )
    axis = Axis(0.0, float(curve.last), f"{moment} of the arrival", moment)
    return curves(lines, axis, caption, width, rows=rows)
