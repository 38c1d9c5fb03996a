# SPDX-License-Identifier: Apache-2.0
"""What a format of recordings is: how its files begin, and how their events are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kadenz.watching.events import Happening

HEAD_BYTES = 64  # of a file, by which its format is recognised


@dataclass(frozen=True)
class Format:
    """A format of recordings.

    `recognises` judges by the first HEAD_BYTES of a file. `read` yields its events in the order of
    their times, and raises UsageError with the place of damage. `record` is the command that
    records what a watch needs.
    """

    tool: str
    recognises: Callable[[bytes], bool]
    read: Callable[[Path], Iterator[Happening]]
    record: str
