# SPDX-License-Identifier: Apache-2.0
"""kadenz completion: a shell script that completes kadenz's commands, options and names."""

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
    """Write the completion script of SHELL: commands, options, targets, campaigns, benchmarks."""
    from kadenz.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "kadenz", "_KADENZ_COMPLETE").source())
