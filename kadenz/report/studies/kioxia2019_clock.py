# SPDX-License-Identifier: Apache-2.0
"""The clock of kioxia2019: what perf0 printed, and calculated rates that measurements contradict.

The study's first clock gave 0 or more than 1000 and stepped back; the PLL's specification gave
256 MHz where more than 280 were measured. Ours are the readings and the rate of each run's clock.
"""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RunResult
from kadenz.report import digits, labels
from kadenz.report.studies.kioxia2019 import PAPER
from kadenz.report.studies.rows import CLASSES_DIFFER, as_printed
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

READINGS = "Problem 2"
RATES = ("Problem 3", "Remedy 3")
_READ_COST = "clock/read-cost"
_BINS = {"0": "0", "above-1000": "> 1000", "above-int-max": "> INT_MAX"}
_ABSENT = Cell(digits.ABSENT)


def reading_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """The output of perf0 above our time between two readings. None without a run of it."""
    published = [f for f in figures if (f.paper, f.where) == (PAPER, READINGS)]
    measured = [row for label, run in runs if (row := _readings(label, run)) is not None]
    if not published or not measured:
        return None
    return Table.headed(
        "Whose | System | Kernel | >Readings | Result | >Min | >Median | >Max | >Steps back | "
        "Unit | Clock class",
        name="kioxia2019-perf0",
        title="Time between two readings of the clock (Kioxia 2019, perf0)",
        rows=(_printed(published), *measured),
        notes=(
            CLASSES_DIFFER,
            "Published: the kernel's first clock, which the study replaced; its steps back are the "
            "lines of test_utm1 that the slide shows.",
        ),
        row_kinds=("published",) + ("ours",) * len(measured),
    )


def _printed(published: Sequence[PublishedFigure]) -> tuple[Cell, ...]:
    bins = {f.parameters["bin"]: f.value for f in published if f.statistic == "count"}
    back = next((f for f in published if f.statistic == "backward_steps"), None)
    total = int(sum(bins.values()))
    text = ", ".join(f"{_BINS[name]}: {digits.count(int(value))}" for name, value in bins.items())
    return (
        text_cell("published", "published"),
        text_cell(published[0].system.name),
        text_cell(published[0].kernel),
        Cell(digits.count(total), total),
        text_cell(text),
        *(_ABSENT,) * 3,
        as_printed(back),
        text_cell("µs"),
        badge(published[0].system),
    )


def _readings(label: str, run: RunResult) -> tuple[Cell, ...] | None:
    record = next(iter(run.find(_READ_COST)), None)
    summary = record.main.summary if record is not None and record.main is not None else None
    if record is None or summary is None or not record.usable:
        return None
    clock = run.manifest.clock
    back = _ABSENT
    if clock.monotonic is not None:
        back = Cell(digits.count(clock.backward_steps), clock.backward_steps)
    return (
        text_cell("ours", "ours"),
        text_cell(labels.figure_label(label, run, record.bench)),
        text_cell(labels.kernel(run)),
        Cell(digits.count(summary.n), summary.n),
        _ABSENT,
        *(figure(getattr(summary, name), record.unit) for name in ("min", "median", "max")),
        back,
        text_cell(record.unit.label),
        badge(record.unit),
    )


def rate_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Configured and measured rates. None without a board whose rate was measured."""
    published = [f for f in figures if f.paper == PAPER and f.where in RATES]
    ours = [row for label, run in runs if (row := _measured_rate(label, run)) is not None]
    if not published or not ours:
        return None
    settings = dict.fromkeys((f.system.name, f.parameters["setting"]) for f in published)
    rows = [
        _published_rate(
            [f for f in published if (f.system.name, f.parameters["setting"]) == setting]
        )
        for setting in settings
    ]
    return Table.headed(
        "Whose | System | Setting | >Configured or calculated | >Measured | Unit | Clock class",
        name="kioxia2019-clock-rates",
        title="Rate of the processor's clock (Kioxia 2019, problem 3 and remedy 3)",
        rows=(*rows, *ours),
        notes=(
            "The study prints no measured rate for R1-F41-Q3, only that it did not agree, and no "
            "calculated one for R1-F37-Q3.",
        ),
        row_kinds=("published",) * len(rows) + ("ours",) * len(ours),
    )


def _published_rate(figures: Sequence[PublishedFigure]) -> tuple[Cell, ...]:
    by = {f.statistic: f for f in figures}
    measured = as_printed(by.get("measured"))
    if (bound := by.get("measured_above")) is not None:
        measured = Cell(f"> {digits.printed(bound.value)}", bound.value)
    first = figures[0]
    return (
        text_cell("published", "published"),
        text_cell(first.system.name),
        text_cell(first.parameters["setting"]),
        as_printed(by.get("configured") or by.get("calculated")),
        measured,
        text_cell(first.unit),
        badge(first.system),
    )


def _measured_rate(label: str, run: RunResult) -> tuple[Cell, ...] | None:
    clock = run.manifest.clock
    rate = clock.rate
    if rate is None:
        return None
    low, mhz, high = (hz / 1e6 for hz in (rate.low, rate.hz, rate.high))
    interval = f"{digits.number(mhz)} [{digits.number(low)}, {digits.number(high)}]"
    return (
        text_cell("ours", "ours"),
        text_cell(label),
        text_cell(rate.against),
        Cell(digits.number(clock.hz / 1e6), clock.hz / 1e6),
        Cell(interval, mhz),
        text_cell("MHz"),
        badge(run.unit),
    )
