# SPDX-License-Identifier: Apache-2.0
"""The promises of a run folder: complete or marked, always readable, never silently wrong."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from kadenz.config.manifest import SCHEMA_VERSION, Manifest
from kadenz.errors import StoreError
from kadenz.store import RunWriter, read_run
from kadenz.store.npy import GrowingNpy, header
from tests.store.manifests import manifest, record
from tests.waiting import wait_for

VALUES = np.arange(1000, dtype="<u4")


def written(parent: Path, *, reason: str = "") -> Path:
    with RunWriter(parent, manifest()) as writer:
        writer.open_record(record())
        for start in range(0, 1000, 100):
            writer.append(10, 0, VALUES[start : start + 100])
        writer.close_record(10)
        writer.say("a note of the target")
        return writer.finish(reason)


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = written(tmp_path / "runs")
    run = read_run(folder)
    assert folder.name == run.manifest.id
    entry = run.record(10)
    assert (entry.lanes[0].taken, entry.lanes[0].missed) == (1000, 0)
    np.testing.assert_array_equal(run.samples(entry), VALUES)
    assert (folder / "console.txt").read_text() == "a note of the target\n"
    assert {path.name for path in folder.iterdir()} == {"run.json", "samples", "console.txt"}


def test_sample_files_are_plain_npy(tmp_path: Path) -> None:
    folder = written(tmp_path)
    loaded = np.load(folder / "samples" / "00010-itc-queue.all.npy")
    np.testing.assert_array_equal(loaded, VALUES)


def test_samples_are_mapped_not_copied(tmp_path: Path) -> None:
    run = read_run(written(tmp_path))
    samples = run.samples(run.record(10))
    assert isinstance(samples, np.memmap)
    assert not samples.flags.writeable


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a"), written(tmp_path / "b")
    name = "samples/00010-itc-queue.all.npy"
    assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.parametrize("dtype", ["<u4", "<i4", "<f8"])
@pytest.mark.parametrize("count", [0, 1, 12345678901])
def test_the_header_equals_numpys(tmp_path: Path, dtype: str, count: int) -> None:
    text = header(dtype, count)
    assert len(text) == 128
    file = tmp_path / "x.npy"
    file.write_bytes(text)
    with file.open("rb") as stream:
        assert np.lib.format.read_magic(stream) == (1, 0)  # type: ignore[no-untyped-call]
        shape, fortran, kind = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
    assert (shape, fortran, kind.str) == ((count,), False, dtype)


def test_two_runs_in_one_second_do_not_collide(tmp_path: Path) -> None:
    first, second = written(tmp_path), written(tmp_path)
    assert first != second
    assert read_run(second).manifest.id == f"{read_run(first).manifest.id}-2" == second.name


def test_an_error_while_measuring_keeps_the_run_as_partial(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), RunWriter(tmp_path, manifest()) as writer:
        writer.open_record(record())
        writer.append(10, 0, VALUES[:300])
        raise RuntimeError("the target caught fire")
    run = read_run(tmp_path / manifest().id)
    assert run.manifest.partial
    assert run.manifest.partial_reason == "the target caught fire"
    assert run.samples(run.record(10)).tolist() == list(range(300))
    assert (run.record(10).lanes[0].missed, run.record(10).lanes[0].not_measured) == (0, 700)


def test_ctrl_c_keeps_the_run_as_partial(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), RunWriter(tmp_path, manifest()) as writer:
        writer.open_record(record())
        writer.append(10, 0, VALUES[:5])
        raise KeyboardInterrupt
    assert read_run(tmp_path / manifest().id).manifest.partial_reason == "interrupted (Ctrl-C)"


def is_kept(folder: Path, size: int) -> bool:
    """Whether the only run, which is being measured, has a record, and `size` bytes of samples."""
    (partial,) = folder.iterdir()
    has_records = bool(json.loads((partial / "run.json").read_text())["records"])
    return has_records and sum(file.stat().st_size for file in partial.rglob("*.npy")) > size


def test_a_killed_process_leaves_a_readable_folder(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        import numpy as np
        from kadenz.store import RunWriter
        from tests.store.manifests import manifest, record
        writer = RunWriter(Path(sys.argv[1]), manifest())
        writer.open_record(record(10, 10**9))
        first = 0
        while True:
            writer.append(10, 0, np.arange(first, first + 1000, dtype="<u4"))
            first += 1000
            if first == 200_000:
                print("going", flush=True)
            time.sleep(0.0005)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"going\n"
    wait_for(lambda: is_kept(tmp_path, 4 * 180_000))
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert [path.name for path in tmp_path.iterdir()] == [manifest().id + ".partial"]
    run = read_run(tmp_path / manifest().id)  # found although it never got its final name
    assert run.manifest.partial
    assert "killed" in run.manifest.partial_reason
    samples = run.samples(run.record(10))
    assert samples.size >= 180_000  # at most 64 KiB in memory are lost
    np.testing.assert_array_equal(samples, np.arange(samples.size, dtype="<u4"))
    lane = run.record(10).lanes[0]
    assert lane.planned == lane.taken + lane.missed + lane.not_measured


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MiB; only root can mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False).returncode != 0:
        pytest.skip("mounting a tmpfs needs root: test_a_file_size_limit covers the rest")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_keeps_the_samples_and_is_reported(tiny_disk: Path) -> None:
    writer = RunWriter(tiny_disk, manifest())
    writer.open_record(record(10, 100))
    writer.append(10, 0, np.arange(100, dtype="<u4"))
    writer.close_record(10)
    writer.open_record(record(11, 10**9))
    with pytest.raises(StoreError) as caught:
        for start in range(0, 10**7, 1000):
            writer.append(11, 0, np.arange(start, start + 1000, dtype="<u4"))
    assert "No space left on device" in caught.value.message
    assert "--output" in caught.value.remedy
    run = read_run(tiny_disk / manifest().id)
    assert run.manifest.partial
    assert "No space left" in run.manifest.partial_reason
    assert run.samples(run.record(10)).tolist() == list(range(100))
    kept = run.samples(run.record(11))
    assert run.record(11).status == "failed"
    assert kept.size > 300_000  # most of the disk
    np.testing.assert_array_equal(kept, np.arange(kept.size, dtype="<u4"))


def test_a_disk_that_is_full_from_the_start_is_reported(tiny_disk: Path) -> None:
    (tiny_disk / "full").write_bytes(b"x" * (2 << 20))
    with pytest.raises(StoreError, match="nothing was measured yet"):
        RunWriter(tiny_disk, manifest())


def test_a_file_size_limit_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writer = RunWriter(tmp_path, manifest())
    writer.open_record(record(10, 10**9))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_001, hard))
    try:
        with pytest.raises(StoreError, match="File too large") as caught:
            for start in range(0, 10**6, 1000):
                writer.append(10, 0, np.arange(start, start + 1000, dtype="<u4"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert "ulimit -f" in caught.value.remedy
    kept = read_run(tmp_path / manifest().id)
    samples = kept.samples(kept.record(10))
    assert samples.size == (1_500_001 - 128) // 4  # whole values only
    np.testing.assert_array_equal(samples, np.arange(samples.size, dtype="<u4"))


def test_an_interrupted_write_keeps_whole_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = GrowingNpy(tmp_path / "x.npy", "<u4")
    real = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data[:1001]))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        file.append(np.arange(100_000, dtype="<u4"))
    monkeypatch.undo()
    file.close()
    assert np.load(tmp_path / "x.npy").tolist() == list(range(250))


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        RunWriter(tmp_path / "file" / "runs", manifest())


def test_a_folder_without_a_manifest_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a run folder"):
        read_run(tmp_path)


def test_a_newer_version_is_refused_with_a_clear_error(tmp_path: Path) -> None:
    folder = written(tmp_path)
    document = json.loads((folder / "run.json").read_text())
    document |= {"schema_version": SCHEMA_VERSION + 1, "quantum_state": "both"}
    (folder / "run.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match=r"written by a newer kadenz \(schema 3") as caught:
        read_run(folder)
    assert caught.value.remedy == "Update kadenz"


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 1}', "[]", "\x00\xff"])
def test_a_damaged_manifest_is_reported(tmp_path: Path, text: str) -> None:
    folder = written(tmp_path)
    (folder / "run.json").write_text(text)
    with pytest.raises(StoreError, match="damaged"):
        read_run(folder)


def test_an_unknown_key_in_the_manifest_is_reported(tmp_path: Path) -> None:
    folder = written(tmp_path)
    document = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(document | {"colour": "red"}))
    with pytest.raises(StoreError, match="colour"):
        read_run(folder)


def damaged_samples(folder: Path, how: str) -> None:
    file = folder / "samples" / "00010-itc-queue.all.npy"
    match how:
        case "missing":
            file.unlink()
        case "shorter":
            os.truncate(file, 2000)
        case "other type":
            file.write_bytes(header("<f8", 1000) + bytes(8000))
        case "other count":
            file.write_bytes(header("<u4", 999) + bytes(3996))
        case "not npy":
            file.write_bytes(b"hello" * 1000)


@pytest.mark.parametrize("how", ["missing", "shorter", "other type", "other count", "not npy"])
def test_damaged_samples_are_reported_and_not_read(tmp_path: Path, how: str) -> None:
    folder = written(tmp_path)
    damaged_samples(folder, how)
    run = read_run(folder)
    with pytest.raises(StoreError, match=r"00010-itc-queue\.all\.npy"):
        run.samples(run.record(10))


def test_a_missing_record_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no record 99"):
        read_run(written(tmp_path)).record(99)


def test_the_manifest_is_published_as_a_schema_and_current() -> None:
    """Regenerate with: python -m kadenz.store.schema"""
    from kadenz.store.schema import FILE, schema_text

    assert FILE.read_text() == schema_text()


def test_the_schema_accepts_written_manifests(tmp_path: Path) -> None:
    """Every key of a real manifest is in the schema, and every required key in the manifest."""
    from kadenz.store.schema import FILE

    schema = json.loads(FILE.read_text())
    document = msgspec.to_builtins(read_run(written(tmp_path)).manifest)
    top = schema["$defs"][Manifest.__name__]
    assert set(document) == set(top["properties"])
    assert set(top["required"]) <= set(document)
    assert top["additionalProperties"] is False


def test_a_quiet_run_waits_for_the_disk_from_force_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    with RunWriter(tmp_path, manifest(), quiet=True) as writer:
        writer.open_record(record(10, 6))
        writer.append(10, 0, np.arange(6, dtype="<u4"))
        writer.close_record(10)
        assert waits == []
        writer.force()
        writer._checkpoint_at -= 1.0  # a second later
        writer.keep_up()
        assert len(waits) == 1
        writer.finish()


def test_a_file_system_that_cannot_sync_folders_takes_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(file)

    monkeypatch.setattr(os, "fsync", only_files)
    assert not read_run(written(tmp_path)).manifest.partial
