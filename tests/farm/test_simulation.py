# SPDX-License-Identifier: Apache-2.0
"""The simulated farm: cases that can be computed by hand, and bounds that hold for any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kadenz.farm.simulation import Fleet, simulate


def test_equal_work_without_losses_is_as_by_hand() -> None:
    plan = simulate(Fleet(3, 2, 10.0, 2, 5, 4.0, spread=0.0))
    assert (plan.processors.makespan_s, plan.processors.bound_s) == (12.0, 10.0)
    assert plan.processors.utilisation == 20 / 24
    assert (plan.places.makespan_s, plan.places.utilisation) == (20.0, 1.0)
    assert (plan.makespan_s, plan.bound_s) == (32.0, 20.0)
    assert plan.processors.repeated == plan.places.repeated == 0


def test_nothing_to_do_takes_no_time() -> None:
    plan = simulate(Fleet(0, 1, 10.0, 4, 0, 1.0))
    assert plan.makespan_s == 0 and plan.places.utilisation == 0


@given(
    st.builds(
        Fleet,
        places=st.integers(0, 30),
        jobs=st.integers(1, 4),
        job_s=st.floats(0.1, 1e3),
        processors=st.integers(1, 16),
        executions=st.integers(0, 60),
        execution_s=st.floats(0.1, 1e3),
        spread=st.floats(0, 1),
        deaths=st.floats(0, 0.5),
        seed=st.integers(0, 9),
    )
)
def test_any_plan_repeats_itself_and_respects_its_bounds(fleet: Fleet) -> None:
    plan = simulate(fleet)
    assert plan == simulate(fleet)
    for part in (plan.processors, plan.places):
        assert part.makespan_s >= part.bound_s * (1 - 1e-9)
        assert 0 <= part.utilisation <= 1 + 1e-9
    # Graham's bound for a list schedule whose chains are repeated attempts.
    assert plan.processors.makespan_s <= 2 * plan.processors.bound_s * (1 + 1e-9)
