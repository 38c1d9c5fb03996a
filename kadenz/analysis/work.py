# SPDX-License-Identifier: Apache-2.0
"""Whether two figures are of the same work: timed between the same two events, and in tasks of one
kind. A task of an executor awaits and has no stack; a thread blocks and has one."""

from __future__ import annotations

import re

from kadenz.config.manifest import Manifest, RecordEntry

# Spans of the suite name the task in which they begin or end; a handler is the same everywhere.
_TASK = re.compile(r"\b(tasks?|threads?|sleep)\b")


def span(entry: RecordEntry) -> str:
    """ "from before the send to return of the receive"."""
    return f"from {entry.begins} to {entry.ends}"


def in_a_task(text: str) -> bool:
    """Whether a span begins or ends in a task."""
    return _TASK.search(text) is not None


def same_work(left: tuple[Manifest, RecordEntry], right: tuple[Manifest, RecordEntry]) -> bool:
    """Whether the records of two runs time the same work."""
    spans = span(left[1]), span(right[1])
    kinds = left[0].target.has_executor, right[0].target.has_executor
    return spans[0] == spans[1] and (kinds[0] == kinds[1] or not in_a_task(spans[0]))
