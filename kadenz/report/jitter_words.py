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
    rate, summary, found, bias = of.rate_error_ppm, of.summary, of.disturbances, of.bias

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
    for one in found.periodic:
        low, high = unit.figure(one.amplitude.low), unit.figure(one.amplitude.high)
        lines.append(
            f"periodic    every {of.at_s(one.every.value):,.6g} s "
            f"[{of.at_s(one.every.low):,.6g}, {of.at_s(one.every.high):,.6g}], "
            f"{show(one.amplitude.value)} [{digits.number(low)}, {digits.number(high)}], largest "
            f"{show(one.largest)}, {one.strikes:,} of {one.slots:,} slots, "
            f"p {chance(one.p_value)}"
        )
    for wave in found.waves:
        line = (
            f"clock step  every {of.at_s(wave.every):,.6g} s, {show(wave.amplitude)}: the clock's "
            f"step of {show(of.step)} beats with the period; not a disturbance"
            if wave.of_step
            else f"wave        every {of.at_s(wave.every):,.6g} s, {show(wave.amplitude)}, "
            f"p {chance(wave.p_value)}"
        )
        lines.append(line)
    if not found.periodic and all(wave.of_step for wave in found.waves):
        lines.append("periodic    none beyond chance")
    lines.append(
        f"sporadic    {found.sporadic_events:,} events beyond {show(found.threshold)} from the "
        "median" + (", the largest:" if found.sporadic else "")
    )
    lines += [
        f"            {show(event.size)} at {of.at_s(event.cycle):,.6g} s (cycle {event.cycle:,})"
        for event in found.sporadic[:SPORADIC_SHOWN]
    ]
    return lines + [f"note        {note}" for note in remarks(of, unit)]


def series_lines(found: SeriesResult, unit: Unit, given: str) -> list[str]:
    """Everything about a user's own series; `given` is the unit of its values and limit."""
    lines = jitter_lines(found.jitter, unit)
    if found.tail is not None:
        lines += tail_lines(found.tail, unit, found.quantity)
    else:
        lines.append(f"tail        of the {found.quantity}: none, {found.no_tail}")
    return lines + ([f"limit       {limit_words(found, given)}"] if found.limit else [])


def limit_words(found: SeriesResult, given: str) -> str:
    """How often the limit was exceeded; "" without a limit."""
    what = "latencies" if found.quantity == "latency" else "jitter values"
    return found.limit.words(what, given) if found.limit is not None else ""


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
    for one in tail.levels:
        level = one.level
        lines.append(
            f"            once in {one.samples:,.0f} samples: {digits.figure(level.value, unit)} "
            f"{digits.interval(level.low, level.high, unit)}"
        )
    if tail.refusal:
        lines.append(f"            not extrapolated: {tail.refusal}")
    return lines
