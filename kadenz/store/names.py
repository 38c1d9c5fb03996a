# SPDX-License-Identifier: Apache-2.0
"""Names of runs, and what is in a folder of runs: read from manifests, without samples.

The runs of one call of `kadenz run` share a name: that of --name, else the call's date and time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import msgspec

from kadenz.config.manifest import ConditionEntry
from kadenz.errors import StoreError
from kadenz.json_text import read_json
from kadenz.owner import foreign, user_name
from kadenz.regular_files import read_regular
from kadenz.store.layout import MANIFEST, PARTIAL_SUFFIX
from kadenz.store.manifest_file import read_manifest
from kadenz.store.older_runs import conditions_of
from kadenz.store.running import is_held

LATEST = "latest"
_AHEAD = timedelta(days=1)  # clocks of machines that share a folder differ by less
_ROOT = 0
COMPLETE = "complete"
INTERRUPTED = "interrupted"  # its lab was killed


class _Campaign(msgspec.Struct):
    name: str
    quick: bool


class _Target(msgspec.Struct):
    name: str
    instrument: str


class _Lane(msgspec.Struct):
    planned: int


class _Record(msgspec.Struct):
    bench: str
    params: dict[str, int | str]
    status: str
    lanes: list[_Lane]
    duration_s: float | None = None


class Head(msgspec.Struct):
    """The part of run.json that tells runs apart."""

    id: str
    created: str
    duration_s: float
    partial: bool
    partial_reason: str
    campaign: _Campaign
    target: _Target
    conditions: list[ConditionEntry] | dict[str, str]  # texts in runs of schema version 1
    records: list[_Record]
    name: str = ""
    round: int = 0

    @property
    def under(self) -> list[ConditionEntry]:
        """The conditions, also of runs of schema 1, which have them as texts."""
        texts = self.conditions
        return conditions_of(texts) if isinstance(texts, dict) else texts


@dataclass(frozen=True)
class RunFolder:
    """A run folder, with the part of run.json that names it."""

    path: Path
    head: Head
    running: bool  # its lab is at work

    @property
    def name(self) -> str:
        """Its name; its id if it was measured before runs had names."""
        return self.head.name or self.head.id

    @cached_property
    def state(self) -> str:
        """ "complete", "running", "2 failed of 9 records", "partial: …"."""
        head = self.head
        if self.running:
            return "running"
        if self.path.name.endswith(PARTIAL_SUFFIX):
            return INTERRUPTED
        if head.partial:
            return f"partial: {head.partial_reason}"
        counts = Counter(self._statuses())
        bad = [f"{counts[word]} {word}" for word in ("failed", "invalid") if counts[word]]
        return f"{' and '.join(bad)} of {len(head.records)} records" if bad else COMPLETE

    def _statuses(self) -> list[str]:
        """Of each record, as every reader judges it; as it says itself if none can read the run."""
        try:
            return [record.status for record in read_manifest(self.path).records]
        except StoreError:
            return [record.status for record in self.head.records]


def runs_below(folder: Path) -> list[RunFolder]:
    """The runs in a folder, and in folders of rounds in it, the oldest first.

    Folders without a readable manifest are left out; `read_run` says what is wrong with them.
    """
    runs = []
    for file in [*folder.glob(f"*/{MANIFEST}"), *folder.glob(f"*/*/{MANIFEST}")]:
        try:
            text = read_regular(file, inside=file.parent)
            head = read_json(text, Head)
        except (OSError, msgspec.DecodeError):
            continue
        runs.append(RunFolder(file.parent, head, is_held(file.parent)))
    return sorted(runs, key=lambda run: (run.head.created, run.path.name))


def named(folder: Path, text: str, note: Callable[[str], None] = lambda text: None) -> list[Path]:
    """The runs in `folder` with this name or id, or those of the latest call; [] if there is none.

    `text` is "latest", a name or an id. `latest` ignores runs of other users but root's, and runs
    of the future: `note` takes a line about each that is later than the latest.
    """
    runs = runs_below(folder)
    if text == LATEST:
        doubts = {run.path: _doubt(run) for run in runs}
        while runs and doubts[runs[-1].path]:
            ignored = runs.pop().path
            note(f"`{LATEST}` ignores {ignored}: {doubts[ignored]}")
        runs = [run for run in runs if not doubts[run.path]]
        text = runs[-1].name if runs else text
    return [run.path for run in runs if text in (run.name, run.head.id)]


def _doubt(run: RunFolder) -> str:
    """Why a run cannot be the latest; "" if it can."""
    try:
        created = datetime.fromisoformat(run.head.created)
        owner = foreign(run.path)
    except ValueError:
        return "its date is invalid"
    except OSError as error:
        return f"{error.strerror}"
    if owner is not None and owner != _ROOT:
        return f"it belongs to {user_name(owner)}"
    if created.replace(tzinfo=created.tzinfo or UTC) > datetime.now(UTC) + _AHEAD:
        return f"its date {created:%Y-%m-%d} is in the future"
    return ""
