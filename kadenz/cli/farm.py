# SPDX-License-Identifier: Apache-2.0
"""kadenz farm: the programs of a farm, which `kadenz run --farm` uses."""

from __future__ import annotations

import os

import click

from kadenz.errors import UsageError


@click.group()
def farm() -> None:
    """Measure on several machines and on places of a rack.

    `kadenz run … --farm CONFIG` uses the scheduler and its workers.

    \b
    kadenz farm scheduler --host 10.0.0.1
    kadenz farm worker tcp://10.0.0.1:8786
    """


@farm.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8786, show_default=True, help="Port; 0 for a free one.")
def scheduler(host: str, port: int) -> None:
    """Run the scheduler, until Ctrl-C.

    Whoever reaches it can execute code on all workers: listen in a network that you trust.
    """
    from kadenz.lab.farm.serving import serve_scheduler

    try:
        serve_scheduler(host, port, _tell)
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
    help="Executions beside each other.",
)
def worker(address: str, processors: int) -> None:
    """Run the worker of this machine for the scheduler at ADDRESS, until Ctrl-C.

    It needs the emulators and simulated cores of the targets: see `kadenz doctor`.
    """
    from kadenz.lab.farm.serving import serve_worker

    try:
        serve_worker(address, processors, _tell)
    except ValueError as error:
        raise UsageError(
            f"{address}: not the address of a scheduler: {error}",
            remedy="For example tcp://10.0.0.1:8786",
        ) from None


def _tell(text: str) -> None:
    click.echo(text, err=True)
