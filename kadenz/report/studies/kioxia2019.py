# SPDX-License-Identifier: Apache-2.0
"""Code size on two instruction sets, as kioxia2019 compares TOPPERS/ASP on them.

The study takes the sum of `size`'s text over the object files that do not depend on the target, and
the text of the linked image. Ours are the same two figures for our kernel's files and our image.
"""

from __future__ import annotations

from collections.abc import Sequence

from kadenz.analysis.published import PublishedFigure
from kadenz.config.manifest import BuildEntry
from kadenz.report import footprint, labels
from kadenz.report.table import Cell, Table, text_cell
from kadenz.report.tables import Named

PAPER, SIZES = "kioxia2019", "Code size"
_COMMON, _WHOLE = "footprint/text-common-objects", "footprint/text-total"
_TITLES = {_COMMON: "Common object files", _WHOLE: "Whole image"}


def size_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """None unless the page has one kernel on both of the study's instruction sets."""
    published = [figure for figure in figures if (figure.paper, figure.where) == (PAPER, SIZES)]
    if not published:
        return None
    riscv, arm = published[0].system.boards
    rows = [
        _row(figure.benchmark, "published", figure.system.name, figure.kernel, figure.value)
        for figure in published
    ]
    theirs = len(rows)
    run_of = dict(runs)
    for group in footprint.same_kernel(footprint.of_runs(runs)):
        on = [
            [named for named in group if run_of[named[0]].manifest.target.board == board]
            for board in (riscv, arm)
        ]
        for base_label, base in on[1][:1]:
            for label, build in on[0]:
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
