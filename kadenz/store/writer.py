# SPDX-License-Identifier: Apache-2.0
"""A run to the disk while it is measured: nothing that was measured is lost, nothing half is shown.

The folder is called `<id>.partial` until it is complete, then renamed. At every moment it holds a
run.json that `read_run` understands, at most CHECKPOINT_S behind the samples.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from numpy.typing import NDArray

from kadenz.config.manifest import Manifest, RecordEntry
from kadenz.errors import StoreError
from kadenz.store.layout import CONSOLE, MANIFEST, PARTIAL_SUFFIX, SAMPLES, lane_file
from kadenz.store.npy import GrowingNpy

CHECKPOINT_S = 0.25  # a killed lab loses the manifest's news of at most this long
_RESERVE = ".reserve"
# Held back on the disk, so that a full one still takes the manifest of what was measured.
_RESERVE_BYTES = 1 << 20


class RunWriter:
    """Writes one run. Use as a context manager: leaving it early keeps what there is, as partial.

    Raises StoreError when the disk does not take the data; the run so far is kept all the same.
    """

    def __init__(self, parent: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self._files: dict[tuple[int, int], GrowingNpy] = {}
        self._open: dict[int, RecordEntry] = {}
        self._checkpoint_at = 0.0
        self._finished: Path | None = None
        try:
            parent.mkdir(parents=True, exist_ok=True)
            self.folder = _new_folder(parent, manifest)
            (self.folder / SAMPLES).mkdir()
            with (self.folder / _RESERVE).open("wb") as reserve:
                os.posix_fallocate(reserve.fileno(), 0, _RESERVE_BYTES)
            self.checkpoint(force=True)
        except OSError as error:
            raise _store_error(error, parent, "nothing was measured yet") from None

    def open_record(self, entry: RecordEntry) -> None:
        """A record begins; its lanes get their files with their first values."""
        self.manifest.records.append(entry)
        self._open[entry.id] = entry
        self._guard(self.checkpoint)

    def append(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """The next values of a lane."""
        self._guard(self._append, record, lane, values)

    def close_record(self, record: int) -> None:
        """A record is complete; its lanes' `taken` become what is on the disk."""
        self._guard(self._close_record, record)

    def say(self, text: str) -> None:
        """A line for a person, kept beside the samples."""
        self._guard(self._say, text)

    def checkpoint(self, *, force: bool = False) -> None:
        """Brings run.json up to date, at most every CHECKPOINT_S unless forced."""
        now = time.monotonic()
        if not force and now - self._checkpoint_at < CHECKPOINT_S:
            return
        for (record, lane), file in self._files.items():
            file.flush()
            self._count(record, lane, file)
        partial = self.manifest.partial, self.manifest.partial_reason
        self.manifest.partial = True
        self.manifest.partial_reason = partial[1] or "the lab was killed while measuring"
        try:
            self._write_manifest()
        finally:
            self.manifest.partial, self.manifest.partial_reason = partial
        self._checkpoint_at = now

    def finish(self, partial_reason: str = "") -> Path:
        """Ends the run and gives the folder its name; a reason makes it partial."""
        self._guard(self._finish, partial_reason)
        assert self._finished is not None
        return self._finished

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._finished is None:
            self.finish(_why(error))

    def _append(self, record: int, lane: int, values: NDArray[Any]) -> None:
        file = self._files.get((record, lane))
        if file is None:
            entry = self._open[record]
            name = lane_file(record, entry.bench, entry.lanes[lane].name)
            file = GrowingNpy(self.folder / name, entry.lanes[lane].dtype)
            entry.lanes[lane].file = name
            self._files[record, lane] = file
        file.append(values)
        self.checkpoint()

    def _close_record(self, record: int) -> None:
        for key in [k for k in self._files if k[0] == record]:
            file = self._files.pop(key)
            file.close(sync=False)
            self._count(*key, file)
        del self._open[record]
        self.checkpoint()

    def _count(self, record: int, lane: int, file: GrowingNpy) -> None:
        entry = self._open[record].lanes[lane]
        entry.account(file.count, entry.missed)

    def _say(self, text: str) -> None:
        with (self.folder / CONSOLE).open("a", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n")

    def _finish(self, partial_reason: str) -> None:
        for record in list(self._open):
            self._close_record(record)
        if partial_reason:
            self.manifest.partial = True
            self.manifest.partial_reason = partial_reason
        (self.folder / _RESERVE).unlink(missing_ok=True)
        self._write_manifest()
        for path in (self.folder / SAMPLES).iterdir():
            _sync(path)
        _sync(self.folder)
        self._rename()

    def _rename(self) -> None:
        final = self.folder.with_name(self.folder.name.removesuffix(PARTIAL_SUFFIX))
        self.folder.rename(final)
        _sync(final.parent)
        self.folder = self._finished = final

    def _write_manifest(self) -> None:
        text = msgspec.json.format(msgspec.json.encode(self.manifest), indent=1)
        fresh = self.folder / (MANIFEST + ".new")
        with fresh.open("wb") as file:
            file.write(text + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.folder / MANIFEST)

    def _guard(self, step: Any, *arguments: Any) -> None:
        """Does a step; when the disk refuses, saves what is there before it tells."""
        try:
            step(*arguments)
        except OSError as error:
            raise self._rescue(error) from None

    def _rescue(self, error: OSError) -> StoreError:
        """The disk does not take more: gives up what waits in memory and ends the run."""
        (self.folder / _RESERVE).unlink(missing_ok=True)
        for key, file in self._files.items():
            file.abandon()
            self._count(*key, file)
        self._files.clear()
        for entry in self._open.values():
            entry.status, entry.reason = "failed", f"the disk refused: {error.strerror}"
        self._open.clear()
        self.manifest.partial = True
        self.manifest.partial_reason = f"could not be written: {error.strerror}"
        with contextlib.suppress(OSError):  # then the folder stays ….partial, and readable
            self._write_manifest()
            self._rename()
        return _store_error(error, self.folder, f"what was measured is kept in {self.folder}")


def _new_folder(parent: Path, manifest: Manifest) -> Path:
    """`parent/<id>.partial`, with a number behind the id when it is taken; sets manifest.id."""
    wanted = manifest.id
    for number in range(1, 1000):
        manifest.id = wanted if number == 1 else f"{wanted}-{number}"
        if (parent / manifest.id).exists():
            continue
        folder = parent / (manifest.id + PARTIAL_SUFFIX)
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise OSError(errno.EEXIST, f"{wanted}: no free name")


def _why(error: BaseException | None) -> str:
    if error is None:
        return "the run was not finished"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted (Ctrl-C)"
    return str(error) or type(error).__name__


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _store_error(error: OSError, where: Path, kept: str) -> StoreError:
    remedies = {
        errno.ENOSPC: "Free some space, or measure elsewhere with --output",
        errno.EDQUOT: "Your quota is used up: measure elsewhere with --output",
        errno.EFBIG: "The file-size limit is reached: see `ulimit -f`, or use --output",
        errno.EACCES: "Choose a folder you may write to with --output",
        errno.EROFS: "Choose a folder that can be written with --output",
    }
    return StoreError(
        f"{where}: cannot be written: {error.strerror}; {kept}",
        remedy=remedies.get(error.errno or 0, "Measure elsewhere with --output"),
    )
