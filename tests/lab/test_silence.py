# SPDX-License-Identifier: Apache-2.0
"""How long a target may be silent in a point of a plan."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kadenz.config.params import Value
from kadenz.config.target_name import parse_target
from kadenz.lab.graph import silence_s
from kadenz.lab.plan import Point

TIMEOUT_S, SLOWDOWN = 30.0, 30.0  # of a guest


@pytest.mark.parametrize(
    ("params", "period_us"), [({}, 1000), ({"period_us": 2000}, 2000), ({"distance_us": 10}, 1640)]
)
def test_a_period_counts_where_no_plan_sets_it(params: dict[str, Value], period_us: int) -> None:
    """100,000 edges of the benchmark's own period take an emulated guest longer than its boot."""
    initial: dict[str, Any] = {"period_us": 1000, "distance_us": 0}
    declared = [SimpleNamespace(name=name, initial=value) for name, value in initial.items()]
    job: Any = SimpleNamespace(
        name=parse_target("linux/terminals-x86_64@guest"),
        catalog=SimpleNamespace(benches=[SimpleNamespace(name="ethercat/edge", params=declared)]),
        setup=SimpleNamespace(guest=object()),
        timeout_s=TIMEOUT_S,
    )
    point = Point(10, "ethercat/edge", 100_000, params=params)
    assert silence_s(job, point) == pytest.approx(TIMEOUT_S + SLOWDOWN * period_us / 10)
