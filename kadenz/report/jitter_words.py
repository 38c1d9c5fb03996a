# SPDX-License-Identifier: Apache-2.0
"""Jitter and tail in sentences, for a terminal."""

from __future__ import annotations

from kadenz.analysis.jitter_views import JitterResult, SeriesResult
from kadenz.analysis.units import Unit
from kadenz.report import digits
from kadenz.report.jitter_tables import SPORADIC_SHOWN, chance, remarks
from kadenz.stats.tail import Tail


def jitter_lines(of: JitterResult, unit: Unit) -> list[str]:
    """The analysis line by line, from clock rate to disturbances; figures in `unit`."""
    rate, summary, disturbances, bias = of.rate_error_ppm, of.summary, of.disturbances, of.bias

    def show(ticks: float | None) -> str:
        return digits.figure(ticks, unit)

    several = f"{of.holes:,} cycles missing" if of.holes > 1 else "1 cycle missing"
    missing = several if of.holes else "no cycle missing"
    period = f"{of.period_us / 1000:g} ms" if of.period_us >= 1000 else f"{of.period_us:g} µs"
    lines = [
        f"{of.n:,} {of.source}, every {period}, {missing}; figures in {unit.label}",
        f"clock rate  {rate.value:+.6g} ppm [{rate.low:.6g}, {rate.high:.6g}]",
        f"drift       sd {show(of.sd['drift'])}, removed by moving average; disturbances shift it "
        f"by at most {show(bias.moved)}; at most {show(bias.from_median)} from the median",
        f"jitter      sd {show(summary.sd)}, {show(summary.min)} to {show(summary.max)}, mean "
        f"{show(summary.mean)}",
    ]
    for train in disturbances.periodic:
        low, high = unit.figure(train.amplitude.low), unit.figure(train.amplitude.high)
        lines.append(
            f"periodic    every {of.at_s(train.every.value):,.6g} s "
            f"[{of.at_s(train.every.low):,.6g}, {of.at_s(train.every.high):,.6g}], "
            f"{show(train.amplitude.value)} [{digits.number(low)}, {digits.number(high)}], largest "
            f"{show(train.largest)}, {train.strikes:,} of {train.slots:,} slots, "
            f"p {chance(train.p_value)}"
        )
    for wave in disturbances.waves:
        line = (
            f"clock step  every {of.at_s(wave.every):,.6g} s, {show(wave.amplitude)}: the clock's "
            f"step of {show(of.step)} beats with the period; not a disturbance"
            if wave.of_step
            else f"wave        every {of.at_s(wave.every):,.6g} s, {show(wave.amplitude)}, "
            f"p {chance(wave.p_value)}"
        )
        lines.append(line)
    if not disturbances.periodic and all(wave.of_step for wave in disturbances.waves):
        lines.append("periodic    none beyond chance")
    lines.append(
        f"sporadic    {disturbances.sporadic_events:,} events beyond "
        f"{show(disturbances.threshold)} from the median"
        + (", the largest:" if disturbances.sporadic else "")
    )
    lines += [
        f"            {show(event.size)} at {of.at_s(event.cycle):,.6g} s (cycle {event.cycle:,})"
        for event in disturbances.sporadic[:SPORADIC_SHOWN]
    ]
    return lines + [f"note        {note}" for note in remarks(of, unit)]


def series_lines(series: SeriesResult, unit: Unit, given: str) -> list[str]:
    """Everything about a user's own series; `given` is the unit of its values and limit."""
    lines = jitter_lines(series.jitter, unit)
    if series.tail is not None:
        lines += tail_lines(series.tail, unit, series.quantity)
    else:
        lines.append(f"tail        of the {series.quantity}: none, {series.no_tail}")
    return lines + ([f"limit       {limit_words(series, given)}"] if series.limit else [])


def limit_words(series: SeriesResult, given: str) -> str:
    """How often the limit was exceeded; "" without a limit."""
    what = "latencies" if series.quantity == "latency" else "jitter values"
    return series.limit.sentence_for(what, given) if series.limit is not None else ""


def tail_lines(tail: Tail, unit: Unit, of: str) -> list[str]:
    """The fit, its checks, and the levels or the refusal; `of` names the quantity."""
    lines = []
    if tail.chosen is not None and tail.shape is not None:
        chosen, shape = tail.chosen, tail.shape
        lines.append(
            f"tail        of the {of}: {tail.peaks.size:,} separate peaks above "
            f"{digits.figure(chosen.threshold, unit)}, shape {shape.value:+.3f} "
            f"[{shape.low:+.2f}, {shape.high:+.2f}], fit p {chance(chosen.fit.p_value)}"
        )
    else:
        lines.append(f"tail        of the {of}{', not fitted' if tail.tried else ''}")
    lines += [
        f"            {'holds' if check.holds else 'FAILS'}: {check.sentence}"
        for check in tail.checks
    ]
    for return_level in tail.levels:
        level = return_level.level
        lines.append(
            f"            once in {return_level.samples:,.0f} samples: "
            f"{digits.figure(level.value, unit)} {digits.interval(level.low, level.high, unit)}"
        )
    if tail.refusal:
        lines.append(f"            not extrapolated: {tail.refusal}")
    return lines
