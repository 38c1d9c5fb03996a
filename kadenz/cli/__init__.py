# SPDX-License-Identifier: Apache-2.0
"""The command line. A command's module is imported on use, not for `--help`."""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import sys
import traceback

import click

from kadenz import __version__
from kadenz.errors import EXIT_FAILED, EXIT_USAGE, KadenzError

# Permissions that nothing has which kadenz writes, whatever the umask: a lab or an image that
# everybody may change would be anybody's program.
_FOR_NOBODY_ELSE = 0o002
_FULL = {
    errno.ENOSPC: "Free some space there, and repeat the call",
    errno.EDQUOT: "Your quota there is used up: free some space, and repeat the call",
}

# group in `kadenz --help` -> name -> (module:attribute, its line there)
_GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Measure": {
        "setup": ("kadenz.cli.setup:setup", "Install the tool chains that measuring needs."),
        "doctor": ("kadenz.cli.doctor:doctor", "Show what this machine and each target can do."),
        "list": ("kadenz.cli.list:list_", "List benchmarks, targets, campaigns and loads."),
        "run": ("kadenz.cli.run:run", "Measure a campaign or benchmarks on targets."),
        "count": ("kadenz.cli.count:count", "Count instructions of calls in your own code."),
        "watch": ("kadenz.cli.watch:watch", "Watch the real-time threads of a program as it is."),
        "import": ("kadenz.cli.import_:import_", "Make a run from a logic analyser's capture."),
        "tune": ("kadenz.cli.tune:tune", "Tune this Linux with a profile, verify it, restore it."),
        "farm": ("kadenz.cli.farm:farm", "Measure on several machines and on places of a rack."),
    },
    "Explain": {
        "show": ("kadenz.cli.show:show", "Show the figures of runs."),
        "report": ("kadenz.cli.report:report", "Write one HTML page about runs."),
        "profile": ("kadenz.cli.profile:profile", "Show where a benchmark's instructions go."),
        "trace": ("kadenz.cli.trace:trace", "Show who ran when in a benchmark."),
        "worst": ("kadenz.cli.worst:worst", "Try an interrupt in every cycle of a service."),
        "bound": ("kadenz.cli.bound:bound", "Bound the worst arrival of a service."),
        "jitter": ("kadenz.cli.jitter:jitter", "Analyse clock, drift and jitter of a series."),
        "footprint": (
            "kadenz.cli.footprint:footprint",
            "Show flash and RAM of images by part and kernel object.",
        ),
    },
    "Decide": {
        "compare": ("kadenz.cli.compare:compare", "Compare two runs, or two sets of runs."),
        "gate": ("kadenz.cli.gate:gate", "Pass or fail a run against a baseline or limits."),
        "bisect": ("kadenz.cli.bisect:bisect", "Find the kernel or image that moved a figure."),
        "budget": ("kadenz.cli.budget:budget", "Check that a task set meets its deadlines."),
    },
    "Keep": {
        "runs": ("kadenz.cli.runs:runs", "List the runs of a folder, with names and states."),
        "archive": ("kadenz.cli.archive:archive", "Keep runs for years, and query them with SQL."),
        "history": ("kadenz.cli.history:history", "Show how figures moved over runs, and where."),
        "site": ("kadenz.cli.site:site", "Write a static site of an archive."),
        "export": ("kadenz.cli.export:export", "Export samples or figures for other programs."),
    },
    "Extend": {
        "init": ("kadenz.cli.init:init", "Make a folder a lab, with targets of your own."),
        "conformance": (
            "kadenz.cli.conformance:conformance",
            "Test that a kernel's port does what benchmarks need.",
        ),
        "export-suite": (
            "kadenz.cli.export_suite:export_suite",
            "Write the suite as sources for a project of your own.",
        ),
    },
}
# Not in the list: what one needs once, or never.
_UNLISTED = {
    "cache": ("kadenz.cli.cache:cache", "Show, check or empty the store of executions."),
    "completion": ("kadenz.cli.completion:completion", "Write the completion script of a shell."),
    "lab": ("kadenz.cli.lab:lab", "Say which labs of other users are believed."),
}
_COMMANDS = {
    name: entry for group in (*_GROUPS.values(), _UNLISTED) for name, entry in group.items()
}


class LazyGroup(click.Group):
    """Knows its commands by name and imports a command on its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order in which a user needs them."""
        return [*_COMMANDS]  # once imported, kadenz.cli.list hides the built-in `list` here

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module imported now."""
        if cmd_name not in _COMMANDS:
            return None
        from kadenz.cli.metavars import with_metavars

        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return with_metavars(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves as click does; an unknown command's error suggests the nearest name."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else " See `kadenz --help`."
            raise click.UsageError(f"No such command `{args[0]}`.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands by what they are for, without importing them."""
        width = max(map(len, _COMMANDS))
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:{width}}", text) for name, (_, text) in commands.items()]
                )
        formatter.write_paragraph()
        others = ", ".join(f"`{name}`" for name in _UNLISTED)
        formatter.write_text(f"Also {others}: `kadenz COMMAND --help`.")


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kadenz", message="%(prog)s %(version)s")
def cli() -> None:
    """The open benchmark lab for real-time systems.

    One suite, one method, one record format, from a microcontroller under FreeRTOS to Linux
    PREEMPT_RT. Exit codes: 0 pass, 1 the tool or a target failed, 2 usage, 3 a regression,
    4 inconclusive.
    """


def main() -> None:
    """The program `kadenz`. Prints an error with its remedy; KADENZ_DEBUG=1 adds a traceback."""
    from kadenz.blas import bound_to_one_thread
    from kadenz.cli.output import guard_output

    os.umask(os.umask(0) | _FOR_NOBODY_ELSE)
    guard_output()
    bound_to_one_thread()
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
        remedy = _FULL.get(
            error.errno or 0,
            "Check its path and permissions; KADENZ_DEBUG=1 shows the failing call",
        )
        sys.exit(show_error(KadenzError(what, remedy=remedy)))
    sys.exit(result if isinstance(result, int) else 0)


def show_error(error: KadenzError) -> int:
    """Writes an error to standard error. Returns its exit code."""
    from kadenz.cli.console import say, styled

    if os.environ.get("KADENZ_DEBUG") == "1":
        traceback.print_exception(error)
    if error.detail:
        click.echo(error.detail.rstrip(), err=True)
    say(styled("[bold red]error: [/]{}", error.message), err=True)
    if error.remedy:
        say(styled("[bold green]try:   [/]{}", error.remedy), err=True)
    return error.exit_code
