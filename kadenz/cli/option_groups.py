# SPDX-License-Identifier: Apache-2.0
"""Options under headings in `--help`, and the options of every kind of condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from kadenz.lab.condition import Choice, Option
from kadenz.lab.conditions import kinds

_TYPES: dict[str, Any] = {
    "text": None,
    "count": click.IntRange(min=1),
    "flag": None,
    "file": click.Path(path_type=Path),
    "folder": click.Path(exists=True, file_okay=False, path_type=Path),
}


WORDS = "kadenz.words"  # in the context of a command: the words that it was called with


class GroupedOption(click.Option):
    """An option listed under the heading `group`."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class GroupedCommand(click.Command):
    """Lists its grouped options under their headings, the rest under Options at the end."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keeps the words of the command line."""
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections in the order in which their first options were declared."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None:
                sections.setdefault(getattr(param, "group", "Options"), []).append(row)
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


def _with_options_of(command: Any, wanted: Sequence[type[Choice]]) -> Any:
    for kind in reversed(wanted):
        for one in reversed(kind.options):
            command = _declared(one, kind.title)(command)
    return command


def _declared(one: Option, group: str) -> Callable[[Any], Any]:
    more: dict[str, Any] = {"is_flag": True} if one.kind == "flag" else {"multiple": one.many}
    if one.metavar:
        more["metavar"] = one.metavar
    if one.complete is not None:
        more["shell_complete"] = _completion(one)
    return option(group, one.flag, one.key, help=one.help, type=_TYPES[one.kind], **more)


def _completion(one: Option) -> Callable[..., list[CompletionItem]]:
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = one.complete(incomplete) if one.complete is not None else ()
        items = [CompletionItem(value, help=text or None) for value, text in found]
        return items or ([CompletionItem(incomplete, type="file")] if one.or_file else [])

    return complete
