# SPDX-License-Identifier: Apache-2.0
"""A target on this Linux dies, and its lab is killed while it closes the record: whatever step it
had reached, the run has every sample that the target held, once."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.session import Session
from kadenz.store import RunWriter, read_run
from kadenz.store.salvage import complete
from kadenz.store.storage_file import Held
from kadenz.wire.records import Ending
from tests.store.crashes import ends_at, free_storage_below
from tests.store.manifests import manifest
from tests.store.test_killed import NAME, check, fill, values
from tests.wire.streams import begin, bench

ALL = 40_000
RECORD = 20
DIED = Ending("failed", "the target was killed by signal 9")


@pytest.fixture(autouse=True)
def _small_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("kadenz.store.storage_file._quarter_of_memory", lambda: 1 << 20)
    yield
    free_storage_below(tmp_path)


def closes(writer: RunWriter, session: Session) -> None:
    """The lab hears that its target died."""
    session.closed(begin(RECORD, planned=ALL), None, DIED)


def is_interrupted(writer: RunWriter, session: Session) -> None:
    """An error ends the lab's work while the record runs."""


@pytest.mark.parametrize("ending", [closes, is_interrupted])
@pytest.mark.parametrize(("sent", "held"), [(0, 31_000), (17_000, 31_000), (9, ALL)])
def test_no_sample_is_lost_at_any_step(
    tmp_path: Path, ending: Callable[[RunWriter, Session], None], sent: int, held: int
) -> None:
    begun = begin(RECORD, planned=ALL, lanes=["core0", "core0:cycle"])

    def work(parent: Path) -> None:
        writer = RunWriter(parent, manifest(), quiet=True)
        kept = Held(writer.folder, 1 << 19)
        writer.hold(kept.path, kept.descriptor)
        session = Session(writer, "a", [Point(RECORD, begun.bench, ALL)], [bench()], Progress())
        session.opened(begun)
        writer.checkpoint(force=True)
        for lane in (0, 1):
            if sent:
                session.values(RECORD, lane, values(RECORD)[:sent])
        writer.checkpoint(force=True)
        fill(kept, values(RECORD)[:held], ALL)
        writer._checkpoint_at -= 1.0  # the next one is due: a quiet target lets it wait
        (parent / "measured").touch()
        ending(writer, session)
        writer.let_go()
        kept.remove()
        writer.finish("interrupted")

    steps = 0
    for number in range(1, 400):
        parent = tmp_path / str(number)
        killed = ends_at(number, lambda parent=parent: work(parent))  # type: ignore[misc]
        if (parent / "measured").exists():
            steps += 1
            left = parent / f"{NAME}.partial"
            run = read_run(complete(left) if left.exists() else parent / NAME)
            assert [lane.taken for lane in run.record(RECORD).lanes] == [held, held], number
            check(run)
        shutil.rmtree(parent, ignore_errors=True)
        if not killed:
            break
    assert not killed and steps > 10
