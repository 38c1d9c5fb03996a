# SPDX-License-Identifier: Apache-2.0
"""`kadenz profile` and `kadenz compare --explain`: the files, the words, bad input."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.images.source import kernel_source
from tests.forked import kadenz

pytestmark = pytest.mark.counted

TARGET = "freertos/stm32f4@emulated"
PLANTED = 7


def profiled(output: Path, *options: str) -> Path:
    """Profiles itc/queue; the run folder."""
    settings = ["--target", TARGET, "--set", "samples=5", "--output", str(output)]
    answer = kadenz("profile", "itc/queue", *settings, *options)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (folder,) = [path for path in output.iterdir() if (path / "run.json").is_file()]
    return folder


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of the kernel as it is."""
    return profiled(tmp_path_factory.mktemp("pinned"))


def planted_tree(folder: Path) -> Path:
    """A copy of the kernel, with seven more instructions in one function."""
    source = kernel_source("freertos", inventory.kernel("freertos"), None)
    assert source is not None
    tree = folder / "tree"
    shutil.copytree(source.folder, tree)
    file = tree / "queue.c"
    text = file.read_text()
    begin = text.index("static void prvUnlockQueue( Queue_t * const pxQueue )\n{")
    at = text.index("{", begin) + 1
    nops = '__asm__ volatile("' + "nop\\n" * PLANTED + '");'
    file.write_text(text[:at] + "\n    " + nops + text[at:])
    return tree


def test_seven_planted_instructions_are_named_with_their_function(
    pinned: Path, tmp_path: Path
) -> None:
    changed = profiled(tmp_path / "b", "--kernel-source", str(planted_tree(tmp_path)))
    answer = kadenz("compare", str(pinned), str(changed), "--explain", "--json")
    (point,) = json.loads(answer.stdout)["explained"]
    assert point["candidate"] - point["baseline"] == PLANTED
    assert [(f["name"], f["change"]) for f in point["functions"]] == [("prvUnlockQueue", PLANTED)]
    said = kadenz("compare", str(pinned), str(changed), "--explain").stdout
    assert f"+{PLANTED} prvUnlockQueue" in said


def test_files_for_other_programs_have_the_same_sum(pinned: Path) -> None:
    folder = pinned / "profiles"
    folded = (folder / "00010-itc-queue.folded").read_text().splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == typical(pinned)
    scope = json.loads((folder / "00010-itc-queue.speedscope.json").read_text())
    view = scope["profiles"][1]
    assert sum(view["weights"]) == view["endValue"] == typical(pinned)
    frames = len(scope["shared"]["frames"])
    assert all(0 <= frame < frames for sample in view["samples"] for frame in sample)
    page = (folder / "profile.html").read_text()
    assert "<svg" in page
    assert "xQueueGenericSend" in page


def test_the_report_has_the_flame_graph_of_the_typical_sample(pinned: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    options = ["--output", str(tmp_path / "report.html"), "--figures", str(figures)]
    answer = kadenz("report", str(pinned), *options)
    assert answer.returncode == 0, answer.stderr
    page = (tmp_path / "report.html").read_text()
    assert "Where the instructions go" in page and "Who ran when" not in page
    assert page.count("xQueueReceive (kernel): ") >= 2  # drawn for a desktop and for a phone
    assert len(list(figures.glob("*-itc-queue-typical.svg"))) == 1


def test_the_disassembly_has_source_lines_and_counts(pinned: Path) -> None:
    lines = (pinned / "profiles" / "00010-itc-queue.disassembly.txt").read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("xQueueReceive (kernel"))
    assert any("queue.c:" in line for line in lines[at : at + 5])
    executed = [line[:8] for line in lines if re.match(r".{26}   +[0-9a-f]+  \S", line)]
    assert sum(int(count) for count in executed if count.strip()) == typical(pinned)


def typical(folder: Path) -> int:
    """Instructions of the typical sample."""
    profile = json.loads((folder / "profiles" / "00010-itc-queue.profile.json").read_text())
    views = profile["lanes"][0]["views"]
    return int(next(view for view in views if view["name"] == "typical")["instructions"])


def test_a_core_with_primask_alone_shows_each_critical_section(tmp_path: Path) -> None:
    """Armv6-M has no BASEPRI. Leaving a section takes the pending switch, which has its own."""
    options = ("--target", "freertos/microbit@emulated", "--set", "samples=5")
    answer = kadenz("profile", "itc/queue", *options, "--output", str(tmp_path))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    off = answer.stdout.partition("Interrupts off")[2].partition("Scheduler locked")[0]
    ends = re.findall(r"^typical .*?(\w+)  +(\w+) \(", off, re.MULTILINE)
    assert set(ends) == {
        ("vPortEnterCritical", "vPortExitCritical"),
        ("PendSV_Handler", "PendSV_Handler"),
    }


def test_runs_without_a_profile_are_compared_and_what_is_missing_is_named(
    pinned: Path, tmp_path: Path
) -> None:
    answer = kadenz("run", "itc/queue", "--target", TARGET, "--quick", "--output", str(tmp_path))
    assert answer.returncode == 0, answer.stderr
    (other,) = [path for path in tmp_path.iterdir() if (path / "run.json").is_file()]
    answer = kadenz("compare", str(pinned), str(other), "--explain")
    assert answer.returncode == kadenz("compare", str(pinned), str(other)).returncode
    assert "itc/queue" in answer.stdout
    said = " ".join(answer.stdout.split())
    assert "not explained: " in said and "has no profile. Measure it with `kadenz profile`" in said
    document = json.loads(kadenz("compare", str(other), str(other), "--explain", "--json").stdout)
    assert document["explained"] == [] and "has no profile" in document["unexplained"]


@pytest.mark.parametrize("target", ["posix/linux@host", "freertos/stm32f4@board"])
def test_a_target_that_cannot_be_watched_is_named(target: str) -> None:
    answer = kadenz("profile", "itc/queue", "--target", target)
    assert answer.returncode == 2
    assert "scope" in answer.stderr or "cannot be watched" in answer.stderr


def test_a_damaged_profile_is_named(pinned: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pinned, copy)
    file = copy / "profiles" / "00010-itc-queue.profile.json"
    file.write_bytes(file.read_bytes()[:1000])
    answer = kadenz("compare", str(pinned), str(copy), "--explain")
    assert answer.returncode == 1
    assert "not a profile" in answer.stderr


def test_a_window_too_long_for_a_profile_is_refused_and_its_remedy_works(tmp_path: Path) -> None:
    arguments = ["profile", "thread-metric/basic", "--target", "freertos/stm32f4@emulated"]
    arguments += ["--quick", "--set", "samples=2", "--output", str(tmp_path)]
    refused = kadenz(*arguments)
    assert refused.returncode == 2 and "a window of 1,000,000 µs is too long" in refused.stderr
    assert not list(tmp_path.iterdir())
    assert "--set window_us=10000" in " ".join(refused.stderr.split())
    taken = kadenz(*arguments, "--set", "window_us=10000")
    assert taken.returncode == 0, taken.stderr
