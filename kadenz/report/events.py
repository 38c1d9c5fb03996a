# SPDX-License-Identifier: Apache-2.0
"""Events of single cycles in words."""

from __future__ import annotations

from kadenz.config.manifest import Manifest


def line(manifest: Manifest) -> str:
    """ "41 events of 3 kinds"; "" if the target reported none."""
    kinds, count = len(manifest.events), sum(event.count for event in manifest.events)
    if not count:
        return ""
    return f"{count:,} event{'s' if count > 1 else ''} of {kinds} kind{'s' if kinds > 1 else ''}"
