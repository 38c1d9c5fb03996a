# SPDX-License-Identifier: Apache-2.0
"""One run: every record analysed, or refused with a reason; and the warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kadenz.analysis.deadlines import Asked, Misses, misses_of
from kadenz.analysis.jitter_views import JitterResult, jitter_of_record
from kadenz.analysis.kept_traces import kept_traces
from kadenz.analysis.lanes import analyse_lane, merge
from kadenz.analysis.modelled import modelled_ends
from kadenz.analysis.outliers import ALPHA, Recorded
from kadenz.analysis.periods import other_rate_of, periods_of
from kadenz.analysis.results import (
    LaneResult,
    Pooled,
    RecordResult,
    RunResult,
    Samples,
)
from kadenz.analysis.structures import is_population, structures_of
from kadenz.analysis.sweeps import sweeps_of
from kadenz.analysis.units import Unit, unit_of
from kadenz.config.manifest import (
    INTERVAL,
    READINGS,
    SCHEDULE,
    LaneEntry,
    Manifest,
    RecordEntry,
    Warning,  # noqa: A004
)
from kadenz.config.params import PERIOD
from kadenz.side_by_side import side_by_side
from kadenz.stats.box import box
from kadenz.stats.common_causes import SHARE, Worst
from kadenz.stats.errors import Undefined
from kadenz.stats.exceedance import exceedance
from kadenz.stats.ordered import Ordered
from kadenz.stats.percentiles import LEVELS
from kadenz.stats.summary import summarize
from kadenz.store import Run


def analyse(run: Run, *, worst_share: float = SHARE, deadlines: Sequence[Asked] = ()) -> RunResult:
    """Analyses every record of `run`. StoreError if a sample file is missing or damaged.

    Common causes are searched for the `worst_share` of the samples (`stats.common_causes`);
    `deadlines` override those of the run.
    """
    # Every lane is tested, so the lanes of a run share its false-alarm probability.
    lanes = sum(len(entry.series) for entry in run.manifest.records if not refusal(entry))
    worst = Worst(worst_share, ALPHA / max(1, lanes))
    records = side_by_side(
        lambda entry: analyse_record(run, entry, worst, deadlines),
        run.manifest.records,
        max((_largest_lane(entry) for entry in run.manifest.records), default=0),
    )
    return RunResult(
        path=run.path,
        manifest=run.manifest,
        records=tuple(records),
        sweeps=tuple(sweeps_of(run, records)),
        warnings=tuple(_warnings(run.manifest, records)),
        traces=kept_traces(run.path, _largest_s(records)),
    )


def _largest_s(records: list[RecordResult]) -> float | None:
    """The largest latency of periodic work, in seconds; None if the clock does not count time."""
    maxima = [
        lane.summary.max * record.unit.scale / 1e6
        for record in records
        if record.nature == "periodic" and record.unit.key == "us"
        for lane in record.lanes
        if lane.summary is not None
    ]
    return max(maxima, default=None)


def analyse_record(
    run: Run,
    entry: RecordEntry,
    worst: Worst = Worst(),  # noqa: B008 (frozen)
    deadlines: Sequence[Asked] = (),
) -> RecordResult:
    """One record of `run`, as in `analyse`; `worst` says for which samples it searches common
    causes. StoreError if a sample file is missing or damaged."""
    unit = unit_of(entry.unit, run.manifest.clock)
    reason = refusal(entry)
    if reason:
        bare = tuple(LaneResult(lane, ()) for lane in entry.series)
        return RecordResult(entry, unit, reason, bare)
    lanes = side_by_side(
        lambda lane: _lane(run, entry, lane, worst, deadlines), entry.series, _largest_lane(entry)
    )
    sorted_lanes = [lane.ordered for lane in lanes if lane.ordered is not None]
    structures = structures_of(run, entry)
    together = len(sorted_lanes) > 1 and not any(structure.whole for structure in structures)
    return RecordResult(
        entry=entry,
        unit=unit,
        reason=entry.reason,
        lanes=tuple(lane.result for lane in lanes),
        pooled=_pool(sorted_lanes, entry) if together else None,
        structures=structures,
        misses=misses_of([(run, entry, [lane.counted for lane in lanes])], deadlines),
        notes=tuple(_notes(entry)),
    )


@dataclass(frozen=True, eq=False)
class _Lane:
    """A lane analysed; `ordered` are its warm samples, `counted` what its misses are counted in."""

    result: LaneResult
    ordered: Ordered | None
    counted: tuple[LaneEntry, Samples, int]


def _largest_lane(entry: RecordEntry) -> int:
    """The number of samples of its longest series."""
    return max((lane.taken for lane in entry.series), default=0)


def _lane(
    run: Run, entry: RecordEntry, lane: LaneEntry, worst: Worst, deadlines: Sequence[Asked]
) -> _Lane:
    samples, cold, jitter, gap = _jitter(run, entry, lane, unit_of(entry.unit, run.manifest.clock))
    period = entry.period_us(entry.series.index(lane))
    tick_hz = run.manifest.target.tick_hz
    recorded = Recorded(
        companions={
            kind: run.samples(entry, other)
            for kind, other in entry.companions(lane).items()
            # The jitter of edges has no companions. Ends of an interval, places in a schedule and
            # readings are no events.
            if other.taken == samples.size and kind not in INTERVAL + SCHEDULE + READINGS
        },
        drains=entry.drains if lane is entry.series[0] else (),  # they count its samples
        missed=lane.missed,
        period_us=period or None,
        tick_period_us=1e6 / tick_hz if tick_hz and period else None,
    )
    counted = lane, samples, cold
    result, ordered = analyse_lane(
        lane,
        samples,
        cold,
        recorded,
        worst=worst,
        jitter=jitter,
        misses=misses_of([(run, entry, [counted])], deadlines),
        periods=periods_of(run, entry, lane),
        other_rate=other_rate_of(run, entry, lane),
    )
    result = replace(result, modelled=modelled_ends(run, entry, lane, cold))
    if is_population(entry, lane):
        result = result.without_inference()
    if gap:
        result.gaps["jitter"] = gap
    return _Lane(result, ordered, counted)


def _jitter(
    run: Run, entry: RecordEntry, lane: LaneEntry, unit: Unit
) -> tuple[Samples, int, JitterResult | None, str]:
    """The series to describe, its number of cold samples, and its jitter or the reason for none.

    Edge samples are times, so the described series is their jitter, which has no cold part.
    """
    samples = run.samples(entry, lane)
    cycle = entry.companions(lane).get("cycle")
    try:
        jitter = jitter_of_record(
            entry.nature,
            samples,
            entry.cold,
            unit,
            entry.period_us(entry.series.index(lane)) or None,
            lane.missed,
            None if cycle is None else run.samples(entry, cycle),
        )
    except Undefined as error:
        return samples[:0] if entry.nature == "edges" else samples, entry.cold, None, error.reason
    if jitter is None:
        return samples, entry.cold, None, ""
    result, series = jitter
    return (series, 0, result, "") if entry.nature == "edges" else (samples, entry.cold, result, "")


def described(run: Run, entry: RecordEntry, lane: LaneEntry) -> Samples:
    """The warm samples that a lane's figures describe; for edges, their jitter."""
    samples, cold = described_with_cold(run, entry, lane)
    return samples[cold:]


