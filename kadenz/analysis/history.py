# SPDX-License-Identifier: Apache-2.0
"""Earlier runs of the same system, which show how much its figures vary from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kadenz.analysis.differences import configuration, record_settings
from kadenz.analysis.matching import SameRuns
from kadenz.analysis.parameters import same_point
from kadenz.analysis.sides import Series, series_of
from kadenz.config.manifest import Manifest
from kadenz.errors import StoreError
from kadenz.store import Run, read_run
from kadenz.store.layout import MANIFEST

# Only the newest runs: machines change, and every run's samples must be read.
MOST = 10
# Fewer runs give no useful spread.
LEAST = 2
# Names and rounds do not change a figure.
_NAMES = {("campaign", "name"), ("kadenz", "version")}


class Histories:
    """Runs in the same folder as a compared run, with the same system and configuration.

    Damaged or partial runs, and the compared runs themselves, do not count. Each folder is read
    once.
    """

    def __init__(self, compared: Sequence[Run]) -> None:
        self._compared = {run.path.resolve() for run in compared}
        self._folders: dict[Path, list[Run]] = {}
        self._beside: dict[Path, list[Run]] = {}

    def series(self, same: SameRuns, lane: str) -> list[Series]:
        """The same point's samples in other runs of the system, at most the newest ten."""
        run, entry = same.runs[0]
        history: list[Series] = []
        for other in self._of(run):
            for its in other.manifest.records:
                if same_point(its, entry) and record_settings(its) == record_settings(entry):
                    refused, series = series_of(other, its, lane)
                    if not refused and series is not None:
                        history.append(series)
        return history if len(history) >= LEAST else []

    def _of(self, run: Run) -> list[Run]:
        if run.path not in self._beside:
            asked = _system(run.manifest)
            alike = [
                other
                for other in self._runs(run.path.resolve().parent)
                if other.path.resolve() not in self._compared
                and not other.manifest.partial
                and _system(other.manifest) == asked
            ]
            alike.sort(key=lambda other: other.manifest.created)
            self._beside[run.path] = alike[-MOST:]
        return self._beside[run.path]

    def _runs(self, folder: Path) -> list[Run]:
        if folder not in self._folders:
            runs = []
            for file in sorted(folder.glob(f"*/{MANIFEST}")):
                try:
                    runs.append(read_run(file.parent))
                except StoreError:
                    continue
            self._folders[folder] = runs
        return self._folders[folder]


def _system(manifest: Manifest) -> dict[tuple[str, str], str]:
    """The values that two runs must share to be repetitions of each other."""
    return {key: text for key, text in configuration(manifest).items() if key not in _NAMES}
