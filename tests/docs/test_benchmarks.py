# SPDX-License-Identifier: Apache-2.0
"""The list of benchmarks is what images list: `python -m tests.docs.benchmarks` writes it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from kadenz.config import inventory
from kadenz.json_text import read_json
from kadenz.lab.reference import Described, described, families
from tests.docs.benchmarks import FILE, HOW, PAGE, asked, file_text, listed, page_text
from tests.docs.pages import ROOT
from tests.forked import kadenz
from tests.wire.streams import bench

LAB_BENCHMARKS = """
static const struct kdz_param params[] = {
    [DEPTH] = {"depth", 3, 1, 8},
    {"kind", 0, 0, 1, kinds},
    {"hold_us", 10, 0, 1000},
};
static const struct kdz_bench first = {
    .name = "mine/first", .begins = "before a \\"give\\" "
                                    "that wakes nobody",
    .ends = "its return",
    .source = "kadenz",
    .params = params,
};
static const struct kdz_bench second = {
    .name = "mine/second",
    .begins = "before it",
    .ends = "after it",
};
"""


def test_the_page_is_written_from_the_list() -> None:
    assert PAGE.read_text() == page_text(read_json(FILE.read_bytes(), list[Described])), HOW


@pytest.mark.counted
def test_the_list_is_what_images_list() -> None:
    assert FILE.read_text() == file_text(asked()), HOW


def test_what_a_kernel_lacks_is_listed_and_what_this_machine_denies_is_not() -> None:
    answer = msgspec.structs.replace(bench("itc/pipe"), available=False)
    lacks = inventory.kernel("freertos").lacks["pipe"]
    denied = msgspec.structs.replace(answer, reason="SCHED_FIFO is denied")
    lacking = msgspec.structs.replace(answer, reason=lacks)
    (entry,) = listed({"Linux": [denied], "FreeRTOS": [lacking]})
    assert entry.lacks == {"FreeRTOS": lacks}
    assert lacks in page_text([entry]) and "denied" not in page_text([entry])


def test_each_family_has_its_text_and_its_page() -> None:
    names = {name.partition("/")[0] for name in described()}
    assert set(families()) == names
    for family in families().values():
        assert not family.page or (ROOT / "docs" / "explanation" / f"{family.page}.md").is_file()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert kadenz("init", tmp_path / "lab").returncode == 0
    monkeypatch.chdir(tmp_path / "lab")
    (tmp_path / "lab" / "bench").mkdir()
    return tmp_path / "lab"


def test_a_file_of_the_lab_shows_its_benchmarks_as_the_suite_does(lab: Path) -> None:
    (lab / "bench" / "mine.c").write_text(LAB_BENCHMARKS)
    first, second = json.loads(kadenz("list", "mine", "--json").stdout)["benchmarks"]
    assert first["begins"] == 'before a "give" that wakes nobody'
    assert (second["begins"], second["ends"]) == ("before it", "after it")
    assert [
        (parameter["name"], parameter["initial"], parameter["high"])
        for parameter in first["params"]
    ] == [
        ("depth", 3, 8),
        ("hold_us", 10, 1000),
    ]
    assert second["params"] == []
    (queue,) = json.loads(kadenz("list", "itc/queue", "--json").stdout)["benchmarks"]
    assert first.keys() == queue.keys()
    shown = kadenz("list", "mine/first").stdout.split()
    assert "depth=3" in shown and "1…8" in shown


@pytest.mark.usefixtures("lab")
def test_the_benchmarks_of_a_family_begin_with_what_they_share() -> None:
    text = " ".join(kadenz("list", "micro").stdout.split())
    assert families()["micro"].text in text
    assert families()["micro"].text not in " ".join(kadenz("list", "benchmarks").stdout.split())


@pytest.mark.usefixtures("lab")
def test_parameters_have_their_ranges_and_words_before_an_image_is_built() -> None:
    shown = kadenz("list", "micro/message-latency").stdout
    assert "size_bytes=4" in shown and "4…64" in shown
    assert "channel=queue" in shown and "stream-buffer, message-buffer" in shown
