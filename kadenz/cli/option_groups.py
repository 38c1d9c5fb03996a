# SPDX-License-Identifier: Apache-2.0
"""Options under headings in `--help`, and the options of every kind of condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from kadenz.cli.key_values import KeyValues, merged
from kadenz.config.key_values import Key
from kadenz.lab.condition import Choice, Option
from kadenz.lab.conditions import kinds

ARGUMENTS = "kadenz.arguments"  # in the context of a command: the words that it was called with


class GroupedOption(click.Option):
    """An option listed under the heading `group`, with a row for each of its keys."""

    def __init__(self, *args: Any, group: str, keys: Sequence[Key] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group
        self.keys = keys


class GroupedCommand(click.Command):
    """Lists its grouped options under their headings, the rest under Options at the end."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps the words of the command line. An unknown option that is a key is named as such."""
        ctx.meta[ARGUMENTS] = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            error.possibilities = _as_key(self, error.option_name) or error.possibilities
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections in the order in which their first options were declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None:
                rows = sections.setdefault(getattr(param, "group", "Options"), [])
                rows += [row, *((f"  {key}", key.help) for key in getattr(param, "keys", ()))]
        rest = sections.pop("Options", [])
        for title, rows in [*sections.items(), ("Options", rest)]:
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def option(group: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A click option under the heading `group`."""
    return click.option(*args, cls=GroupedOption, group=group, **kwargs)


def condition_options(command: Any) -> Any:
    """Adds the options of every kind of condition, each kind under its own heading."""
    return _with_options_of(command, kinds())


def image_options(command: Any) -> Any:
    """Adds the options of the kinds of conditions that change an image."""
    return _with_options_of(command, [kind for kind in kinds() if kind.changes_image])


def any_image_options(command: Any) -> Any:
    """Adds these, and the option that names an image of another build."""
    wanted = [kind for kind in kinds() if kind.changes_image or kind.names_image]
    return _with_options_of(command, wanted)


def simulated_core_options(command: Any) -> Any:
    """Adds the options of simulated cores: their memories and caches."""
    return _with_options_of(command, [kind for kind in kinds() if kind.title == "Simulated cores"])


def _with_options_of(command: Any, wanted: Sequence[type[Choice]]) -> Any:
    for kind in reversed(wanted):
        for each in reversed(kind.options):
            command = declared(each, kind.title)(command)
    return command


def declared(declaration: Option, group: str) -> Callable[[Any], Any]:
    """A click option for an option of a condition, under the heading `group`."""
    more: dict[str, Any] = {"multiple": declaration.many, "metavar": declaration.metavar or None}
    if declaration.notation is not None:
        more["type"] = KeyValues(
            declaration.notation, declaration.complete, or_file=declaration.or_file
        )
        if declaration.notation.name:
            more["metavar"] = f"{declaration.metavar}[,KEY=VALUE…]"
        else:
            more |= {"multiple": True, "callback": merged}
            more["metavar"] = declaration.metavar or "KEY=VALUE[,…]"
    elif declaration.kind == "names":
        more["type"] = click.Choice([key.name for key in declaration.keys])
    else:
        more["type"] = click.Path(path_type=Path) if declaration.kind == "file" else None
        if declaration.complete is not None:
            more["shell_complete"] = _completion(declaration)
    return option(
        group,
        declaration.flag,
        declaration.key,
        help=declaration.help,
        keys=declaration.keys,
        **more,
    )


def _completion(declaration: Option) -> Callable[..., list[CompletionItem]]:
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        completions = declaration.complete(incomplete) if declaration.complete is not None else ()
        return [CompletionItem(value, help=text or None) for value, text in completions]

    return complete


def _as_key(command: click.Command, name: str) -> list[str]:
    """How `--load-workers` or `--port` is said where they are keys: `--load NAME,workers=N`."""
    return [
        f"{option.opts[0]} {_before_key(option)}{key}"
        for option in command.params
        if isinstance(option, GroupedOption)
        for key in option.keys
        if name in (f"--{key.name}", f"{option.opts[0]}-{key.name}")
    ]


def _before_key(option: click.Option) -> str:
    name = option.type.notation.name if isinstance(option.type, KeyValues) else ""
    return f"{name}," if name else ""
