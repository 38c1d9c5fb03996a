# SPDX-License-Identifier: Apache-2.0
"""Memory that a guest shares with the lab: a PCI device of QEMU, and a file of this machine.

Frames of a program leave through it when the program has ended (kernels/linux/guest/window.c). Its
first 8 bytes, little-endian, are the number of bytes that follow.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

BYTES = 256 << 20  # a guest of 512 MiB keeps no more in its /tmp: half of its memory
_HEAD = struct.Struct("<Q")
_PIECE_BYTES = 1 << 20
_FILE = "window"
_SLOT = 7
_DEVICE = ["-device", f"ivshmem-plain,memdev=window,addr={_SLOT}"]
PARAMETER = f"KDZ_WINDOW=0000:00:{_SLOT:02x}.0"


def options(folder: Path | None) -> list[str]:
    """QEMU's options for the device; without a folder, the part for the manifest."""
    if folder is None:
        return _DEVICE
    memory = f"memory-backend-file,id=window,share=on,size={BYTES},mem-path={folder / _FILE}"
    return ["-object", memory, *_DEVICE]


class Window:
    """The lab's end: what has come is appended to a file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE
        self._opened: IO[bytes] | None = None
        self._taken = 0

    def forward(self, output: Path) -> None:
        """Appends to `output` what came since the last call. Raises OSError."""
        if self._opened is None:
            if not self._file.exists():  # QEMU has not begun, or its output was kept
                return
            self._opened = self._file.open("rb", buffering=0)
        self._opened.seek(0)
        head = self._opened.read(_HEAD.size)
        count = _HEAD.unpack(head)[0] if len(head) == _HEAD.size else 0
        count = min(count, BYTES - _HEAD.size)  # the guest's word
        if count <= self._taken:
            return
        self._opened.seek(_HEAD.size + self._taken)
        with output.open("ab") as file:
            while self._taken < count:
                piece = self._opened.read(min(_PIECE_BYTES, count - self._taken))
                if not piece:
                    return
                file.write(piece)
                self._taken += len(piece)

    def close(self) -> None:
        """Removes the memory, which is no output of the execution."""
        if self._opened is not None:
            self._opened.close()
        self._file.unlink(missing_ok=True)
