# SPDX-License-Identifier: Apache-2.0
"""The checks of a gate, and their outcomes."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from kadenz.config.manifest import ClockClass
from kadenz.config.params import Params

Outcome = Literal["pass", "fail", "inconclusive"]
Answer = tuple[Outcome, str, str]  # with `measured` and `reason` of a Check
# Against what a figure is held; "run": what a run must be or have, whatever its figures.
Kind = Literal["baseline", "limit", "run"]


class Check(msgspec.Struct, frozen=True):
    """One check of a run and its outcome.

    `asked` is the limit in words, `measured` the figures in words, `reason` why there is no answer,
    or a remark. `runs` are the folders of the checked runs, `seconds` what measuring the point took
    them: nothing for a record that the store had.
    """

    target: str
    bench: str
    params: Params
    lane: str
    statistic: str
    unit: str
    clock_class: ClockClass | None
    asked: str
    outcome: Outcome
    measured: str = msgspec.field(name="found")
    reason: str = ""
    kind: Kind = "run"
    runs: tuple[str, ...] = ()
    seconds: float = 0.0


def figure_text(value: float | None) -> str:
    """A figure in words: "10,995", "0.25"."""
    if value is None:
        return "–"
    if math.isinf(value):
        return "…"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1e4 else f"{value:,.4g}"
