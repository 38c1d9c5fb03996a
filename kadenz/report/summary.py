# SPDX-License-Identifier: Apache-2.0
"""Results as plain rows for `show --json` and `export --summary`.

Figures are in the unit that the row names; missing figures are None, and `gaps` says why.
"""

from __future__ import annotations

from typing import Any

from kadenz.analysis.deadlines import Misses
from kadenz.analysis.jitter_views import jitter_row, tail_row
from kadenz.analysis.kept_traces import KeptTrace
from kadenz.analysis.lane_figures import FIGURES
from kadenz.analysis.outliers import Outliers, event_words, sentences
from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.report import families
from kadenz.stats.common_causes import Factor
from kadenz.stats.percentiles import Percentile

Row = dict[str, Any]


def run_summary(result: RunResult) -> Row:
    """A run as JSON: identity, clock, warnings, and one row per record and lane."""
    manifest = result.manifest
    return {
        "run": manifest.id,
        "path": str(result.path),
        "created": manifest.created,
        "target": manifest.target.name,
        "board": manifest.target.title or manifest.target.board,
        "kernel": f"{manifest.target.kernel_name} {manifest.target.kernel_version}",
        "instrument": manifest.target.instrument,
        "clock": manifest.clock.name,
        "clock_class": manifest.clock.clock_class,
        "bus": manifest.target.bus,
        "settings": dict(manifest.target.settings),
        "conditions": manifest.condition_values,
        "loads": [
            {
                "name": load.name,
                "workers": load.workers,
                "unit": load.unit,
                "idle_rate": load.idle_rate,
                "rate": load.rate,
                "verified": load.verified,
            }
            for load in manifest.loads
        ],
        "partial": manifest.partial,
        "partial_reason": manifest.partial_reason,
        "warnings": [
            {"code": w.code, "message": w.message, "remedy": w.remedy} for w in result.warnings
        ],
        "events": event_rows(result),
        "records": [row for record in result.records for row in record_rows(record)],
        "jitter": [row for record in result.records for row in jitter_rows(record)],
        "sweeps": [sweep_row(result, number) for number in range(len(result.sweeps))],
        "outliers": [
            outliers_row(record, lane, lane.outliers)
            for record in result.records
            for lane in record.lanes
            if lane.outliers is not None
        ],
        "traces": [trace_row(trace) for trace in result.traces],
    } | {family.name: family.row(result) for family in families.declared().values() if family.row}


def event_rows(result: RunResult) -> list[Row]:
    """Events of single cycles, one row per kind."""
    return [
        {
            "kind": event.kind,
            "text": event.text,
            "reaction": event.reaction,
            "count": event.count,
            "first_cycle": event.first_cycle,
            "last_cycle": event.last_cycle,
        }
        for event in result.manifest.events
    ]


def record_rows(record: RecordResult) -> list[Row]:
    """One row per lane; a single row without figures if the record gives none."""
    if not record.usable or not record.lanes:
        return [_base(record)]
    return [
        _base(record, lane) | misses_row(lane.misses) | _figures(record, lane)
        for lane in record.lanes
    ]


def misses_row(misses: Misses | None) -> Row:
    """The deadline in force and its misses; empty without a deadline and without a miss.

    `late`, `misses_share` and its ends are None if unknown: see `misses_reason`.
    """
    if misses is None:
        return {}
    deadline, rate = misses.deadline, misses.rate
    return {
        "deadline": str(deadline.quantity) if deadline else "",
        "deadline_origin": deadline.origin if deadline else "",
        "deadline_figure": deadline.limit if deadline else None,
        "cycles": misses.asked,
        "late": misses.late,
        "undecided": misses.undecided,
        "misses": misses.missed,
        "misses_share": misses.share,
        "misses_low": rate.low if rate else None,
        "misses_high": rate.high if rate else None,
        "misses_reason": misses.reason,
        "misses_text": misses.line,
    }


def jitter_rows(record: RecordResult) -> list[Row]:
    """One row per lane with a jitter or tail analysis; `gaps` says why one is missing."""
    return [
        {
            "record": record.entry.id,
            "bench": record.bench,
            "params": dict(record.params),
            "lane": lane.name,
            "jitter": jitter_row(lane.jitter, record.unit) if lane.jitter else None,
            "tail": tail_row(lane.tail, record.unit) if lane.tail else None,
            "gaps": {k: v for k, v in lane.gaps.items() if k in ("jitter", "tail")},
        }
        for lane in record.lanes
        if record.usable and (lane.jitter or lane.tail or "jitter" in lane.gaps)
    ]


def _base(record: RecordResult, lane: LaneResult | None = None) -> Row:
    entries = [lane.entry] if lane else [record_lane.entry for record_lane in record.lanes]
    value = record.entry.value
    return {
        "record": record.entry.id,
        "bench": record.bench,
        "params": dict(record.params),
        "ranks": dict(record.entry.ranks),
        "lane": lane.name if lane else "",
        "status": record.entry.status,
        "reason": record.reason,
        "unit": record.unit.key,
        "clock_class": record.unit.clock_class,
        "planned": sum(e.planned for e in entries),
        "taken": sum(e.taken for e in entries),
        "missed": sum(e.missed for e in entries),
        "not_measured": sum(e.not_measured for e in entries),
        "overrun": sum(e.overrun for e in entries),
        "cold": record.entry.cold,
        "proof_checked": record.entry.proof.checked,
        "proof_failed": record.entry.proof.failed,
        "begins": record.entry.begins,
        "ends": record.entry.ends,
        "source": record.entry.source,
        "from_store": value.measured if value is not None and value.stored else "",
    }


