# SPDX-License-Identifier: Apache-2.0
"""Records that a run took from the store of values, instead of executing their target."""

from __future__ import annotations

from kadenz.config.manifest import Manifest


def stored_line(manifest: Manifest) -> str:
    """ "4 of 4 records from the store, measured 2026-11-26 10:02"; "" if there is none."""
    values = [record.value for record in manifest.records if record.value is not None]
    days = sorted({value.day for value in values if value.stored})
    if not days:
        return ""
    count = sum(value.stored for value in values)
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return f"{count} of {len(manifest.records)} records from the store, measured {when}"
