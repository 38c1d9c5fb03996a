# SPDX-License-Identifier: Apache-2.0
"""`kadenz watch --live`: the figures meanwhile are those of the report, in bounded memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kadenz.ftrace import events_of
from kadenz.watching import live_figures
from kadenz.watching.events import Happening, of_trace
from kadenz.watching.judging import parse_given
from kadenz.watching.live_figures import LiveFigures
from kadenz.watching.selection import Selection
from tests.forked import kadenz
from tests.watching.scenario import PERIOD, Scenario, periodic
from tests.watching.test_jobs import lock_held, preempted

CTL_ONLY = Selection((), ("ctl*",), everything=True)
LINE = re.compile(
    r"T: +77 ctl_loop +P: 80 I: +([\d,]+) C: +([\d,]+) Min: +([\d,.]+) Act: +([\d,.]+) "
    r"Avg: +([\d,.]+) Max: +([\d,.]+) Late: +([\d,]+)"
)


def happenings(scenario: Scenario) -> list[Happening]:
    lines = [line for _, line in sorted(scenario.lines, key=lambda entry: entry[0])]
    return list(of_trace(events_of(lines)))


def shown(figures: LiveFigures) -> list[float]:
    (line,) = figures.lines[1:]
    match = LINE.fullmatch(line)
    assert match is not None, line
    return [float(text.replace(",", "")) for text in match.groups()]


@pytest.mark.parametrize("piece", [7, 50, 1000])
def test_the_figures_are_those_of_the_report_however_they_come(piece: int) -> None:
    scenario = periodic(200, {20: preempted, 50: lock_held, 190: preempted})
    events = happenings(scenario)
    figures = LiveFigures(CTL_ONLY, (), parse_given("--deadline", ["200us"]))
    for at in range(0, len(events), piece):
        figures.take(events[at : at + piece])
    jobs = scenario.watched().jobs
    period, count, least, _, mean, most, late = shown(figures)
    assert period == PERIOD
    # Before the period is known, a wait for a lock may be taken for a release.
    assert count == len(jobs) == 200
    assert (least, most, late) == (3.0, 3.0, 3)
    assert mean == pytest.approx(sum(job.latency for job in jobs) / len(jobs) / 1e3)


def test_the_memory_of_the_past_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_figures, "_STINTS", 32)
    figures = LiveFigures(CTL_ONLY, (), ())
    events = happenings(periodic(300, {}))
    for at in range(0, len(events), 40):
        figures.take(events[at : at + 40])
    assert shown(figures)[1] == 300
    assert all(len(of.stints) <= 32 for of in figures._observer.seen.threads.values())


def test_lost_events_are_counted() -> None:
    scenario = periodic(30, {})
    scenario.lose(11 * PERIOD, 0, 77)
    figures = LiveFigures(CTL_ONLY, (), ())
    figures.take(happenings(scenario))
    assert ", 77 events lost in 1 gap;" in figures.lines[0]
    scenario.lose(15 * PERIOD, 0, 0)  # an unknown number
    figures = LiveFigures(CTL_ONLY, (), ())
    figures.take(happenings(scenario))
    assert ", events lost in 2 gaps;" in figures.lines[0]


def test_a_deadline_of_a_thread_to_come_ends_nothing() -> None:
    figures = LiveFigures(CTL_ONLY, (), parse_given("--deadline", ["later=1ms"]))
    figures.take(happenings(periodic(30, {})))
    assert shown(figures)[1] == 30


def test_live_figures_of_a_recording_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.dat").write_bytes(b"\x17\x08\x44tracing6\0")
    result = kadenz("watch", "trace.dat", "--live")
    assert result.returncode == 2 and "a recording has ended" in result.stderr
