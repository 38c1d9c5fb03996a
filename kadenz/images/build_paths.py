# SPDX-License-Identifier: Apache-2.0
"""Paths that a build can name: CMake, Ninja and the compiler interpret some characters.

CMake splits lists at `;` and expands `$`, GCC splits options at `,` and expands `%` in its specs,
and kadenz reads the commands as a shell would. No quoting holds through all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kadenz.errors import UsageError

_INTERPRETED = re.compile(r"[^\w /.+@#&()~-]")


def check_paths(paths: Iterable[Path]) -> None:
    """UsageError for a path that a program of the build would take for something else."""
    for path in paths:
        match = _INTERPRETED.search(str(path.absolute()))
        if match is not None:
            raise UsageError(
                f"{str(path)!r}: a build cannot name a path with {match.group()!r}",
                remedy="Rename the folder: letters, digits, spaces and . _ - + @ # & ( ) ~ work",
            )
