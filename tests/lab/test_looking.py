# SPDX-License-Identifier: Apache-2.0
"""Samples held by a target of this Linux are shown during the measurement, each one once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.config.manifest import RecordEntry
from kadenz.lab import session as sessions
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.session import Session
from kadenz.store import RunWriter
from kadenz.store.layout import PLACES, STORAGE_PREFIX
from kadenz.store.storage_file import BLANK, HEAD_BYTES
from kadenz.wire.messages import Begin
from kadenz.wire.records import Ending
from tests.store.manifests import manifest
from tests.wire.streams import begin, bench, end

SHARE = 100  # values of a lane in the storage


class Watcher(Progress):
    """Stores every value it receives."""

    def __init__(self, *, live: bool) -> None:
        self.live = live
        self.shown: dict[int, list[int]] = {0: [], 1: []}

    def samples(self, target: str, record: RecordEntry, lane: int, values: NDArray[Any]) -> None:
        self.shown[lane] += values.tolist()


def put(storage: Path, lane: int, values: list[int]) -> None:
    """Fills the lane's storage like a target: blank after the values."""
    held = np.full(SHARE, BLANK, dtype="<u4")
    held[: len(values)] = values
    with storage.open("r+b") as file:
        file.seek(HEAD_BYTES + 4 * SHARE * lane)
        file.write(held.tobytes())


@pytest.mark.parametrize("live", [True, False])
def test_held_samples_are_shown_while_they_are_taken_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, live: bool
) -> None:
    monkeypatch.setattr(sessions, "_LOOK_S", 0.0)
    descriptor, name = tempfile.mkstemp(prefix=STORAGE_PREFIX, dir=PLACES[0])
    os.close(descriptor)
    storage = Path(name)
    request.addfinalizer(storage.unlink)
    storage.write_bytes(bytes(HEAD_BYTES + 4 * SHARE * 2))
    watcher = Watcher(live=live)
    opening: Begin = begin(lanes=["core0", "core0:cycle"])
    with RunWriter(tmp_path, manifest()) as writer:
        session = Session(writer, "a", [Point(10, "itc/queue", 6)], [bench()], watcher)
        for lane in (0, 1):
            put(storage, lane, [])
        writer.hold(storage, os.open(storage, os.O_RDONLY))
        session.opened(opening)
        session.look()
        assert watcher.shown == {0: [], 1: []}
        put(storage, 0, [7, 8, 9])
        put(storage, 1, [0, 1])
        session.look()
        session.look()
        assert watcher.shown == ({0: [7, 8, 9], 1: [0, 1]} if live else {0: [], 1: []})
        put(storage, 0, [7, 8, 9, 11])
        session.look()
        session.values(10, 0, np.array([7, 8, 9, 11, 12, 13], dtype="<u4"))
        session.values(10, 1, np.arange(6, dtype="<u4"))
        assert watcher.shown == {0: [7, 8, 9, 11, 12, 13], 1: [0, 1, 2, 3, 4, 5]}
        writer.let_go()
        session.closed(opening, end(), Ending("ok", ""))
