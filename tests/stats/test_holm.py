# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from kadenz.stats.errors import Undefined
from kadenz.stats.holm import holm


def test_the_textbook_example() -> None:
    # Smallest times 4, next times 3; the third, 0.03 * 2, is not below the fourth's 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_zero_or_one_p_value_is_unchanged() -> None:
    assert holm([]).size == 0
    assert holm([0.2]) == pytest.approx([0.2])


def test_a_wrong_rejection_among_many_is_rare() -> None:
    rng = np.random.default_rng(1)
    p = rng.random((2000, 40))
    bare = (p <= 0.05).any(axis=1).mean()
    held = np.array([(holm(row) <= 0.05).any() for row in p]).mean()
    assert bare > 0.8 and held <= 0.065


def test_an_invalid_p_value_is_refused() -> None:
    with pytest.raises(Undefined, match="0 ... 1"):
        holm([0.5, 1.5])
