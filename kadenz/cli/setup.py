# SPDX-License-Identifier: Apache-2.0
"""kadenz setup: installs the tool chains, as `make setup` does in a checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from kadenz.errors import KadenzError, UsageError


@click.command()
@click.option(
    "--guests", is_flag=True, help="Also compilers, emulators and Linux kernels for guests."
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, then exit.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def setup(guests: bool, dry_run: bool, yes: bool) -> None:
    """Install the compilers and emulators that measuring needs.

    Shows first what it will do, then asks. Debian packages are installed by apt-get, as root or
    through sudo; everything else goes into ~/.cache/kadenz ($XDG_CACHE_HOME/kadenz).
    """
    from kadenz.config import inventory

    script = inventory.root() / "scripts" / "setup-machine.sh"
    what = ["guests"] if guests else []
    plan = _run(script, ["--plan", *what], stdout=subprocess.PIPE).splitlines()
    if not plan:
        click.echo("nothing to do: every tool is installed")
        return
    click.echo("kadenz setup will")
    for line in plan:
        click.echo(f"- {line}")
    if dry_run:
        return
    if not yes and not sys.stdin.isatty():
        raise UsageError(
            "kadenz setup asks first, but standard input is not a terminal", remedy="Pass --yes"
        )
    if not yes and not click.confirm("Continue?"):
        click.echo("nothing was installed")
        return
    _run(script, what)
    click.echo("done: `kadenz doctor` shows what this machine can do now")


def _run(script: Path, arguments: list[str], stdout: int | None = None) -> str:
    """The script's output if `stdout` is a pipe. KadenzError if it fails; it says why itself."""
    answer = subprocess.run(
        ["bash", str(script), *arguments], stdout=stdout, text=True, check=False
    )
    if answer.returncode:
        raise KadenzError("the set-up stopped", remedy="Its message and remedy are above")
    return answer.stdout or ""
