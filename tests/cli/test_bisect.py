# SPDX-License-Identifier: Apache-2.0
"""`kadenz bisect` finds the step of one change in about log2 questions, and says when it cannot."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kadenz.cli.bisect_steps import natural, version_key
from kadenz.cli.bisecting import Verdict, bisect
from tests.forked import kadenz
from tests.guest.kernel_files import bzimage, config, image
from tests.rtos.images import build

GUEST = ("cyclic/wakeup-latency", "--target", "linux-rt/x86_64@guest")
WORK = ("itc/queue", "--target", "stm32f4@emulated")
QUEUE = (*WORK, "--set", "samples=100", "--set", "size_bytes=4")
LIMIT = ("--limit", "cyclic/wakeup-latency p99 < 9000 virtual ns")


class Questions:
    """A judge with one change at `step`, and places without a verdict."""

    def __init__(self, step: int, skipped: set[int]) -> None:
        self._step, self._skipped = step, skipped
        self.asked: list[int] = []

    def __call__(self, place: int) -> Verdict:
        self.asked.append(place)
        if place in self._skipped:
            return "failed" if place % 2 else "undecided"
        return "good" if place < self._step else "bad"


@pytest.mark.parametrize("count", [2, 3, 5, 8, 33, 100])
def test_every_step_is_found_in_log2_questions(count: int) -> None:
    for step in range(1, count):
        judge = Questions(step, set())
        answer = bisect(count, judge)
        assert (answer.before, answer.after, answer.is_one_step) == (step - 1, step, True)
        assert len(judge.asked) == len({*judge.asked}) <= 2 + math.ceil(math.log2(count - 1))


def test_a_place_without_a_verdict_is_skipped_for_a_neighbour() -> None:
    chance = random.Random(3)
    for _ in range(500):
        count = chance.randrange(2, 20)
        step = chance.randrange(1, count)
        skipped = {place for place in range(count) if chance.random() < 0.4}
        judge = Questions(step, skipped)
        answer = bisect(count, judge)
        good = [place for place in range(step) if place not in skipped]
        bad = [place for place in range(step, count) if place not in skipped]
        assert len(judge.asked) == len({*judge.asked})
        if not good or not bad:
            assert not answer.changes and not answer.is_one_step
            continue
        assert answer.changes and (answer.before, answer.after) == (good[-1], bad[0])
        assert answer.skipped == tuple(range(good[-1] + 1, bad[0]))


def test_one_verdict_at_both_ends_is_no_step() -> None:
    judge = Questions(9, set())
    answer = bisect(5, judge)
    assert (answer.before, answer.after, answer.changes) == (0, 4, False)
    assert judge.asked == [0, 4]
    assert bisect(3, Questions(1, {0, 1, 2})).before is None


def test_versions_are_in_the_order_of_people() -> None:
    releases = ["6.9.1", "6.12.0-rc2", "6.12.0-rc10", "6.12.0", "6.12.0-9-g1", "6.12.0-10-g2"]
    releases += ["6.12.3", "10.0"]
    shuffled = random.Random(1).sample(releases, len(releases))
    assert sorted(shuffled, key=lambda release: version_key(release, "")) == releases
    assert version_key("6.1", "bzImage-2") < version_key("6.1", "bzImage-10")
    assert sorted(["b10.elf", "b9.elf"], key=natural) == ["b9.elf", "b10.elf"]


def bisected(*arguments: str) -> CompletedProcess[str]:
    return kadenz("bisect", *arguments)


def refusal(*arguments: str) -> str:
    answer = bisected(*arguments)
    assert answer.returncode == 2 and "try:" in answer.stderr, answer.stderr
    return " ".join(answer.stderr.split())


def test_a_call_that_has_nothing_to_search_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k").mkdir()
    Path("k/bzImage").write_bytes(bzimage(settings=config()))
    assert "one of them" in refusal(*GUEST, *LIMIT)
    assert "bzImage alone has no step" in refusal(*GUEST, "--guest", "kernel=k/*")
    assert "no file matches" in refusal(*GUEST, "--guest", "kernel=z/*")
    two = ("--target", "linux/x86_64@guest", "--guest", "kernel=k/*")
    assert "2 targets" in refusal(*GUEST, *two)
    Path("k/text").write_text("no kernel\n")
    assert "k/text: neither a bzImage" in refusal(*GUEST, "--guest", "kernel=k/*")
    Path("k/text").write_bytes(image(settings=config()))
    assert "is for aarch64" in refusal(*GUEST, "--guest", "kernel=k/*")
    assert "no file matches" in refusal(*QUEUE, "--image", "*.elf")


def test_kernels_that_lack_a_setting_are_skipped_by_name_without_a_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(name).write_bytes(bzimage(settings=config("DEVTMPFS")))
    answer = bisected(*GUEST, *LIMIT, "--guest", "kernel=a,b", "--json")
    document = json.loads(answer.stdout)
    assert answer.returncode == document["exit_code"] == 1
    assert document["outcome"] == "failed"
    assert [step["verdict"] for step in document["steps"]] == ["failed"] * 2
    assert all("CONFIG_DEVTMPFS=y" in step["reason"] for step in document["steps"])


def test_images_of_a_firmware_are_searched_in_the_order_of_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("builds").mkdir()
    checked = build("stm32f4", "checks", options=(("KDZ_FREERTOS_CHECKS", "ON"),))
    for number in range(7, 12):  # the kernel's assertions are on from 10 on
        folder = build("stm32f4") if number < 10 else checked
        shutil.copy2(folder / "kadenz-suite.elf", f"builds/{number}.elf")
    call = (*QUEUE, "--image", "builds/*.elf")
    answer = bisected(*call)
    assert answer.returncode == 0, answer.stderr
    asked = [line.split(": ")[:2] for line in answer.stderr.splitlines() if line[:1].isdigit()]
    assert asked[0] == ["7.elf", "good"] and asked[1] == ["11.elf", "bad"]
    assert asked[2:] == [["9.elf", "good"], ["10.elf", "bad"]]
    assert "between 9.elf (good) and 10.elf (bad): itc/queue median " in answer.stdout
    assert "4 of 5 measured" in answer.stdout and "one change for granted" in answer.stdout


def test_what_no_limit_separates_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.elf", "b.elf"):
        shutil.copy2(build("stm32f4") / "kadenz-suite.elf", name)
    call = (*QUEUE, "--image", "a.elf", "--image", "b.elf")
    answer = bisected(*call, "--limit", "itc/queue max < 1000000 instructions")
    assert answer.returncode == 4
    assert "no step: a.elf and b.elf are both good" in answer.stdout
    # Without a deadline nothing is missed, and there is no verdict.
    answer = bisected(*call, "--limit", "itc/* misses < 1%", "--json")
    assert answer.returncode == 4
    assert {step["verdict"] for step in json.loads(answer.stdout)["steps"]} == {"undecided"}
