# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.errors import Undefined
from kadenz.stats.estimate import Estimate
from kadenz.stats.rhealstone import PARTS, rhealstone


def exactly(value: float) -> Estimate:
    return Estimate(value, value, value, 0.95, zero_width=True)


def test_the_figure_is_the_mean_and_its_inverse() -> None:
    times = dict(zip(PARTS, (20e-6, 30e-6, 10e-6, 40e-6, 150e-6, 50e-6), strict=True))
    figure = rhealstone({name: exactly(value) for name, value in times.items()})
    assert figure.mean is not None and figure.rate is not None
    assert figure.mean.value == pytest.approx(50e-6)
    assert figure.rate.value == pytest.approx(20_000.0)
    assert figure.mean.zero_width and figure.mean.low == figure.mean.high == figure.mean.value
    assert figure.missing == ()


@pytest.mark.parametrize("name", PARTS)
def test_a_missing_part_prevents_the_figure_and_is_named(name: str) -> None:
    parts = {part: exactly(1.0) for part in PARTS}
    for without in ({**parts, name: None}, {k: v for k, v in parts.items() if k != name}):
        figure = rhealstone(without)
        assert figure.mean is None and figure.rate is None
        assert figure.missing == (name,)


def test_half_widths_add_in_quadrature() -> None:
    parts = {name: exactly(1.0) for name in PARTS}
    parts["preemption"] = Estimate(1.0, 0.7, 1.6, 0.95)
    parts["deadlock break"] = Estimate(1.0, 0.6, 1.8, 0.95)
    figure = rhealstone(parts)
    assert figure.mean is not None and figure.rate is not None
    assert figure.mean.low == pytest.approx(1.0 - 0.5 / 6.0)
    assert figure.mean.high == pytest.approx(1.0 + 1.0 / 6.0)
    assert figure.rate.low == pytest.approx(1.0 / figure.mean.high)
    assert figure.rate.high == pytest.approx(1.0 / figure.mean.low)


def test_the_interval_covers_as_often_as_stated() -> None:
    """Six normal means of known standard error, their own 95 % intervals: 4000 simulations."""
    rng = np.random.default_rng(5)
    truth = np.array([2.0, 3.0, 1.0, 4.0, 15.0, 5.0])
    errors = np.array([0.1, 0.2, 0.05, 0.3, 1.0, 0.4])
    covered = 0
    for _ in range(4000):
        seen = rng.normal(truth, errors)
        figure = rhealstone(
            {
                name: Estimate(float(v), float(v - 1.96 * e), float(v + 1.96 * e), 0.95)
                for name, v, e in zip(PARTS, seen, errors, strict=True)
            }
        )
        assert figure.mean is not None and figure.rate is not None
        covered += figure.mean.covers(float(truth.mean()))
        assert figure.mean.covers(float(truth.mean())) == figure.rate.covers(
            float(1 / truth.mean())
        )
    assert 0.935 < covered / 4000 < 0.965


def test_invalid_parts_and_times_are_refused() -> None:
    parts: dict[str, Estimate | None] = {name: exactly(1.0) for name in PARTS}
    with pytest.raises(Undefined, match="datagram"):
        rhealstone({**parts, "datagram throughput": exactly(1.0)})
    with pytest.raises(Undefined, match="no time"):
        rhealstone({**parts, "preemption": exactly(0.0)})
    with pytest.raises(Undefined, match="confidences"):
        rhealstone({**parts, "preemption": Estimate(1.0, 0.9, 1.1, 0.9)})
