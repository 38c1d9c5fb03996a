# SPDX-License-Identifier: Apache-2.0
"""kadenz bound: a bound above every arrival that was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kadenz.cli.option_groups import GroupedCommand
from kadenz.cli.output import write_json
from kadenz.cli.recording import Asked, record, recording_options
from kadenz.errors import KadenzError
from kadenz.lab.states import states_of, states_of_services

if TYPE_CHECKING:
    from kadenz.analysis import RecordResult, RunResult
    from kadenz.analysis.structures.population import Population
    from kadenz.bounds.premises import Premises
    from kadenz.bounds.sections import Section
    from kadenz.config.bounds import LaneBound, ServiceBound
    from kadenz.lab.job import Result
    from kadenz.report.bound import Interval, Row

_SAMPLES = 4  # as in `kadenz worst`: the last one is tried


@click.command(cls=GroupedCommand)
@recording_options(
    "A simulated core; may be repeated.",
    "A parameter, or `samples` (default 4): every cycle of the last one is tried. Of "
    "`waiter`, `blocks` and `urgent`, the states of a service, each value by default.",
)
@click.option(
    "--at-most",
    metavar="NAME=N",
    multiple=True,
    help="A quantity that bounds loops of the kernel: threads=4. May be repeated.",
)
@click.option("--tick", is_flag=True, help="A tick may come, also where no sample had one.")
def bound(at_most: Sequence[str], tick: bool, **values: Any) -> int:
    """Bound how late an interrupt can be during a SERVICE, above every arrival that was tried.

    Tries every arrival, as `kadenz worst`, in every state of the service. Then follows all ways
    through the code of the kernel's functions that the service executed, without executing them,
    and adds up the longest one by the core's timing model. The answer is an interval: the largest
    arrival that was tried, and a bound above it. The run keeps both, for `kadenz budget`. Exit
    codes: 0, or 1 if a tried arrival exceeds its bound: a premise is wrong.

    \b
    kadenz bound critical/semaphore-give --target freertos/ibex@rtl
    kadenz bound critical --target freertos/ibex@rtl --at-most threads=4
    """
    from kadenz.analysis import analyse
    from kadenz.bounds.premises import Premises
    from kadenz.cli.console import console
    from kadenz.cli.run_request import services_of
    from kadenz.cli.tables import write_table
    from kadenz.config.target_name import parse_target
    from kadenz.report.bound import as_data, table_of_bounds
    from kadenz.report.labels import labelled
    from kadenz.store import read_run

    asked = Asked.of(values)
    for target in map(parse_target, asked.targets):  # before anything is measured
        if target.kernel:  # an image names its own
            Premises.of(target, at_most)
    recorded = record(
        asked,
        {"scope": asked.targets},
        defaults={"samples": [_SAMPLES], **states_of_services(services_of(asked.work))},
        states=states_of({}),
    )
    results = [analyse(read_run(run.folder)) for run in recorded.runs]
    premises = [
        Premises.of(parse_target(run.target)._replace(kernel=run.manifest.target.kernel), at_most)
        for run in recorded.runs
    ]
    rows = []
    for run, each, named in zip(recorded.runs, premises, labelled(results), strict=True):
        bounded = _bounded(run, each, *named, tick=tick)
        rows += [row for row, _ in bounded]
        _keep(run, each, [service for _, service in bounded])
    if asked.as_json:
        write_json([as_data(row) for row in rows])
    elif rows:
        quantities = [each.sentence for each in premises]
        write_table(console(), table_of_bounds(rows, quantities))
    if not rows:
        recorded.say_why_none()
    code = recorded.exit_code()
    exceeded = [row.service for row in rows if row.exceeded]
    if exceeded:
        raise KadenzError(
            f"an arrival took longer than its bound: {', '.join(exceeded)}",
            remedy="A premise is wrong: raise --at-most, or correct [bound] in kernel.toml",
        )
    return code


def _bounded(
    run: Result, premises: Premises, label: str, result: RunResult, *, tick: bool
) -> list[tuple[Row, ServiceBound]]:
    """Each service of a run that has arrivals, to be shown and to be kept: its points are states of
    one service."""
    from kadenz.analysis.structures.population import Population
    from kadenz.bounds.latency import Latencies
    from kadenz.config.bounds import ServiceBound
    from kadenz.report.bound import Row
    from kadenz.report.labels import point
    from kadenz.report.worst import service_of

    services: dict[str, list[tuple[RecordResult, Population]]] = {}
    for each in result.records:
        population = each.structure(Population)
        if population is not None:
            services.setdefault(each.bench, []).append((each, population))
    if not services:
        return []
    latencies = Latencies(run.image, premises)
    rows = []
    for service, states in services.items():
        met = {int(at, 16) for each, _ in states for at in each.entry.functions}
        bounds = latencies.of(service, met, tick=tick)
        row = Row(
            label,
            service,
            states[0][0].unit,
            sum(population.tried for _, population in states),
            _interval({point(each): ends.handler.max for each, ends in states}, bounds.handler),
            _interval({point(each): ends.task.max for each, ends in states}, bounds.task),
            bounds.tick,
            tuple(
                f"{service_of(each)}: {population.coverage}"
                for each, population in states
                if not population.exhaustive
            ),
        )
        kept = ServiceBound(
            bench=service,
            records=[each.entry.id for each, _ in states],
            tick=bounds.tick,
            never=sorted(latencies.excluded(service)),
            handler=_lane(row.handler),
            task=_lane(row.task),
        )
        rows.append((row, kept))
    return rows


def _keep(run: Result, premises: Premises, services: list[ServiceBound]) -> None:
    """Stores the bounds in the run's folder; without services there are none."""
    from kadenz.config.bounds import RunBounds
    from kadenz.store.bounds import write_bounds

    if services:
        kept = RunBounds(
            version=RunBounds.VERSION,
            unit=run.manifest.clock.unit,
            at_most=dict(premises.at_most),
            services=services,
        )
        write_bounds(run.folder, kept)


def _lane(end: Interval) -> LaneBound:
    from kadenz.config.bounds import LaneBound

    return LaneBound(
        tried=int(end.tried),
        bound=end.bound,
        why_not=end.why,
        section=end.section,
        parts=dict(end.parts),
    )


def _interval(tried: Mapping[str, float], bound: Section | str) -> Interval:
    """`tried`: the largest arrival of each state."""
    from kadenz.report.bound import Interval

    worst = max(tried, key=lambda state: tried[state])
    if isinstance(bound, str):
        return Interval(tried[worst], None, state=worst, why=bound)
    return Interval(tried[worst], bound.cycles, state=worst, section=bound.begin, parts=bound.parts)
