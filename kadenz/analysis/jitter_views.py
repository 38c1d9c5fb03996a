# SPDX-License-Identifier: Apache-2.0
"""Jitter of cyclic work: from edge times or wake-up latencies to the views a report shows."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from kadenz.analysis.series_kind import (
    Kind,
    check_edges,
    check_latencies,
    edges_of_periods,
    refuse_unsigned,
    restarts,
    unwrapped,
)
from kadenz.analysis.shown_step import shown_step
from kadenz.analysis.units import Unit
from kadenz.config.manifest import Nature
from kadenz.errors import UsageError
from kadenz.stats.cycles import check_order, cycle_numbers, held_against, period_of, phase_moves
from kadenz.stats.decomposition import Bias, Jitter, decompose
from kadenz.stats.disturbances import Disturbances, Periodic
from kadenz.stats.envelope import Envelope, envelope
from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.limit import LimitRate, limit_rate
from kadenz.stats.ordered import Ordered
from kadenz.stats.plain import plain
from kadenz.stats.samples import Floats, as_samples
from kadenz.stats.summary import Summary
from kadenz.stats.tail import FEWEST as FEWEST_FOR_TAIL
from kadenz.stats.tail import Tail, fit_tail

FEWEST = 1000
# If the median distance differs more from the period, the unit is wrong or these are not edges.
FARTHEST = 0.2
# A float that steps by more than this share of the period is a coarse clock.
COARSEST_FLOAT = 1e-5
# A jitter whose sd is a smaller share of the clock's step is the step's own rounding.
HIDDEN = 0.5
VIEW_CELLS = 240
# Keeps reports on hours of wake-ups fast: half a second per million and lane.
MOST_WAKEUPS = 2_000_000
# A tail for every point of a sweep costs too much; from this number of samples it is worth it.
FEWEST_SHOWN_TAIL = max(FEWEST_FOR_TAIL, 10_000)

View = Literal["raw", "compensated", "drift", "median drift", "jitter"]


@dataclass(frozen=True, eq=False)
class JitterResult:
    """The jitter analysis of one series of cyclic work; figures in the samples' unit (ticks).

    `views` are thinned without losing a peak; cell i is between `seconds[i]` and the next. `holes`
    is the number of missing cycles; `sd` is by view. `step` is the clock's, as seen in the times or
    latencies.
    """

    source: Literal["edges", "wake-ups"]
    n: int
    holes: int
    period_us: float
    seconds: Floats  # (cells + 1,) from the first cycle
    rate_error_ppm: Estimate
    rate_reason: str
    effective_n: float
    window: int
    summary: Summary
    sd: dict[View, float]
    views: dict[View, Envelope]
    disturbances: Disturbances
    bias: Bias
    step: float
    notes: tuple[str, ...] = ()

    @property
    def window_s(self) -> float:
        """The window of the moving average, in seconds."""
        return self.window * self.period_us * 1e-6

    def at_s(self, cycle: float) -> float:
        """The time at which a cycle began, from the first one."""
        return cycle * self.period_us * 1e-6


def jitter_of_edges(
    times: npt.NDArray[Any],
    period_us: float,
    tick_us: float,
    *,
    cycles: npt.NDArray[Any] | None = None,
    window: int | None = None,
    printed_step: float = 0.0,
) -> tuple[JitterResult, Floats]:
    """Analyses edge times (n,) in ticks of `tick_us`, ascending; also returns the jitter (n,).

    `printed_step` is that of their last digit, in ticks, if they come from text.

    `cycles` (n,) are their recorded numbers, if any. They are used unless the times contradict
    them; then a note gives the place. Without numbers, gaps are counted from the times
    (stats.cycles). Undefined, with the place, for times that do not ascend, for fewer than 1000
    edges, for edges that do not follow the period, and if missing cycles cannot be counted.
    """
    resolution = _resolution(times, period_us / tick_us)
    check_order(times)
    if times.size < FEWEST:
        raise TooFew("jitter", int(times.size), FEWEST)
    period = period_us / tick_us
    edge_period = period_of(times, cycles)
    if not abs(edge_period / period - 1.0) < FARTHEST:
        raise Undefined(
            "jitter",
            f"edges come every {edge_period * tick_us:.6g} µs, which is not the period of "
            f"{period_us:g} µs",
            cause="period",
        )
    cycles, notes = _edge_cycles(times, period, edge_period, cycles)
    moves = phase_moves(times, cycles)
    if moves:
        at, by = moves[0]
        more = f", and in {len(moves) - 1:,} more places" if len(moves) > 1 else ""
        notes += (
            f"at edge {at:,} (from 0) the times shift permanently by {by:+.2g} periods{more}: no "
            "single rate fits both sides. Analyse the parts separately; a program that sleeps "
            "relative to its wake-up causes this",
        )
    step = max(shown_step(times, np.diff(times)), printed_step)
    if resolution:
        step = max(step, resolution)
        notes += (
            f"times of type {times.dtype} have steps of {resolution * tick_us:.3g} µs here; count "
            "from the first edge, or save integers",
        )
    jitter = decompose(times, nominal_period=period, cycles=cycles, window=window, step=step)
    return _result("edges", jitter, period_us, tick_us, step, notes), jitter.drift.jitter


def _resolution(times: npt.NDArray[Any], period: float) -> float:
    """The step of floats of this size if it makes a coarse clock, else 0. Undefined for types of
    less than 64 bits, whose step also grows along the series."""
    if times.dtype.kind != "f" or not times.size:
        return 0.0
    step = float(np.spacing(np.abs(times).max()))
    if step <= COARSEST_FLOAT * period:
        return 0.0
    if times.dtype.itemsize < 8:
        raise Undefined(
            "jitter",
            f"times of type {times.dtype} reach {float(times.max()):.6g}, where their step is "
            f"{step:g}, {step / period:.2g} of the period",
            cause="type",
        )
    return step


def _edge_cycles(
    times: npt.NDArray[Any], period: float, edge_period: float, recorded: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[Any] | None, tuple[str, ...]]:
    """Cycle numbers of edges, None if no cycle is missing, and notes about them.

    `edge_period` is the period of the edges themselves. A program that was prevented from running
    skips whole periods but may keep numbering its edges: then the times contradict the numbers.
    """
    if recorded is not None:
        wrong = held_against(times, recorded.astype(np.int64))
        if wrong is None:
            return recorded, ()
        more = f"{wrong.places - 1:,} more {'place' if wrong.places == 2 else 'places'}"
        where = "there" if wrong.places == 1 else f"there and in {more}"
        return wrong.cycle_numbers, (
            f"the times contradict the recorded cycle numbers at edge {wrong.at:,} (from 0): "
            f"{wrong.cycles:+,} {'cycle' if abs(wrong.cycles) == 1 else 'cycles'} {where}, counted "
            "by the times",
        )
    gaps = np.diff((times - times[0]).astype(np.float64))
    if not ((gaps > 1.5 * edge_period) | (gaps < 0.5 * edge_period)).any():
        return None, ()
    numbers = cycle_numbers(times, period)
    holes = int(numbers[-1]) + 1 - numbers.size
    if not holes:
        return None, ()
    return numbers, (
        f"{holes:,} {'cycle has' if holes == 1 else 'cycles have'} no edge; cycle numbers were not "
        "recorded, so they come from the times",
    )


def jitter_of_wakeups(
    latencies: npt.NDArray[Any],
    period_us: float,
    tick_us: float,
    *,
    cycles: npt.NDArray[Any] | None = None,
    missed: int = 0,
    window: int | None = None,
    printed_step: float = 0.0,
) -> tuple[JitterResult, Floats]:
    """Analyses wake-up latencies (n,) in ticks of `tick_us`: a wake-up is at due time + latency.

    Due times are period * cycle of the same clock, so the rate error is the trend of the latency.
    `cycles` as above; without them missed cycles are closed up, and a note says so.
    """
    if latencies.size < FEWEST:
        raise TooFew("jitter", int(latencies.size), FEWEST)
    notes = []
    if cycles is None and missed:
        notes.append(
            f"{missed:,} cycles were missed, but not recorded which: the series is closed up, so "
            "periods are counted in cycles taken"
        )
    period = period_us / tick_us
    middle = float(np.median(latencies))
    if abs(middle) > period:
        notes.append(
            f"the median latency, {middle * tick_us:,.6g} µs, is longer than the period: check "
            "--unit and --period-us"
        )
    numbers = np.arange(latencies.size) if cycles is None else cycles.astype(np.int64)
    numbers = numbers - numbers[0]
    times = numbers * period + latencies.astype(np.float64)
    step = max(shown_step(latencies, latencies - latencies.min()), printed_step)
    jitter = decompose(times, nominal_period=period, cycles=numbers, window=window, step=step)
    result = _result("wake-ups", jitter, period_us, tick_us, step, tuple(notes))
    return result, jitter.drift.jitter


def _result(
    source: Literal["edges", "wake-ups"],
    jitter: Jitter,
    period_us: float,
    tick_us: float,
    step: float,
    notes: tuple[str, ...],
) -> JitterResult:
    drift = jitter.drift
    series: dict[View, Floats] = {
        "raw": drift.raw,
        "compensated": drift.compensated,
        "drift": drift.drift,
        "median drift": jitter.median_drift,
        "jitter": drift.jitter,
    }
    views = {name: envelope(values, cells=VIEW_CELLS) for name, values in series.items()}
    first = views["jitter"].first
    cycles = first if drift.cycles is None else drift.cycles[first]
    span = drift.n if drift.cycles is None else int(drift.cycles[-1]) + 1
    rate = drift.rate_error_ppm
    assert rate is not None
    if (jitter.summary.sd or 0.0) < HIDDEN * step:
        share = step * tick_us / period_us
        percent = plain(100.0 * share)
        off = 1e6 * share / (span - 1)  # both ends may be off by half a step
        rate = Estimate(rate.value, rate.low - off, rate.high + off, rate.confidence)
        notes += (
            f"the clock's step of {step * tick_us:.6g} µs, {percent} % of the period, is "
            "larger than the jitter: below it nothing of the jitter is visible",
        )
    return JitterResult(
        source=source,
        n=drift.n,
        holes=span - drift.n,
        period_us=period_us,
        seconds=np.asarray(np.append(cycles, span) * period_us * 1e-6, dtype=np.float64),
        rate_error_ppm=rate,
        rate_reason=drift.reason,
        effective_n=drift.effective_n,
        window=drift.window,
        summary=jitter.summary,
        sd={name: float(values.std(ddof=1)) for name, values in series.items()},
        views=views,
        disturbances=jitter.disturbances,
        bias=jitter.bias,
        step=step,
        notes=notes,
    )


def jitter_of_record(
    nature: Nature,
    samples: npt.NDArray[Any],
    cold: int,
    unit: Unit,
    period_us: float | None,
    missed: int,
    cycles: npt.NDArray[Any] | None,
) -> tuple[JitterResult, Floats] | None:
    """The jitter of a lane of a record that is periodic or has edges; None for others.

    Undefined if it should have one but it cannot be computed.
    """
    if nature not in ("periodic", "edges"):
        return None
    tick_us = unit.tick_us
    if tick_us is None or not period_us:
        raise Undefined("jitter", f"the record counts {unit.label}, in which no period is known")
    # Motion programs write all lanes as f8.
    numbers = None if cycles is None else cycles[cold:].astype(np.int64)
    warm = samples[cold:]
    if nature == "edges":
        return jitter_of_edges(warm, period_us, tick_us, cycles=numbers)
    whole = warm.size
    result, series = jitter_of_wakeups(
        warm[:MOST_WAKEUPS],
        period_us,
        tick_us,
        cycles=None if numbers is None else numbers[:MOST_WAKEUPS],
        missed=missed,
    )
    if whole > MOST_WAKEUPS:
        note = (
            f"only the first {MOST_WAKEUPS:,} of {whole:,} are analysed; `kadenz jitter` takes all"
        )
        result = dataclasses.replace(result, notes=(note, *result.notes))
    return result, series


@dataclass(frozen=True, eq=False)
class SeriesResult:
    """The analysis of a user's series. `tail` None: see `no_tail`; `limit` None: not requested.

    Both describe `quantity`: the latencies as given, including their mean, or the jitter of edges.
    """

    jitter: JitterResult
    tail: Tail | None
    no_tail: str
    limit: LimitRate | None
    quantity: Literal["latency", "jitter"]


def analyse_series(
    values: npt.NDArray[Any],
    kind: Kind,
    period_us: float,
    tick_us: float,
    *,
    cycles: npt.NDArray[Any] | None = None,
    window: int | None = None,
    limit: float | None = None,
    printed_step: float = 0.0,
) -> SeriesResult:
    """Analyses times, latencies or periods (n,), in units of `tick_us`. UsageError if that is
    impossible, or if the values are of another kind.

    `limit`, in the unit of the values, applies to the latency or to the jitter of edges.
    `printed_step` is that of their last digit.
    """
    try:
        as_samples(values, kind)  # before the remedies ask for the order of times
        values, note = _as_given(values, kind, period_us, tick_us)
        take = jitter_of_wakeups if kind == "latencies" else jitter_of_edges
        result, series = take(
            values, period_us, tick_us, cycles=cycles, window=window, printed_step=printed_step
        )
    except Undefined as error:
        remedy = _remedy(error, kind, values, cycles is not None)
        raise UsageError(str(error), remedy=remedy) from None
    if note:
        result = dataclasses.replace(result, notes=(note, *result.notes))
    quantity: Literal["latency", "jitter"] = "latency" if kind == "latencies" else "jitter"
    judged = values if kind == "latencies" else series
    rate = None if limit is None else limit_rate(judged, limit)
    try:
        return SeriesResult(result, tail_of(judged, result.step), "", rate, quantity)
    except Undefined as error:
        return SeriesResult(result, None, error.reason, rate, quantity)


def _as_given(
    values: npt.NDArray[Any], kind: Kind, period_us: float, tick_us: float
) -> tuple[npt.NDArray[Any], str]:
    """Edges or latencies (n,), and a note about them. Undefined for values of another kind."""
    period = period_us / tick_us

    def shown(ticks: float) -> str:
        return f"{ticks * tick_us:,.6g} µs"

    values, note = unwrapped(values) if kind == "edges" else (values, "")
    refuse_unsigned(values)
    if values.dtype == np.longdouble:  # from text: its extra digits matter only for differences
        first = values[0] if kind == "edges" and values.size else 0.0
        values = (values - first).astype(np.float64)
    if kind == "latencies":
        note = check_latencies(values, period, shown)
    elif kind == "periods":
        values = edges_of_periods(values, period, shown)
    else:
        check_edges(values, period, shown)
    return values, note


def _remedy(error: Undefined, kind: Kind, values: npt.NDArray[Any], numbered: bool) -> str:
    """The remedy for a series that cannot be analysed, by the quantity that failed."""
    if isinstance(error, TooFew):
        return f"Give a series of {error.needed:,} cycles or more"
    if error.cause == "cycles" and numbered:
        return "Is --cycles a time? It names the column with the number of each row's cycle"
    by_cause = {
        "window": "--window counts cycles: from 1 to the length of the series; or leave it out",
        "type": "Save the times as integers or float64: the missing digits cannot be recovered",
        "missing": "Record each edge's cycle number and name its column: --cycles COLUMN",
        "periods": "Use --kind periods: the edges are their running sum",
        "no periods": "Check --unit, --column and --period-us; use --kind latencies if each is the "
        "lateness of its cycle, --kind edges if they are times",
        "differences": "Record the latency of each cycle; if a value is a period less the nominal "
        "one, add that to it again, and use --kind periods",
        "unsigned": "Save signed numbers; if the value stands for a missed cycle, leave its row "
        "out and name the column of the cycle numbers: --cycles COLUMN",
        "counts": "Use --kind edges if they are times, each later than the one before; counts are "
        "no series: name the column of the latencies with --column",
    }
    if error.cause in by_cause:
        return by_cause[error.cause]
    if kind == "latencies":
        return (
            "Values are read as latencies: check --unit, --column and --period-us; use "
            "`--kind edges` if they are times"
        )
    if error.cause == "order" and kind == "edges":
        return _remedy_of_order(values)
    return (
        "Values are read as times of edges: check --unit and --period-us; use `--kind latencies` "
        "if each is the lateness of its cycle"
    )


def _remedy_of_order(values: npt.NDArray[Any]) -> str:
    """The remedy for times (n,) that do not ascend."""
    if restarts(values):
        return (
            "The times start again there, after a restart or because the counter wraps: analyse "
            "the parts separately, or add the counter's range behind each wrap"
        )
    return (
        "Values are read as times of edges, each later than the previous one: sort the rows by "
        "time, or remove wrong ones; use `--kind latencies` if each is the lateness of its cycle"
    )


def tail_of(samples: npt.NDArray[Any], step: float = 0.0, ordered: Ordered | None = None) -> Tail:
    """The tail of at least 10,000 samples (n,); `step` is the clock's, if they do not show it."""
    if samples.size < FEWEST_SHOWN_TAIL:
        raise TooFew("tail", int(samples.size), FEWEST_SHOWN_TAIL)
    return fit_tail(samples, tick=step, ordered=ordered)


