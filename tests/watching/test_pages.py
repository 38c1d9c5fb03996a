# SPDX-License-Identifier: Apache-2.0
"""Pages of the kernel's ring, built bit by bit: times, lost events, padding, damage."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path

import pytest

from kadenz.errors import ToolMissing
from kadenz.ftrace import Who
from kadenz.watching import live_process
from kadenz.watching.decoding import decoders, names
from kadenz.watching.events import Call, Enter, Happening, Loss, Start, Switch, Wake
from kadenz.watching.layouts import Layout
from kadenz.watching.live_process import Tail
from kadenz.watching.pages import events_of_pages

PAGE = 4096
COMMON = """ field:unsigned short common_type; offset:0; size:2; signed:0;
 field:unsigned char common_flags; offset:2; size:1; signed:0;
 field:unsigned char common_preempt_count; offset:3; size:1; signed:0;
 field:int common_pid; offset:4; size:4; signed:1;

"""
FORMATS = {
    "sched/sched_switch": """ field:char prev_comm[16]; offset:8; size:16; signed:0;
 field:pid_t prev_pid; offset:24; size:4; signed:1;
 field:int prev_prio; offset:28; size:4; signed:1;
 field:long prev_state; offset:32; size:8; signed:1;
 field:char next_comm[16]; offset:40; size:16; signed:0;
 field:pid_t next_pid; offset:56; size:4; signed:1;
 field:int next_prio; offset:60; size:4; signed:1;
""",
    "sched/sched_waking": """ field:char comm[16]; offset:8; size:16; signed:0;
 field:pid_t pid; offset:24; size:4; signed:1;
 field:int prio; offset:28; size:4; signed:1;
 field:int target_cpu; offset:32; size:4; signed:1;
""",
    "sched/sched_process_fork": """
 field:__data_loc char[] parent_comm; offset:8; size:4; signed:0;
 field:pid_t parent_pid; offset:12; size:4; signed:1;
 field:__data_loc char[] child_comm; offset:16; size:4; signed:0;
 field:pid_t child_pid; offset:20; size:4; signed:1;
""",
    "irq/irq_handler_entry": """ field:int irq; offset:8; size:4; signed:1;
 field:__data_loc char[] name; offset:12; size:4; signed:0;
""",
    "syscalls/sys_enter_futex": """ field:int __syscall_nr; offset:8; size:4; signed:1;
 field:u32 * uaddr; offset:16; size:8; signed:0;
 field:int op; offset:24; size:8; signed:0;
""",
}
NUMBERS = {name: 300 + i for i, name in enumerate(FORMATS)}
SWITCH = struct.pack(
    "=HBBi16siiq16sii", 300, 0, 0, 7, b"ctl loop\0junk", 7, 19, 0x100, b"hog", 8, 9
)
WAKING = struct.pack("=HBBi16siii", 301, 0, 0, 0, b"ctl loop", 7, 19, 1)
FORK = struct.pack("=HBBiIiIi", 302, 0, 0, 7, 0, 7, 7 << 16 | 24, 9) + b"worker\0"
IRQ = struct.pack("=HBBiiI", 303, 0, 0, 7, 24, 8 << 16 | 16) + b"virtio0\0"
FUTEX = struct.pack("=HBBii4xQQ", 304, 0, 0, 7, 202, 0x7F00, 0x80)


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A folder `events` of tracefs with some formats of Linux 6.18."""
    for name, fields in FORMATS.items():
        folder = tmp_path / name
        folder.mkdir(parents=True)
        head = f"name: {folder.name}\nID: {NUMBERS[name]}\nformat:\n"
        text = f"{head}{COMMON}{fields}\nprint fmt: x\n"
        (folder / "format").write_text(text)
    return tmp_path


