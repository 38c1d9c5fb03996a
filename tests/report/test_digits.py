# SPDX-License-Identifier: Apache-2.0
"""Formatted figures neither invent digits nor hide them."""

from __future__ import annotations

import pytest

from kadenz.analysis.change import percent
from kadenz.analysis.units import unit_of
from kadenz.report import digits
from tests.synthetic import EMULATED_CLOCK, LINUX_CLOCK

US = unit_of("ticks", LINUX_CLOCK)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"),
        (1026.0, "1,026"),
        (0.021, "0.021"),
        (3.2981, "3.298"),
        (710.575, "710.6"),
        (21034.2, "21,034"),
        (-0.25, "-0.250"),
        (1234567.0, "1,234,567"),
        (0.0003484, "0.0003484"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_four_digits_and_no_exponent(value: float | None, said: str) -> None:
    assert digits.number(value) == said


def test_published_figures_keep_every_printed_digit() -> None:
    assert digits.printed(1536.53616) == "1,536.53616"
    assert digits.printed(76826808.0) == "76,826,808"
    assert digits.printed(0.004) == "0.004"


def test_an_interval_end_that_n_cannot_give_is_open() -> None:
    assert digits.interval(3410, None, US) == "[3.410, …]"
    assert digits.interval(None, None, US) == ""
    assert digits.figure(1855, unit_of("ticks", EMULATED_CLOCK)) == "1,855"


@pytest.mark.parametrize(
    ("ticks", "said"),
    [
        ((0, 200, 400), ["0", "200", "400"]),
        ((0, 5000, 10000, 15000), ["0", "5k", "10k", "15k"]),
        ((10, 100, 1000, 10000, 100000), ["10", "100", "1,000", "10k", "100k"]),
        ((11570, 11580, 11590), ["11,570", "11,580", "11,590"]),
        ((0, 1e6, 2e6), ["0", "1M", "2M"]),
        ((0.02, 0.025, 0.03), ["0.02", "0.025", "0.03"]),
    ],
)
def test_axis_labels_are_consistent(ticks: tuple[float, ...], said: list[str]) -> None:
    assert digits.axis(ticks) == said


def test_a_change_is_shown_in_percent_with_three_digits() -> None:
    assert [percent(v) for v in (0.0123, -0.2, 13.7, 0.0)] == [
        "+1.23 %",
        "-20.0 %",
        "+1,370 %",
        "+0 %",
    ]
