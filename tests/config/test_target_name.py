# SPDX-License-Identifier: Apache-2.0
"""Targets are found by name; for a wrong name the nearest one is suggested."""

from __future__ import annotations

import pytest

from kadenz.config.target_name import known_targets, parse_target
from kadenz.errors import UsageError


def test_every_known_target_parses_to_itself() -> None:
    for name in known_targets():
        assert str(parse_target(name)) == name


def test_the_targets_of_the_first_campaigns_exist() -> None:
    assert {
        "freertos/hifive1-revb@emulated",
        "freertos/stm32f4@emulated",
        "posix/linux@host",
    } <= set(known_targets())


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("freertos/hifive1@emulated", "freertos/hifive1-revb@emulated"),
        ("freertos/stm32f4@host", "freertos/stm32f4@"),
        ("posix/linux", "posix/linux@host"),
        ("posix-linux@host", "posix/linux@host"),
    ],
)
def test_for_a_wrong_name_the_nearest_is_suggested(wrong: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(wrong)
    assert wrong in caught.value.message
    assert hint in caught.value.remedy
