# SPDX-License-Identifier: Apache-2.0
"""Copies blocks larger than any cache (load `memory`), and counts the copied bytes.

    memory.py COUNT_FILE BLOCK_BYTES

COUNT_FILE holds one native unsigned 64-bit number that others may map: bytes read and written so
far. Not every machine has a kernel counter for this, so the load counts by itself. A separate
program: imports nothing of kadenz.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys

_PIECE = 4 << 20  # between two updates of the count


def main(path: str, block: int) -> None:
    """Copies one block over the other, piece by piece, until killed."""
    # Gives up the right with which it was read (loads.toml, `reads`): no capability, capset(2).
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)())
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.ftruncate(descriptor, mmap.PAGESIZE)
    shared = mmap.mmap(descriptor, mmap.PAGESIZE)
    moved = ctypes.c_uint64.from_buffer(shared)
    pieces = max(1, block // _PIECE)
    blocks = [mmap.mmap(-1, pieces * _PIECE) for _ in range(2)]
    source, target = (ctypes.addressof(ctypes.c_char.from_buffer(mapping)) for mapping in blocks)
    # Unwritten pages all map to the same zero page, which fits into a cache.
    ctypes.memset(source, 0x55, pieces * _PIECE)
    while True:
        for piece in range(pieces):
            ctypes.memmove(target + piece * _PIECE, source + piece * _PIECE, _PIECE)
            moved.value += 2 * _PIECE
        source, target = target, source


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
