# SPDX-License-Identifier: Apache-2.0
"""kadenz completion: writes a shell script that completes commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = {
    "bash": 'eval "$(kadenz completion bash)"    # in ~/.bashrc',
    "zsh": 'eval "$(kadenz completion zsh)"    # in ~/.zshrc',
    "fish": "kadenz completion fish > ~/.config/fish/completions/kadenz.fish",
}


@click.command(epilog="\b\n" + "\n".join(_SHELLS.values()))
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def completion(shell: str) -> None:
    """Write a script that lets SHELL complete commands, options, targets, campaigns, benchmarks."""
    from kadenz.cli import cli

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(cli, {}, "kadenz", "_KADENZ_COMPLETE").source())
