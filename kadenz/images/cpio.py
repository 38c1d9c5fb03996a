# SPDX-License-Identifier: Apache-2.0
"""Archives in the format `newc`, which Linux unpacks as its initial file system.

Source: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. Archives can be
concatenated: later files replace earlier ones. They contain no owner and no time, so that equal
contents give equal bytes.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_ALIGN = 4
_END = "TRAILER!!!"


@dataclass(frozen=True)
class Node:
    """A character device, by its numbers as in mknod(2)."""

    major: int
    minor: int
    mode: int = 0o600


@dataclass(frozen=True)
class File:
    """A file; `mode` holds its permissions."""

    data: bytes
    mode: int = 0o644


Entry = File | Node | None  # None: a folder


def archive(entries: Mapping[str, Entry]) -> bytes:
    """Builds an archive from paths without a leading slash; folders must precede their contents."""
    parts = [_entry(number, path, entry) for number, (path, entry) in _numbered(entries)]
    return b"".join([*parts, _entry(0, _END, File(b"", 0))])


def _numbered(entries: Mapping[str, Entry]) -> Iterator[tuple[int, tuple[str, Entry]]]:
    yield from enumerate(entries.items(), start=1)


def _entry(number: int, path: str, entry: Entry) -> bytes:
    data, major, minor = b"", 0, 0
    if entry is None:
        mode = stat.S_IFDIR | 0o755
    elif isinstance(entry, Node):
        mode, major, minor = stat.S_IFCHR | entry.mode, entry.major, entry.minor
    else:
        mode, data = (stat.S_IFREG | entry.mode if path != _END else 0), entry.data
    name = path.encode() + b"\0"
    # inode, mode, uid, gid, links, time, size, device of the file system (2), of the node (2),
    # length of the name, checksum (always 0 in `newc`)
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(head + name) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGN)
