# SPDX-License-Identifier: Apache-2.0
"""Executions that run ahead of the one that is read, one for each processor of this machine.

Simulated cores take minutes for what a board does in seconds, and their executions do not know of
each other. Each writes its frames to a file, so reading them in order loses no time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from kadenz.targets.base import RunsAhead, Target


class Ahead:
    """Targets of the plans, started in order and taken in order."""

    def __init__(self, make: Callable[[], Target], plans: Sequence[str]) -> None:
        """`plans` in the order in which they will be taken; none: nothing runs ahead."""
        self._make, self._waiting = make, list(plans)
        self._started: list[tuple[str, RunsAhead]] = []
        self._workers = os.cpu_count() or 1

    def take(self, plan: str) -> Target:
        """The target of this plan; a new one if it was not started."""
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
