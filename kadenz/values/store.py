# SPDX-License-Identifier: Apache-2.0
"""Where values are kept: a bounded folder in the user's cache, without a lock.

An entry is one file, renamed into its place when it is complete; whoever reads it checks it. So two
labs, a killed one or a full disk cost an entry at most. The oldest use is forgotten first: an
entry's time is that of its last use.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from kadenz.errors import UsageError
from kadenz.owner import mark, name_space, started
from kadenz.user_cache import user_cache
from kadenz.values.entry import DamagedError, Entry, ForeignError, Head, write

BOUND_BYTES = 2 << 30
WHERE, HOW_LARGE = "KADENZ_STORE", "KADENZ_STORE_BYTES"
OFF = "off"
BEGUN = ".begun"  # after a key: what an execution that was stopped had done
DIFFERING = ".differs"  # after a key: the second of two executions that should have been equal
_UNFINISHED = ".writing-"  # then its owner: name space, PID, start time, a number
_HITS = "hits"  # a folder with a file for each target, a byte for each use
_LEFT_S = 86_400.0  # after which an unfinished file of another machine is removed
_LESS = 0.9  # of the bound is kept when entries are forgotten
_numbers = itertools.count()


class Store:
    """The entries below a folder."""

    def __init__(self, folder: Path, bound: int = BOUND_BYTES) -> None:
        self.folder, self.bound = folder, bound
        self._lock = threading.Lock()
        self._bytes: int | None = None  # that are kept, about; None: not counted yet

    def find(self, key: str) -> Entry | None:
        """The entry of a key. Raises DamagedError or ForeignError for one that must not be used,
        and OSError if the folder cannot be read."""
        try:
            return Entry(self._place(key))
        except FileNotFoundError:
            return None

    def used(self, entry: Entry) -> None:
        """Notes that an entry was used now."""
        with contextlib.suppress(OSError):  # read-only: the oldest use stays unknown
            os.utime(entry.path)
            hits = self.folder / _HITS
            hits.mkdir(exist_ok=True)
            with (hits / quote(entry.head.target, safe="@")).open("ab", buffering=0) as file:
                file.write(b".")

    def put(self, head: Head, folder: Path, *, differing: bool = False) -> Path:
        """Keeps files of `folder` as an entry, in place of an older one. Raises OSError."""
        self._own_folder()
        place = self._place(head.key)
        if differing:
            place = place.with_name(f"{head.key}{DIFFERING}")
        place.parent.mkdir(exist_ok=True)
        part = place.with_name(f"{_UNFINISHED}{mark()}-{next(_numbers)}")
        try:
            with part.open("xb") as stream:
                write(stream, head, folder)
            size = part.stat().st_size
            part.replace(place)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._make_room(size)
        return place

    def begun(self, key: str) -> Path:
        """The file with which an execution of a key goes on, or in which it begins. Raises OSError
        if the folder cannot be written."""
        self._own_folder()
        place = self._place(key)
        place.parent.mkdir(exist_ok=True)
        return place.with_name(f"{key}{BEGUN}")

    def forget_begun(self, key: str) -> None:
        """An execution of a key is to begin anew."""
        with contextlib.suppress(OSError):
            self._place(key).with_name(f"{key}{BEGUN}").unlink()

    def forget(self, key: str) -> None:
        """Removes the entry of a key."""
        with contextlib.suppress(OSError):
            self._place(key).unlink()

    def entries(self) -> Iterator[Path]:
        """The files of all entries, without those that differ."""
        for file in self._files():
            if "." not in file.name:
                yield file

    def differing(self) -> list[Path]:
        """Second executions that differed from their entries."""
        return [file for file in self._files() if file.name.endswith(DIFFERING)]

    def hits(self) -> dict[str, int]:
        """How often entries were used, by target."""
        files = sorted((self.folder / _HITS).glob("*"))
        return {unquote(file.name): file.stat().st_size for file in files}

    def damaged(self) -> dict[Path, str]:
        """Entries that cannot be believed, and why: every byte is read."""
        reasons = {}
        for file in self.entries():
            try:
                with Entry(file) as entry:
                    entry.verify()
            except FileNotFoundError:
                continue  # forgotten meanwhile
            except ForeignError:
                reasons[file] = "another user wrote it"
            except (DamagedError, OSError) as error:
                reasons[file] = str(error)
        return reasons

    def clear(self) -> tuple[int, int]:
        """Removes everything. Returns how many entries, and bytes."""
        entries, size = 0, 0
        for file in [*self._files(), *(self.folder / _HITS).glob("*")]:
            with contextlib.suppress(FileNotFoundError):
                size += _bytes_of(file.stat())
                entries += "." not in file.name and file.parent.name != _HITS
                file.unlink()
        return entries, size

    def _place(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def _files(self) -> Iterator[Path]:
        yield from sorted(self.folder.glob("[0-9a-f][0-9a-f]/*"))
        yield from sorted(self.folder.glob("[0-9a-f][0-9a-f]/.*"))

    def _own_folder(self) -> None:
        """Creates the folder. PermissionError if it is another user's."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.folder.stat().st_uid != os.geteuid():
            raise PermissionError(f"{self.folder} belongs to another user")

    def _make_room(self, added: int) -> None:
        """Forgets the oldest uses if more than `bound` is kept. Others may add meanwhile."""
        with self._lock:
            if self._bytes is not None:
                self._bytes += added
                if self._bytes <= self.bound:
                    return
            known = sorted(self._sizes(), key=lambda entry: entry[0])
            self._bytes = sum(size for _, size, _ in known)
            if self._bytes <= self.bound:
                return
            for _, size, file in known:
                if self._bytes <= self.bound * _LESS:
                    return
                with contextlib.suppress(FileNotFoundError):
                    file.unlink()
                self._bytes -= size

    def _sizes(self) -> Iterator[tuple[float, int, Path]]:
        """Last use, size and file of what can be forgotten. Removes what killed writers left."""
        for file in self._files():
            with contextlib.suppress(OSError):
                status = file.stat()
                if not file.name.startswith(_UNFINISHED):
                    yield status.st_mtime, _bytes_of(status), file
                elif _is_left(file, status.st_mtime):
                    file.unlink()


def _bytes_of(status: os.stat_result) -> int:
    """Of a file on the disk: one that was begun has holes."""
    return min(status.st_size, status.st_blocks * 512)


def _is_left(file: Path, written_at: float) -> bool:
    """Whether the writer of an unfinished file died."""
    space, pid, begun, *_ = [*file.name.removeprefix(_UNFINISHED).split("-"), "", "", ""]
    if space == name_space():
        return pid.isdigit() and started(int(pid)) != begun
    return time.time() - written_at > _LEFT_S


_stores: dict[tuple[Path, int], Store] = {}


def the_store() -> Store | None:
    """The user's store; None if it is switched off. UsageError unless its bound is a number."""
    where = os.environ.get(WHERE, "")
    if where == OFF:
        return None
    folder = Path(where).absolute() if where else user_cache() / "store"
    text = os.environ.get(HOW_LARGE, "") or str(BOUND_BYTES)
    if not text.isdigit():
        raise UsageError(
            f"{HOW_LARGE}={text}: not a number of bytes", remedy="For example 2000000000"
        )
    return _stores.setdefault((folder, int(text)), Store(folder, int(text)))
