# SPDX-License-Identifier: Apache-2.0
"""Files that others wrote: read only if they are files, and not larger than expected.

A pipe in the place of a file would be waited for, a device never ends, and a link leads out of its
folder. Each is an OSError here, so that whoever reads files names it like any unreadable one.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

MIB = 1 << 20
TEXT_BYTES = 256 * MIB  # a manifest of 100,000 records has 50 MiB
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe without a writer opens at once
_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}


class NotRegular(OSError):
    """Something else than a file, or a file larger than the limit; `strerror` says which."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.EINVAL, what, str(path))


def open_regular(path: Path, *, inside: Path | None = None) -> BufferedReader:
    """The file at `path`, opened for reading. Below `inside`, no link is followed.

    Raises NotRegular for a pipe, a device, a socket, a folder or such a link, and OSError.
    """
    descriptor = os.open(path, _OPEN) if inside is None else _open_below(inside, path)
    try:
        kind = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(kind):
            what = _KINDS.get(stat.S_IFMT(kind), "a device")
            raise NotRegular(path, f"{what} in the place of a file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, *, inside: Path | None = None, limit: int = TEXT_BYTES) -> bytes:
    """The bytes of a file of at most `limit` bytes. Raises NotRegular and OSError."""
    with open_regular(path, inside=inside) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise NotRegular(path, f"larger than {limit / MIB:g} MiB")
    return content


def _open_below(folder: Path, path: Path) -> int:
    """A descriptor of a file below a folder, which is opened link by link."""
    *parents, name = path.relative_to(folder).parts
    above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for parent in parents:
            below = _step(path, above, parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            os.close(above)
            above = below
        return _step(path, above, name, _OPEN)
    finally:
        os.close(above)


def _step(path: Path, above: int, name: str, flags: int) -> int:
    try:
        if name == "..":
            raise NotRegular(path, "outside its folder")
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=above)
    except NotRegular:
        raise
    except OSError as error:
        # With O_DIRECTORY Linux answers ENOTDIR for a link.
        link = error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, above)
        if link:
            raise NotRegular(path, "a link, which is not followed") from None
        raise OSError(error.errno, error.strerror, str(path)) from None


def _is_link(name: str, above: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except OSError:
        return False
