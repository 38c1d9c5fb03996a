# SPDX-License-Identifier: Apache-2.0
"""A campaign's deadline belongs to its benchmark."""

from __future__ import annotations

import pytest

from kadenz.config.campaign import Campaign
from kadenz.config.quantity import Quantity, parse_quantity
from kadenz.config.toml import parse_toml
from kadenz.errors import ConfigError

TEXT = """
name = "mine"
title = "Mine"
targets = []
[[benchmark]]
name = "cyclic/wakeup-latency"
samples = 100
deadline = "{}"
"""


def test_a_benchmark_has_a_deadline() -> None:
    campaign = parse_toml(TEXT.format("1.5 ms"), Campaign, "mine.toml")
    quantity = parse_quantity(campaign.benchmark[0].deadline, "deadline")
    assert quantity == Quantity(1.5, "ms") and quantity.microseconds == 1500.0


@pytest.mark.parametrize("text", ["soon", "100", "0us", "-1us"])
def test_an_invalid_deadline_is_reported_with_file_and_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"mine.toml:\d+: .*not a quantity: a number above zero"):
        parse_toml(TEXT.format(text), Campaign, "mine.toml")
