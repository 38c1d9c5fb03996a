# SPDX-License-Identifier: Apache-2.0
"""`kadenz watch FILE.dat`: tables, JSON, the run folder, and what reads it. A script stands for
trace-cmd and prints what it would; tests/watching/test_live.py has the real one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadenz.errors import ToolMissing
from kadenz.store import read_run
from kadenz.watching.live import Wanted, record
from tests.forked import kadenz
from tests.watching.scenario import CTL, LOW, PERIOD, Scenario, periodic
from tests.watching.test_jobs import lock_held, never_slept, nothing, preempted

Result = subprocess.CompletedProcess[str]
Watch = Callable[..., Result]


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Calls `kadenz watch` for the recording of a scenario."""
    monkeypatch.chdir(tmp_path)
    tool = tmp_path / "bin" / "trace-cmd"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\ncat {tmp_path}/report.txt\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")

    def call(scenario: Scenario, *options: str) -> Result:
        lines = [line for _, line in sorted(scenario.lines, key=lambda entry: entry[0])]
        (tmp_path / "report.txt").write_text("cpus=2\n" + "\n".join(lines) + "\n")
        (tmp_path / "trace.dat").write_bytes(b"\x17\x08\x44tracing6\0")
        return kadenz("watch", "trace.dat", *options)

    return call


def answer(result: Result) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_table_names_thread_period_misses_and_cause(watch: Watch) -> None:
    scenario = periodic(60, {**dict.fromkeys(range(5, 12), preempted), 40: nothing, 50: lock_held})
    shown = watch(scenario, "--deadline", "200us", "--thread", "ctl*").stdout
    assert "ctl loop 77: real-time, priority 80; released from clock_nanosleep" in shown
    assert "period 1,000 µs: 58 of 58 intervals are whole periods" in shown
    rows = [" ".join(line.split()) for line in shown.splitlines()]
    assert "response 59 103 103 502 8 1" in rows
    assert "ctl loop 77 thread hog 7 of 8 230.0 230.0" in rows
    assert "ctl loop 77 waits in futex, a lock, for thread low 1 of 8 400.0 400.0" in rows


def test_the_json_has_the_same(watch: Watch) -> None:
    scenario = periodic(60, {**dict.fromkeys(range(5, 12), preempted), 40: nothing})
    told = answer(watch(scenario, "--deadline", "200us", "--thread", "ctl*", "--json"))
    (thread,) = told["threads"]
    assert (thread["thread"], thread["pid"], thread["late"], thread["without_job"]) == (
        "ctl loop",
        77,
        7,
        1,
    )
    assert thread["response"]["median"] == 103_000
    assert thread["causes"] == [
        {"cause": "thread hog", "late": 7, "median": 230_000, "max": 230_000, "detail": ""}
    ]
    assert told["lost"] == [] and told["event_ns"] is None


def test_the_run_is_like_all_others(watch: Watch) -> None:
    scenario = periodic(60, {5: preempted, 40: nothing})
    watch(scenario, "--deadline", "200us", "--thread", "ctl*", "-o", "runs")
    (folder,) = Path("runs").iterdir()
    run = read_run(folder)
    benches = [record.bench for record in run.manifest.records]
    assert benches == [f"watch/ctl_loop/{name}" for name in ("latency", "response", "execution")]
    response = run.manifest.records[1]
    (lane,) = response.series
    assert (lane.planned, lane.taken, lane.missed, lane.period_us) == (60, 59, 1, 1000.0)
    cycles = run.samples(response, response.companions(lane)["cycle"])
    assert cycles.tolist() == [i for i in range(60) if i != 40]
    assert run.samples(response, response.companions(lane)["involuntary-switches"]).sum() == 1
    assert run.manifest.clock.clock_class == "hosted"
    (event,) = run.manifest.events
    assert event.text == "ctl_loop: thread hog, 230 µs" and event.first_cycle == 5
    for command in (("show", folder), ("report", folder, "-o", "page.html")):
        shown = kadenz(*command)
        assert shown.returncode == 0, shown.stderr
    limit = "watch/ctl_loop/response max < 50us"
    assert kadenz("gate", folder, "--limit", limit).returncode == 3


def test_two_recordings_give_the_same_samples(watch: Watch) -> None:
    scenario = periodic(60, {5: preempted})
    watch(scenario, "-o", "a")
    watch(scenario, "-o", "b")
    a, b = (sorted(Path(name).glob("*/samples/*")) for name in ("a", "b"))
    assert [file.read_bytes() for file in a] == [file.read_bytes() for file in b] != []


