# SPDX-License-Identifier: Apache-2.0
"""Run folders named on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from kadenz.errors import StoreError

if TYPE_CHECKING:
    from kadenz.store import Run


def find_runs(paths: Iterable[Path]) -> list[Run]:
    """Every run named: run folders, or folders that hold some, then in the order of their names.

    UsageError when there is no such path, StoreError when it is neither, or a run is damaged.
    """
    from kadenz.store import read_run
    from kadenz.store.layout import MANIFEST

    found = []
    for path in paths:
        inside = [] if (path / MANIFEST).exists() or path.is_file() else _inside(path, MANIFEST)
        if path.is_dir() and not inside and not (path / MANIFEST).exists():
            raise StoreError(
                f"{path}: holds no run", remedy="Name the folder that `kadenz run` printed"
            )
        found += [read_run(folder) for folder in inside or [path]]
    return found


def _inside(path: Path, manifest: str) -> list[Path]:
    return sorted(file.parent for file in path.glob(f"*/{manifest}")) if path.is_dir() else []
