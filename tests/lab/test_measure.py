# SPDX-License-Identifier: Apache-2.0
"""A target's run: the fate of points if the target or its line dies."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kadenz.config.board_link import BoardLink
from kadenz.config.manifest import BuildEntry, CampaignEntry, HostEntry
from kadenz.config.target_name import TargetName
from kadenz.elf import Elf
from kadenz.host.facts import Host
from kadenz.images.image import Image
from kadenz.lab.catalog import Catalog
from kadenz.lab.clock import clock_class
from kadenz.lab.condition import Setup
from kadenz.lab.job import Job, Origin, Result
from kadenz.lab.measure import measure
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.store import Run, read_run
from kadenz.targets.base import Target
from kadenz.wire.messages import AnyMessage, Done, Fault, Text
from tests.lab.fake import Scripted
from tests.wire.encoder import encode_message
from tests.wire.streams import begin, bench, end, hello, on_the_line, samples


def record(number: int) -> list[AnyMessage]:
    return [begin(number), samples([1, 2, 3, 4, 5, 6], record=number), end(number)]


def said(*parts: list[AnyMessage], done: bool = True) -> bytes:
    messages: list[AnyMessage] = [hello(), *(m for part in parts for m in part)]
    if done:
        messages.append(Done(records=len(parts), frames=len(messages) + 1))
    return on_the_line(messages)


def job(folder: Path, boots: list[Scripted], points: int = 3) -> Job:
    left: list[Target] = [Scripted([]), *boots]  # the first is only asked for its emulator
    return Job(
        name=TargetName("freertos", "stm32f4", "emulated"),
        instrument="counter",
        image=Image(
            Elf(folder / "x.elf"),
            folder,
            BuildEntry(
                compiler="",
                compiler_version="",
                flags="",
                elf_sha256="",
                text_bytes=0,
                data_bytes=0,
                bss_bytes=0,
                kernel_source="",
            ),
        ),
        catalog=Catalog("", hello(), [bench()]),
        points=[Point(10 + n, "itc/queue", 6, cold=1) for n in range(points)],
        make=lambda: left.pop(0),
        host=Host(
            HostEntry(os="", kernel="", preempt="", cpu="", cpus=1, virtual="", facts={}), []
        ),
        origin=Origin(CampaignEntry(name="", file="", sha256="", quick=False), stated={}),
        timeout_s=0.1,
    )


def run(folder: Path, boots: list[Scripted], points: int = 3) -> tuple[Result, Run]:
    result = measure(job(folder, boots, points), folder / "runs", Progress(), threading.Event())
    return result, read_run(result.folder)


FAULT: list[AnyMessage] = [Fault(kind="assert", message="x.c:1", thread="", registers={})]


def test_points_after_a_death_are_measured_by_a_second_boot(tmp_path: Path) -> None:
    dies = Scripted([said(record(10), [begin(11)], FAULT, done=False)])
    again = Scripted([said(record(12))])
    result, kept = run(tmp_path, [dies, again])
    assert [r.status for r in kept.manifest.records] == ["ok", "failed", "ok"]
    assert "id=12" in again.plan and "id=10" not in again.plan and "id=11" not in again.plan
    assert len(result.failures) == 1
    assert [w.code for w in kept.manifest.warnings] == ["target-failed"]
    assert not kept.manifest.partial


def test_a_target_that_dies_before_its_first_record_is_not_restarted_forever(
    tmp_path: Path,
) -> None:
    result, kept = run(tmp_path, [Scripted([said(FAULT, done=False)])])
    assert kept.manifest.partial and "died" in kept.manifest.partial_reason
    assert [(r.id, r.status) for r in kept.manifest.records] == [(10, "failed")]
    assert len(result.failures) == 1


@pytest.mark.parametrize(
    ("name", "probes", "systems"),
    [
        ("", ("0483:374b:066EFF505251", "066EFF505251", "0671FF484957"), 2),
        ("", ("", ""), 1),
        ("desk1", ("066EFF505251", "0671FF484957"), 1),  # its name says which board it is
    ],
)
def test_the_runs_of_two_equal_boards_are_told_apart_by_their_probes(
    name: str, probes: tuple[str, ...], systems: int, tmp_path: Path
) -> None:
    conditions = []
    for probe in probes:
        asked = job(tmp_path, [])
        asked.name = TargetName("freertos", "stm32f4", "board", name)
        asked.setup = Setup(link=BoardLink(probe=probe))
        conditions.append([(condition.kind, condition.value) for condition in asked.entries()])
    assert len({tuple(of_probe) for of_probe in conditions}) == systems
    assert "505251" not in str(conditions)


def test_a_record_without_any_frame_is_stored_as_failed(tmp_path: Path) -> None:
    frames = [encode_message(m, n) for n, m in enumerate([hello(), *record(10), *record(11)])]
    frames.append(encode_message(Done(records=2, frames=8), 7))
    line = b"".join(frames[:1] + frames[4:])
    result, kept = run(tmp_path, [Scripted([line])], points=2)
    assert [(r.id, r.status) for r in kept.manifest.records] == [(10, "failed"), (11, "ok")]
    assert kept.record(10).reason == "every frame of this record was lost"
    assert "3 frames lost between 0 and 4" in result.failures[0].message


def test_the_record_contains_the_end_points_of_the_timed_region(tmp_path: Path) -> None:
    _, kept = run(tmp_path, [Scripted([said(record(10))])], points=1)
    entry = kept.record(10)
    assert (entry.begins, entry.ends, entry.source) == (
        "before send",
        "after receive",
        "yoo2024 algorithm 1",
    )
    assert (entry.cold, entry.drains, entry.ranks) == (1, [3], {"rank_a": 8})


def test_a_chatty_target_does_not_hide_other_warnings(tmp_path: Path) -> None:
    notes: list[AnyMessage] = [Text(f"cycle {n} was late") for n in range(30)]
    notes += [Text(f"word {chr(97 + n)}") for n in range(24)]
    _, kept = run(tmp_path, [Scripted([said([*notes, *record(10)])])], points=1)
    assert [w.code for w in kept.manifest.warnings] == ["target-note"] * 20 + ["target-notes"]
    assert kept.manifest.warnings[0].message == "cycle 0 to 29 was late (30 times)"
    assert "5 more kinds of messages" in kept.manifest.warnings[-1].message
    assert (kept.path / "console.txt").read_text().count("was late") == 30


def test_pauses_do_not_hide_the_event_of_a_drive(tmp_path: Path) -> None:
    seen = [f"cycle {100 + n}: skipped cycles: {1 + n % 7}" for n in range(40)]
    notes: list[AnyMessage] = [Text(f"{text}: continuing") for text in seen]
    notes.append(Text("cycle 150: drive of axis 3 reports fault 30080: power off"))
    result, kept = run(tmp_path, [Scripted([said([*notes, *record(10)])])], points=1)
    assert kept.manifest.warnings == [] and result.failures == []
    pauses, drive = kept.manifest.events
    assert pauses.text == "skipped cycles: 1 to 7"
    assert (pauses.count, pauses.first_cycle, pauses.last_cycle) == (40, 100, 139)
    assert drive.text == "drive of axis 3 reports fault 30080"
    assert (drive.reaction, drive.count, drive.first_cycle) == ("power off", 1, 150)


def test_events_of_a_second_boot_join_those_of_the_first(tmp_path: Path) -> None:
    first: list[AnyMessage] = [Text("cycle 9: no answer to the frame, 1 in a row: holds")]
    again: list[AnyMessage] = [Text("cycle 4: no answer to the frame, 2 in a row: holds")]
    dies = Scripted([said([*first, *record(10)], [begin(11)], FAULT, done=False)])
    _, kept = run(tmp_path, [dies, Scripted([said([*again, *record(12)])])])
    (event,) = kept.manifest.events
    assert event.text == "no answer to the frame, 1 to 2 in a row"
    assert (event.count, event.first_cycle, event.last_cycle) == (2, 4, 9)


@pytest.mark.parametrize(
    ("tier", "virtual", "expected"),
    [
        ("emulated", "", "instruction"),
        ("rtl", "kvm", "cycle-exact"),
        ("host", "kvm", "hosted"),
        ("host", "", "hardware"),
        ("guest", "kvm", "instruction"),
        ("board", "", "hardware"),
    ],
)
def test_the_class_of_a_clock_follows_from_tier_and_machine(
    tier: str, virtual: str, expected: str
) -> None:
    assert clock_class(tier, virtual) == expected  # type: ignore[arg-type]


def test_companions_are_stored_with_their_lane(tmp_path: Path) -> None:
    told: list[AnyMessage] = [
        begin(10, lanes=["all", "all:cycle", "all:faults"]),
        samples([1, 2, 3, 4, 5, 6], record=10),
        samples([0, 1, 2, 4, 5, 7], record=10, lane=1),
        samples([9, 0, 0, 0, 1, 0], record=10, lane=2),
        end(10),
    ]
    _, kept = run(tmp_path, [Scripted([said(told), None])], points=1)
    (entry,) = kept.manifest.records
    assert (entry.status, entry.reason) == ("ok", "")
    (lane,) = entry.series
    beside = entry.companions(lane)
    assert [
        (kind, companion.unit, companion.companion_of) for kind, companion in beside.items()
    ] == [
        ("cycle", "index", "all"),
        ("faults", "count", "all"),
    ]
    assert kept.samples(entry, beside["cycle"]).tolist() == [0, 1, 2, 4, 5, 7]
    assert beside["faults"].taken == lane.taken == 6
