# SPDX-License-Identifier: Apache-2.0
"""Waves that a coarse clock makes: its step beats with the period of the edges."""

from __future__ import annotations

from dataclasses import replace

from kadenz.stats.drift import Drift
from kadenz.stats.waves import Wave

# Harmonics of the beat: of the saw-tooth rounding error, the 16th is 1/16 of the first.
HARMONICS = 16
# Rounding is off by half a step at most; noise in the folded profile adds to that.
LARGEST = 0.75
# Tolerance between the line of a wave and the beat, in ordinates of the spectrum.
BINS = 2.0


def mark_beats(waves: tuple[Wave, ...], drift: Drift, step: float) -> tuple[Wave, ...]:
    """Marks those of `waves` that are a beat of the clock's `step` with the period.

    Method: times that come every P on a clock of step s are rounded by a saw-tooth of frequency
    P / s less the nearest whole number, in cycles a cycle, with harmonics that fold back at a half
    (Bennett 1948). A wave counts as such a beat if it is on one of 16 of these lines and at most
    three quarters of a step high. The line is as wide as the period is uncertain: the drift moves
    it by one cycle per step of drift.
    """
    length = drift.n if drift.cycles is None else int(drift.cycles[-1]) + 1
    beat = drift.period.value / step
    # The drift over the series, in steps, and the interval of the period widen the line.
    wander = float(drift.drift.max() - drift.drift.min()) / step / length
    wide = wander + (drift.period.high - drift.period.low) / 2.0 / step

    def of_step(wave: Wave) -> bool:
        if wave.amplitude > LARGEST * step:
            return False
        for harmonic in range(1, HARMONICS + 1):
            turns = harmonic * beat
            folded = abs(turns - round(turns))
            reach = BINS / length + harmonic * wide
            if abs(folded - 1.0 / wave.every) <= reach:
                return True
        return False

    return tuple(replace(wave, of_step=of_step(wave)) for wave in waves)
