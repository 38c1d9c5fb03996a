# SPDX-License-Identifier: Apache-2.0
"""Table I and figures 2 to 5 of Cereia, Bertolotti and Scanzio (2011), ours next to published.

The study measured three kernel configurations, each without and with best-effort I/O. Each of our
machines is one of them; a row that no run measured is shown as not measured, never left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kadenz.analysis.jitter_views import View
from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.report import digits, labels
from kadenz.report.jitter_tables import remaining
from kadenz.report.svg.panel import Caption, Plot
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named

PAPER, TABLE = "cereia2011", "Table I"
STATISTICS = ("mean", "sd", "min", "max")
NO_LOAD = "none"
STUDY_LOADS = (NO_LOAD, "io")  # section IV-B: without, and with best-effort I/O
# Number of the system (its colour), its label, run, record, and the lane with edge jitter.
EdgeLane = tuple[int, str, RunResult, RecordResult, LaneResult]


_COLUMNS = (
    "Whose",
    "System",
    "Kernel",
    "Load",
    "n",
    "Mean",
    "Sd",
    "Min",
    "Max",
    "Unit",
    "Clock class",
)
_NOTES = (
    "Clock rate compensated by regression, clock drift by a moving average over 16,000 edges, or "
    "over a quarter of a shorter series.",
    "Published: real terminals, one core, 2011. Ours: simulated terminals on this machine, whose "
    "clock class limits the figures. Compare the shape, never the size.",
    "A PREEMPT_RT run is shown with “hrtimer thread at 52” if it was measured under the tuning "
    "cereia2011-case2, else with “all IRQ threads at 51”. Today's kernels have no routing cache.",
)
_BEYOND = (
    "The last rows were measured under loads that the study did not use: they have no published "
    "counterpart."
)
EDGES, WAKEUPS = "ethercat/edge-jitter", "cyclic/wakeup-latency"
_WITHOUT_EDGES = (
    "Runs without edges show the wake-ups of a periodic thread. In guests these are counted "
    "instructions in virtual ns: they compare paths, not latencies."
)


def edge_lanes(runs: Named) -> list[EdgeLane]:
    """Lanes with edge jitter; for a run of the study without edges, its wake-up lanes.

    If no run has edges, the wake-up lanes of every run.
    """
    edges = _lanes(runs, EDGES)
    with_edges = {id(run) for _, _, run, _, _ in edges}
    wakeups = [wakeup for wakeup in _lanes(runs, WAKEUPS) if id(wakeup[2]) not in with_edges]
    return edges + [wakeup for wakeup in wakeups if not edges or _is_of_the_study(wakeup[2])]


def _lanes(runs: Named, bench: str) -> list[EdgeLane]:
    return [
        (colour, label, run, record, lane)
        for colour, label, run in labels.styled(runs)
        for record in run.find(bench)
        for lane in record.lanes
        if lane.jitter is not None
    ]


def load_of(run: RunResult) -> str:
    """The load during the measurement: "none", "disk", ..."""
    return run.manifest.condition_values.get("load", NO_LOAD) or NO_LOAD


def is_preempt_rt(run: RunResult) -> bool:
    """Whether the run's kernel has the RT patch (in mainline since 6.12)."""
    return "PREEMPT_RT" in preempt_of(run).upper()


def preempt_of(run: RunResult) -> str:
    """The preemption model of the measured kernel: the guest's, else the host's."""
    manifest = run.manifest
    return manifest.target.settings.get("preempt") or manifest.host.preempt


def load_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Table I. None if no run has edge jitter, or wake-ups measured as in the study."""
    published = [f for f in figures if f.paper == PAPER and f.where == TABLE]
    lanes = edge_lanes(runs)
    if not published or not lanes or not _of_the_study(runs):
        return None
    beyond = [edge_lane for edge_lane in lanes if load_of(edge_lane[2]) not in STUDY_LOADS]
    rows = [
        *_rows_of_the_study(published, lanes),
        *(("ours", _measured(edge_lane)) for edge_lane in beyond),
    ]
    notes = [*_NOTES, *([_BEYOND] if beyond else [])]
    if any(edge_lane[3].bench != EDGES for edge_lane in lanes):
        notes.append(_WITHOUT_EDGES)
    return Table(
        name="cereia2011-table-1",
        title="Jitter of edges (layout of Cereia, Bertolotti and Scanzio 2011, table I)",
        columns=_COLUMNS,
        rows=tuple(row for _, row in rows),
        numeric=frozenset({4, 5, 6, 7, 8}),
        notes=tuple(notes),
        row_kinds=tuple(kind for kind, _ in rows),
    )


def _rows_of_the_study(
    published: Sequence[PublishedFigure], lanes: Sequence[EdgeLane]
) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each row of the table with its kind: published, then ours or why there is none."""
    for kernel in dict.fromkeys(f.kernel for f in published):
        for load in dict.fromkeys(f.parameters["load"] for f in published):
            figures = [f for f in published if _is(f, kernel, load)]
            yield "published", _printed(figures, kernel, load)
            measured = [edge_lane for edge_lane in lanes if _same_cell(edge_lane[2], kernel, load)]
            for edge_lane in measured:
                yield "ours", _measured(edge_lane)
            if not measured:
                yield "ours", _absent(kernel, load)


def _of_the_study(runs: Named) -> bool:
    return any(run.find(EDGES) or _is_of_the_study(run) for _, run in runs)


