# SPDX-License-Identifier: Apache-2.0
"""Profiles, timelines and the note of a run folder's writer: files of this folder, or named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kadenz.errors import StoreError
from kadenz.store.layout import PROFILE_SUFFIX, PROFILES, RUNNING, TIMELINE_SUFFIX, TIMELINES
from kadenz.store.profiles import read_profiles
from kadenz.store.reader import Run
from kadenz.store.running import is_held, storage_of
from kadenz.store.timelines import read_timelines
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, Point, Samples, manifest, write_run

READERS: dict[str, Callable[[Run], object]] = {
    f"{PROFILES}/00010-a{PROFILE_SUFFIX}": read_profiles,
    f"{TIMELINES}/00010-a{TIMELINE_SUFFIX}": read_timelines,
}
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
        with pytest.raises(StoreError, match="00010-a"):
            READERS[name](run)


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
    made = write_run(tmp_path, manifest(HIFIVE1), [Point("itc/queue", lanes)])
    done = kadenz("show", made)
    assert done.returncode == 1 and "a value is not a finite number" in done.stderr
    assert "Traceback" not in done.stderr
