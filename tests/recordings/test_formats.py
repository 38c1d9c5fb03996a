# SPDX-License-Identifier: Apache-2.0
"""The same scenario in every format of recordings gives the same jobs and causes.

perf script and babeltrace2 read what tests/recordings writes; tests/watching has trace-cmd's text.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kadenz.recordings.checks import checked
from kadenz.recordings.formats import recognised
from kadenz.watching.causes import causes_of
from kadenz.watching.jobs import watched
from kadenz.watching.threads import Observed, Observer
from tests.recordings.ctf_folder import write_trace
from tests.recordings.perf_file import perf_data
from tests.recordings.perfetto_file import perfetto_trace
from tests.recordings.scenario_events import Line, lines_of
from tests.watching.scenario import CTL, LOW, PERIOD, Scenario, periodic
from tests.watching.test_jobs import (
    faulting,
    interrupted,
    late_start,
    lock_held,
    migrated,
    preempted,
)

Write = Callable[[Path, list[Line]], Path]
DISTURBED = {
    3: preempted,
    9: lock_held,
    14: interrupted,
    20: migrated,
    25: late_start,
    30: faulting,
}
DEADLINE = 200e3


def _file(content: Callable[[list[Line]], bytes]) -> Write:
    def write(folder: Path, lines: list[Line]) -> Path:
        file = folder / "recording"
        file.write_bytes(content(lines))
        return file

    return write


def perf(folder: Path, lines: list[Line]) -> Path:
    if shutil.which("perf") is None:
        pytest.skip("no perf here")
    return _file(perf_data)(folder, lines)


def lttng(folder: Path, lines: list[Line]) -> Path:
    if shutil.which("babeltrace2") is None:
        pytest.skip("no babeltrace2 here")
    return write_trace(folder / "trace", lines)


FORMATS: dict[str, Write] = {
    "perf": perf,
    "LTTng": lttng,
    "Perfetto": _file(perfetto_trace),
}


def begun(scenario: Scenario) -> list[Line]:
    """With a switch on each processor before all else: from there on it is known who runs."""
    scenario.switch(-21, 1, LOW, 0)
    scenario.switch(-20, 0, 0, CTL, "R")
    return lines_of(scenario)


def observed(path: Path) -> Observed:
    recorded = recognised(path)
    assert recorded is not None
    return Observer(lambda _: True).observe(checked(recorded, lambda _: None))


def figures(of: Observed) -> Any:
    """All that a run has of ctl, with times from its first event."""
    jobs = watched(of.threads[CTL], of)
    first = jobs.jobs[0].release
    return (
        [(job.release - first, job.latency, job.response, job.executed) for job in jobs.jobs],
        [(cause.name, cause.most, cause.detail) for cause in causes_of(jobs.jobs, DEADLINE)],
        [(job.preemptions, job.faults, job.migrations, job.handled, job.cpu) for job in jobs.jobs],
        jobs.release,
        jobs.period and jobs.period.period,
        (of.threads[CTL].priority, of.threads[CTL].usual_priority),
    )


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_scenario_gives_the_same_jobs(tmp_path: Path, name: str) -> None:
    scenario = periodic(40, DISTURBED)
    path = FORMATS[name](tmp_path, lines_of(scenario))
    recorded = recognised(path)
    assert recorded is not None and recorded.format.tool == name
    expected = figures(scenario.observed())
    assert len(expected[0]) > 35 and len(expected[1]) == 6
    assert figures(observed(path)) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_lost_events_are_a_gap(tmp_path: Path, name: str) -> None:
    scenario = periodic(30, {})
    scenario.lines = [
        line for line in scenario.lines if not 10 * PERIOD + 5 < line[0] < 11 * PERIOD
    ]
    scenario.lose(11 * PERIOD, 0, 77)
    of = observed(FORMATS[name](tmp_path, lines_of(scenario)))
    (gap,) = of.gaps
    assert (gap.cpu, gap.lost) == (0, 0 if name == "Perfetto" else 77)
    jobs = watched(of.threads[CTL], of)
    expected = scenario.watched()
    assert [job.response for job in jobs.jobs] == [job.response for job in expected.jobs]
    assert jobs.not_measured == expected.not_measured > 0


def test_perfetto_s_columns_and_compressed_packets_give_the_same(tmp_path: Path) -> None:
    lines = lines_of(periodic(40, DISTURBED))
    expected = figures(observed(_file(perfetto_trace)(tmp_path, lines)))
    packed = perfetto_trace(lines, compressed=True)
    assert figures(observed(_file(lambda _: packed)(tmp_path, lines))) == expected


def test_perfetto_s_columns_give_the_same(tmp_path: Path) -> None:
    """No two events of a processor have one time: columns have no order among themselves."""
    lines = [replace(line, at=line.at + i) for i, line in enumerate(begun(periodic(40, DISTURBED)))]
    whole = figures(observed(_file(perfetto_trace)(tmp_path, lines)))
    columns = _file(lambda of: perfetto_trace(of, compact=True))(tmp_path, lines)
    assert len(whole[0]) > 35 and figures(observed(columns)) == whole


def test_lttng_without_the_context_of_threads_gives_the_same(tmp_path: Path) -> None:
    lines = begun(periodic(40, DISTURBED))
    with_threads = figures(observed(lttng(tmp_path, lines)))
    without = write_trace(tmp_path / "without", lines, with_threads=False)
    assert figures(observed(without)) == with_threads


def test_lttng_before_2_8_has_other_priorities_in_wake_ups(tmp_path: Path) -> None:
    lines = lines_of(periodic(20, {}))
    new = figures(observed(lttng(tmp_path, lines)))
    old = [
        replace(line, fields=(*line.fields[:2], int(line.fields[2]) + 100, line.fields[3]))
        if line.name in ("sched_waking", "sched_wakeup")
        else line
        for line in lines
    ]
    assert figures(observed(write_trace(tmp_path / "old", old, version="2.5"))) == new
    assert new[-1] == (19, 19)


def test_the_parent_of_a_trace_and_its_description_are_the_trace(tmp_path: Path) -> None:
    lines = lines_of(periodic(5, {}))
    trace = lttng(tmp_path / "session" / "kernel", lines)
    for path in (tmp_path / "session", trace / "metadata"):
        recorded = recognised(path)
        assert recorded is not None and recorded.format.tool == "LTTng"
        assert observed(path).events > 30


def test_a_file_is_recognised_by_its_bytes_alone(tmp_path: Path) -> None:
    file = tmp_path / "perf.data"
    file.write_bytes(perfetto_trace(lines_of(periodic(2, {}))))
    recorded = recognised(file)
    assert recorded is not None and recorded.format.tool == "Perfetto"
    for content in (b"", b"\x7fELF", b"#!/bin/sh\n", b"\n", b"\n\n\n\n", b"PERF", b"plain text\n"):
        file.write_bytes(content)
        assert recognised(file) is None
