# SPDX-License-Identifier: Apache-2.0
"""A lab killed at any point: finished records are complete, the running one is kept up to that
point, no sample is duplicated. A reader changes nothing; `complete` completes the folder."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kadenz.config.manifest import CUT_OFF, RecordEntry
from kadenz.errors import StoreError
from kadenz.store import Run, RunWriter, read_run
from kadenz.store.salvage import complete, complete_orphans
from kadenz.store.storage_file import BLANK, HEAD_BYTES, Held
from tests.store.crashes import ends_at
from tests.store.manifests import manifest, record

FINISHED = 3  # records
EACH = 40_000  # values: more than the memory buffer
NAME = manifest().id


@pytest.fixture(autouse=True)
def _small_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real size is a quarter of the memory, as address space."""
    monkeypatch.setattr("kadenz.store.storage_file._quarter_of_memory", lambda: 1 << 20)
    # A lab of another test completes what any killed lab left: not these.
    for module in ("kadenz.store.storage_file", "kadenz.store.running", "tests.store.crashes"):
        monkeypatch.setattr(f"{module}.STORAGE_PREFIX", f"tests-{os.getpid()}-")


def values(number: int, count: int = EACH) -> NDArray[np.uint32]:
    return np.arange(count, dtype="<u4") + np.uint32(number * 1_000_000)


def running(id: int, planned: int = EACH) -> RecordEntry:
    entry = record(id, planned, lanes=("core0", "core0:cycle"))
    entry.status, entry.reason = "failed", CUT_OFF
    entry.lanes[1].companion_of = "core0"
    return entry


def measured(parent: Path, *, stored: int = EACH) -> None:
    """Three whole records, and one with `stored` values."""
    with RunWriter(parent, manifest(), quiet=True) as writer:
        for number in range(10, 10 + FINISHED):
            entry = running(number)
            writer.open_record(entry)
            for start in range(0, EACH, 10_000):
                for lane in (0, 1):
                    writer.append(number, lane, values(number)[start : start + 10_000])
            entry.status, entry.reason = "ok", ""
            writer.close_record(number)
        writer.open_record(running(20))
        writer.checkpoint(force=True)
        for lane in (0, 1):
            writer.append(20, lane, values(20)[:stored])
        writer.finish()


def completed(parent: Path) -> Run:
    """The run in `parent`, completed if its lab was killed."""
    partial = parent / f"{NAME}.partial"
    return read_run(complete(partial) if partial.exists() else parent / NAME)


def check(run: Run) -> None:
    """Checks that all stored values are correct and none is duplicated."""
    seen = set()
    for entry in run.manifest.records:
        assert entry.id not in seen
        seen.add(entry.id)
        for lane in entry.lanes:
            samples = run.samples(entry, lane)
            assert (
                lane.planned == lane.taken + lane.missed + lane.not_measured
                and lane.taken == samples.size
            )
            np.testing.assert_array_equal(samples, values(entry.id)[: samples.size])
        if entry.status == "ok":
            assert [lane.taken for lane in entry.lanes] == [EACH, EACH]


@pytest.mark.parametrize("seconds", [0.0, math.inf])
def test_a_lab_killed_at_any_step_leaves_every_finished_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """With a checkpoint at every chance and with none: the same steps on any machine."""
    monkeypatch.setattr("kadenz.store.writer.CHECKPOINT_S", seconds)
    least = 0
    for number in range(1, 400):
        parent = tmp_path / str(number)
        killed = ends_at(number, lambda parent=parent: measured(parent))  # type: ignore[misc]
        left = list(parent.iterdir()) if parent.exists() else []
        if killed and not (left and (left[0] / "run.json").exists()):
            assert number < 30, "it had begun"
            continue
        check(read_run(parent / NAME))  # as the lab left it
        run = completed(parent)
        check(run)
        assert run.path == parent / NAME, "completed, and under its name"
        ended = sum(entry.status == "ok" for entry in run.manifest.records)
        assert ended >= least, "a later end lost what an earlier one kept"
        least = ended
        assert not (run.path / ".reserve").exists()
        if not killed:
            break
        whole = len(run.manifest.records) == FINISHED + 1 and least == FINISHED
        assert run.manifest.partial_reason or whole, "only its name was missing"
        shutil.rmtree(parent)
    assert not killed and ended == FINISHED and number > 60


