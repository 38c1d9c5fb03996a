# SPDX-License-Identifier: Apache-2.0
"""Reads the timelines of a run folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kadenz.config.timeline import TIMELINE_VERSION, Timeline
from kadenz.errors import StoreError
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular
from kadenz.store.layout import TIMELINE_SUFFIX, TIMELINES
from kadenz.store.reader import Run


def read_timelines(run: Run) -> list[Timeline]:
    """The timelines of a run by record; none if it was not traced.

    StoreError for a file that is damaged, or of another version.
    """
    timelines = []
    for file in sorted((run.path / TIMELINES).glob(f"*{TIMELINE_SUFFIX}")):
        try:
            timeline = read_json(read_regular(file, inside=run.path), Timeline)
        except OSError as error:
            raise _damaged(file, error.strerror or str(error)) from None
        except msgspec.DecodeError as error:
            raise _damaged(file, str(error)) from None
        if timeline.version != TIMELINE_VERSION:
            raise StoreError(
                f"{file}: a timeline of version {timeline.version}; this kadenz reads version "
                f"{TIMELINE_VERSION}",
                remedy="Trace again with this kadenz",
            )
        if not _holds_together(timeline):
            raise _damaged(file, "a slice is not within the record")
        timelines.append(timeline)
    return timelines


def _holds_together(timeline: Timeline) -> bool:
    """Whether each slice ends after its begin, and lies in the record."""
    first, last = timeline.begin, timeline.end
    slices = (track_slice for track in timeline.tracks for track_slice in track.slices)
    return 0 <= first <= last and all(
        first <= track_slice.begin <= track_slice.end <= last for track_slice in slices
    )


def _damaged(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file}: not a timeline: {what}",
        remedy="Copy the folder again from its origin, or repeat the measurement",
    )
