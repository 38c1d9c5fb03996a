# SPDX-License-Identifier: Apache-2.0
"""What a run folder holds besides samples: files of this folder, or named."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from kadenz.config.timeline import TIMELINE_VERSION, Slice, Timeline, Track
from kadenz.errors import StoreError
from kadenz.store.bounds import read_bounds
from kadenz.store.layout import (
    BOUNDS,
    PROFILE_SUFFIX,
    PROFILES,
    RUNNING,
    TIMELINE_SUFFIX,
    TIMELINES,
)
from kadenz.store.profiles import read_profiles
from kadenz.store.reader import Run
from kadenz.store.running import is_held, storage_of
from kadenz.store.timelines import read_timelines
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, Point, Samples, manifest, write_run

READERS: dict[str, Callable[[Run], object]] = {
    f"{PROFILES}/00010-a{PROFILE_SUFFIX}": read_profiles,
    f"{TIMELINES}/00010-a{TIMELINE_SUFFIX}": read_timelines,
    BOUNDS: read_bounds,
}
STACK = {"path": [0, 1], "interrupt": False, "instructions": 40, "calls": 3}
MASKED = {"path": [0], "instructions": 9, "times": 2, "begin": 4096, "end": 4104}
VIEW = {
    "name": "all", "sample": -1, "samples": 60, "instructions": 100, "returns": 1,
    "stacks": [STACK, STACK | {"path": [2], "interrupt": True, "instructions": 60}],
    "code": [[0, 60], [1, 40]], "exceptions": {"SysTick": 1}, "masked": [MASKED],
    "locked": [MASKED], "held": [MASKED],
}  # fmt: skip
OF_ONE_SAMPLE = ("typical", "slowest", "coldest")
PROFILE: dict[str, Any] = {
    "version": 1, "record": 0, "bench": "itc/queue", "target": "x", "unit": "instruction",
    "functions": [
        {"name": name, "part": part, "file": f"{name}.c"}
        for name, part in (("main", "benchmarks"), ("send", "kernel"), ("tick", "interrupt"))
    ],
    "code": [
        {"address": 4096, "function": 0, "kind": "load", "text": "lw a0,0(a1)"},
        {"address": 4100, "function": 1, "kind": "branch", "text": "beqz a0", "line": 9},
    ],
    "lanes": [
        {
            "lane": "all",
            "paths": 2,
            "views": [VIEW, *(VIEW | {"name": name, "sample": 3} for name in OF_ONE_SAMPLE)],
        }
    ],
    "lock": {"watched": True, "lacks": ""},
}  # fmt: skip
CONTENTS = (
    b"",
    b"{}",
    b"[" * 100_000,
    b'{"version": NaN}',
    b"\xff",
    b'{"a":' * 100_000,
    b"\0" * 99,
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    for folder in (PROFILES, TIMELINES):
        (tmp_path / "run" / folder).mkdir(parents=True)
    return Run(tmp_path / "run", manifest(HIFIVE1))


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_named(name: str, run: Run) -> None:
    for content in CONTENTS:
        (run.path / name).write_bytes(content)
        with pytest.raises(StoreError, match=Path(name).name):
            READERS[name](run)


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "a function that is not there": ("code", {"function": 3}),
    "a function before the first": ("code", {"function": -1}),
    "a caller that is not there": ("stack", {"path": [0, 2**62]}),
    "a stack without a function": ("stack", {"path": []}),
    "a section in no function": ("masked", {"path": []}),
    "a section elsewhere": ("masked", {"path": [9]}),
    "an instruction that is not there": ("view", {"code": [[2, 1]]}),
    "an instruction of no kind": ("code", {"kind": "jump"}),
    "a view twice": ("view", {"name": "typical"}),
    "no typical view": ("typical", {"name": "all"}),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_profile_names_only_what_it_has(what: str, run: Run) -> None:
    """Each was an IndexError, a KeyError or a StopIteration of the report."""
    profile = copy.deepcopy(PROFILE)
    view = profile["lanes"][0]["views"][0]
    places = {"code": profile["code"][0], "stack": view["stacks"][0], "view": view}
    places["typical"] = profile["lanes"][0]["views"][1]
    place, change = WRONG[what]
    (places | {"masked": view["masked"][0]})[place].update(change)
    file = run.path / PROFILES / f"00010-a{PROFILE_SUFFIX}"
    file.write_bytes(msgspec.json.encode(profile))
    with pytest.raises(StoreError, match="00010-a.*: not a profile"):
        read_profiles(run)
    file.write_bytes(msgspec.json.encode(PROFILE))
    assert read_profiles(run)


@pytest.mark.parametrize(
    ("begin", "end", "first", "last"),
    [(0, 9, 5, 10), (3, 9, 2, 5), (0, 9, 5, 4), (9, 3, 4, 4), (-3, 9, 1, 2)],
)
def test_a_slice_is_within_its_timeline(
    begin: int, end: int, first: int, last: int, run: Run
) -> None:
    """Each ended the writer of the VCD."""
    track = Track("thread", "x", [Slice("x", first, last)])
    timeline = Timeline(TIMELINE_VERSION, 10, "a", "x", "ns", begin, end, [track])
    file = run.path / TIMELINES / f"00010-a{TIMELINE_SUFFIX}"
    file.write_bytes(msgspec.json.encode(timeline))
    with pytest.raises(StoreError, match="00010-a.*: a slice is not within the record"):
        read_timelines(run)


@pytest.mark.parametrize("name", READERS)
def test_only_a_file_of_the_folder_is_read(name: str, run: Run) -> None:
    file = run.path / name
    os.mkfifo(file)
    with pytest.raises(StoreError, match="a pipe in the place of a file"):
        READERS[name](run)
    for target in ("/dev/zero", "/etc/passwd"):
        file.unlink()
        file.symlink_to(target)
        with pytest.raises(StoreError, match="a link, which is not followed"):
            READERS[name](run)


def test_a_note_is_a_small_file_of_the_folder(run: Run) -> None:
    note = run.path / RUNNING
    os.mkfifo(note)
    assert storage_of(run.path) is None and not is_held(run.path)
    note.unlink()
    note.symlink_to("/dev/zero")
    assert storage_of(run.path) is None and not is_held(run.path)
    note.unlink()
    for content in (
        b"[" * 60_000,
        b'{"storage": "/dev/shm/../x"}',
        b'{"storage": "' + b"x" * 70_000,
    ):
        note.write_bytes(content)
        assert storage_of(run.path) is None


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("lane", ["core0", "core0:cycle"])
def test_a_value_that_is_not_finite_is_damage(lane: str, value: float, tmp_path: Path) -> None:
    lanes: dict[str, Samples] = {"core0": np.arange(500.0), "core0:cycle": np.arange(500.0)}
    lanes[lane][7] = value
    folder = write_run(tmp_path, manifest(HIFIVE1), [Point("itc/queue", lanes)])
    done = kadenz("show", folder)
    assert done.returncode == 1 and "a value is not a finite number" in done.stderr
    assert "Traceback" not in done.stderr
