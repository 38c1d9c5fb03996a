# SPDX-License-Identifier: Apache-2.0
"""A one-dimensional .npy file that grows while it is written and is readable even if unfinished.

The header has a fixed size (128 bytes, version 1.0 of numpy's format) and is rewritten with the
count at each flush. If the process is killed, the count in the header is too small, and the size of
the file gives the rest.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.regular_files import NotRegular

HEADER_BYTES = 128
_CHUNK = 1 << 16  # bytes buffered before they are written


def header(dtype: str, count: int) -> bytes:
    """The first 128 bytes of a .npy file of `count` values of `dtype` ("<u4")."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}"
    room = HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", room) + f"{text:<{room - 1}}\n".encode()


def sha256_of(path: Path) -> str:
    """The digest of the whole file, as `sha256sum` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class GrowingNpy:
    """Writes values to `path` as they arrive. OSError (disk full) leaves a readable file.

    A file left by a killed process is continued after its last whole value.
    """

    def __init__(self, path: Path, dtype: str, *, left_behind: bool = False) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.count = 0  # values on the disk
        self._pending = bytearray()
        fresh = 0 if left_behind else os.O_EXCL
        flags = os.O_RDWR | os.O_CREAT | fresh | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o644)
        state = os.fstat(self._file)
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            os.close(self._file)
            raise NotRegular(path, "a file of its own is expected here")
        if left_behind and state.st_size >= HEADER_BYTES:
            self._keep_whole_values()
            os.lseek(self._file, 0, os.SEEK_END)
            return
        try:
            self._write(header(dtype, 0))
        except OSError:
            os.close(self._file)
            path.unlink(missing_ok=True)
            raise

    @property
    def received(self) -> int:
        """The number of values so far, including those still in memory."""
        if self._file >= 0:
            self._keep_whole_values()  # Ctrl-C may have left the count behind
        return self.count + len(self._pending) // self.dtype.itemsize

    def append(self, values: NDArray[Any]) -> None:
        """Takes the next values; they may stay in memory until the next flush."""
        self._pending += values.astype(self.dtype, copy=False).tobytes()
        if len(self._pending) >= _CHUNK:
            self._drain()

    def flush(self) -> None:
        """Writes everything so far to the file, and the count to its header."""
        if self._file >= 0:
            self._drain()
            os.pwrite(self._file, header(self.dtype.str, self.count), 0)

    def close(self) -> str:
        """Ends the file; returns its SHA-256, read back from the file system.

        If this was interrupted, or the disk refused the last values, a second call completes it.
        """
        if self._file >= 0:
            try:
                self._drain()
            finally:
                self._keep_whole_values()
                os.pwrite(self._file, header(self.dtype.str, self.count), 0)
            file, self._file = self._file, -1
            os.close(file)
        return sha256_of(self.path)

    def abandon(self) -> str:
        """Ends the file with the values on the disk; values in memory are dropped."""
        self._pending.clear()
        return self.close()

    def _drain(self) -> None:
        # Taken first: values that were written must not be written again after Ctrl-C.
        data, self._pending = self._pending, bytearray()
        try:
            self._write(data)
        finally:
            self._keep_whole_values()  # a full disk, or Ctrl-C, may leave a partial write

    def _keep_whole_values(self) -> None:
        size = os.fstat(self._file).st_size
        self.count = max(0, size - HEADER_BYTES) // self.dtype.itemsize
        os.ftruncate(self._file, HEADER_BYTES + self.count * self.dtype.itemsize)

    def _write(self, data: bytes | bytearray) -> None:
        left = memoryview(data)
        try:
            while left:
                written = os.write(self._file, left)
                left = left[written:]
        finally:
            left.release()