def test_a_gap_is_said(watch: Watch) -> None:
    scenario = periodic(60, {5: preempted})
    scenario.lose(5 * PERIOD + 301, 0, 1234)
    result = watch(scenario, "--json")
    told = answer(result)
    assert "1,234 events were lost in 1 gap" in result.stderr
    assert told["lost"][0]["lost"] == 1234 and told["threads"][0]["not_judged"] == 1


def test_a_thread_without_a_whole_job_has_failed_records(watch: Watch) -> None:
    scenario = Scenario()
    scenario.finish(-10.0)
    scenario.release(0.0)
    scenario.add(50, 0, CTL, "sched_process_exit: comm=ctl loop pid=77 prio=19")
    scenario.switch(60, 0, CTL, 0, "Z")
    told = answer(watch(scenario, "--json"))
    assert [thread["response"]["jobs"] for thread in told["threads"]] == [0]
    records = read_run(Path(told["run"])).manifest.records
    assert {(record.status, record.reason) for record in records} == {
        ("failed", "no job was seen from its release to its end")
    }


def test_a_missing_switch_is_said(watch: Watch) -> None:
    result = watch(periodic(60, {5: never_slept}))
    assert "ctl_loop: the kernel did not record 1 switch, most from ctl loop" in result.stderr


def test_no_real_time_thread_is_said_with_those_that_are_there(watch: Watch) -> None:
    result = watch(periodic(60, {9: lock_held}), "--thread", "nobody*")
    assert "no such thread was woken and slept" in result.stderr
    assert result.returncode == 1
    scenario = Scenario()
    scenario.wake(-5, 0, 0, LOW)
    scenario.switch(0, 0, LOW, 0)
    result = watch(scenario)
    assert "no real-time thread" in result.stderr and "low" in result.stderr


def test_a_recording_without_wake_ups_is_refused(watch: Watch) -> None:
    scenario = Scenario()
    scenario.switch(0, 0, LOW, 0)
    result = watch(scenario)
    assert result.returncode == 2 and "no release is known" in result.stderr
    assert "trace-cmd record" in result.stderr and not Path("runs").exists()


def test_a_clock_that_goes_back_is_named_with_its_event(watch: Watch) -> None:
    scenario = periodic(60, {})
    at, text = scenario.lines[200]
    scenario.lines[200] = (at, text.replace("1000.0", "1000.9"))
    result = watch(scenario)
    assert result.returncode == 2 and "its clock is not monotonic" in result.stderr
    assert "on processor 0" in result.stderr and "trace-cmd record -C mono" in result.stderr


def test_a_thread_of_any_policy_is_watched_by_name(watch: Watch) -> None:
    scenario = periodic(60, dict.fromkeys(range(60), lock_held))
    told = answer(watch(scenario, "--thread", "ctl*", "--thread", "low", "--json"))
    assert [thread["thread"] for thread in told["threads"]] == ["ctl loop"]  # low never slept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--deadline", "3 apples"], "not a time"),
        (["--deadline", "soon"], "is not a quantity"),
        (["--period", "nobody=1ms"], "names no thread that was watched"),
        (["--for", "3"], "a recording has its length"),
        (["--pid", "1"], "one of them is watched"),
    ],
)
def test_options_without_meaning_are_refused(
    watch: Watch, options: list[str], message: str
) -> None:
    result = watch(periodic(20, {}), *options)
    assert message in result.stderr
    assert result.returncode == 2
    assert not Path("runs").exists()


def test_nothing_to_watch_is_said() -> None:
    result = kadenz("watch")
    assert result.returncode == 2 and "nothing to watch" in result.stderr


def test_a_process_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = kadenz("watch", "--wait", "--pid", "4194305")
    assert result.returncode == 2 and "there is no such process" in result.stderr


def test_without_tracefs_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kadenz.host.tracefs.PLACES", (tmp_path / "nowhere",))
    wanted = Wanted(("touch", str(tmp_path / "started")), None, None, ())
    with pytest.raises(ToolMissing, match="is not tracefs, or not writable") as refused:
        record(wanted, lambda: False, lambda _: None)
    assert "mount -t tracefs" in refused.value.remedy
    assert not (tmp_path / "started").exists()