def test_a_record_is_finished_once_it_is_closed(tmp_path: Path) -> None:
    """The manifest names it at once, not with a later record."""

    def work() -> None:
        writer = RunWriter(tmp_path, manifest(), quiet=True)
        for number in (10, 11, 12):
            entry = running(number)
            writer.open_record(entry)
            for lane in (0, 1):
                writer.append(number, lane, values(number))
            entry.status, entry.reason = "ok", ""
            writer.close_record(number)
        os._exit(9)

    assert ends_at(10**9, work)
    run = completed(tmp_path)
    assert [(entry.id, entry.status) for entry in run.manifest.records] == [
        (10, "ok"),
        (11, "ok"),
        (12, "ok"),
    ]
    check_first = run.samples(run.record(12))
    np.testing.assert_array_equal(check_first, values(12))


def test_samples_are_written_without_waiting_for_more(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path, manifest())
    writer.open_record(running(10))
    writer.append(10, 0, values(10)[:3])
    writer._checkpoint_at -= 1.0  # a second later, without another frame
    writer.keep_up()
    live = read_run(tmp_path / NAME)
    assert live.samples(live.record(10)).tolist() == values(10)[:3].tolist()
    assert live.path.name.endswith(".partial")
    writer.finish()


def test_the_folder_of_a_lab_at_work_is_read_without_changes(tmp_path: Path) -> None:
    with RunWriter(tmp_path, manifest()) as writer:
        writer.open_record(running(10))
        writer.append(10, 0, values(10))
        writer.checkpoint(force=True)
        for _ in range(3):
            run = read_run(tmp_path / NAME)
            assert run.path.name == NAME + ".partial" and run.manifest.partial
            assert run.samples(run.record(10)).size == EACH
        writer.append(10, 1, values(10))
        writer.finish()
    assert read_run(tmp_path / NAME).path.name == NAME


def killed_with_storage(parent: Path, handed_over: int, held: int, planned: int = EACH) -> None:
    """The folder of a killed lab whose host target measured `held` values of a record."""

    def work() -> None:
        writer = RunWriter(parent, manifest(), quiet=True)
        kept = Held(writer.folder, 1 << 19)
        writer.hold(kept.path, kept.descriptor)
        writer.open_record(running(20, planned))
        writer.checkpoint(force=True)
        for lane in (0, 1):
            if handed_over:
                writer.append(20, lane, values(20)[:handed_over])
        writer.checkpoint(force=True)
        fill(kept, values(20)[:held], planned)
        os._exit(9)

    assert ends_at(10**9, work)


def fill(kept: Held, samples: NDArray[np.uint32], planned: int) -> None:
    """Fills two lanes like boards/linux/storage.c and suite/core/record.c."""
    share = (os.fstat(kept.descriptor).st_size - HEAD_BYTES) // 4 // 2
    for lane in (0, 1):
        room = np.full(planned, BLANK, dtype="<u4")
        room[: samples.size] = samples
        os.pwrite(kept.descriptor, room.tobytes(), HEAD_BYTES + 4 * lane * share)


@pytest.mark.parametrize(("handed_over", "held"), [(0, 31_000), (17_000, 31_000), (9, EACH)])
def test_the_samples_a_killed_target_held_are_in_the_run_once(
    tmp_path: Path, handed_over: int, held: int
) -> None:
    killed_with_storage(tmp_path, handed_over, held)
    run = completed(tmp_path)
    entry = run.record(20)
    assert [lane.taken for lane in entry.lanes] == [held, held]
    assert all(lane.sha256 for lane in entry.lanes)
    check(run)
    again = read_run(tmp_path / NAME)
    assert again.samples(again.record(20)).size == held