def described_with_cold(run: Run, entry: RecordEntry, lane: LaneEntry) -> tuple[Samples, int]:
    """As `described`, with the cold samples first; and their number."""
    if entry.nature != "edges":
        return run.samples(entry, lane), entry.cold
    samples, cold, _, _ = _jitter(run, entry, lane, unit_of(entry.unit, run.manifest.clock))
    return samples, cold


def point_misses(
    runs: Sequence[tuple[Run, RecordEntry]], deadlines: Sequence[Asked] = (), *, lane: str = ""
) -> Misses | None:
    """Misses of the same point in `runs`, of all lanes or of `lane`."""
    return misses_of(
        [
            (
                run,
                entry,
                [
                    (lane_entry, *described_with_cold(run, entry, lane_entry))
                    for lane_entry in entry.series
                    if not lane or lane_entry.name == lane
                ],
            )
            for run, entry in runs
        ],
        deadlines,
    )


def refusal(entry: RecordEntry) -> str:
    """Why a record gives no figures; "" if it gives some."""
    if entry.status == "ok":
        return ""
    return entry.reason or f"the target gave no reason for status {entry.status}"


def _notes(entry: RecordEntry) -> list[str]:
    notes = []
    if entry.nature == "edges":
        notes.append(
            "figures describe the jitter: the edge times after removal of the clocks' rate and "
            "drift"
        )
    if entry.proof.checked == 0 and any(lane.taken for lane in entry.series):
        notes.append("nothing was proved: the benchmark made no checks")
    missed = sum(lane.missed for lane in entry.series)
    overrun = sum(lane.overrun for lane in entry.series)
    if any(lane.not_measured for lane in entry.series):
        notes.append(measured_words(entry))
    if missed:
        notes.append(f"did not happen: {missed:,}")
    if overrun:
        notes.append(f"longer than the period: {overrun:,}")
    return notes


