# SPDX-License-Identifier: Apache-2.0
"""What a guest sends of a recording is believed only when it is whole."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping

import pytest

from kadenz.errors import KadenzError, TargetFailed, ToolMissing
from kadenz.watching.events import Switch
from kadenz.watching.guest_ring import GuestRing
from tests.watching.test_pages import COMMON, FORMATS, NUMBERS, SWITCH, event, page

FACTS = "program 134\nleft 0\ndropped 0\noverrun 0\ncost_events 10\ncost_ns 5000\n"
HEAD = "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"
FILES = {
    "facts": FACTS,
    "events/header_page": HEAD,
    **{
        f"events/{name}/format": f"name: x\nID: {NUMBERS[name]}\nformat:\n{COMMON}{fields}\n"
        for name, fields in FORMATS.items()
    },
}
RING = page(1000, event(0, SWITCH) + event(50, SWITCH))


def sent(files: Mapping[str, str], ring: bytes = b"ring\n" + RING) -> bytes:
    texts = [f"file {name} {len(text)}\n{text}" for name, text in files.items()]
    return "".join(texts).encode() + ring


def test_facts_and_events_are_read() -> None:
    ring = GuestRing(sent(FILES), "a guest")
    assert (ring.facts["program"], ring.facts["cost_ns"]) == (134, 5000)
    events = list(ring.events())
    assert [event.at for event in events] == [1000, 1050]
    assert all(isinstance(event, Switch) for event in events)
    assert "syscalls" not in ring.lacking and "sched/sched_wakeup" in ring.lacking


def test_a_kernel_without_the_schedulers_events_is_named() -> None:
    files = {name: text for name, text in FILES.items() if "sched_waking" not in name}
    with pytest.raises(ToolMissing, match="a guest: this kernel has no event sched/sched_waking"):
        GuestRing(sent(files), "a guest")


@pytest.mark.parametrize("missing", ["ring", "facts", "events/header_page"])
def test_a_recording_without_a_part_is_refused(missing: str) -> None:
    files = {name: text for name, text in FILES.items() if name != missing}
    whole = sent(files, b"" if missing == "ring" else b"ring\n" + RING)
    with pytest.raises(TargetFailed, match="did not come out whole"):
        GuestRing(whole, "a guest")


def test_damage_is_refused_or_read_and_no_file_is_written_elsewhere() -> None:
    whole, chance = bytearray(sent(FILES | {"facts": FACTS})), random.Random(35)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 8)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        del damaged[chance.randrange(len(damaged)) :]
        with contextlib.suppress(KadenzError):
            list(GuestRing(bytes(damaged), "a guest").events())
    with pytest.raises(TargetFailed):
        GuestRing(sent({**FILES, "../escaped": "x"}), "a guest")
