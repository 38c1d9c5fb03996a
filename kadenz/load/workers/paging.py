# SPDX-License-Identifier: Apache-2.0
"""Random changes to a data structure larger than the available memory (load `paging`).

    paging.py file|anonymous FILE SIZE_BYTES LIMIT_BYTES group|own

After cereia2011 (section IV-B): "manipulates a data structure larger than the available RAM". The
available RAM is LIMIT_BYTES, not that of the machine: the kernel enforces it by a memory control
group (`group`), or this program returns its pages after touching that many (`own`). Pages go to
swap (`anonymous`), or without swap to the file itself (`file`). In both cases each access to an
absent page is a major fault and a read from the disk, and a changed page is written before it is
evicted. A separate program: imports nothing of kadenz.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import sys

_PAGE = mmap.PAGESIZE
_CHUNK = 1 << 20
_CHANGED = 4  # every fourth touch changes the page
_BATCH = 1024  # maximum number of touches between two checks of the limit
_MADV_PAGEOUT = 21  # Linux 5.4; Python names it from 3.13 on


def _file_mapping(path: str, size: int) -> tuple[mmap.mmap, int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    for _ in range(0, size, _CHUNK):  # written out: a hole would not be read from the disk
        os.write(descriptor, os.urandom(_CHUNK))
    data = mmap.mmap(descriptor, size)
    _push_out(data, descriptor)  # a fault maps all pages around it that the kernel holds cached
    return data, descriptor


def main(kind: str, path: str, size: int, limit: int, limited: str) -> None:
    """Touches pages until killed."""
    # Gives up the right with which it was read (loads.toml, `reads`): no capability, capset(2).
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)())
    size = -(-size // _CHUNK) * _CHUNK
    descriptor = -1
    if kind == "file":
        data, descriptor = _file_mapping(path, size)
    else:
        data = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    data.madvise(mmap.MADV_RANDOM)  # one page per fault, no read-ahead
    pages = size // _PAGE
    anywhere = random.Random(os.getpid()).randrange
    touches = 0
    batch = min(_BATCH, max(1, limit // _PAGE))
    if kind == "anonymous":  # unwritten pages are never paged out
        for page in range(pages):
            data[page * _PAGE : page * _PAGE + 8] = page.to_bytes(8, "little")
            if limited == "own" and page % batch == 0:
                _push_out(data, descriptor)
    while True:
        for _ in range(batch):
            place = anywhere(pages) * _PAGE
            value = data[place]
            touches += 1
            if touches % _CHANGED == 0:
                data[place] = value ^ 1
        if limited == "own":
            _push_out(data, descriptor)


def _push_out(data: mmap.mmap, descriptor: int) -> None:
    """Evicts all resident pages to swap or to their file."""
    if descriptor < 0:
        data.madvise(_MADV_PAGEOUT)
        return
    data.flush()
    data.madvise(mmap.MADV_DONTNEED)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
