# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole: a full disk or a kill leaves the file of the last time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kadenz.owner import remove_left, unfinished_name


@contextmanager
def replaced(file: Path) -> Iterator[Path]:
    """A new file beside `file`, which takes its place if the block ends without an error.

    Creates the folders. A device or a pipe cannot be replaced: the block then gets `file`
    itself. A link stays, and its file is replaced. Raises OSError.
    """
    # /dev/stdout may be a regular file; /dev/shm has files of users.
    device = str(file).startswith(("/dev/", "/proc/")) and not file.is_relative_to("/dev/shm")
    if device or (file.exists() and not file.is_file()):
        yield file
        return
    final = file.resolve()
    final.parent.mkdir(parents=True, exist_ok=True)
    if final.exists():
        final.open("ab").close()  # a file that may not be written is not replaced either
    remove_left(final.parent)
    # Its name is as short as its folder allows, however long that of the file is.
    fresh = final.with_name(unfinished_name())
    try:
        yield fresh
        if final.exists():
            with suppress(PermissionError):  # of a file system without modes
                shutil.copymode(final, fresh)
        fresh.replace(final)
    finally:
        fresh.unlink(missing_ok=True)
