# SPDX-License-Identifier: Apache-2.0
"""Executions that run ahead of the one that is read, one for each processor of this process.

Simulated cores take minutes for what a board does in seconds, and their executions do not know of
each other. Each writes its frames to a file, so reading them in order loses no time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kadenz.lab.plan import Point, plan_text
from kadenz.targets.base import RunsAhead, Target


class Executions(Protocol):
    """The executions of one job, wherever they run. Each is taken and read once."""

    def order(
        self, boots: Sequence[list[Point]], stopped: Callable[[], bool]
    ) -> Iterator[list[Point]]:
        """The order in which to take them. `stopped`: the user has stopped the run."""

    def take(self, points: Sequence[Point]) -> Target:
        """The execution of these points; a new one if none was started."""

    def keep_up(self) -> None:
        """Starts those that have room; call it at least twice a second."""

    def close(self) -> None:
        """Ends all that were not taken."""


class Ahead:
    """Targets of the plans on this machine, started in order and taken in order."""

    def __init__(self, make: Callable[[], Target], boots: Sequence[list[Point]]) -> None:
        """`boots` in the order in which they will be taken; none: nothing runs ahead."""
        self._make, self._waiting = make, [plan_text(points) for points in boots]
        self._started: list[tuple[str, RunsAhead]] = []
        self._workers = len(os.sched_getaffinity(0))

    def order(
        self, boots: Sequence[list[Point]], stopped: Callable[[], bool]
    ) -> Iterator[list[Point]]:
        """As they were started."""
        yield from boots

    def take(self, points: Sequence[Point]) -> Target:
        """The target of these points; a new one if it was not started."""
        plan = plan_text(points)
        self.keep_up()
        for place, (of, target) in enumerate(self._started):
            if of == plan:
                del self._started[place]
                return target
        return self._make()

    def keep_up(self) -> None:
        """Starts as many as there are free processors."""
        running = sum(target.running() for _, target in self._started)
        while self._waiting and running < self._workers:
            plan, target = self._waiting.pop(0), self._make()
            if not isinstance(target, RunsAhead):
                self._waiting.clear()
                return
            target.begin(plan)
            self._started.append((plan, target))
            running += 1

    def close(self) -> None:
        """Ends all that were not taken."""
        self._waiting.clear()
        for _, target in self._started:
            target.close()
        self._started.clear()