def _figures(record: RecordResult, lane: LaneResult) -> Row:
    unit = record.unit
    figures: Row = {}
    if lane.summary is not None:
        summary = lane.summary
        figures["n"] = summary.n
        for name in ("mean", "sd", "min", "max", "median"):
            value = getattr(summary, name)
            figures[name] = None if value is None else unit.figure(value)
    if lane.mean is not None:
        figures |= {
            "mean_low": unit.figure(lane.mean.low),
            "mean_high": unit.figure(lane.mean.high),
        }
    for point in lane.percentiles:
        name = _name(point)
        row = {name: point.value, f"{name}_low": point.low, f"{name}_high": point.high}
        for key, value in row.items():  # the median is that of the summary
            figures.setdefault(key, None if value is None else unit.figure(value))
    if lane.effective is not None:
        figures |= {"effective_n": lane.effective.effective_n, "tau": lane.effective.tau}
    figures |= {
        lane_figure.name: lane_figure.shown(lane.figures.get(lane_figure.name), unit)
        for lane_figure in FIGURES
    }
    figures["cold_suggested"] = lane.cold_suggested
    if lane.drain_effect is not None:
        figures |= {
            "drain_difference": unit.figure(lane.drain_effect.difference),
            "drain_p_value": lane.drain_effect.p_value,
        }
    if lane.periodic is not None and lane.periodic.periodic:
        figures |= {
            "outliers_every": lane.periodic.every,
            "outliers_extra": _maybe(record, lane.periodic.extra),
            "outliers_tick": lane.periodic.tick_fits,
        }
    if lane is record.main:
        for structure in record.structures:
            figures |= structure.row(unit)
    figures["gaps"] = dict(lane.gaps) | {
        _name(point): point.reason for point in lane.percentiles if point.reason
    }
    return figures


def _name(point: Percentile) -> str:
    """Its name in tables: `median`, `p99.9`."""
    return "median" if point.name == "p50" else point.name


def sweep_row(result: RunResult, number: int) -> Row:
    """A fit over message size."""
    sweep = result.sweeps[number]
    row: Row = {
        "bench": sweep.bench,
        "params": dict(sweep.params),
        "sizes_bytes": list(sweep.sizes),
        "unit": sweep.unit.key,
        "clock_class": sweep.unit.clock_class,
        "reason": sweep.reason,
    }
    if sweep.fit is not None:
        for name, estimate in (("fixed", sweep.fit.fixed), ("per_byte", sweep.fit.per_byte)):
            row[name] = sweep.unit.figure(estimate.value)
            row[f"{name}_low"] = sweep.unit.figure(estimate.low)
            row[f"{name}_high"] = sweep.unit.figure(estimate.high)
        row |= {"linear": sweep.fit.linear, "worst_size_bytes": sweep.fit.worst_size}
    return row


def outliers_row(record: RecordResult, lane: LaneResult, outliers: Outliers) -> Row:
    """The largest samples of a lane, and common causes of the worst."""
    unit, causes = record.unit, outliers.causes
    row: Row = {
        "record": record.entry.id,
        "bench": record.bench,
        "params": dict(record.params),
        "lane": lane.name,
        "unit": unit.key,
        "clock_class": unit.clock_class,
        "maxima": [
            {
                "value": unit.figure(outlier.value),
                "sample": outlier.index,
                "cycle": outlier.cycle,
                "seconds": outlier.seconds,
                "beside": outlier.context,
            }
            for outlier in outliers.maxima
        ],
        "recorded": list(outliers.recorded),
        "in_common": sentences(outliers),
        "reason": outliers.reason,
    }
    if causes is not None:
        row |= {
            "n": causes.n,
            "worst_n": causes.count,
            "worst_share": causes.share,
            "threshold": unit.figure(causes.threshold),
            "questions": causes.asked,
            "left_out": dict(causes.left_out),
            "clustered": causes.clustered,
            "bursts": causes.bursts,
            "every_cycles": causes.train.every if causes.train is not None else None,
            "in_step": causes.train.count if causes.train is not None else 0,
            "smallest_p": causes.smallest_p,
            "factors": [_factor(factor) for factor in causes.factors],
        }
    return row


def _factor(factor: Factor) -> Row:
    return {
        "name": factor.name,
        "event": event_words(factor),
        "above": factor.above,
        "place": factor.place,
        "worst_with": factor.worst_with,
        "worst_n": factor.worst_n,
        "others_with": factor.rest_with,
        "others_n": factor.rest_n,
        "odds_ratio": factor.odds_ratio,
        "odds_ratio_low": factor.low,
        "odds_ratio_high": factor.high,
        "fisher_p": factor.fisher_p,
        "p_value": factor.p_value,
        "in_common": factor.common,
    }


def trace_row(trace: KeptTrace) -> Row:
    """Who held the processor before the wake-up of a kept trace."""
    row: Row = {
        "file": trace.file,
        "lane": trace.lane,
        "cycle": trace.cycle,
        "said": trace.sentence,
    }
    if trace.blame is not None:
        blame = trace.blame
        row |= {
            "cpu": blame.cpu,
            "thread": blame.thread,
            "pid": blame.pid,
            "late_us": (blame.ran - blame.due) * 1e6,
            "occupants": [
                {"kind": o.kind, "name": o.name, "number": o.number, "us": o.seconds * 1e6}
                for o in blame.occupants
            ],
        }
    return row


def _maybe(record: RecordResult, ticks: float | None) -> float | None:
    return None if ticks is None else record.unit.figure(ticks)
