# SPDX-License-Identifier: Apache-2.0
"""The lock of a run folder's writer, which ends with its process in any case."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

import msgspec

from kadenz.json_text import read_json
from kadenz.regular_files import open_regular, read_regular
from kadenz.store.layout import PLACES, RUNNING, STORAGE_PREFIX

_NOTE_BYTES = 1 << 16


class _Note(msgspec.Struct):
    """The file's content, for the process that completes the folder."""

    storage: str = ""  # file with the samples of the current record


class Running:
    """The lock of a run folder. Raises BlockingIOError while another process holds it, OSError if
    the folder is not writable."""

    def __init__(self, folder: Path) -> None:
        file = folder / RUNNING
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._file = os.open(file, flags, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder may have completed the folder and removed the file.
            if not os.path.samestat(os.fstat(self._file), file.stat()):
                raise BlockingIOError(errno.EAGAIN, "completed in the meantime")
        except FileNotFoundError:
            os.close(self._file)
            raise BlockingIOError(errno.EAGAIN, "completed in the meantime") from None
        except OSError:
            os.close(self._file)
            raise

    @property
    def storage(self) -> Path | None:
        """The file with the samples of the current record, if there is one."""
        return _storage(os.pread(self._file, _NOTE_BYTES, 0))

    @storage.setter
    def storage(self, file: Path | None) -> None:
        text = msgspec.json.encode(_Note(str(file or "")))
        os.pwrite(self._file, text, 0)
        os.ftruncate(self._file, len(text))

    def end(self, folder: Path) -> None:
        """Releases the folder, which now has its final name `folder`."""
        with contextlib.suppress(OSError):
            (folder / RUNNING).unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Releases the folder without changing it."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def is_held(folder: Path) -> bool:
    """Whether the writer of a run folder is at work."""
    try:
        with open_regular(folder / RUNNING, inside=folder) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def storage_of(folder: Path) -> Path | None:
    """The storage that a folder names, regardless of its lock."""
    try:
        return _storage(read_regular(folder / RUNNING, inside=folder, limit=_NOTE_BYTES))
    except OSError:
        return None


def _storage(text: bytes) -> Path | None:
    try:
        name = read_json(text, _Note).storage
    except msgspec.DecodeError:
        return None  # killed before it was written
    file = Path(name)
    # A folder may come from anywhere, and this file is deleted once the folder is complete.
    return file if file.name.startswith(STORAGE_PREFIX) and str(file.parent) in PLACES else None
