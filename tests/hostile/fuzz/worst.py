# SPDX-License-Identifier: Apache-2.0
"""What `kadenz worst` and `kadenz bound` leave: files of arrivals, and the bounds of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kadenz.analysis.budget import budget_of
from kadenz.analysis.sensitivity import changes_of
from kadenz.cli.folders import find_runs
from kadenz.errors import UsageError
from kadenz.report.budget import as_data, sentences
from kadenz.store import Run
from kadenz.store.bounds import read_bounds, write_bounds
from kadenz.store.layout import BOUNDS
from kadenz.targets.arrivals import read_arrivals, read_sweep
from tests.analysis.test_blocking import BOUND, GIVE, LEAST, TRIED, Tried, tried_run
from tests.analysis.test_budget import overhead_points, run_of, task_set
from tests.hostile.fuzz.mutating import Files
from tests.hostile.fuzz.runs import below
from tests.hostile.fuzz.trying import Parser, scratch
from tests.targets.test_arrivals import row, written


@cache
def _runs() -> Files:
    """A run of services with a bound and without one, and one of overheads."""
    with scratch() as folder:
        run_of(folder / "overheads", overhead_points())
        services = {GIVE: Tried([LEAST, TRIED, 600], BOUND), "critical/sleep": Tried([LEAST], "no")}
        run = tried_run(folder / "bounded", services)
        bounds = read_bounds(run)
        assert bounds is not None
        for service in bounds.services:
            service.never += [f"function_{number}" for number in range(150)]
        write_bounds(run.path, bounds)
        return below(folder)


def _bounded() -> Sequence[Files]:
    (bounds,) = (content for name, content in _runs().items() if name.endswith(BOUNDS))
    return [{BOUNDS: bounds}]


def _budget(given: Path, output: Path) -> None:
    """What `kadenz budget` answers from a run with these bounds."""
    for name, content in _runs().items():
        file = output / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((given / BOUNDS).read_bytes() if name.endswith(BOUNDS) else content)
    overheads, bounded = find_runs([output / "overheads", output / "bounded"])
    assert read_bounds(bounded) is not None
    with contextlib.suppress(UsageError):  # bounds that do not fit the run
        _answer([overheads, bounded])


def _answer(runs: Sequence[Run]) -> None:
    budget = budget_of(task_set(), runs, "bound")
    assert as_data(budget, changes_of(budget)) and sentences(budget, changes_of(budget))


def _tried() -> Sequence[Files]:
    files: list[Files] = []
    for extent in range(6):
        with scratch() as folder:
            rows = [row(1, seconds=extent), row(2, 2), row(4, responded=2)]
            files.append({"arrivals": written(folder, rows, extent=extent).read_bytes()})
    return files


def _arrivals(given: Path, _: Path) -> None:
    """What a session asks of it. Nothing in it tells how far a sweep is."""
    seen = read_arrivals(given / "arrivals", "tick")
    assert seen.planned >= 0 and seen.untried >= 0 and isinstance(seen.flaw, str)
    assert set(seen.repeated) <= set(seen.rows["phase"].tolist())
    assert all(seen.values("task", kind).size == seen.rows.size for kind in seen.kinds)
    assert read_sweep(given / "arrivals") is None


PARSERS = {
    "bounds": Parser(_bounded, _budget, 4_000),
    "arrivals": Parser(_tried, _arrivals, 20_000),
}
