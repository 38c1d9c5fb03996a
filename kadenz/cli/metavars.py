# SPDX-License-Identifier: Apache-2.0
"""How `--help` calls the value of an option that has no word of its own, the same everywhere."""

from __future__ import annotations

import click


def with_metavars(command: click.Command) -> click.Command:
    """The command; its options have `DIR`, `FILE`, `N`, or a text's own name: `--target TARGET`."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_metavars(inner)
    for option in command.params:
        if isinstance(option, click.Option) and not option.metavar and not option.is_flag:
            option.metavar = _metavar(option)
    return command


def _metavar(option: click.Option) -> str | None:
    """None where click lists the choices."""
    kind = option.type
    if isinstance(kind, click.Path):
        return "FILE" if kind.file_okay else "DIR"
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return "N"
    if isinstance(kind, click.types.StringParamType):
        return option.opts[-1].removeprefix("--").upper().replace("-", "_")
    return None
