# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from kadenz.stats.errors import TooFew, Undefined
from kadenz.stats.superiority import superiority

from .coverage import coverage
from .series import ar1

Rng = np.random.Generator


def test_all_pairs_are_counted_ties_half() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 6, 40), rng.integers(1, 7, 50)
    pairs = np.sign(b[:, np.newaxis] - a[np.newaxis, :])
    assert superiority([a], [b]).value == pytest.approx((pairs.mean() + 1) / 2)


def test_exchanging_the_sides_mirrors_it() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 500), rng.normal(0.4, 1, 300)
    forward, mirrored = superiority([a], [b]), superiority([b], [a])
    assert forward.value == pytest.approx(1 - mirrored.value)
    assert forward.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize(("count", "shift"), [(1, 0.0), (1, 0.8), (4, 0.3)])
def test_the_interval_covers_under_dependence(count: int, shift: float) -> None:
    truth = float(ndtr(shift / np.sqrt(2.0)))

    def trial(rng: Rng, number: int) -> bool:
        base = [ar1(rng, 2000, 0.9) for _ in range(count)]
        cand = [shift + ar1(rng, 2000, 0.9) for _ in range(count)]
        return superiority(base, cand).covers(truth)

    assert 0.9 <= coverage(trial, simulations=150) <= 1.0


def test_the_terms_are_those_of_vargha_and_delaney() -> None:
    base = np.arange(100.0)
    magnitudes = [superiority([base], [base + shift]).magnitude for shift in (0, 10, 18, 60)]
    assert magnitudes == ["negligible", "small", "medium", "large"]


def test_disjoint_sides_have_zero_width_and_are_marked() -> None:
    effect = superiority([np.arange(20)], [np.arange(20) + 100])
    assert (effect.value, effect.low, effect.high, effect.zero_width) == (1.0, 1.0, 1.0, True)


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(TooFew):
        superiority([np.arange(9)], [np.arange(20)])
    with pytest.raises(Undefined, match="without runs"):
        superiority([], [np.arange(20)])
