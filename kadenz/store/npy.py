# SPDX-License-Identifier: Apache-2.0
"""A one-dimensional .npy file that grows while it is written, and can be read if it never ended.

The header has a fixed size (128 bytes, version 1.0 of numpy's format) and is rewritten with the
count at each flush. When a process is killed the count in the header is too small and the size of
the file tells the rest.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER_BYTES = 128
_CHUNK = 1 << 16  # bytes gathered before they go to the disk


def header(dtype: str, count: int) -> bytes:
    """The first 128 bytes of a .npy file of `count` values of `dtype` ("<u4")."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}"
    room = HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", room) + f"{text:<{room - 1}}\n".encode()


def read_header(path: Path) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Type and shape of a file that `header` began. Raises OSError; ValueError when it did not."""
    with path.open("rb") as file:
        if np.lib.format.read_magic(file) != (1, 0):  # type: ignore[no-untyped-call]
            raise ValueError("not version 1.0 of the .npy format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)  # type: ignore[no-untyped-call]
        if file.tell() != HEADER_BYTES:
            raise ValueError(f"a header of {file.tell()} bytes, {HEADER_BYTES} expected")
    return dtype, shape


class GrowingNpy:
    """Writes values to `path` as they come. OSError (disk full) leaves a readable file."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.count = 0  # values on the disk
        self._pending = bytearray()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            self._write(header(dtype, 0))
        except OSError:
            os.close(self._file)
            path.unlink(missing_ok=True)
            raise

    def append(self, values: NDArray[Any]) -> None:
        """The next values; they may wait in memory until the next flush."""
        self._pending += values.astype(self.dtype, copy=False).tobytes()
        if len(self._pending) >= _CHUNK:
            self._drain()

    def flush(self) -> None:
        """Everything so far is in the file, and the header says how much."""
        self._drain()
        os.pwrite(self._file, header(self.dtype.str, self.count), 0)

    def close(self, *, sync: bool = True) -> None:
        """Ends the file. With `sync` its bytes are on the disk when this returns."""
        try:
            self.flush()
            if sync:
                os.fsync(self._file)
        finally:
            os.close(self._file)

    def abandon(self) -> None:
        """Ends the file with what is on the disk; what waits in memory is given up."""
        self._pending.clear()
        os.pwrite(self._file, header(self.dtype.str, self.count), 0)
        os.close(self._file)

    def _drain(self) -> None:
        try:
            self._write(self._pending)
        except BaseException:
            # A disk that fills up, or Ctrl-C, leaves part of a write: keep whole values only.
            size = os.fstat(self._file).st_size
            self.count = max(0, size - HEADER_BYTES) // self.dtype.itemsize
            os.ftruncate(self._file, HEADER_BYTES + self.count * self.dtype.itemsize)
            self._pending.clear()
            raise
        self.count += len(self._pending) // self.dtype.itemsize
        self._pending.clear()

    def _write(self, data: bytes | bytearray) -> None:
        left = memoryview(data)
        try:
            while left:
                written = os.write(self._file, left)
                left = left[written:]
        finally:
            left.release()
