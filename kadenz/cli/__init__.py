# SPDX-License-Identifier: Apache-2.0
"""The command line. A command's module is imported when the command is used, not for `--help`."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback

import click

from kadenz import __version__
from kadenz.errors import EXIT_FAILED, EXIT_USAGE, KadenzError

# name -> (module:attribute, what `kadenz --help` says)
_COMMANDS = {
    "doctor": ("kadenz.cli.doctor:doctor", "What this machine and each target can do."),
    "tune": ("kadenz.cli.tune:tune", "Tune this Linux by a profile, verify it, take it back."),
    "list": ("kadenz.cli.list:list_", "Benchmarks, targets, campaigns and loads there are."),
    "conformance": (
        "kadenz.cli.conformance:conformance",
        "Whether a kernel's port does what benchmarks rely on.",
    ),
    "run": ("kadenz.cli.run:run", "Measure a campaign or benchmarks on targets."),
    "show": ("kadenz.cli.show:show", "Figures of one run."),
    "report": ("kadenz.cli.report:report", "One HTML page about runs."),
    "compare": ("kadenz.cli.compare:compare", "What differs between two runs."),
    "gate": ("kadenz.cli.gate:gate", "Whether a run passes: against a baseline, against limits."),
    "jitter": ("kadenz.cli.jitter:jitter", "Clock, drift and jitter of any time series."),
    "export": ("kadenz.cli.export:export", "Samples or figures for other programs."),
    "completion": ("kadenz.cli.completion:completion", "Completion for bash, zsh or fish."),
}


class LazyGroup(click.Group):
    """Knows its commands by name, and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of use."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module imported now."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest name when there is no such command."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else " See `kadenz --help`."
            raise click.UsageError(f"No such command `{args[0]}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kadenz", message="%(prog)s %(version)s")
def cli() -> None:
    """The open benchmark lab for real-time systems.

    One suite, one method, one record format, from a microcontroller under FreeRTOS to Linux
    PREEMPT_RT. Exit codes: 0 pass, 1 the tool or a target failed, 2 usage, 3 a regression,
    4 inconclusive.
    """


def main() -> None:
    """The program `kadenz`: an error is a message and a remedy; KADENZ_DEBUG=1 adds a traceback."""
    from kadenz.cli.output import guard_output

    guard_output()
    try:
        result = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except KadenzError as error:
        sys.exit(show_error(error))
    except click.UsageError as error:
        error.show()
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_FAILED)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(EXIT_FAILED)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        remedy = "Look at its rights and its place; KADENZ_DEBUG=1 shows who asked for it"
        sys.exit(show_error(KadenzError(what, remedy=remedy)))
    sys.exit(result if isinstance(result, int) else 0)


def show_error(error: KadenzError) -> int:
    """Writes an error to standard error; its exit code."""
    if os.environ.get("KADENZ_DEBUG") == "1":
        traceback.print_exception(error)
    if error.detail:
        click.echo(error.detail.rstrip(), err=True)
    click.echo(click.style("error: ", fg="red", bold=True) + error.message, err=True)
    if error.remedy:
        click.echo(click.style("try:   ", fg="green", bold=True) + error.remedy, err=True)
    return error.exit_code
