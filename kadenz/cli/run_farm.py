# SPDX-License-Identifier: Apache-2.0
"""kadenz run --farm: which jobs go elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadenz.lab.job import Job

Farm = Callable[["list[Job]"], "list[Job]"]


@contextmanager
def on_farm(config: Path | None) -> Iterator[Farm]:
    """Gives the jobs that a farm can execute to it; without `config`, none.

    UsageError or ConfigError if the farm cannot be used.
    """
    if config is None:
        yield lambda jobs: jobs
        return
    from kadenz.config.farm import read_farm
    from kadenz.lab.farm.order import TIERS
    from kadenz.lab.farm.pool import Pool

    table = read_farm(config).dask
    assert table is not None  # read_farm refuses a file without it
    pool = Pool(table)

    def give(jobs: list[Job]) -> list[Job]:
        for job in jobs:
            if job.name.tier in TIERS:
                job.elsewhere = pool.executions
        return jobs

    try:
        yield give
    finally:
        pool.close()