def _is_of_the_study(run: RunResult) -> bool:
    """Whether the campaign is cereia2011, or cereia2011-guest for kernels in guests."""
    return run.manifest.campaign.name.startswith(PAPER)


def _is(figure: PublishedFigure, kernel: str, load: str) -> bool:
    return figure.kernel == kernel and figure.parameters["load"] == load


def _same_cell(run: RunResult, kernel: str, load: str) -> bool:
    """Whether a run has the study's kernel configuration and exactly its load."""
    if is_preempt_rt(run):
        # A profile with failed values has them in its name and is not the study's case.
        tuned = run.manifest.condition_values.get("tuning") == "cereia2011-case2"
        wanted = "hrtimer thread" in kernel if tuned else "all IRQ threads" in kernel
    else:
        wanted = "rt27" not in kernel
    return wanted and load_of(run) == load


def _printed(figures: list[PublishedFigure], kernel: str, load: str) -> tuple[Cell, ...]:
    by = {figure.statistic: figure for figure in figures}
    first = figures[0]
    return (
        text_cell("published", "published"),
        text_cell(first.system.name),
        text_cell(kernel),
        text_cell(load),
        Cell("1,000,000", 1_000_000),
        *(Cell(digits.printed(by[name].value), by[name].value) for name in STATISTICS),
        text_cell(first.unit),
        badge(first.system),
    )


def _measured(edge_lane: EdgeLane) -> tuple[Cell, ...]:
    _, label, run, record, lane = edge_lane
    assert lane.jitter is not None
    summary, unit = lane.jitter.summary, record.unit
    place = labels.lane(record, lane)
    return (
        text_cell("ours", "ours"),
        text_cell(f"{label} {place}".strip()),
        text_cell(f"{labels.kernel(run)}, {preempt_of(run)}"),
        text_cell(load_of(run)),
        Cell(digits.count(summary.n), summary.n),
        *(figure(getattr(summary, name), unit) for name in STATISTICS),
        text_cell(unit.label),
        badge(unit),
    )


def _absent(kernel: str, load: str) -> tuple[Cell, ...]:
    rt = "rt27" in kernel
    tuned = " tuned as cereia2011-case2" if "hrtimer thread" in kernel else ""
    why = f"not measured: no run under PREEMPT_RT{tuned} here" if rt else "not measured"
    return (
        text_cell("ours", "ours"),
        text_cell(why, "status na"),
        text_cell("PREEMPT_RT" if rt else "without PREEMPT_RT"),
        text_cell(load),
        *(Cell(digits.ABSENT) for _ in range(5)),
        text_cell(""),
        text_cell(""),
    )


def plots(runs: Named) -> list[Plot]:
    """Figures 2 (compensated), 3 (jitter, no load), 4 (study's load), 5 (both on one scale).

    Runs under any other load are drawn the same way and labelled as not of the study.
    """
    lanes = edge_lanes(runs)
    if not lanes or not _of_the_study(runs):
        return []
    ordered = sorted(lanes, key=lambda edge_lane: load_of(edge_lane[2]) != NO_LOAD)
    pictures = [_plot("figure 2", "clock rate compensated", ordered[0], view="compensated")]
    pictures += [_plot(_which(edge_lane[2]), "jitter", edge_lane) for edge_lane in ordered]
    for unit in dict.fromkeys(edge_lane[3].unit for edge_lane in lanes):
        pictures += _on_one_scale([edge_lane for edge_lane in ordered if edge_lane[3].unit == unit])
    return pictures


def _on_one_scale(lanes: Sequence[EdgeLane]) -> list[Plot]:
    """As figure 5, for lanes that share a unit; empty if they also share their load."""
    if len({load_of(edge_lane[2]) for edge_lane in lanes}) < 2:
        return []
    jitters = [edge_lane[4].jitter for edge_lane in lanes if edge_lane[4].jitter is not None]
    unit = lanes[0][3].unit
    limits = (
        unit.figure(min(jitter.summary.min for jitter in jitters)),
        unit.figure(max(jitter.summary.max for jitter in jitters)),
    )
    return [
        _plot(
            "figure 5" if load_of(edge_lane[2]) in STUDY_LOADS else "one scale",
            "jitter, one scale",
            edge_lane,
            limits=limits,
        )
        for edge_lane in lanes
    ]


def _which(run: RunResult) -> str:
    """The study's figure for a run under this load; "another load" if there is none."""
    load = load_of(run)
    if load not in STUDY_LOADS:
        return "another load"
    return "figure 3" if load == NO_LOAD else "figure 4"


def _plot(
    which: str,
    what: str,
    lane: EdgeLane,
    *,
    view: View = "jitter",
    limits: tuple[float, float] | None = None,
) -> Plot:
    colour, label, run, record, of = lane
    assert of.jitter is not None
    load = load_of(run)
    under = "no load" if load == NO_LOAD else f"load {load}"
    like = f"as {which}" if which.startswith("figure") else "not of the study"
    heading = " ".join(part for part in (label, labels.lane(record, of)) if part)
    caption = Caption(
        heading,
        f"{like}: {what}, {under}, {labels.unit(record.unit)}",
        record.unit.label,
        labels.slug(f"cereia2011-{which}-{load}", record.bench, heading),
        colour,
    )
    return remaining(of.jitter, record.unit, caption, view=view, limits=limits)
