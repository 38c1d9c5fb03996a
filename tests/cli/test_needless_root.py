# SPDX-License-Identifier: Apache-2.0
"""sudo in front of a call that needs no rights is noticed, once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import cast

import pytest

from kadenz.cli.run_request import note_needless_root
from kadenz.config.campaign import Campaign
from kadenz.config.manifest import CampaignEntry
from kadenz.config.target_name import parse_target
from kadenz.lab.preparing import Request

COUNTED = ["freertos/stm32f4@emulated", "freertos/ibex@rtl", "linux-rt/x86_64@guest"]
HOST = "posix/linux@host"


def noted(*groups: Sequence[str]) -> None:
    campaign, entry = cast(Campaign, None), CampaignEntry("c", "", "", quick=True)
    note_needless_root([Request(campaign, entry, [*map(parse_target, group)]) for group in groups])


@pytest.mark.parametrize(
    ("user", "sudo", "targets", "lines"),
    [
        (0, "1000", COUNTED, 1),
        (0, "", COUNTED, 0),  # in a container root may be the only user
        (1000, "1000", COUNTED, 0),
        (0, "1000", [*COUNTED, HOST], 0),
        (0, "1000", [HOST], 0),
        (0, "1000", ["freertos/stm32f4@board"], 0),
    ],
)
def test_root_for_no_reason_is_one_note(
    user: int,
    sudo: str,
    targets: list[str],
    lines: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("SUDO_UID", sudo)
    noted(targets, COUNTED[:1])
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("root-not-needed") == lines
