# SPDX-License-Identifier: Apache-2.0
"""kadenz init: makes a folder a lab."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from kadenz.errors import UsageError

_LAB = """\
# This folder is a kadenz lab. Commands in it and below it find here, beside kadenz's own parts:
#   kernels/NAME/kernel.toml  boards/NAME/board.toml  bench/*.c  campaigns/*.toml  tunings/*.toml
#   published/
# `kadenz list` shows all parts and where each comes from.
title = "{title}"

[defaults]
output = "runs" # folder of the runs
# rounds = 3    # how often each variant is measured; `compare` needs several on a real machine

# A target of your own, by a short name: `kadenz run first --target mine`
[target.mine]
kernel = "freertos"
board = "stm32f4"
tier = "emulated" # or "board" for silicon
# source = "../FreeRTOS-Kernel"    # the kernel you ship, instead of the pinned one
# port = "/dev/serial/by-id/..."   # serial line of a board
# deadline = "100us"               # of each cycle of periodic benchmarks

# Conditions, as options of `kadenz run` without the dashes:
# [target.mine.conditions]
# load = ["none", "disk"]

# Mechanisms of your kernels that the suite does not know, by their calls:
# [mechanisms]
# channel = ["mailbox"]
"""
_CAMPAIGN = """\
# What to measure: docs/reference/campaign.md
name = "first"
title = "Hand-over between two tasks"
targets = ["mine"]

[[benchmark]]
name = "itc/semaphore-binary"
samples = 2000
cold = 10

[[benchmark]]
name = "itc/queue"
samples = 2000
cold = 10
[benchmark.params]
size_bytes = [4, 64, 256] # a list is a sweep
"""
_IGNORED = "/build/\n/runs/\n"


@click.command()
@click.argument(
    "folder", type=click.Path(file_okay=False, path_type=Path), default=Path(), required=False
)
def init(folder: Path) -> None:
    """Make FOLDER a lab: a place for your kernels, boards, benchmarks, campaigns and targets.

    Default: the working directory. Writes kadenz.toml, a first campaign and a .gitignore; no file
    that exists is changed.
    """
    from kadenz.config.lab_file import FILE, labs_above

    folder = folder.resolve()
    above = labs_above(folder)
    if above:
        what = "this folder is a lab already" if above[0] == folder else "a lab inside a lab"
        raise UsageError(
            f"{above[0] / FILE}: {what}", remedy="Edit that file, or choose a folder elsewhere"
        )
    files = {
        ".gitignore": _IGNORED,
        "campaigns/first.toml": _CAMPAIGN,
        FILE: _LAB.format(title=folder.name.replace('"', "'").replace("\\", "/")),
    }
    for name, text in files.items():
        file = folder / name
        if file.exists():
            click.echo(f"kept   {file}")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        click.echo(f"wrote  {file}")
    click.echo(f"try:   cd {shlex.quote(str(folder))} && kadenz run first --quick")
