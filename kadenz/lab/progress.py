# SPDX-License-Identifier: Apache-2.0
"""What the lab tells while it measures. Whoever shows it implements this."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kadenz.config.manifest import ClockEntry, RecordEntry
from kadenz.lab.plan import Point


class Progress:
    """Silent; override what is of interest. Calls come from several threads.

    `live`: somebody watches, so that samples a target still holds are looked at once a second.
    """

    live = False

    def building(self, target: str) -> None:
        """The image of a target is being made."""

    def started(self, target: str, points: Sequence[Point], clock: ClockEntry) -> None:
        """A target begins to measure these points, by this clock."""

    def load(self, target: str, text: str, *, lasting: bool = False) -> None:
        """What the load beside a target does: that it starts, and (`lasting`) its rate."""

    def opened(self, target: str, record: RecordEntry) -> None:
        """A record begins."""

    def samples(self, target: str, record: RecordEntry, lane: int, values: NDArray[Any]) -> None:
        """The next values of a lane arrived, or of a companion of one."""

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""

    def note(self, target: str, text: str) -> None:
        """The target says something for a person."""

    def finished(self, target: str, folder: Path) -> None:
        """The run of a target is on the disk."""
