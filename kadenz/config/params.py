# SPDX-License-Identifier: Apache-2.0
"""The parameters of a point: numbers, or words such as `policy=deadline`."""

from __future__ import annotations

import re
from collections.abc import Mapping

Value = int | str
Params = dict[str, Value]

PERIOD = "period_us"
DISTANCE = "distance_us"  # each lane's period exceeds the previous lane's by this
# Times that a kernel gives in whole ticks, at least one (suite/bench/period.h), with the words of
# other parameters under which it does. Other times of the suite are loops, or by its clock.
IN_TICKS: dict[str, Params] = {
    PERIOD: {},
    DISTANCE: {},
    "phase_us": {},
    "delay_us": {},
    "window_us": {},
    "hold_us": {"other_core": "poll"},
    "sleep_us": {},  # of a lab's benchmarks, as the next one
    "timeout_us": {},
}

_WORD = re.compile(r"[a-z][a-z0-9-]*")


def number(params: Mapping[str, Value], name: str, default: int = 0) -> int:
    """The number of a parameter; `default` where it is not there or is a word."""
    value = params.get(name, default)
    return value if isinstance(value, int) else default


def period_us(params: Mapping[str, Value], tick_hz: int, lane: int = 0) -> float:
    """The period of the thread of a lane, in µs: the nearest whole number of ticks, at least one.

    `period.h` of the suite rounds it. With 0 ticks per second it is as asked; 0.0 is none.
    """
    asked = number(params, PERIOD)
    if not asked:
        return 0.0
    asked += lane * number(params, DISTANCE)
    return max(1, (asked * tick_hz + 500_000) // 1_000_000) * 1e6 / tick_hz if tick_hz else asked


def parse_value(text: str) -> Value:
    """`1000`, `0x10` or `deadline`. Raises ValueError for anything else."""
    return text if _WORD.fullmatch(text) else int(text, 0)
