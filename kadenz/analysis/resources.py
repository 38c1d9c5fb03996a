# SPDX-License-Identifier: Apache-2.0
"""Blocking by resources that tasks share (Sha, Rajkumar and Lehoczky 1990)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kadenz.config.task_set import Locks
from kadenz.stats.exact import Time


@dataclass(frozen=True)
class Use:
    """A task of this urgency holds a resource for at most `length`."""

    task: str
    urgency: int
    resource: str
    length: Time


def blocking_times(uses: Sequence[Use], urgency: int, locks: Locks, switches: Time) -> Time:
    """The longest time for which less urgent tasks hold back one of this urgency.

    A resource counts if a task of this urgency or above uses it as well. With a priority ceiling
    the task waits once, before it starts. With inheritance it waits at most once for each less
    urgent task and once for each resource, and every wait costs `switches`, to the owner and back.
    """
    shared = {use.resource for use in uses if use.urgency >= urgency}
    below = [use for use in uses if use.urgency < urgency and use.resource in shared]
    if not below:
        return 0
    if locks == "ceiling":
        return max(use.length for use in below)
    by_resource: dict[str, Time] = {}
    by_task: dict[str, Time] = {}
    for use in below:
        by_resource[use.resource] = max(use.length, by_resource.get(use.resource, 0))
        by_task[use.task] = max(use.length, by_task.get(use.task, 0))
    return min(
        sum(length + switches for length in waits.values()) for waits in (by_resource, by_task)
    )
