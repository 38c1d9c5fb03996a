# SPDX-License-Identifier: Apache-2.0
"""The digests of all that CMake and Ninja wrote into a build folder, checked before they go on.

After a power cut files are cut or empty, with dates that Ninja trusts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kadenz.images.private_copy import is_private_copy
from kadenz.images.provenance import sha256_of

_SEAL = "kadenz-seal.txt"
# Written after the build, or for a moment; their readers check them.
_OTHERS = {_SEAL, ".lock", ".ninja_lock", "catalog.json", "counter.json", "kadenz-footprint.json"}


def seal(folder: Path) -> None:
    """Stores the digests. Without this, the next build begins anew."""
    lines = [f"{sha256_of(file)} {file.relative_to(folder)}\n" for file in _files(folder)]
    (folder / _SEAL).write_text("".join([*lines, "end\n"]))


def is_whole(folder: Path) -> bool:
    """Whether every file is as it was when the folder was sealed."""
    try:
        *lines, end = (folder / _SEAL).read_text().splitlines()
    except (OSError, ValueError):
        return False
    known = [line.partition(" ") for line in lines]
    return end == "end" and all(sha256_of(folder / name) == digest for digest, _, name in known)


def _files(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):  # does not follow the link to the checkout
        for file in (Path(place) / name for name in sorted(names)):
            unsealed = file.parent == folder and (file.name in _OTHERS or is_private_copy(file))
            if not unsealed and not file.is_symlink():
                yield file
