# SPDX-License-Identifier: Apache-2.0
"""Recordings that are cut, damaged or lack events are refused with their place and a remedy."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

from kadenz.errors import ToolMissing, UsageError
from kadenz.recordings.checks import checked
from kadenz.recordings.formats import recognised
from kadenz.watching.threads import Observer
from tests.forked import kadenz
from tests.recordings.perfetto_file import perfetto_trace
from tests.recordings.scenario_events import Line, lines_of
from tests.recordings.test_formats import FORMATS, lttng, observed, perf
from tests.watching.scenario import HOG, LOW, Scenario, periodic
from tests.watching.test_jobs import lock_held, preempted


def recorded_lines() -> list[Line]:
    return lines_of(periodic(30, {3: preempted, 9: lock_held}))


def files_of(path: Path) -> list[Path]:
    """The files of a recording with events."""
    return sorted(path.glob("channel*")) if path.is_dir() else [path]


def refused(path: Path) -> UsageError:
    with pytest.raises(UsageError) as error:
        observed(path)
    assert error.value.exit_code == 2 and error.value.remedy
    return error.value


@pytest.mark.parametrize("name", FORMATS)
def test_a_recording_that_is_cut_in_half_is_refused_with_its_place(
    tmp_path: Path, name: str
) -> None:
    path = FORMATS[name](tmp_path, recorded_lines())
    for file in files_of(path):
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2 + 1])
    place = {"LTTng": "babeltrace2 ends after line"}.get(name, "ends at byte")
    assert place in str(refused(path))


def test_a_clock_that_goes_back_is_named_with_its_event(tmp_path: Path) -> None:
    """The readers of the others bring the events into the order of their times."""
    lines = recorded_lines()
    lines[40:80], lines[80:120] = lines[80:120], lines[40:80]
    error = refused(FORMATS["Perfetto"](tmp_path, lines))
    assert "not monotonic" in str(error) and "on processor 0" in str(error)
    assert "linux.ftrace" in error.remedy


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (lambda of: "wak" not in of, "is sched_waking, sched_wakeup: no release is known"),
        (lambda of: "sched" not in of, "is sched_switch: no thread is known"),
    ],
    ids=["no wake-ups", "no switches"],
)
def test_a_recording_that_lacks_events_says_which(
    tmp_path: Path, name: str, kept: object, message: str
) -> None:
    assert callable(kept)
    lines = [line for line in recorded_lines() if kept(line.name)]
    error = refused(FORMATS[name](tmp_path, lines))
    assert message in str(error) and error.remedy.startswith("Record again: ")


def test_a_recording_of_perf_that_was_killed_is_named(tmp_path: Path) -> None:
    file = perf(tmp_path, recorded_lines())
    content = bytearray(file.read_bytes())
    content[48:56] = bytes(8)  # the size of the events, which perf writes at its end
    file.write_bytes(content)
    assert "`perf record` did not end by itself" in str(refused(file))


@pytest.mark.parametrize("name", ["perf", "Perfetto"])
def test_changed_bytes_end_in_events_or_an_error(tmp_path: Path, name: str) -> None:
    file, chance = FORMATS[name](tmp_path, recorded_lines()), random.Random(8)
    whole = file.read_bytes()
    for _ in range(12 if name == "perf" else 150):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 12)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        file.write_bytes(damaged)
        recorded = recognised(file)
        try:
            if recorded:
                Observer(lambda _: True).observe(checked(recorded, lambda _: None))
        except UsageError as error:
            assert error.remedy


def test_a_name_without_text_is_a_name(tmp_path: Path) -> None:
    """Any program may name a thread by any bytes."""
    file = FORMATS["Perfetto"](tmp_path, recorded_lines())
    file.write_bytes(file.read_bytes().replace(b"ctl loop", b"ctl\xff\xfelop"))
    assert "ctl\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}lop" in {
        thread.name for thread in observed(file).threads.values()
    }


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("switch_next_pid", "its columns of switch differ in length"),
        ("waking_comm_index", "its columns of waking differ in length"),
        ("intern_table", "a name of switch is not in its table"),
    ],
)
def test_columns_that_do_not_fit_each_other_are_refused(
    tmp_path: Path, column: str, message: str
) -> None:
    """No event of a bundle is left out, and no thread loses its name."""
    trace = messages.Trace.FromString(perfetto_trace(recorded_lines(), compact=True))
    bundles = [packet.ftrace_events.compact_sched for packet in trace.packet]
    next(values for each in bundles if (values := getattr(each, column))).pop()
    file = tmp_path / "trace"
    file.write_bytes(trace.SerializeToString())
    assert f"a damaged bundle of processor 0: {message}" in str(refused(file))


def test_a_compressed_packet_without_end_is_refused(tmp_path: Path) -> None:
    packed = perfetto_trace(recorded_lines(), compressed=True)
    file = tmp_path / "trace"
    file.write_bytes(packed[:40] + bytes(20) + packed[60:])
    assert "a damaged packet" in str(refused(file))


def test_a_reader_that_is_not_there_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {name: FORMATS[name](tmp_path / name, recorded_lines()) for name in ("LTTng",)}
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="babeltrace2 not found") as error:
        observed(paths["LTTng"])
    assert error.value.remedy == "apt-get install babeltrace2"


def test_progress_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kadenz.recordings.checks._EVERY", 100)
    recorded = recognised(FORMATS["Perfetto"](tmp_path, recorded_lines()))
    assert recorded is not None
    said: list[int] = []
    events = sum(1 for _ in checked(recorded, said.append))
    assert said == list(range(100, events + 1, 100)) and len(said) > 1


def test_the_command_takes_a_recording_of_any_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trace = lttng(tmp_path, recorded_lines())
    result = kadenz("watch", str(trace), "--thread", "ctl*", "--deadline", "200us")
    assert result.returncode == 0, result.stderr
    assert "thread hog" in result.stdout and "The recording of LTTng ended" not in result.stderr
    assert "Ended: the recording of LTTng ended" in result.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"plain text\n",
            "neither a program nor a recording of trace-cmd, perf, LTTng or Perfetto",
        ),
        (None, "No such file or directory"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "trace.dat").write_bytes(content)
    result = kadenz("watch", "trace.dat")
    assert result.returncode == 2 and message in result.stderr


def test_a_folder_without_a_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a folder without a trace of LTTng"):
        recognised(tmp_path)


def test_events_of_two_processors_may_cross(tmp_path: Path) -> None:
    """Each processor has its order; that of two processors is by time."""
    scenario = Scenario()
    for i in range(20):
        scenario.switch(10 * i, 0, 0 if i % 2 else LOW, LOW if i % 2 else 0)
        scenario.switch(10 * i + 5, 1, 0 if i % 2 else HOG, HOG if i % 2 else 0)
        scenario.wake(10 * i + 6, 1, HOG, LOW, 0)
    path = FORMATS["Perfetto"](tmp_path, lines_of(scenario))
    recorded = recognised(path)
    assert recorded is not None
    times = [event.at for event in recorded.events()]
    assert times == sorted(times) and len(times) == 80
