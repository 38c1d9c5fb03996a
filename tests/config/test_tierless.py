# SPDX-License-Identifier: Apache-2.0
"""A target without its tier is refused with those that it has, silicon last."""

from __future__ import annotations

import pytest

from kadenz.config.target_name import known_targets, parse_target
from kadenz.errors import UsageError


@pytest.mark.parametrize("text", sorted({name.rpartition("@")[0] for name in known_targets()}))
def test_the_remedy_for_a_target_without_its_tier_has_every_tier(text: str) -> None:
    with pytest.raises(UsageError, match="names no tier") as caught:
        parse_target(text)
    offered = caught.value.remedy.removeprefix("Name one: ").split(", ")
    assert [str(parse_target(name)) for name in offered] == offered
    assert not any(name.endswith("@board") for name in offered[:-1])


def test_a_misspelt_target_is_still_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="is not a target") as caught:
        parse_target("freertos/stm32f")
    assert "stm32f4" in caught.value.remedy
