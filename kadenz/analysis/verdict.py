# SPDX-License-Identifier: Apache-2.0
"""A verdict on one statistic of a benchmark point, measured on two sides.

`compare` prints verdicts, the answers join those of a point's lanes, and a gate checks them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kadenz.analysis.matching import SameRuns
from kadenz.analysis.units import Unit
from kadenz.config.manifest import ClockClass, Nature
from kadenz.config.params import Params
from kadenz.stats.compare import Comparison
from kadenz.stats.superiority import Superiority

MIDDLE = "median"
# "context" is shown and never judged: the quality of a clock, and figures with a note.
Outcome = Literal["better", "worse", "equivalent", "inconclusive", "not-comparable", "context"]
Figures = tuple[float | None, float | None]
DECIDED: tuple[Outcome, ...] = ("better", "worse", "equivalent")
UNJUDGED: tuple[Outcome, ...] = ("context", "not-comparable")
ONE_RUN = (
    "one run per side, and runs of this target differ by an unknown amount. Measure each side "
    "three times (`kadenz run --rounds 3`, or three captures), or give the spread with "
    "--between-runs"
)


@dataclass(frozen=True, eq=False)
class Verdict:
    """One statistic of a benchmark point on both sides; `lane` is "" if there is only one.

    `figures` are both sides' values, each in its own of the two `units` (None if missing).
    `comparison`, in those units, is None if it is impossible or not allowed: across clock classes
    or instruction sets, and for context. `reason` says why. `effect` is the effect size of the
    whole point, for any statistic; `p_together` is the p-value of a change, adjusted for all
    verdicts given at once. `repeats`: the runs of each side are byte-identical and would be
    again, so both figures are exact for this plan. `exact`: these figures give the outcome, because
    no interval decides it. `measured`: the candidate's records. `unlike`: the sides do not time the
    same work (`work.same_work`). `lanes`: the number of lanes that the outcome holds for; with
    several, the rest is that of the lane with the smallest change, or of the first undecided one.
    """

    target: str
    bench: str
    params: Params
    lane: str
    units: tuple[Unit, Unit]
    statistic: str
    outcome: Outcome
    figures: Figures
    comparison: Comparison | None
    classes: tuple[ClockClass, ClockClass]
    nature: Nature
    reason: str = ""
    effect: Superiority | None = None
    p_together: float | None = None
    repeats: bool = False
    exact: bool = False
    measured: SameRuns = field(default_factory=SameRuns)
    unlike: bool = False
    lanes: int = 1

    @property
    def in_question(self) -> bool:
        """True if an interval may report a change here, rightly or by chance."""
        asked = self.comparison is not None and self.comparison.p_changed is not None
        return asked and not self.exact and self.reason != ONE_RUN

    @property
    def is_middle(self) -> bool:
        """True for the median, or the mean that stands for it where the clock is coarse."""
        return self.statistic in (MIDDLE, "mean")

    @property
    def change(self) -> tuple[float, float, float] | None:
        """B / A with its interval, of zero width for exact figures; None without a ratio."""
        base, cand = self.figures
        ratio = self.comparison.ratio if self.comparison is not None else None
        if ratio is not None and not self.exact and ratio.value > 0.0:
            return ratio.value, ratio.low, ratio.high
        if base is None or cand is None or min(base, cand) <= 0.0:
            return None
        return cand / base, cand / base, cand / base

    @property
    def distance(self) -> float:
        """The size of the change, as a factor of at least 1."""
        return 1.0 if self.change is None else max(self.change[0], 1.0 / self.change[0])


def statistic_name(statistic: str | float) -> str:
    """ "median", or "p99.9" for 0.999."""
    return statistic if isinstance(statistic, str) else f"p{round(100.0 * statistic, 6):g}"
