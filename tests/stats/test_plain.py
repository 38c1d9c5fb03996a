# SPDX-License-Identifier: Apache-2.0
"""Numbers in sentences have neither exponents nor infinities."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kadenz
from kadenz.stats.compare import compare
from kadenz.stats.plain import plain


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (330.2, 2, "330"),
        (3_302.0, 3, "3,300"),
        (0.01234, 3, "0.0123"),
        (100.0, 2, "100"),
        (0.0, 2, "0"),
        (-0.0, 2, "0"),
        (1e-30, 2, "0"),
        (-12.34, 3, "-12.3"),
        (math.inf, 3, "…"),
        (math.nan, 3, "…"),
    ],
)
def test_few_digits_without_an_exponent(value: float, digits: int, text: str) -> None:
    assert plain(value, digits) == text


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(1, 4))
def test_no_number_has_an_exponent(value: float, digits: int) -> None:
    assert re.fullmatch(r"…|-?[\d,]+(\.\d+)?", plain(value, digits))


def test_no_percentage_is_printed_with_an_exponent() -> None:
    """ "3.3e+02 %" came from a format of two significant digits."""
    lines = [
        f"{file}: {line.strip()}"
        for file in Path(kadenz.__file__).parent.rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r":[+,]*\.[1-3]g\} %", line)
    ]
    assert lines == []


# ---- reasons ------------------------------------------------------------------------------------


def test_a_ratio_without_a_limit_is_said_to_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "the ratio is between 0 and inf" said nothing of the reason."""
    monkeypatch.setattr("kadenz.stats.samples.LARGEST", math.inf)
    rng = np.random.default_rng(1)
    sides = [[rng.normal(scale, 0.01, 200) for scale in (1.0, 1e250)] for _ in range(2)]
    comparison = compare(*sides)
    assert comparison.verdict == "inconclusive"
    assert "has no limit" in comparison.reason and "inf" not in comparison.reason


def test_a_step_as_large_as_the_figure_is_the_reason() -> None:
    """ "The interval of a side reaches zero" named the effect; the cause is the clock."""
    rng = np.random.default_rng(2)
    left, right = (np.floor(rng.uniform(1.0, 2.4, 300)) * 41.67 for _ in range(2))
    comparison = compare([left], [right], step=41.67)
    assert comparison.verdict == "inconclusive"
    assert "the clock's step moves the figure" in comparison.reason


def test_intervals_that_reach_zero_ask_for_more_samples() -> None:
    rng = np.random.default_rng(3)
    noisy = [rng.normal(0.3, 1.0, 40) for _ in range(2)]
    comparison = compare([noisy[0]], [noisy[1]], statistic="mean")
    if min(side.mean() for side in noisy) > 0.0:
        assert "reaches zero" in comparison.reason and "Measure longer" in comparison.reason
