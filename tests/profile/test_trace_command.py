# SPDX-License-Identifier: Apache-2.0
"""`kadenz trace`: who ran when, on both boards, and the files for viewers."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from kadenz.config.timeline import Timeline, Track
from kadenz.store import Run, read_run
from kadenz.store.timelines import read_timelines
from tests.forked import kadenz

pytestmark = pytest.mark.counted

SAMPLES = 5


@pytest.fixture(scope="module", params=["stm32f4", "hifive1-revb"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A traced run of itc/queue."""
    output = tmp_path_factory.mktemp(request.param)
    target = f"freertos/{request.param}@emulated"
    options = ["--target", target, "--set", f"samples={SAMPLES}", "--output", str(output)]
    answer = kadenz("trace", "itc/queue", *options)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "task 1" in answer.stdout
    (folder,) = [path for path in output.iterdir() if (path / "run.json").is_file()]
    return read_run(folder)


def timeline(run: Run) -> Timeline:
    (stored,) = read_timelines(run)
    return stored


def tracks(run: Run, kind: str) -> dict[str, Track]:
    return {track.name: track for track in timeline(run).tracks if track.kind == kind}


def file(run: Run, suffix: str) -> Path:
    return run.path / "timelines" / f"00010-itc-queue{suffix}"


def test_its_samples_are_those_of_the_run(run: Run) -> None:
    (track,) = tracks(run, "sample").values()
    spans = [span.end - span.begin for span in track.slices]
    assert spans == run.samples(run.record(10), 0).tolist()


def test_at_each_instruction_one_thread_or_handler_executes(run: Run) -> None:
    recorded = timeline(run)
    slices = [
        (span.begin, span.end)
        for track in recorded.tracks
        if track.kind in ("thread", "exception")
        for span in track.slices
    ]
    slices.sort()
    assert slices[0][0] == recorded.begin
    assert slices[-1][1] == recorded.end
    assert all(earlier[1] == later[0] for earlier, later in pairwise(slices))


def test_threads_have_the_names_that_the_benchmark_gave_them(run: Run) -> None:
    assert {"main", "task 1", "task 2", "IDLE"} == set(tracks(run, "thread"))


def test_a_sample_goes_from_one_thread_to_the_other_and_back(run: Run) -> None:
    (track,) = tracks(run, "sample").values()
    sample = track.slices[-1]
    inside = sorted(
        (span.begin, name)
        for name, one_track in tracks(run, "thread").items()
        for span in one_track.slices
        if span.begin < sample.end and span.end > sample.begin
    )
    assert [name for _, name in inside] == ["task 1", "task 2", "task 1"]


def test_a_call_that_blocks_lasts_until_its_thread_returns(run: Run) -> None:
    (track,) = tracks(run, "sample").values()
    sample = track.slices[-1]
    calls = tracks(run, "call")["task 1"].slices
    assert any(
        call.name == "xQueueReceive" and sample.begin <= call.begin < call.end <= sample.end
        for call in calls
    )


