# SPDX-License-Identifier: Apache-2.0
"""Section 4 of Arm, Baštán, Mihálik and Bradáč (2022), ours next to published.

The study's switch across cores takes 190.334 ms and its forced periods 8957.846 ms on average. The
second table lists possible causes, measured, and the one cause that explains all the figures: one
cycle counter per core, read at the beginning by one core and at the end by the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kadenz.analysis.periods import Periods
from kadenz.analysis.published import PublishedFigure
from kadenz.analysis.results import RecordResult, RunResult
from kadenz.report import digits, labels
from kadenz.report.studies.rows import CLASSES_DIFFER, as_printed
from kadenz.report.table import Cell, Table, badge, figure, text_cell
from kadenz.report.tables import Named
from kadenz.stats.periods import read_from_counters
from kadenz.stats.summary import Summary

PAPER, PLACE = "arm2022", "Section 4"
_SAME, _CROSS = "smp/semaphore-switch-same-core", "smp/semaphore-switch-cross-core"
_FREE, _FORCED = "smp/period-jitter-undisturbed", "smp/period-jitter-forced-migration"
_GIVE = "clock/timestamp-overhead"
_PUBLISHED = {
    _SAME: "Semaphore switch, same core",
    _CROSS: "Semaphore switch, across cores",
    _GIVE: "The give alone",
    _FREE: "Period of 10 ms, undisturbed",
    _FORCED: "Period of 10 ms, forced migration",
}
_STATISTICS = ("mean", "variance", "min", "max")
_CONTENTION = "smp/contention"
_OTHERS = {
    "none": "nothing",
    "loop": "a loop without the kernel",
    "memory": "a loop with memory of its own",
    "own": "an object of its own",
    "same": "the same object",
}
_SWITCH, _OUR_GIVE = "itc/semaphore-counting-to-higher", "itc/semaphore-give"
_WAKE_UP, _PERIODIC = "smp/wake-up", "cyclic/wakeup-latency"
_PERIODS = {
    "watch": (_FREE, "the kernel places it"),
    "move": (_FORCED, "moved while it sleeps, each period"),
    "load": (_FORCED, "driven by two loads of 2 ms"),
    "suspend": (_FORCED, "driven by two loads of 2 ms that suspend and resume each other"),
}
_HERTZ = 240e6  # of the study's chip
_WRAP_MS = 2**32 / _HERTZ * 1e3  # of its counter CCOUNT, which has 32 bits
_PERIOD_MS = 10.0
_NOTES = (
    CLASSES_DIFFER,
    "Variance: in the square of the unit; published as printed, in the study's table of ms.",
    "Ours: periods from wake-up to wake-up, without the cold ones. Switch: from before the give "
    "of the less urgent task to the return of the waiting task's take, as in the study's figure 3.",
)


def core_table(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """All published rows, each above ours for the same point. None without a run of the study."""
    published = [figure for figure in figures if (figure.paper, figure.where) == (PAPER, PLACE)]
    ours = [(label, run) for label, run in runs if _of_the_study(run)]
    if not published or not ours:
        return None
    rows: list[tuple[Cell, ...]] = []
    kinds: list[str] = []
    for benchmark, title in _PUBLISHED.items():
        rows.append(
            _printed([figure for figure in published if figure.benchmark == benchmark], title)
        )
        kinds.append("published")
        for label, run in ours:
            for detail, record, summary in _measured(run, benchmark):
                rows.append(_row(f"{title}{detail}", "ours", label, run, record, summary))
                kinds.append("ours")
    if "ours" not in kinds:
        return None
    return Table(
        name="arm2022-section-4",
        title=f"Two cores: {labels.kernels(run for _, run in ours)} "
        "(figures of Arm et al. 2022, section 4)",
        columns=(
            *("What", "Whose", "System", "Kernel", "n"),
            *("Mean", "Variance", "Min", "Max", "Unit", "Clock class"),
        ),
        rows=tuple(rows),
        numeric=frozenset({4, 5, 6, 7, 8}),
        notes=_NOTES,
        row_kinds=tuple(kinds),
    )


def _of_the_study(run: RunResult) -> bool:
    return run.manifest.campaign.name == PAPER or bool(run.find(_WAKE_UP))


def _printed(figures: Sequence[PublishedFigure], title: str) -> tuple[Cell, ...]:
    by = {figure.statistic: figure for figure in figures}
    first = figures[0]
    return (
        text_cell(title),
        text_cell("published", "published"),
        text_cell(first.system.name),
        text_cell(first.kernel),
        Cell(digits.ABSENT),
        *(as_printed(by.get(name)) for name in _STATISTICS),
        text_cell(first.unit),
        badge(first.system),
    )


def _row(
    what: str, whose: str, label: str, run: RunResult, record: RecordResult, summary: Summary
) -> tuple[Cell, ...]:
    unit = record.unit
    sd = None if summary.sd is None else unit.figure(summary.sd)
    variance = None if sd is None else sd * sd
    return (
        text_cell(what),
        text_cell(whose, "ours"),
        text_cell(labels.figure_label(label, run, record.bench)),
        text_cell(labels.kernel(run)),
        Cell(digits.count(summary.n), summary.n),
        figure(summary.mean, unit),
        Cell(digits.number(variance), variance),
        figure(summary.min, unit),
        figure(summary.max, unit),
        text_cell(unit.label),
        badge(unit),
    )


def _measured(run: RunResult, benchmark: str) -> Iterator[tuple[str, RecordResult, Summary]]:
    """Our records for a published row: how they differ, the record, its description."""
    if benchmark in (_SAME, _CROSS):
        for record in run.find(_SWITCH, core_a=0, core_b=int(benchmark == _CROSS)):
            yield from _main_summary("", record)
    elif benchmark == _GIVE:
        for record in run.find(_OUR_GIVE, waiter=1):
            other = record.params.get("core_b") != record.params.get("core_a")
            yield from _main_summary(f", to {'the other' if other else 'its own'} core", record)
    else:
        for record in run.find(_PERIODIC):
            which, how = _PERIODS.get(str(record.params.get("migrate")), ("", ""))
            periods = _periods(record)
            if which == benchmark and periods is not None:
                bound = ", bound to core 0" if record.params.get("core") == 0 else f", {how}"
                yield f"{bound} ({periods.moved:,} migrations)", record, periods.whole


def _main_summary(detail: str, record: RecordResult) -> Iterator[tuple[str, RecordResult, Summary]]:
    if record.main is not None and record.main.summary is not None:
        yield detail, record, record.main.summary


def _periods(record: RecordResult) -> Periods | None:
    return record.main.periods if record.main is not None else None


# ---- what could have given the study's figures --------------------------------------------------


def explanations(figures: Sequence[PublishedFigure], runs: Named) -> Table | None:
    """Ways to a wake-up of 190 ms and to periods of 9 s. None without a run that tried them."""
    printed = {
        (figure.benchmark, figure.statistic): figure.value
        for figure in figures
        if figure.paper == PAPER
    }
    rows: list[tuple[Cell, ...]] = []
    for label, run in runs if printed else ():
        rows += _ways_to_190_ms(label, run, printed)
        rows += _ways_to_9_s(label, run, printed)
    if not rows:
        return None
    return Table.headed(
        "What would have to happen | System | >Mean | >Min | >Max | Unit | Verdict",
        name="arm2022-explanations",
        title="What gives the switch of 190 ms and the periods of 9 s (Arm et al. 2022)",
        rows=rows,
        notes=(
            "One counter per core: a span from core to core is the true span plus the difference "
            f"of the two counters, modulo 2^32 counts, which are {_WRAP_MS:,.3f} ms at 240 MHz. "
            "These rows are calculated from our measured spans and from a difference taken from "
            "the published minimum. So the minimum agrees by construction, and with it the mean of "
            "the switch. The mean of the migrations does not depend on the difference.",
            "If a thread changes cores in every period, the difference is added to half of the "
            "spans, and 2^32 minus the difference to the other half. Their mean is the period plus "
            "half the counter's range, whatever the difference: "
            f"{_PERIOD_MS + _WRAP_MS / 2:,.3f} ms. Published: "
            f"{printed[_FORCED, 'mean']:,.3f} ms.",
            "ESP32's cycle counter is a register of each core, and a span that begins on one and "
            "ends on the other is wrong (Espressif in esp-idf issue 7136). smp/clocks looks for "
            "that on every target.",
        ),
        row_kinds=tuple("published" if row[1].kind else "ours" for row in rows),
    )


def _ways_to_190_ms(
    label: str, run: RunResult, printed: dict[tuple[str, str], float]
) -> Iterator[tuple[Cell, ...]]:
    tried = run.find(_WAKE_UP)
    if not tried:
        return
    yield _as_published("Switch across cores, published", printed, _CROSS)
    for record in run.find(_SWITCH, core_a=0, core_b=1):
        yield from _way("nothing but the switch", label, record, _short(run, record, printed))
    for record in tried:
        hold, period = (int(record.params[name]) for name in ("hold_us", "period_us"))
        other = record.params["other_core"]
        if other == "above":
            what = f"a more urgent thread works on the other core for {hold / 1e3:g} ms"
            why = "as long as that thread's work; the study had no such thread"
        elif other != "poll":
            continue
        elif period % hold == 0:
            what = f"the other core polls every {hold / 1e3:g} ms, in step with the giver"
            why = "constant and near whole ticks, which 190.33 ms is not"
        else:
            what = f"the other core polls every {hold / 1e3:g} ms, out of step"
            why = "spread over that time"
        yield from _way(what, label, record, f"{why}; {_spread(run, record, printed)}")
    for record in run.find(_SWITCH, core_a=0, core_b=1):
        yield from _by_counters(label, run, record, printed)


def _by_counters(
    label: str, run: RunResult, record: RecordResult, printed: dict[tuple[str, str], float]
) -> Iterator[tuple[Cell, ...]]:
    apart = printed[_CROSS, "min"] - printed[_SAME, "min"]
    summary = record.main.summary if record.main is not None else None
    hz = run.manifest.clock.seconds_hz
    if summary is not None and hz:
        calculated = read_from_counters([(_in_ms(summary, hz), apart)], _WRAP_MS)
        yield _calculated(
            f"one counter per core, {apart:.3f} ms apart by the published minimum",
            label,
            calculated,
            _off(calculated, printed, _CROSS),
        )


def _ways_to_9_s(
    label: str, run: RunResult, printed: dict[tuple[str, str], float]
) -> Iterator[tuple[Cell, ...]]:
    apart = printed[_FORCED, "min"] - _PERIOD_MS
    measured = [
        (record, periods)
        for record in run.find(_PERIODIC)
        if _PERIODS.get(str(record.params.get("migrate")), ("", ""))[0] == _FORCED
        and (periods := _periods(record)) is not None
    ]
    if not measured:
        return
    yield _as_published("Forced migration, published", printed, _FORCED)
    for record, periods in measured:
        how = _PERIODS[str(record.params["migrate"])][1]
        yield (
            text_cell(f"nothing but migrations: {how}"),
            text_cell(label),
            *(figure(getattr(periods.whole, name), record.unit) for name in ("mean", "min", "max")),
            text_cell(record.unit.label),
            text_cell(f"at most {_in_ms(periods.whole, periods.hz).max:,.1f} ms"),
        )
        groups = [
            (_in_ms(crossing.summary, periods.hz), apart * (crossing.begin - crossing.end))
            for crossing in periods.crossings
            if crossing.begin != crossing.end
        ]
        if groups:
            calculated = read_from_counters(groups, _WRAP_MS)
            yield _calculated(
                f"one counter per core, {apart:.3f} ms apart by the published minimum; "
                f"{periods.moved:,} periods that migrated",
                label,
                calculated,
                _off(calculated, printed, _FORCED),
            )


def _as_published(
    what: str, printed: dict[tuple[str, str], float], benchmark: str
) -> tuple[Cell, ...]:
    values = [printed[benchmark, name] for name in ("mean", "min", "max")]
    cells = (Cell(digits.printed(value), value) for value in values)
    return (
        text_cell(what),
        text_cell("ESP32", "published"),
        *cells,
        text_cell("ms"),
        text_cell(""),
    )


def _way(what: str, label: str, record: RecordResult, verdict: str) -> Iterator[tuple[Cell, ...]]:
    summary = record.main.summary if record.main is not None else None
    if summary is not None:
        cells = (figure(getattr(summary, name), record.unit) for name in ("mean", "min", "max"))
        yield (
            text_cell(what),
            text_cell(label),
            *cells,
            text_cell(record.unit.label),
            text_cell(verdict),
        )


def _calculated(what: str, label: str, summary: Summary, verdict: str) -> tuple[Cell, ...]:
    cells = (Cell(f"{value:,.3f}", value) for value in (summary.mean, summary.min, summary.max))
    return (
        text_cell(what),
        text_cell(f"{label}, calculated"),
        *cells,
        text_cell("ms"),
        text_cell(verdict),
    )


def _short(run: RunResult, record: RecordResult, printed: dict[tuple[str, str], float]) -> str:
    """How many of our switches fit into the study's, by the nominal rate of our clock."""
    summary, hz = record.main.summary if record.main else None, run.manifest.clock.seconds_hz
    if summary is None or not hz or summary.mean <= 0.0:
        return ""
    return f"{printed[_CROSS, 'mean'] / _in_ms(summary, hz).mean:,.0f} of them fit into 190 ms"


