# SPDX-License-Identifier: Apache-2.0
"""Runs whose date is before that of a run which was there already: a clock may have been set back.

Ids begin with the date and end with the system, so that one listing of the archive is enough.
"""

from __future__ import annotations

import re

from kadenz.archive.objects import EVERY_RUN, run_of
from kadenz.archive.place import Place

_ID = re.compile(r"\d{8}-\d{6}-(?P<system>.+)")


def newest_of_each_system(place: Place) -> dict[str, str]:
    """The id of the newest run of each system, by the end of its id."""
    newest: dict[str, str] = {}
    runs, _ = place.sorted_out(EVERY_RUN)
    for id in sorted(id for _, id in map(run_of, runs)):
        if match := _ID.fullmatch(id):
            newest[match["system"]] = max(id, newest.get(match["system"], ""))
    return newest


def dated_back(id: str, newest: dict[str, str]) -> str:
    """A sentence if the run `id` has an earlier date than the newest of its system; else ""."""
    match = _ID.fullmatch(id)
    before = newest.get(match["system"], "") if match else ""
    if not match or before <= id:
        return ""
    return f"dated before {before}, which was there already: was a clock set back?"