def test_perfetto_gets_every_slice_on_its_track(run: Run) -> None:
    events = json.loads(file(run, ".trace.json").read_text())["traceEvents"]
    named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    drawn = [(named[e["tid"]], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    slices = [span for track in timeline(run).tracks for span in track.slices]
    assert len(drawn) == len(slices)
    assert ("task 2", *_first(tracks(run, "thread")["task 2"])) in drawn


def _first(track: Track) -> tuple[int, int]:
    return track.slices[0].begin, track.slices[0].end - track.slices[0].begin


def test_the_picture_shows_who_ran(run: Run) -> None:
    picture = file(run, ".svg").read_text()
    assert picture.startswith("<?xml")
    assert all(name in picture for name in ("BEGIN to END", "task 1", "xQueueReceive", "sample 2"))
    legend = ("from BEGIN to END", "the thread executes", "the handler executes")
    assert all(entry in picture for entry in legend)


def test_a_target_that_cannot_be_watched_is_named() -> None:
    answer = kadenz("trace", "itc/queue", "--target", "freertos/stm32f4@board")
    assert answer.returncode == 2
    assert "scope" in answer.stderr or "cannot be watched" in answer.stderr


@pytest.mark.parametrize("work", ["motion", "itc/queue"])
def test_without_a_target_it_asks_for_one(work: str) -> None:
    answer = kadenz("trace", work)
    assert answer.returncode == 2
    assert "no target to trace" in answer.stderr and "--target" in answer.stderr


def test_the_vcd_imported_again_has_the_samples_of_the_run(run: Run, tmp_path: Path) -> None:
    options = ["--begin", "sample:rise", "--end", "sample:fall", "--bench", "itc/queue"]
    target = ["--target", run.manifest.target.name, "--output", str(tmp_path)]
    answer = kadenz("import", str(file(run, ".vcd")), *options, *target)
    assert answer.returncode == 0, answer.stderr
    (folder,) = [path for path in tmp_path.iterdir() if (path / "run.json").is_file()]
    again = read_run(folder)
    assert again.samples(again.record(10), 0).tolist() == run.samples(run.record(10), 0).tolist()
    assert again.manifest.clock.unit == "instruction"
    ours, theirs = again.record(10), run.record(10)
    assert ours.params == theirs.params and ours.source == theirs.source
    assert ours.begins.startswith(theirs.begins) and ours.ends.startswith(theirs.ends)
    compared = kadenz("compare", str(run.path), str(folder), "--json")
    points = json.loads(compared.stdout)["points"]
    assert "itc/queue" in {point["bench"] for point in points}, compared.stdout


def test_the_report_has_the_strip_for_desktop_and_phone(run: Run, tmp_path: Path) -> None:
    answer = kadenz("report", str(run.path), "--output", str(tmp_path / "report.html"))
    assert answer.returncode == 0, answer.stderr
    page = (tmp_path / "report.html").read_text()
    assert "Who ran when" in page and "Where the instructions go" not in page
    drawn = page[page.index("Who ran when") :]
    for kind, width in (("wide", 1020), ("narrow", 340)):
        svg = drawn[drawn.index(f'<div class="{kind}">') :].split("</svg>")[0]
        assert f'viewBox="0 0 {width} ' in svg
        bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)
        assert len(bars) > 20
        assert all(float(x) + float(wide) <= width for x, wide in bars)


# ---- benchmarks that time themselves -------------------------------------------------------------
SET = ("--set", "period1_ticks=2", "--set", "work1=20000", "--set", "work2=50000")


def test_a_workload_shows_which_task_ran_when(tmp_path: Path) -> None:
    arguments = (
        "workload/taskset",
        "--target",
        "freertos/stm32f4@emulated",
        "--instrument",
        "records",
    )
    answer = kadenz("trace", *arguments, *SET, "--set", "samples=8", "--output", str(tmp_path))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (folder,) = [path for path in tmp_path.iterdir() if (path / "run.json").is_file()]
    run = read_run(folder)
    record = run.record(10)
    assert record.status == "ok" and run.samples(record, 0).size == 8
    recorded = timeline(run)
    assert [track for track in recorded.tracks if track.kind == "sample"] == []
    tasks = tracks(run, "thread")["taskset"].slices
    spent = sum(span.end - span.begin for span in tasks)
    assert spent > sum(run.samples(record, 0)) / 4 and len(tasks) >= 8
    preempts = tracks(run, "exception")["SysTick_Handler"].slices
    assert any(
        span.begin < tick.begin < following.end
        for span, following in pairwise(tasks)
        for tick in preempts
    )


def test_under_the_scope_it_names_the_other_instrument(tmp_path: Path) -> None:
    arguments = ("workload/taskset", "--target", "freertos/stm32f4@emulated")
    answer = kadenz("trace", *arguments, "--set", "samples=8", "--output", str(tmp_path))
    assert answer.returncode == 1 and "--instrument records" in answer.stderr
