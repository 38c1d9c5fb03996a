# SPDX-License-Identifier: Apache-2.0
"""The timelines of a run, whatever they come from."""

from __future__ import annotations

from kadenz.analysis.linux_timeline import traced_timelines
from kadenz.analysis.motion_timeline import motion_timelines
from kadenz.config.timeline import Timeline
from kadenz.store import Run
from kadenz.store.timelines import read_timelines


def timelines_of(run: Run) -> list[Timeline]:
    """The stored timelines, those that Linux traced, and that of a motion's own records.

    StoreError for a damaged file, or a trace without its program.
    """
    return [*read_timelines(run), *traced_timelines(run), *motion_timelines(run)]