# ---- as rows ------------------------------------------------------------------------------------

Row = dict[str, Any]


def _periodic_row(of: JitterResult, periodic: Periodic, unit: Unit) -> Row:
    return {
        "every_s": of.at_s(periodic.every.value),
        "every_s_low": of.at_s(periodic.every.low),
        "every_s_high": of.at_s(periodic.every.high),
        "first_s": of.at_s(periodic.first),
        "amplitude": unit.figure(periodic.amplitude.value),
        "amplitude_low": unit.figure(periodic.amplitude.low),
        "amplitude_high": unit.figure(periodic.amplitude.high),
        "largest": unit.figure(periodic.largest),
        "strikes": periodic.strikes,
        "slots": periodic.slots,
        "p_value": periodic.p_value,
    }


def jitter_row(result: JitterResult, unit: Unit) -> Row:
    """A JSON row; `unit` names the unit of the figures, "every_s" and "at_s" are in seconds."""
    disturbances, bias, summary = result.disturbances, result.bias, result.summary
    rate = result.rate_error_ppm
    return {
        "source": result.source,
        "n": result.n,
        "missing_cycles": result.holes,
        "period_us": result.period_us,
        "rate_error_ppm": rate.value,
        "rate_error_ppm_low": rate.low,
        "rate_error_ppm_high": rate.high,
        "rate_reason": result.rate_reason,
        "window_cycles": result.window,
        "mean": unit.figure(summary.mean),
        "sd": None if summary.sd is None else unit.figure(summary.sd),
        "min": unit.figure(summary.min),
        "max": unit.figure(summary.max),
        "sd_by_view": {name: unit.figure(value) for name, value in result.sd.items()},
        "average_moved_at_most": unit.figure(bias.moved),
        "average_from_median": unit.figure(bias.from_median),
        "disturbances_shown_smaller_by": bias.share,
        "event_threshold": unit.figure(disturbances.threshold),
        "events": disturbances.events,
        "periodic": [_periodic_row(result, periodic, unit) for periodic in disturbances.periodic],
        "waves": [
            {
                "every_s": result.at_s(wave.every),
                "amplitude": unit.figure(wave.amplitude),
                "p_value": wave.p_value,
                "clock_step": wave.of_step,
            }
            for wave in disturbances.waves
        ],
        "sporadic_events": disturbances.sporadic_events,
        "sporadic_largest": [
            {
                "at_s": result.at_s(event.cycle),
                "cycle": event.cycle,
                "size": unit.figure(event.size),
                "cycles": event.cycles,
            }
            for event in disturbances.sporadic
        ],
        "unit": unit.key,
        "clock_class": unit.clock_class,
        "notes": [*result.notes, *([disturbances.reason] if disturbances.reason else [])],
    }


