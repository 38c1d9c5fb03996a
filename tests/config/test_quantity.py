# SPDX-License-Identifier: Apache-2.0
"""Quantities and points of the command line: a number that is none is named."""

from __future__ import annotations

import pytest

from kadenz.config.quantity import parse_points, parse_quantity
from kadenz.errors import UsageError


@pytest.mark.parametrize("number", ["007", "9" * 5000, "1.5", "-"])
def test_a_point_with_a_number_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(UsageError, match=r"--x: .* is not BENCHMARK"):
        parse_points(f"a/b x={number}", "--x")


def test_a_point_has_numbers_of_either_sign() -> None:
    assert parse_points("a/b x=-7 y=0", "--x").params == {"x": -7, "y": 0}


@pytest.mark.parametrize("text", ["1e-16 s", "1e19 us", "5e-324 instructions", "1e308 ms"])
def test_a_quantity_that_its_unit_is_not_for_is_refused(text: str) -> None:
    """Exact fractions of such numbers are larger than any float."""
    with pytest.raises(UsageError, match="out of range") as caught:
        parse_quantity(text, "--x")
    assert "from 1e-15 to 1e+18" in caught.value.remedy


@pytest.mark.parametrize("number", ["1e-15", "1e18"])
def test_the_ends_of_the_range_are_quantities(number: str) -> None:
    assert parse_quantity(f"{number} us", "--x").number == float(number)