def _spread(run: RunResult, record: RecordResult, printed: dict[tuple[str, str], float]) -> str:
    """Our range next to the study's, in ms of the nominal rate of our clock."""
    summary, hz = record.main.summary if record.main else None, run.manifest.clock.seconds_hz
    if summary is None or not hz:
        return ""
    ours, theirs = _in_ms(summary, hz), printed[_CROSS, "max"] - printed[_CROSS, "min"]
    return f"range {ours.max - ours.min:,.3f} ms, published {theirs:.3f}"


def _off(summary: Summary, printed: dict[tuple[str, str], float], benchmark: str) -> str:
    mean, most = (printed[benchmark, name] for name in ("mean", "max"))
    return (
        f"mean {summary.mean - mean:+,.3f} ms, max {summary.max - most:+,.3f} ms from the published"
    )


def _in_ms(summary: Summary, hz: float) -> Summary:
    """A description in ticks of a clock, in ms of that clock's nominal rate."""
    per = 1e3 / hz
    return Summary(
        n=summary.n,
        mean=summary.mean * per,
        sd=None if summary.sd is None else summary.sd * per,
        min=summary.min * per,
        max=summary.max * per,
        median=summary.median * per,
    )


# ---- what a second core costs -------------------------------------------------------------------


def contention(runs: Named) -> Table | None:
    """The cost of a kernel call by the rate of the other core's calls. None without one."""
    rows = [
        (
            text_cell(label),
            text_cell(str(record.params["call"])),
            text_cell(_OTHERS[str(record.params["other_core"])]),
            Cell(digits.number(lane.other_rate), lane.other_rate),
            figure(lane.summary.median, record.unit),
            figure(lane.summary.mean, record.unit),
            figure(lane.summary.max, record.unit),
            text_cell(record.unit.label),
            badge(record.unit),
        )
        for label, run in runs
        for record in run.find(_CONTENTION)
        if (lane := record.main) is not None and lane.summary is not None
    ]
    if not rows:
        return None
    return Table(
        name="contention",
        title="A kernel call while the other core calls too",
        columns=(
            *("Target", "Call", "Other core", "Its rate, 1/s"),
            *("Median", "Mean", "Max", "Unit", "Clock class"),
        ),
        rows=tuple(rows),
        numeric=frozenset({3, 4, 5, 6}),
        notes=(
            "A call is a give and a take, or a send and a receive, that neither wait nor switch. "
            "The rate is the one achieved, in turns of the loop or calls per second at the clock's "
            "nominal rate.",
        ),
    )