def measured_words(entry: RecordEntry) -> str:
    """ "11,102 of 40,000 measured", over all lanes."""
    planned = sum(lane.planned for lane in entry.series)
    left = sum(lane.not_measured for lane in entry.series)
    return f"{planned - left:,} of {planned:,} measured"


def _pool(parts: list[Ordered], entry: RecordEntry) -> Pooled:
    together = merge(parts)
    return Pooled(
        summary=summarize(together.values, ordered=together),
        quantiles={
            f"p{round(100.0 * level, 6):g}": together.quantile(level)
            for level in LEVELS
            if together.n * min(level, 1.0 - level) >= 1.0
        },
        box=box(together),
        exceedance=exceedance(together, missed=sum(lane.missed for lane in entry.series)),
    )


def _warnings(manifest: Manifest, records: list[RecordResult]) -> list[Warning]:
    """The run's own warnings, and those that only the analysis can find."""
    warnings = []
    if manifest.partial:
        warnings.append(
            Warning(
                code="partial-run",
                message=f"this run is partial: {manifest.partial_reason or 'no reason given'}",
                remedy="`kadenz run --resume` measures the missing points"
                if manifest.call is not None
                else "Repeat the run to get the missing points",
            )
        )
    warnings += manifest.warnings
    clock = manifest.clock
    if clock.monotonic is False or clock.backward_steps:
        warnings.append(
            Warning(
                code="clock-went-back",
                message=f"the clock {clock.name} went back {clock.backward_steps:,} times",
                remedy="Do not use figures of this run",
            )
        )
    for status in ("invalid", "failed"):
        bad = [r for r in records if r.entry.status == status]
        if bad:
            names = ", ".join(sorted({r.bench for r in bad}))
            warnings.append(
                Warning(
                    code=f"records-{status}",
                    message=f"{_records(len(bad), status)} no figures: {names}",
                    remedy=bad[0].reason,
                )
            )
    missed = [r for r in records if r.usable and r.missed]
    if missed:
        worst = max(missed, key=lambda r: r.missed / max(1, r.planned - r.not_measured))
        others = len(missed) - 1
        more = f"; also some of {others:,} other point{'s' * (others > 1)}" if others else ""
        what = "cycles" if worst.params.get(PERIOD) else "executions"
        warnings.append(
            Warning(
                code="samples-missed",
                message=f"{worst.bench}: {worst.missed:,} of "
                f"{worst.planned - worst.not_measured:,} {what} did not happen{more}",
                remedy="See the accounting table: the missing samples are usually the slow ones",
            )
        )
    return warnings


def _records(count: int, status: str) -> str:
    """ "1 record is invalid and shows", "3 records failed and show"."""
    if count == 1:
        return f"1 record {'is invalid' if status == 'invalid' else 'failed'} and shows"
    return f"{count:,} records {'are invalid' if status == 'invalid' else 'failed'} and show"
