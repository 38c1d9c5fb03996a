# SPDX-License-Identifier: Apache-2.0
"""kadenz farm: the programs of a farm, which `kadenz run --farm` uses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from kadenz.cli.figures import Percent
from kadenz.cli.output import write_json
from kadenz.errors import UsageError


@click.group()
def farm() -> None:
    """Measure on several machines and on places of a rack.

    `kadenz run … --farm CONFIG` uses the scheduler and its workers.

    \b
    kadenz farm keys keys lab rack-1
    kadenz farm scheduler --host 10.0.0.1 --keys keys/lab
    kadenz farm worker tls://10.0.0.1:8786 --keys rack-1
    """


_KEYS = click.option(
    "--keys",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keys of this machine, by `kadenz farm keys`; needed beyond this machine.",
)


@farm.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("machines", metavar="MACHINE...", nargs=-1, required=True)
def keys(folder: Path, machines: tuple[str, ...]) -> None:
    """Make keys for each MACHINE of a farm, below FOLDER.

    Copy FOLDER/MACHINE to that machine and keep FOLDER: its authority signs further machines.
    """
    from kadenz.farm.keys import make_keys

    for machine_folder in make_keys(folder, machines):
        click.echo(machine_folder)


@farm.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8786, show_default=True, help="Port; 0 for a free one.")
@_KEYS
def scheduler(host: str, port: int, keys: Path | None) -> None:
    """Run the scheduler, until Ctrl-C.

    Anyone who can reach it can execute code on all workers. Beyond this machine it therefore talks
    by TLS, with those who have keys of the same farm.
    """
    from kadenz.farm.serving import serve_scheduler

    try:
        serve_scheduler(host, port, keys, _tell)
    except OSError as error:
        raise UsageError(
            f"{host}:{port}: {error}", remedy="Name another address with --host and --port"
        ) from None


@farm.command()
@click.argument("address")
@click.option(
    "--processors",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="all",
    help="Number of executions in parallel.",
)
@_KEYS
def worker(address: str, processors: int, keys: Path | None) -> None:
    """Run the worker of this machine for the scheduler at ADDRESS, until Ctrl-C.

    It needs the emulators and simulated cores of the targets: see `kadenz doctor`.
    """
    from kadenz.farm.serving import serve_worker

    serve_worker(address, processors, keys, _tell)


def _tell(text: str) -> None:
    click.echo(text, err=True)


@farm.command()
@click.option("--places", default=1000, show_default=True, type=click.IntRange(min=0))
@click.option("--jobs", default=3, show_default=True, type=click.IntRange(min=1), help="Per place.")
@click.option(
    "--job-seconds", "job_s", default=600.0, show_default=True, type=click.FloatRange(min=0)
)
@click.option("--processors", default=64, show_default=True, type=click.IntRange(min=1))
@click.option("--executions", default=2000, show_default=True, type=click.IntRange(min=0))
@click.option(
    "--execution-seconds",
    "execution_s",
    default=90.0,
    show_default=True,
    type=click.FloatRange(min=0),
)
@click.option(
    "--spread",
    default="20%",
    show_default=True,
    type=Percent(),
    metavar="PERCENT",
    help="Lengths are within this percentage of their mean.",
)
@click.option(
    "--deaths",
    default="1%",
    show_default=True,
    type=Percent(most=90.0),
    metavar="PERCENT",
    help="Attempts that are lost and repeated: up to 90%.",
)
@click.option("--seed", default=1, show_default=True, type=int)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def plan(as_json: bool, **fleet_of: Any) -> None:
    """Simulate how long a campaign takes on a farm of this size.

    The simulation follows the order of `kadenz run --farm`. It measures nothing, and assumes an
    infinitely fast network.
    """
    from kadenz.farm.simulation import Fleet, simulate

    fleet = Fleet(**fleet_of)
    schedule = simulate(fleet)
    if as_json:
        whole = {"fleet": fleet, "plan": schedule}
        whole |= {"makespan_s": schedule.makespan_s, "bound_s": schedule.bound_s}
        write_json(whole)
        return
    click.echo(f"{'':<12}{'machines':>9}{'elapsed':>11}{'bound':>11}{'busy':>7}{'repeated':>10}")
    parts = (
        ("processors", fleet.processors, schedule.processors),
        ("places", fleet.places, schedule.places),
    )
    for name, machines, part in parts:
        click.echo(
            f"{name:<12}{machines:>9,}{part.makespan_s / 60:>7.1f} min{part.bound_s / 60:>7.1f} min"
            f"{part.utilisation:>7.0%}{part.repeated:>10,}"
        )
    click.echo(
        f"simulated: {schedule.makespan_s / 60:.1f} min from the first execution to the last job; "
        f"no order takes less than {schedule.bound_s / 60:.1f} min"
    )
