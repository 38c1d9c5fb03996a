# SPDX-License-Identifier: Apache-2.0
"""kadenz budget: does a task set meet its deadlines on a measured kernel?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.names import complete_target
from kadenz.cli.option_groups import GroupedCommand, image_options
from kadenz.cli.output import write_json
from kadenz.cli.run_folder_options import run_folder_options
from kadenz.cli.timeout_option import timeout_option
from kadenz.errors import EXIT_FAILED, EXIT_INCONCLUSIVE, EXIT_PASS, KadenzError, UsageError

if TYPE_CHECKING:
    from kadenz.analysis.blocking import Basis
    from kadenz.analysis.budget import Budget
    from kadenz.config.task_set import TaskSet
    from kadenz.lab.preparing import Request
    from kadenz.store import Run

CAMPAIGN = "interference"


@click.command(cls=GroupedCommand)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--target",
    default="",
    shell_complete=complete_target,
    help="Run the set there as a workload, after the overheads if no RUN has them.",
)
@run_folder_options(several=True)
@timeout_option
@click.option(
    "--blocking",
    type=click.Choice(["bound", "tried", "section"]),
    help="From where blocking by services comes: `kadenz bound`, `worst` or `profile`. Default: "
    "the first of these that RUNs have.",
)
@click.option(
    "--markdown",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the answer as Markdown.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@image_options
def budget(
    file: Path,
    runs: tuple[Path, ...],
    target: str,
    output: Path | None,
    name: str,
    timeout_s: float,
    blocking: Basis | None,
    markdown: Path | None,
    as_json: bool,
    **conditions: Any,
) -> int:
    """Check the task set in FILE against the kernel's overheads, measured in RUNs.

    A response-time analysis bounds each task's response; the overheads come from records of the
    campaign `interference`. A RUN of `kadenz bound`, `worst` or `profile` has the services that
    tasks call. A RUN with `workload/taskset` of this set, or --target, puts observed response times
    beside the bounds. Exit codes: 0 schedulable, 1 not, or observed above a bound, 4 undecided: a
    blocking that is not a bound.

    \b
    kadenz run interference --target freertos/stm32f4@emulated
    kadenz budget taskset.toml latest
    kadenz budget taskset.toml overheads services --blocking bound
    kadenz budget taskset.toml --target freertos/stm32f4@emulated
    """
    from kadenz.analysis.budget import budget_of, has_overheads, workload_points
    from kadenz.cli.folders import find_runs
    from kadenz.config.task_set import TaskSet
    from kadenz.config.toml import read_toml

    given = read_toml(file, TaskSet)
    known = find_runs(runs)
    if target:
        from kadenz.cli.run_request import lab_defaults, run_name
        from kadenz.lab.preparing import Request

        folder, _ = lab_defaults(output, None)
        wanted = partial(Request, timeout_s=timeout_s, run_name=run_name(name, folder))
        measure = _Measuring(wanted, target, folder, conditions, quiet=as_json)
        if not has_overheads(known):
            known.append(measure.campaign())
        points = workload_points(budget_of(given, known, blocking))
        known.append(measure.workload(given, *points))
    task_budget = budget_of(given, known, blocking)
    _write(task_budget, markdown, as_json=as_json)
    return _verdict(task_budget)


class _Measuring:
    """Measures on one target, each time into a run folder of its own."""

    def __init__(
        self, wanted: Any, target: str, folder: Path, conditions: dict[str, Any], *, quiet: bool
    ) -> None:
        self._wanted, self._target, self._folder = wanted, target, folder
        self._conditions, self._quiet = conditions, quiet

    def campaign(self) -> Run:
        """Measures the overheads that a bound needs, in a run of their own."""
        from kadenz.cli.run_request import requests_of

        return self._run(
            requests_of(self._wanted, [CAMPAIGN], [self._target], self._conditions, quick=False)
        )

    def workload(self, given: TaskSet, params: Any, samples: int) -> Run:
        """Measures the task set itself: `samples` jobs."""
        from kadenz.analysis.budget import WORKLOAD
        from kadenz.cli.run_request import request_of
        from kadenz.config.campaign import Benchmark, Campaign
        from kadenz.config.manifest import CampaignEntry
        from kadenz.config.target_name import parse_target

        benchmark = Benchmark(name=WORKLOAD, samples=samples, params=params)
        campaign = Campaign(name="single", title=given.name, targets=[], benchmark=[benchmark])
        entry = CampaignEntry(name="single", file="", sha256="", quick=False)
        names = [parse_target(self._target)]
        return self._run([request_of(self._wanted, campaign, entry, names, self._conditions)])

    def _run(self, requests: Sequence[Request]) -> Run:
        """Raises KadenzError for a run that failed."""
        from kadenz.cli.measuring import display_of, measured, stoppable
        from kadenz.store import read_run

        with stoppable() as stop, display_of(self._quiet) as display:
            results = measured(requests, self._folder, display, stop)
        for result in results:
            if isinstance(result, KadenzError):
                raise result
            for failure in result.failures:
                raise failure
        if stop.is_set() or not results:
            raise KadenzError("stopped before the set was measured", remedy="Run it again")
        run = read_run(results[0].folder)  # type: ignore[union-attr]
        for record in run.manifest.records:
            if record.status != "ok" and record.nature != "context":
                raise UsageError(
                    f"{self._target}: {record.bench} is {record.status}: {record.reason}",
                    remedy="kadenz budget FILE RUN gives bounds without a workload",
                )
        return run


def _write(budget: Budget, file: Path | None, *, as_json: bool) -> None:
    from kadenz.analysis.sensitivity import changes_of
    from kadenz.report.budget import as_data, markdown, sentences, tables
    from kadenz.report.render import write_text

    changes = changes_of(budget)
    if file is not None:
        write_text(file, markdown(budget, changes))
    if as_json:
        write_json(as_data(budget, changes))
        return

    from kadenz.cli.console import console
    from kadenz.cli.tables import write_table

    screen = console()
    for table in tables(budget, changes):
        write_table(screen, table)
    for line in sentences(budget, changes):
        screen.print(line)


def _verdict(budget: Budget) -> int:
    """The exit code. KadenzError if a job took longer than its bound."""
    above = [task for task in budget.tasks if task.exceeds]
    if above:
        raise KadenzError(
            f"{budget.name}: observed above the bound: {', '.join(task.name for task in above)}",
            remedy="The set does more than FILE says, or the run of the overheads misses a cost: "
            "measure both again, then see docs/explanation/schedulability.md",
        )
    if budget.late:
        return EXIT_FAILED
    return EXIT_INCONCLUSIVE if budget.undecided else EXIT_PASS
