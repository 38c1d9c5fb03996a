# SPDX-License-Identifier: Apache-2.0
"""Code size on two instruction sets, as kioxia2019 compares TOPPERS/ASP on them.

The study takes the sum of `size`'s text over the object files that do not depend on the target, and
the text of the linked image. Ours are the same two figures for our kernel's files and our image.
Its chart has a bar for each object and prints no bar's value: only the names are shown next to
ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import PurePosixPath

from kadenz.analysis.published import PublishedFigure
from kadenz.config.manifest import BuildEntry
from kadenz.report import footprint, labels
from kadenz.report.table import Cell, Table, text_cell, whole
from kadenz.report.tables import Named

PAPER, SIZES = "kioxia2019", "Code size"
CHART = "Code size chart"
_COMMON, _WHOLE = "footprint/text-common-objects", "footprint/text-total"
_Image = tuple[str, BuildEntry]  # its label, and how it was built
_TITLES = {_COMMON: "Common object files", _WHOLE: "Whole image"}


def size_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """None unless the page has one kernel on both of the study's instruction sets."""
    published = [figure for figure in figures if (figure.paper, figure.where) == (PAPER, SIZES)]
    if not published:
        return None
    rows = [
        _row(figure.benchmark, "published", figure.system.name, figure.kernel, figure.value)
        for figure in published
    ]
    theirs = len(rows)
    run_of = dict(runs)
    for (base_label, base), (label, build) in _pairs(published[0], runs):
        system = f"{label} against {base_label}"
        kernel = labels.kernel(run_of[label])
        for what, percent in _differences(base, build).items():
            rows.append(_row(what, "ours", system, kernel, percent))
    if len(rows) == theirs:
        return None
    return Table.headed(
        "What | Whose | System | Kernel | >Text, difference in %",
        name="kioxia2019-code-size",
        title="Code size of Kioxia 2019: RISC-V against Cortex-M4",
        rows=rows,
        notes=(
            "Kernel, compiler version and whole image differ from the published ones: compare "
            "only the sign and the order of magnitude.",
        ),
        row_kinds=("published",) * theirs + ("ours",) * (len(rows) - theirs),
    )


def object_tables(figures: Sequence[PublishedFigure], runs: Named) -> Iterator[Table]:
    """The objects of the study's chart beside ours, a table for each pair of images."""
    for chart in figures:
        if (chart.paper, chart.where) == (PAPER, CHART):
            for number, (arm, riscv) in enumerate(_pairs(chart, runs), 1):
                yield _object_table(chart, number, arm, riscv)


def _object_table(chart: PublishedFigure, number: int, arm: _Image, riscv: _Image) -> Table:
    drawn = chart.parameters["objects"].split(";")
    sizes = footprint.shared_files([arm[1], riscv[1]], footprint.KERNEL)
    rows = [
        (f"{PurePosixPath(of_arm.file).stem}.o", of_arm.compiled, of_riscv.compiled)
        for of_arm, of_riscv in zip(*sizes, strict=True)
    ]
    names = [name for name, _, _ in rows]
    absent = [name for name in drawn if name not in names]
    sums = [sum(entry.compiled for entry in entries) for entries in sizes]
    rows += [("sum", sums[0], sums[1]), ("whole image", arm[1].text_bytes, riscv[1].text_bytes)]
    return Table.headed(
        f"Object | On the chart | >Text, {arm[0]} | >Text, {riscv[0]} | >Difference",
        name=f"kioxia2019-objects-{number}",
        title="Text of each common object (chart of Kioxia 2019)",
        rows=[
            (
                text_cell(name),
                text_cell("yes" if name in [*drawn, "sum", "whole image"] else "no"),
                whole(base),
                whole(text),
                Cell(footprint.percent(text, base), 100 * (text / base - 1)),
            )
            for name, base, text in rows
        ],
        notes=(
            f"{chart.kernel}: the chart has a bar for each of {len(drawn)} objects, their sum and "
            "the whole image, on both instruction sets. It prints no bar's value.",
            "Of its objects, no file of this kernel's common files has the name of: "
            f"{', '.join(absent) or 'none'}.",
        ),
    )


def _pairs(figure: PublishedFigure, runs: Named) -> Iterator[tuple[_Image, _Image]]:
    """The first image for the study's Arm board with each for its RISC-V board, by kernel."""
    riscv, arm = figure.system.boards
    run_of = dict(runs)
    for group in footprint.same_kernel(footprint.of_runs(runs)):
        on = {
            board: [named for named in group if run_of[named[0]].manifest.target.board == board]
            for board in (riscv, arm)
        }
        yield from product(on[arm][:1], on[riscv])


def _differences(base: BuildEntry, build: BuildEntry) -> dict[str, float]:
    """By how many percent the text of `build` is larger, for the study's two figures."""
    compiled = [
        sum(entry.compiled for entry in entries)
        for entries in footprint.shared_files([base, build], footprint.KERNEL)
    ]
    texts = {_COMMON: compiled, _WHOLE: [base.text_bytes, build.text_bytes]}
    return {what: 100 * (text / base_text - 1) for what, (base_text, text) in texts.items()}


def _row(what: str, whose: str, system: str, kernel: str, percent: float) -> tuple[Cell, ...]:
    return (
        text_cell(_TITLES[what]),
        text_cell(whose, whose),
        text_cell(system),
        text_cell(kernel),
        Cell(f"{percent:+.1f}", percent),
    )
