# SPDX-License-Identifier: Apache-2.0
"""The baseline of `kadenz gate`: run folders, or the newest runs of a label in an archive."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kadenz.cli.archive_option import find_archive
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.store import Run

PREFIX = "archive:"
# Runs of each system: as many as a comparison takes for the spread between runs.
NEWEST = 10


def baseline_runs(names: Sequence[str], archive: str, compared: Sequence[Run]) -> list[Run]:
    """The runs of --against. Those of an archive are restored to a temporary folder.

    The spread between them decides with which certainty a new run differs. UsageError if there is
    no such run.
    """
    from kadenz.cli.folders import find_runs

    folders = [Path(name) for name in names if not name.startswith(PREFIX)]
    labels = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    found = find_runs(folders)
    for label in labels:
        found += _labelled(label, archive, compared)
    return found


def _labelled(label: str, archive: str, compared: Sequence[Run]) -> list[Run]:
    from kadenz.archive.restore import newest, restore
    from kadenz.cli.folders import find_runs

    place = find_archive(archive)
    ids = [id for run in compared for id in newest(place, label, run.manifest, NEWEST)]
    if not ids:
        targets = ", ".join(dict.fromkeys(run.manifest.target.name for run in compared))
        raise UsageError(
            f"{place.text}: no complete run of {targets} with the label {label!r}",
            remedy=f"kadenz archive add RUN --label {label}",
        )
    scratch = tempfile.TemporaryDirectory()
    atexit.register(scratch.cleanup)  # samples are mapped from it until the end
    return find_runs([restore(place, id, Path(scratch.name)) for id in dict.fromkeys(ids)])
