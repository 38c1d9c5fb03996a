# SPDX-License-Identifier: Apache-2.0
"""The progress that the lab reports while it measures. A display implements it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kadenz.config.manifest import ClockEntry, RecordEntry
from kadenz.lab.plan import Point
from kadenz.targets.arrivals import Sweep


class Progress:
    """Silent; a subclass overrides what it shows. Calls come from several threads.

    `live`: somebody watches, so samples that a target still holds are read once a second.
    """

    live = False

    def building(self, target: str) -> None:
        """The image of a target is being built."""

    def started(self, target: str, points: Sequence[Point], clock: ClockEntry) -> None:
        """A target begins to measure these points, by this clock."""

    def load(self, target: str, text: str, *, lasting: bool = False) -> None:
        """The load next to a target starts, or (`lasting`) has this rate."""

    def opened(self, target: str, record: RecordEntry) -> None:
        """A record begins; `record` has no samples yet."""

    def samples(self, target: str, record: RecordEntry, lane: int, values: NDArray[Any]) -> None:
        """The next values of a lane arrived, or of a companion of one."""

    def swept(self, target: str, record: RecordEntry, sweep: Sweep) -> None:
        """More arrivals of a record's sample were tried; once a second while somebody watches."""

    def ended(self, target: str, record: RecordEntry) -> None:
        """A record has its verdict, which is not stored yet: a condition may still change it."""

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""

    def note(self, target: str, text: str) -> None:
        """The target sent a message for a person."""

    def finished(self, target: str, folder: Path) -> None:
        """The run of a target is on the disk."""