def event(delta: int, payload: bytes) -> bytes:
    payload = payload.ljust(-(-len(payload) // 4) * 4, b"\0")
    if len(payload) <= 28 * 4:
        return struct.pack("=I", delta << 5 | len(payload) // 4) + payload
    return struct.pack("=II", delta << 5, len(payload) + 4) + payload


def extend(span: int, *, absolute: bool = False) -> bytes:
    kind = 31 if absolute else 30
    return struct.pack("=II", (span & (1 << 27) - 1) << 5 | kind, span >> 27)


def page(time: int, body: bytes, *, flags: int = 0, after: bytes = b"") -> bytes:
    head = struct.pack("=QQ", time, len(body) | flags)
    return (head + body + after).ljust(PAGE, b"\0")


def read(events: Path, *pages: bytes) -> list[Happening]:
    spool = io.BytesIO(b"".join(pages))
    return list(events_of_pages(spool, PAGE, 1, decoders(events, list(FORMATS))))


def test_events_have_their_fields(events: Path) -> None:
    body = b"".join(event(10, payload) for payload in (SWITCH, WAKING, FORK, IRQ, FUTEX))
    switch, waking, fork, irq, futex = read(events, page(1000, body))
    assert switch == Switch(1010, 1, 7, "ctl loop", 19, "R+", 8, "hog", 9)
    assert waking == Wake(1020, 1, 0, 7, "ctl loop", 19, 1, False)
    assert fork == Start(1030, 1, 7, 9, "worker")
    assert irq == Enter(1040, 1, 7, Who("interrupt", "virtio0", 24))
    assert futex == Call(1050, 1, 7, "futex, a lock")


def test_times_are_extended_and_absolute(events: Path) -> None:
    far, base = 5 << 27, 3 << 59
    body = event(1, WAKING) + extend(far + 2) + event(3, WAKING)
    body += extend((7 << 30) + 5, absolute=True) + event(4, WAKING)
    times = [each.at for each in read(events, page(base + 100, body))]
    assert times == [base + 101, base + 101 + far + 2 + 3, base + (7 << 30) + 5 + 4]


def test_padding_is_no_event(events: Path) -> None:
    discarded = struct.pack("=II", 6 << 5 | 29, 12) + bytes(8)
    end = struct.pack("=I", 29) + bytes(20)
    body = event(1, WAKING) + discarded + event(1, WAKING) + end
    assert [each.at for each in read(events, page(0, body))] == [1, 8]


@pytest.mark.parametrize(
    ("flags", "after", "lost"),
    [(1 << 31 | 1 << 30, struct.pack("=Q", 77), 77), (1 << 31, b"", 0)],
)
def test_lost_events_come_before_the_first_behind_the_gap(
    events: Path, flags: int, after: bytes, lost: int
) -> None:
    first = page(0, event(5, WAKING))
    second = page(1000, event(5, WAKING), flags=flags, after=after)
    assert [type(each) for each in read(events, first, second)] == [Wake, Loss, Wake]
    assert read(events, first, second)[1] == Loss(1005, 1, 0, lost)


def test_an_unknown_event_still_moves_the_time(events: Path) -> None:
    other = struct.pack("=HBBi", 999, 0, 0, 7)
    assert [e.at for e in read(events, page(0, event(5, other) + event(6, WAKING)))] == [11]


def test_damaged_pages_end_without_an_error(events: Path) -> None:
    body = b"".join(event(10, payload) for payload in (SWITCH, WAKING, FORK, IRQ, FUTEX))
    whole = bytearray(page(1000, body + extend(9) + event(1, SWITCH)))
    chance = random.Random(5)
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 9)):
            damaged[chance.randrange(len(body) + 40)] = chance.randrange(256)
        assert len(read(events, bytes(damaged))) <= PAGE // 4
    assert read(events, bytes(whole)[:100]) == []


def test_a_kernel_without_the_scheduler_s_events_is_named(tmp_path: Path) -> None:
    (tmp_path / "sched" / "sched_switch").mkdir(parents=True)
    with pytest.raises(ToolMissing, match=r"no event sched/sched_waking"):
        names(tmp_path)


def test_events_that_a_kernel_lacks_are_named(events: Path) -> None:
    recorded, lacking = names(events)
    assert set(FORMATS) <= set(recorded)
    assert "exceptions/page_fault_user" in lacking and "syscalls" not in lacking


def test_a_field_that_a_kernel_lacks_is_named() -> None:
    form = Layout(f"name: x\nID: 3\nformat:\n{COMMON}", "events/x/format")
    with pytest.raises(ToolMissing, match="no field 'vector'"):
        form.reader(("vector",))


def test_files_are_read_as_they_grow_in_the_order_of_time(events: Path, tmp_path: Path) -> None:
    names = (tmp_path / "0", tmp_path / "1")
    with names[0].open("w+b", 0) as first, names[1].open("w+b", 0) as second:
        spools = {0: first.fileno(), 1: second.fileno()}
        reader = Tail(spools, PAGE, decoders(events, list(FORMATS)))
        first.write(page(1000, event(10, WAKING) + event(500, WAKING)))
        later = page(1100, event(10, WAKING))
        second.write(later[:100])  # a page that is not whole yet
        assert [each.at for each in reader.events(1200)] == [1010]
        second.write(later[100:])
        assert [(each.at, each.cpu) for each in reader.events(5000)] == [(1110, 1), (1510, 0)]
        assert reader.events(9000) == []


def test_what_is_too_much_is_left_out_and_said(
    events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_process, "_MOST_PAGES", 2)
    spool = tmp_path / "0"
    spool.write_bytes(b"".join(page(1000 * i, event(10, WAKING)) for i in range(5)))
    with spool.open() as file:
        reader = Tail({0: file.fileno()}, PAGE, decoders(events, list(FORMATS)))
        read = reader.events(1 << 60)
    assert [(type(each), each.at) for each in read] == [(Loss, 3010), (Wake, 3010), (Wake, 4010)]
