# SPDX-License-Identifier: Apache-2.0
"""The clock of every run: how far it may be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from kadenz.analysis.units import CLASS_MEANING
from kadenz.config.manifest import ClockEntry, Distribution
from kadenz.report import digits
from kadenz.report.sections import Section, Text
from kadenz.report.table import Cell, Table, badge, text_cell, whole
from kadenz.report.tables import Named
from kadenz.report.views import Report

PLACE = 50


def sections(report: Report) -> Iterator[Section]:
    """Always one: the classes, and a row for each run."""
    lead = "Each run first measures its clock. The clock’s class limits the claims of every figure:"
    term = Markup('<dt><span class="badge {0}">{0}</span></dt><dd>{1}</dd>')
    classes = Markup("").join(term.format(*item) for item in CLASS_MEANING.items())
    blocks = Text(lead), Text(classes, tag="dl", kind="classes"), clock_table(report.runs).bare
    yield Section("clock-section", "Clocks", blocks)


def _rate(clock: ClockEntry) -> str:
    """The configured rate, and the measured one where there is one."""
    if not clock.hz:
        return "does not count time"
    configured = f"{clock.hz:,} Hz"
    if clock.rate is None:
        return configured
    low, high = clock.rate.low, clock.rate.high
    return f"{configured}; measured {clock.rate.hz:,.0f} ({low:,.0f} to {high:,.0f})"


def clock_table(runs: Named) -> Table:
    """Rule 4 of the method: how far each clock may be trusted."""
    rows = []
    for label, run in runs:
        clock = run.manifest.clock
        monotonic = {True: "yes", False: "no", None: "not checked"}[clock.monotonic]
        if clock.backward_steps:
            monotonic += f", {clock.backward_steps:,} steps back"
        rows.append(
            (
                text_cell(label),
                badge(run.unit),
                text_cell(clock.name),
                text_cell(_rate(clock), "status bad" if clock.deviates else ""),
                whole(clock.bits),
                text_cell(clock.unit),
                _distribution(clock.resolution),
                _distribution(clock.read_cost),
                text_cell(monotonic, "status bad" if clock.backward_steps else ""),
                text_cell(clock.checked_against or "nothing"),
                text_cell(
                    digits.ABSENT
                    if clock.rate_error_ppm is None
                    else f"{clock.rate_error_ppm:+.3g} ppm"
                ),
            )
        )
    return Table.headed(
        "Target | Clock class | Clock | Rate | >Bits | One tick is | "
        "Resolution (min / median / max ticks) | Cost of a read (min / median / max ticks) | "
        "Monotonic | Checked against | Rate error",
        name="clocks",
        title="Clocks",
        rows=rows,
    )


def _distribution(distribution: Distribution | None) -> Cell:
    if distribution is None:
        return text_cell("not measured")
    text = " / ".join(
        digits.number(v) for v in (distribution.min, distribution.median, distribution.max)
    )
    return text_cell(f"{text} (n {distribution.n:,})")
