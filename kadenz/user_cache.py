# SPDX-License-Identifier: Apache-2.0
"""The folder for private tools, compiled cores, kernels and kept executions.

kadenz starts what is there, so it is the caller's own, or root's.
"""

from __future__ import annotations

import functools
import os
import shlex
import stat
from pathlib import Path

from kadenz.errors import UsageError
from kadenz.owner import foreign, user_name

_ROOT = 0


def user_cache(environ: dict[str, str] | None = None) -> Path:
    """The folder (XDG base directories); it may not exist yet.

    UsageError if another user owns it or a folder in it, or if everybody may write there.
    """
    env = os.environ if environ is None else environ
    base = env.get("XDG_CACHE_HOME") or str(Path(env.get("HOME", "~")).expanduser() / ".cache")
    folder = Path(base) / "kadenz"
    _refuse_foreign(folder)
    return folder


@functools.cache  # once a process: every look for a tool asks
def _refuse_foreign(folder: Path) -> None:
    for path in (folder, *sorted(folder.glob("*/"))):
        try:
            owner, mode = foreign(path), path.stat().st_mode
        except FileNotFoundError:
            continue
        if owner is not None and owner != _ROOT:
            raise UsageError(
                f"{path} belongs to {user_name(owner)}: kadenz starts nothing of somebody else",
                remedy="Unset XDG_CACHE_HOME, or name a folder of your own with it",
            )
        if mode & stat.S_IWOTH:
            raise UsageError(
                f"{path}: everybody may change what kadenz starts from there",
                remedy=f"Remove it, and run `kadenz setup`: rm -r {shlex.quote(str(path))}",
            )
