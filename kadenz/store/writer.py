# SPDX-License-Identifier: Apache-2.0
"""Writes a run to the disk during the measurement: no sample is lost, and none is half written.

The folder is called `<id>.partial` until it is complete, then renamed. At any time it contains a
run.json that `read_run` understands. It names every record that ended, and the current one at most
CHECKPOINT_S after its start.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import KILLED, Manifest, RecordEntry
from kadenz.errors import StoreError
from kadenz.store.consistency import missing_records
from kadenz.store.layout import (
    CONSOLE,
    PARTIAL_SUFFIX,
    RESERVE,
    SAMPLES,
    lane_file,
    profile_file,
    timeline_file,
    trace_file,
)
from kadenz.store.manifest_file import write_manifest
from kadenz.store.npy import GrowingNpy
from kadenz.store.resuming import go_on
from kadenz.store.running import Running
from kadenz.store.storage_file import held_values, next_values

CHECKPOINT_S = 0.25  # a killed lab loses at most the samples of this time
_RESERVE_BYTES = 1 << 20


class RunWriter:
    """Writes one run. Use it as a context manager: leaving it early keeps a partial run.

    `quiet`: a wait for the disk would change what is measured, so nothing is forced to it until
    `force` or the end; this matters only in a power cut. StoreError if the disk does not take the
    data; the run so far is still kept.
    """

    def __init__(
        self,
        parent: Path,
        manifest: Manifest,
        *,
        quiet: bool = False,
        earlier: Path | None = None,
    ) -> None:
        """A new folder below `parent`, or the folder `earlier` of a partial run, which goes on.

        Its records that `manifest` has stay; the others are set aside. BlockingIOError if another
        process completes or measures it.
        """
        self.manifest = manifest
        self._quiet = quiet
        self._news = True  # since the last checkpoint
        self._files: dict[tuple[int, int], GrowingNpy] = {}
        self._open: dict[int, RecordEntry] = {}
        self._checkpoint_at = 0.0
        self._finished: Path | None = None
        self._refused = False  # by the disk: nothing more is stored
        self._held: Path | None = None  # the storage, by its descriptor: its name may vanish
        try:
            if earlier is not None:
                self.folder, self._running = go_on(earlier, manifest)
            else:
                parent.mkdir(parents=True, exist_ok=True)
                self.folder = _new_folder(parent, manifest)
                self._running = Running(self.folder)
                (self.folder / SAMPLES).mkdir()
            with (self.folder / RESERVE).open("wb") as reserve:
                os.posix_fallocate(reserve.fileno(), 0, _RESERVE_BYTES)
            self.checkpoint(force=True)
        except BlockingIOError:
            raise
        except OSError as error:
            raise _store_error(error, parent, "nothing was measured yet") from None

    def open_record(self, entry: RecordEntry) -> None:
        """Opens a record; the files of its lanes are created with their first values."""
        self.manifest.records.append(entry)
        self._open[entry.id] = entry
        self._news = True
        self._guard(self.checkpoint)

    def hold(self, storage: Path, descriptor: int) -> None:
        """From now on `storage` contains the samples that the target has not sent yet.

        It is open here as `descriptor` until `let_go`.
        """
        self._held = Path(f"/proc/self/fd/{descriptor}")
        self._guard(setattr, self._running, "storage", storage)

    def let_go(self) -> None:
        """Fetches the samples of unfinished records from the storage, which is about to go."""
        if self._refused:
            return
        try:
            for entry in self._open.values():
                self._guard(self._fetch, entry)
            if self._open:  # their samples are on the disk before the folder forgets the storage
                self._guard(lambda: self.checkpoint(force=True))
            self._guard(setattr, self._running, "storage", None)
        finally:
            self._held = None  # its descriptor will be closed

    def running_values(self, record: int, lane: int, seen: int) -> NDArray[Any]:
        """Values after the first `seen` that the target holds and has not sent yet."""
        if self._held is None or record not in self._open:
            return np.empty(0, dtype="<u4")
        try:
            return next_values(self._held, self._open[record], lane, seen)
        except OSError:  # it ends just now
            return np.empty(0, dtype="<u4")

    def append(self, record: int, lane: int, values: NDArray[Any]) -> None:
        """Takes the next values of a lane."""
        self._guard(self._append, record, lane, values)

    def close_record(
        self, record: int, *, ended: bool = True, settle: Callable[[], None] = lambda: None
    ) -> None:
        """Closes a record and sets its lanes' `taken` to the number of values on the disk.

        If the target did not end it, the samples that the target still held are fetched. `settle`
        is called then, before the manifest is written.
        """
        self._guard(self._close_record, record, ended, settle)

    def say(self, text: str) -> None:
        """Stores a line of text for the user, next to the samples."""
        self._guard(self._say, text)

    def keep_profile(self, record: int, bench: str, content: bytes) -> None:
        """Stores the profile of a record, whole or not at all."""
        self._guard(self._keep, profile_file(record, bench), content)

    def keep_timeline(self, record: int, bench: str, content: bytes) -> None:
        """Stores the timeline of a record, whole or not at all."""
        self._guard(self._keep, timeline_file(record, bench), content)

    def keep_trace(self, record: int, bench: str, content: bytes) -> None:
        """Stores what Linux recorded of a record, whole or not at all."""
        self._guard(self._keep, trace_file(record, bench), content)

    def checkpoint(self, *, force: bool = False) -> None:
        """Updates the folder: at once, or if there is news and CHECKPOINT_S have passed."""
        now = time.monotonic()
        if not force and (not self._news or now - self._checkpoint_at < CHECKPOINT_S):
            return
        for (record, lane), file in self._files.items():
            file.flush()
            self._count(record, lane, file)
        partial = self.manifest.partial, self.manifest.partial_reason
        self.manifest.partial = True
        self.manifest.partial_reason = partial[1] or KILLED
        # A power cut loses the samples since the last checkpoint that was forced to the disk.
        due = now - self._checkpoint_at >= CHECKPOINT_S
        try:
            write_manifest(self.folder, self.manifest, sync=due and not self._quiet)
        finally:
            self.manifest.partial, self.manifest.partial_reason = partial
        if due:
            self._checkpoint_at = now
        self._news = False

    def force(self) -> None:
        """From now on checkpoints are forced to the disk: the quiet part is over."""
        self._quiet = False
        self._news = True

    def keep_up(self) -> None:
        """Writes out buffered samples; call at least twice a second."""
        self._guard(self.checkpoint)

    def finish(self, partial_reason: str = "") -> Path:
        """Ends the run and gives the folder its final name; a reason makes it partial."""
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
        if self._finished is None and not self._refused:
            self.finish(_why(error))

    def _append(
        self, record: int, lane: int, values: NDArray[Any], *, left_behind: bool = False
    ) -> None:
        file = self._files.get((record, lane))
        if file is None:
            entry = self._open[record]
            name = lane_file(record, entry.bench, entry.lanes[lane].name)
            of = entry.lanes[lane].dtype
            file = GrowingNpy(self.folder / name, of, left_behind=left_behind)
            entry.lanes[lane].file = name
            self._files[record, lane] = file
        file.append(values)
        self._news = True
        self.checkpoint()

    def _close_record(
        self, record: int, ended: bool, settle: Callable[[], None] = lambda: None
    ) -> None:
        if not ended:
            self._fetch(self._open[record])
        for key in [k for k in self._files if k[0] == record]:
            file = self._files[key]
            digest = file.close()
            self._count(*key, file)
            self._open[record].lanes[key[1]].sha256 = digest
            # Last: what was interrupted, or refused by the disk, is done again at the end.
            del self._files[key]
        del self._open[record]
        settle()
        self.checkpoint(force=True)

    def _fetch(self, entry: RecordEntry) -> None:
        """Fetches the samples of a record that the target did not send."""
        storage = self._held if self._held and self._held.exists() else self._running.storage
        if storage is None:
            return
        for lane in range(len(entry.lanes)):
            if entry.lanes[lane].sha256:
                continue  # closed, with all that was measured
            file = self._files.get((entry.id, lane))
            have = file.received if file is not None else 0
            try:
                values = held_values(storage, entry, lane, have)
            except OSError:
                return  # it is gone: the samples that arrived are kept
            if values.size:
                # Ctrl-C may have left an empty file.
                self._append(entry.id, lane, values, left_behind=True)

    def _count(self, record: int, lane: int, file: GrowingNpy) -> None:
        entry = self._open[record].lanes[lane]
        entry.account(file.count, entry.missed)

    def _keep(self, name: str, content: bytes) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        part = file.with_name(f".{file.name}")
        part.write_bytes(content)
        part.replace(file)

    def _say(self, text: str) -> None:
        with (self.folder / CONSOLE).open("a", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n")

    def _finish(self, partial_reason: str) -> None:
        if self._final.exists():  # Ctrl-C came when everything was done
            self._end()
            return
        for record in list(self._open):
            self._close_record(record, False)
        partial_reason = partial_reason or missing_records(self.manifest)
        if partial_reason:
            self.manifest.partial = True
            self.manifest.partial_reason = partial_reason
        (self.folder / RESERVE).unlink(missing_ok=True)
        write_manifest(self.folder, self.manifest, sync=True)
        if self._running.storage is not None:  # Ctrl-C came in `let_go`
            self._running.storage.unlink(missing_ok=True)
        for path in (self.folder / SAMPLES).iterdir():
            _sync(path)
        _sync(self.folder)
        self._rename()

    @property
    def _final(self) -> Path:
        return self.folder.with_name(self.folder.name.removesuffix(PARTIAL_SUFFIX))

    def _rename(self) -> None:
        self.folder.rename(self._final)
        self._end()

    def _end(self) -> None:
        final = self._final
        self._running.end(final)
        _sync(final.parent)
        self.folder = self._finished = final

    def _guard(self, step: Any, *arguments: Any) -> None:
        """Does a step; if the disk refuses it, saves the run so far before raising."""
        try:
            step(*arguments)
        except OSError as error:
            raise self._rescue(error) from None

    def _rescue(self, error: OSError) -> StoreError:
        """Ends the run on a full disk; samples still in memory are dropped."""
        self._refused = True
        (self.folder / RESERVE).unlink(missing_ok=True)
        for key, file in self._files.items():
            digest = file.abandon()
            self._count(*key, file)
            self._open[key[0]].lanes[key[1]].sha256 = digest
        self._files.clear()
        for entry in self._open.values():
            entry.status, entry.reason = "failed", f"the disk refused: {error.strerror}"
        self._open.clear()
        self.manifest.partial = True
        self.manifest.partial_reason = f"could not be written: {error.strerror}"
        with contextlib.suppress(OSError):  # then the folder stays ….partial, but readable
            write_manifest(self.folder, self.manifest, sync=True)
            self._rename()
        self._running.close()
        return _store_error(error, self.folder, f"the samples so far are in {self.folder}")


def _new_folder(parent: Path, manifest: Manifest) -> Path:
    """`parent/<id>.partial`, with a number after the id if it is taken; sets manifest.id."""
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
    except OSError as error:
        # Some file systems (9p, CIFS, FUSE) cannot force a folder to the disk, only its files.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP) or not path.is_dir():
            raise
    finally:
        os.close(file)


def _store_error(error: OSError, where: Path, kept: str) -> StoreError:
    remedies = {
        errno.ENOSPC: "Free some space, or use another disk with --output",
        errno.EDQUOT: "Your quota is used up: use another disk with --output",
        errno.EFBIG: "The file-size limit is reached: raise `ulimit -f`, or use --output",
        errno.EACCES: "Choose a folder that you may write to with --output",
        errno.EROFS: "Choose a writable folder with --output",
    }
    return StoreError(
        f"{where}: cannot be written: {error.strerror}; {kept}",
        remedy=remedies.get(error.errno or 0, "Choose another folder with --output"),
    )