def tail_row(tail: Tail, unit: Unit) -> Row:
    """A JSON row. `levels` is empty if `refusal` is not."""
    return {
        "n": tail.n,
        "threshold": None if tail.chosen is None else unit.figure(tail.chosen.threshold),
        "peaks": int(tail.peaks.size),
        "extremal_index": None if tail.chosen is None else tail.chosen.extremal_index,
        "shape": None if tail.shape is None else tail.shape.value,
        "shape_low": None if tail.shape is None else tail.shape.low,
        "shape_high": None if tail.shape is None else tail.shape.high,
        "scale": None if tail.chosen is None else unit.figure(tail.chosen.fit.scale),
        "checks": [
            {"name": check.name, "p_value": check.p_value, "holds": check.holds}
            for check in tail.checks
        ],
        "levels": [
            {
                "once_in_samples": return_level.samples,
                "level": unit.figure(return_level.level.value),
                "low": unit.figure(return_level.level.low),
                "high": unit.figure(return_level.level.high),
            }
            for return_level in tail.levels
        ],
        "thresholds_tried": [
            {
                "threshold": unit.figure(candidate.threshold),
                "peaks": candidate.fit.n,
                "shape": candidate.fit.shape,
                "p_value": candidate.fit.p_value,
            }
            for candidate in tail.tried
        ],
        "refusal": tail.refusal,
        "unit": unit.key,
        "clock_class": unit.clock_class,
    }
