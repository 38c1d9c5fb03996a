# SPDX-License-Identifier: Apache-2.0
"""A farm that does not exist yet, simulated by the rules of the one that does.

Executions go to the first free processor, in order. An execution whose worker dies is repeated.
Then each place measures its jobs one after another, beside the other places (lab/schedule.py). The
model has no network and no coordinator: they are assumed to take no time.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Fleet:
    """Machines and their work. Lengths are uniform within ±`spread` of the mean."""

    places: int
    jobs: int  # at each place
    job_s: float
    processors: int
    executions: int
    execution_s: float
    spread: float = 0.2  # 0 to 1
    deaths: float = 0.0  # probability that an attempt ends early and is repeated
    seed: int = 1


@dataclass(frozen=True)
class Part:
    """One kind of machines."""

    makespan_s: float
    utilisation: float  # busy time over machines times makespan; 0 without work
    repeated: int  # attempts that were lost
    bound_s: float  # no order of this part can be faster


@dataclass(frozen=True)
class Plan:
    """Both parts, which follow each other: a worker may be the machine that reads the boards."""

    processors: Part
    places: Part

    @property
    def makespan_s(self) -> float:
        """From the first execution to the last job of a board."""
        return self.processors.makespan_s + self.places.makespan_s

    @property
    def bound_s(self) -> float:
        """No order can be faster, even one that runs both parts at once."""
        return max(self.processors.bound_s, self.places.bound_s)


def simulate(fleet: Fleet) -> Plan:
    """The plan of a fleet; the same for the same seed."""
    chance = random.Random(fleet.seed)
    executions = [_attempts(chance, fleet, fleet.execution_s) for _ in range(fleet.executions)]
    at_places = [
        [_attempts(chance, fleet, fleet.job_s) for _ in range(fleet.jobs)]
        for _ in range(fleet.places)
    ]
    return Plan(_shared(executions, fleet.processors), _at_places(at_places))


def _attempts(chance: random.Random, fleet: Fleet, mean_s: float) -> list[float]:
    """Lengths of the attempts at one piece of work; the last one succeeds."""
    length = mean_s * chance.uniform(1 - fleet.spread, 1 + fleet.spread)
    lost = []
    while chance.random() < fleet.deaths:
        lost.append(length * chance.random())
    return [*lost, length]


def _shared(work: list[list[float]], processors: int) -> Part:
    """Each attempt takes the processor that is free first; a repeated one queues again."""
    free = [0.0] * processors
    waiting = [(0.0, number, 0) for number in range(len(work))]  # may start at, in order, attempt
    heapq.heapify(waiting)
    while waiting:
        earliest, number, attempt = heapq.heappop(waiting)
        end = max(heapq.heappop(free), earliest) + work[number][attempt]
        heapq.heappush(free, end)
        if attempt + 1 < len(work[number]):
            heapq.heappush(waiting, (end, number, attempt + 1))
    total = sum(map(sum, work))
    longest = max(map(sum, work), default=0.0)
    return _part(work, max(free), total, processors, max(total / processors, longest))


def _at_places(places: list[list[list[float]]]) -> Part:
    """Work of a place waits for no other place."""
    sums = [sum(map(sum, jobs)) for jobs in places]
    longest = max(sums, default=0.0)
    return _part([job for jobs in places for job in jobs], longest, sum(sums), len(sums), longest)


def _part(
    work: list[list[float]], makespan_s: float, total_s: float, machines: int, bound_s: float
) -> Part:
    used = total_s / (machines * makespan_s) if makespan_s else 0.0
    return Part(makespan_s, used, sum(len(attempts) - 1 for attempts in work), bound_s)
