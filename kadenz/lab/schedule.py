# SPDX-License-Identifier: Apache-2.0
"""Runs every job: emulated targets in parallel, then boards, one at a place, then this machine's,
one at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from kadenz.config.manifest import REPEATABLE
from kadenz.errors import KadenzError
from kadenz.host.machine_lock import without_orders
from kadenz.lab.job import Job, Result
from kadenz.lab.measure import measure
from kadenz.lab.progress import Progress


def run(
    jobs: Sequence[Job],
    output: Path,
    progress: Progress,
    stop: threading.Event,
) -> list[Result | KadenzError]:
    """Measures every job into a run folder below `output`.

    A job whose executions are elsewhere only waits here, so all of these wait at once.

    Returns one result for each job that began, in their order: an error if a run could not be
    written, or if this machine refused what the job needed. The other jobs are measured.
    """

    def measured(job: Job) -> Result | KadenzError:
        try:
            with _as_its_error(job):
                return measure(job, output, progress, stop)
        except KadenzError as error:
            return error

    def quietly(job: Job) -> Result | KadenzError:
        """Measures this Linux while no worker executes on it."""

        def waiting(reason: str) -> None:
            progress.note(str(job.name), f"waiting: {reason}")

        try:
            with _as_its_error(job), without_orders(waiting=waiting, stopped=stop.is_set):
                return measured(job)
        except KadenzError as error:
            return error

    def in_order(jobs: Sequence[Job]) -> dict[int, Result | KadenzError]:
        return {id(job): measured(job) for job in jobs if not stop.is_set()}

    parallel = [job for job in jobs if job.name.tier in REPEATABLE]
    alone = [job for job in jobs if job.name.tier not in REPEATABLE and not job.where.place]
    places: dict[str, list[Job]] = {}
    for job in jobs:
        if job.where.place:
            places.setdefault(job.where.place, []).append(job)
    done: dict[int, Result | KadenzError] = {}
    waiting = sum(job.where.elsewhere is not None for job in parallel)
    with ThreadPoolExecutor(max_workers=(os.cpu_count() or 1) + waiting) as pool:
        for job, result in zip(parallel, pool.map(measured, parallel), strict=True):
            done[id(job)] = result
    with ThreadPoolExecutor(max_workers=max(1, len(places))) as pool:  # each place has its machine
        for results in pool.map(in_order, places.values()):
            done |= results
    for job in alone:
        if not stop.is_set():
            done[id(job)] = measured(job) if job.name.tier != "host" else quietly(job)
    return [done[id(job)] for job in jobs if id(job) in done]


@contextmanager
def _as_its_error(job: Job) -> Iterator[None]:
    """An error of this machine, a full disk for example, becomes an error of the job."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        where = f"{error.filename}: " if error.filename else ""
        raise KadenzError(
            f"{job.label}: {where}{what}",
            remedy="Check the rights and the free space of this run's folder and of the folder for "
            "temporary files; KADENZ_DEBUG=1 shows the failing call",
        ) from error
