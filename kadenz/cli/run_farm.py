# SPDX-License-Identifier: Apache-2.0
"""kadenz run --farm: which jobs go elsewhere, and which places are held."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kadenz.config.target_name import own_place
from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.config.board_link import BoardLink
    from kadenz.config.farm import LabgridTable
    from kadenz.farm.guard import Guard
    from kadenz.farm.places import Coordinator
    from kadenz.lab.job import Job
    from kadenz.lab.preparing import Request


@dataclasses.dataclass(frozen=True)
class Farm:
    """A call with the changes that a farm makes to it."""

    requests: Sequence[Request]
    give: Callable[[list[Job]], list[Job]]  # its part of the jobs to the farm


@contextmanager
def on_farm(config: Path | None, requests: Sequence[Request]) -> Iterator[Farm]:
    """Connects to the farm of `config` and holds the places of the requests' targets.

    UsageError or ConfigError if the farm cannot be used, or a place is somebody else's.
    """
    from kadenz.config.farm import FarmFile, read_farm

    farm_file = FarmFile() if config is None else read_farm(config)
    places = sorted({own_place(name) for request in requests for name in request.targets} - {""})
    if places and farm_file.labgrid is None:
        raise UsageError(
            f"place {places[0]}: no coordinator is configured",
            remedy="Pass --farm CONFIG, a file with [labgrid] coordinator",
        )
    with ExitStack() as stack:
        pool = None
        if farm_file.dask is not None:
            from kadenz.farm.pool import Pool

            pool = Pool(farm_file.dask)
            stack.callback(pool.close)
        if places:
            assert farm_file.labgrid is not None
            links = stack.enter_context(_held(farm_file.labgrid, places))
            requests = [_at_places(request, links) for request in requests]

        def give(jobs: list[Job]) -> list[Job]:
            from kadenz.farm.order import TIERS
            from kadenz.lab.job import Where

            for job in jobs:
                farmed = pool if job.name.tier in TIERS else None
                elsewhere = farmed.executions if farmed is not None else None
                job.where = Where(own_place(job.name), elsewhere)
            return jobs

        yield Farm(requests, give)


def _at_places(request: Request, links: dict[str, BoardLink]) -> Request:
    place_names = {name: own_place(name) for name in request.targets}
    places = {name: links[place] for name, place in place_names.items() if place}
    return dataclasses.replace(request, places=places)


@contextmanager
def _held(table: LabgridTable, places: Sequence[str]) -> Iterator[dict[str, BoardLink]]:
    """Acquires places, in the order of their names so that two calls never wait for each other.

    They are released at the end, by this process or, if it is killed, by its guard.
    """
    from kadenz.config.board_link import BoardLink
    from kadenz.farm.guard import Guard
    from kadenz.farm.owner import this_process
    from kadenz.farm.places import Coordinator

    coordinator = Coordinator(table, this_process())
    with ExitStack() as stack:
        stack.callback(coordinator.close)
        guard = Guard(table, coordinator.owner)
        stack.callback(_release, coordinator, guard, places)
        for place in places:
            guard.watch(place)
            coordinator.acquire(place)
        yield {
            place: BoardLink(port=coordinator.line(place), power=coordinator.power(place))
            for place in places
        }


def _release(coordinator: Coordinator, guard: Guard, places: Sequence[str]) -> None:
    """Releases places; what was measured counts, whether or not their coordinator is there."""
    from kadenz.farm.guard import PATIENCE_S

    try:
        for place in places:
            coordinator.release(place)
    except UsageError as gone:
        guard.take_over()
        click.echo(
            f"{gone.message}: {', '.join(places)} will be released when it is back within "
            f"{PATIENCE_S:.0f} s, else by the next run there",
            err=True,
        )
    else:
        guard.dismiss()
