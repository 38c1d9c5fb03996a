# SPDX-License-Identifier: Apache-2.0
"""Linux's trace of a program gives its timeline.

`traces/message-queue.txt` was recorded on Linux 6.18 by `kadenz trace itc/message-queue --target
posix/linux@host`, and cut after a few exchanges. Names of other programs were replaced.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis.timelines import timelines_of
from kadenz.config.timeline import Timeline, Track
from kadenz.errors import StoreError
from kadenz.report.svg.timeline import window_of
from kadenz.report.timelines import chrome, vcd
from kadenz.store import Run, read_run
from kadenz.store.layout import trace_file
from tests.synthetic import LINUX, linux_points, manifest, write_run

RECORDED = Path(__file__).parent / "traces" / "message-queue.txt"


def traced(folder: Path, text: str) -> Run:
    """A run whose first record Linux traced."""
    run = read_run(write_run(folder, manifest(LINUX), linux_points(np.random.default_rng(1), n=50)))
    record = run.manifest.records[0]
    file = run.path / trace_file(record.id, record.bench)
    file.parent.mkdir()
    file.write_text(text)
    return run


@pytest.fixture
def timeline(tmp_path: Path) -> Timeline:
    (recording,) = timelines_of(traced(tmp_path, RECORDED.read_text()))
    return recording


def track(timeline: Timeline, kind: str, name: str) -> Track:
    (selected,) = [row for row in timeline.tracks if (row.kind, row.name) == (kind, name)]
    return selected


def test_threads_have_their_names_and_take_turns(timeline: Timeline) -> None:
    tasks = [track(timeline, "thread", name) for name in ("task 1", "task 2")]
    slices = sorted((span.begin, span.end, span.name) for task in tasks for span in task.slices)
    assert len(slices) > 10
    assert all(before[1] <= after[0] for before, after in pairwise(slices))  # one processor
    names = "".join(name[-1] for _, _, name in slices)
    assert "1212" in names


def test_a_call_that_blocks_lasts_while_the_other_thread_executes(timeline: Timeline) -> None:
    calls = track(timeline, "call", "task 1").slices
    assert {"mq_timedsend", "mq_timedreceive", "clock_nanosleep"} <= {span.name for span in calls}
    other = track(timeline, "thread", "task 2").slices
    waits = [span for span in calls if span.name == "mq_timedreceive"]
    assert any(w.begin <= span.begin and span.end <= w.end for w in waits for span in other)


def test_it_begins_and_ends_with_the_threads_of_the_record(timeline: Timeline) -> None:
    assert timeline.unit == "ns"
    ends = [at for row in timeline.tracks for s in row.slices for at in (s.begin, s.end)]
    assert (min(ends), max(ends)) == (timeline.begin, timeline.end)
    assert 0 < timeline.end - timeline.begin < 100_000_000


def marked(text: str, *stamps: tuple[str, int]) -> str:
    """A trace, and the stamps that the program wrote when the record closed."""
    last = text.rstrip().splitlines()[-1]
    at = float(last.split(": ")[0].split()[-1])
    lines = [
        f"    kadenz-suite-77    [000] .....  {at + 0.001:.6f}: tracing_mark_write: "
        f"kadenz: {kind}_ns={ns}"
        for kind, ns in stamps
    ]
    return "\n".join([text.rstrip(), *lines, ""])


def test_samples_are_the_stamps_that_the_program_wrote(timeline: Timeline, tmp_path: Path) -> None:
    """In the order of their times: two threads may keep theirs in another order. A BEGIN without
    its END is no sample."""
    b = timeline.begin
    stamps = [("begin", b + 10), ("end", b + 4_321), ("end", b + 9_777), ("begin", b + 5_000)]
    text = marked(RECORDED.read_text(), *stamps, ("begin", b + 10_000))
    (stamped,) = timelines_of(traced(tmp_path / "marked", text))
    samples = track(stamped, "sample", "").slices
    assert [(span.begin - b, span.end - b) for span in samples] == [(10, 4_321), (5_000, 9_777)]
    assert [row for row in stamped.tracks if row.kind != "sample"] == timeline.tracks
    assert "sample" in vcd(stamped)


def test_the_picture_has_no_long_pause_between_two_samples(
    timeline: Timeline, tmp_path: Path
) -> None:
    """A pause of 20 samples would make both of them lines."""
    b = timeline.begin
    for pause, shown in ((1_000, 2), (25_000, 1)):
        ends = [b + 1_000, b + 3_000, b + 4_000 + pause]
        stamps = [stamp for end in ends for stamp in (("begin", end - 1_000), ("end", end))]
        text = marked(RECORDED.read_text(), *stamps)
        (stamped,) = timelines_of(traced(tmp_path / str(pause), text))
        begin, end = window_of(stamped)
        samples = track(stamped, "sample", "").slices
        assert sum(begin <= span.begin and span.end <= end for span in samples) == shown


def test_viewers_get_its_time_as_it_is(timeline: Timeline) -> None:
    events = json.loads(chrome(timeline))["traceEvents"]
    drawn = [event for event in events if event["ph"] == "X"]
    assert min(event["ts"] for event in drawn) == pytest.approx(timeline.begin / 1000)  # us
    assert f"#{timeline.begin}\n" in vcd(timeline)


@pytest.mark.parametrize("text", ["", "# tracer: nop\n", "garbage\n\x00", "x-1 [000] 1.0: y: z\n"])
def test_a_trace_without_the_program_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="shows no thread of the program"):
        timelines_of(traced(tmp_path, text))