def test_the_next_completion_finishes_one_that_was_killed_at_any_step(tmp_path: Path) -> None:
    killed_with_storage(tmp_path / "left", 17_000, 31_000)
    note = (tmp_path / "left" / f"{NAME}.partial" / ".running").read_bytes()
    storage = Path(note.decode().split('"')[3])
    kept = storage.read_bytes()
    for number in range(1, 200):
        parent = tmp_path / str(number)
        shutil.copytree(tmp_path / "left", parent)
        storage.write_bytes(kept)
        killed = ends_at(number, lambda parent=parent: complete(parent / f"{NAME}.partial"))  # type: ignore[misc]
        run = completed(parent)
        assert [lane.taken for lane in run.record(20).lanes] == [31_000, 31_000]
        check(run)
        shutil.rmtree(parent)
        if not killed:
            break
    assert not killed and number > 10
    assert not storage.exists(), "its memory is given back"
    shutil.rmtree(tmp_path / "left")


def test_the_next_run_frees_the_memory_of_a_killed_lab(tmp_path: Path) -> None:
    killed_with_storage(tmp_path, 0, 31_000)
    note = (tmp_path / f"{NAME}.partial" / ".running").read_bytes()
    storage = Path(note.decode().split('"')[3])
    assert storage.exists()
    complete_orphans()
    assert not storage.exists()
    run = read_run(tmp_path / NAME)
    assert run.path.name == NAME and run.record(20).lanes[0].taken == 31_000


def test_the_memory_of_a_folder_that_was_deleted_is_freed(tmp_path: Path) -> None:
    killed_with_storage(tmp_path, 0, 100)
    note = (tmp_path / f"{NAME}.partial" / ".running").read_bytes()
    storage = Path(note.decode().split('"')[3])
    shutil.rmtree(tmp_path / f"{NAME}.partial")
    complete_orphans()
    assert not storage.exists()


def test_a_foreign_file_named_by_a_folder_is_not_touched(tmp_path: Path) -> None:
    killed_with_storage(tmp_path, 100, 100)
    folder = tmp_path / f"{NAME}.partial"
    Path((folder / ".running").read_bytes().decode().split('"')[3]).unlink()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (folder / ".running").write_text(f'{{"storage":"{precious}"}}')
    assert completed(tmp_path).path.name == NAME
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("capacity", [64, 1000])
def test_drained_storage_gives_only_values_that_are_certainly_new(
    tmp_path: Path, capacity: int
) -> None:
    """With `planned` above the share of a lane, it was emptied each time it was full."""
    from kadenz.store.storage_file import held_values

    entry = running(20, planned=10 * capacity)
    storage = tmp_path / "storage"
    lane = np.full(capacity, BLANK, dtype="<u4")
    lane[: capacity // 2] = values(20)[: capacity // 2] + capacity
    storage.write_bytes(bytes(HEAD_BYTES) + lane.tobytes() * 2)
    assert held_values(storage, entry, 0, capacity).tolist() == lane[: capacity // 2].tolist()
    assert held_values(storage, entry, 1, capacity - 1).size == 0


def test_a_folder_on_a_full_or_read_only_disk_is_read_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_with_storage(tmp_path, 17_000, 31_000)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("kadenz.store.salvage.write_manifest", refuse)
        with pytest.raises(OSError, match="No space left"):
            completed(tmp_path)
        run = read_run(tmp_path / NAME)
        assert run.path.name.endswith(".partial")
        check(run)
    run = completed(tmp_path)  # with room again
    assert run.path.name == NAME and run.record(20).lanes[0].taken == 31_000


def test_every_changed_byte_of_a_sample_file_is_found(tmp_path: Path) -> None:
    measured(tmp_path)
    file = tmp_path / NAME / "samples" / "00010-itc-queue.core0.npy"
    content = file.read_bytes()
    for at in (*range(0, 140), *range(140, len(content), 997), len(content) - 1):
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        run = read_run(tmp_path / NAME)
        with pytest.raises(StoreError, match=r"00010-itc-queue\.core0\.npy"):
            run.samples(run.record(10))
    file.write_bytes(content)
    run = read_run(tmp_path / NAME)
    assert run.samples(run.record(10)).size == EACH


def test_a_digest_equals_that_of_sha256sum(tmp_path: Path) -> None:
    import hashlib

    measured(tmp_path)
    run = read_run(tmp_path / NAME)
    for entry in run.manifest.records:
        for lane in entry.lanes:
            content = (run.path / lane.file).read_bytes()
            assert lane.sha256 == hashlib.sha256(content).hexdigest()
