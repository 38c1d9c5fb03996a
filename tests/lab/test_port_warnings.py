# SPDX-License-Identifier: Apache-2.0
"""A run warns of a port that fails the conformance test, and asks the image at most once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kadenz.config import inventory
from kadenz.config.target_name import TargetName
from kadenz.images.image import Image
from kadenz.lab import conformance
from kadenz.lab.condition import Setup
from kadenz.lab.conformance import port_warnings
from kadenz.targets.base import Target
from kadenz.wire.messages import AnyMessage, Case, Conform, Done
from tests.lab.fake import Scripted
from tests.lab.test_measure import job
from tests.wire.streams import hello, on_the_line

EMULATED = TargetName("freertos", "stm32f4", "emulated")
GOOD = Conform(case="yield passes to an equal", result="pass", reason="")
BAD = Conform(case="a mutex excludes", result="fail", reason="two were inside")
WORSE = Conform(case="ranks order threads", result="fail", reason="they did not")
HANGS = Case(case=WORSE.case)


class Lab:
    """An image that answers the test with these messages, and how often it was asked."""

    def __init__(self, folder: Path, answer: Sequence[AnyMessage], done: bool) -> None:
        (folder / "app.elf").touch()
        self.image: Image = job(folder, []).image
        self.asked = 0
        self._said = [hello(), *answer]
        if done:
            self._said.append(Done(records=0, frames=len(self._said) + 1))

    def make_target(self, *_: object) -> Target:
        """An execution that counts when it starts."""
        return Counting(self, on_the_line(self._said))

    def told(self, name: TargetName = EMULATED, **setup: Any) -> list[str]:
        """The warnings before a run, by `setup`."""
        warnings = port_warnings(name, self.image, Setup(**setup), threading.Event())
        assert {warning.code for warning in warnings} <= {"conformance-failed"}
        return [f"{warning.message}. {warning.remedy}" for warning in warnings]


class Counting(Scripted):
    """An execution of a lab's image."""

    def __init__(self, lab: Lab, said: bytes) -> None:
        super().__init__([said])
        self._lab = lab

    def open(self, plan: str) -> None:
        self._lab.asked += 1
        super().open(plan)


Labs = Callable[..., Lab]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labs:
    """Makes labs whose images are not executed."""

    def make(*answer: AnyMessage, done: bool = True) -> Lab:
        planted = Lab(tmp_path, answer, done)
        monkeypatch.setattr(conformance, "make_target", planted.make_target)
        return planted

    return make


OTHERS = {"kernel_source": Path("tree")}, {"image": Path("app.elf")}


@pytest.mark.parametrize("setup", OTHERS, ids=["tree", "image"])
def test_a_port_that_is_not_kadenzs_own_is_asked_once(lab: Labs, setup: dict[str, Any]) -> None:
    planted = lab(GOOD, BAD, WORSE)
    first = planted.told(**setup)
    assert first == planted.told(**setup) and planted.asked == 1
    (warning,) = first
    assert warning.startswith(
        "the port fails the conformance case `a mutex excludes`, and 1 more: two were inside. "
    )
    ((option, value),) = setup.items()
    option = {"kernel_source": "--kernel-source", "image": "--image"}[option]
    assert f"`kadenz conformance freertos/stm32f4@emulated {option} {value}`" in warning


@pytest.mark.parametrize("setup", OTHERS, ids=["tree", "image"])
def test_a_port_that_conforms_is_asked_once_too(lab: Labs, setup: dict[str, Any]) -> None:
    planted = lab(GOOD)
    assert planted.told(**setup) == planted.told(**setup) == [] and planted.asked == 1


def test_a_kernel_or_a_board_of_the_lab_is_not_kadenzs_own(
    lab: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = lab(BAD)
    monkeypatch.setattr(inventory, "origin_of_both", lambda kernel, board: "lab")
    assert len(planted.told()) == 1 and planted.asked == 1


def test_kadenzs_own_port_is_not_asked_and_yet_a_failure_that_is_known_counts(
    lab: Labs,
) -> None:
    planted = lab(BAD)
    assert planted.told() == [] and planted.asked == 0
    assert planted.told(kernel_source=Path("tree")) == planted.told(kernel_source=Path("tree"))
    assert len(planted.told()) == 1 and planted.asked == 1


@pytest.mark.parametrize("tier", ["board", "host"])
def test_where_time_takes_part_only_what_is_known_counts(lab: Labs, tier: str) -> None:
    planted = lab(BAD)
    name = EMULATED._replace(tier=tier)
    assert planted.told(name, image=Path("app.elf")) == [] and planted.asked == 0
    planted.told(image=Path("app.elf"))
    assert len(planted.told(name, image=Path("app.elf"))) == 1 and planted.asked == 1


def test_a_case_that_the_target_did_not_end_is_a_failure(lab: Labs) -> None:
    planted = lab(GOOD, HANGS, done=False)
    (warning,) = planted.told(image=Path("app.elf"))
    assert "`ranks order threads`: the target did not end it" in warning


def test_another_image_in_the_same_folder_is_asked_anew(lab: Labs) -> None:
    planted = lab(BAD)
    assert len(planted.told(image=Path("app.elf"))) == 1
    planted.image.entry.elf_sha256 = "another"
    planted.told(image=Path("app.elf"))
    assert planted.asked == 2


def test_an_image_without_the_test_is_not_said_to_fail_it(lab: Labs) -> None:
    assert lab().told(image=Path("app.elf")) == []
