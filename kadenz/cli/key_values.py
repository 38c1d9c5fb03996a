# SPDX-License-Identifier: Apache-2.0
"""Options and arguments with keys in click: their type, their help, their completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from kadenz.config.key_values import Key, Notation, OptionValue

Completer = Callable[[str], Iterable[tuple[str, str]]]


class KeyValues(click.ParamType):
    """`NAME,KEY=VALUE,…` or `KEY=VALUE,…`, read by a `Notation`."""

    name = "key-values"

    def __init__(
        self, notation: Notation, complete: Completer | None = None, *, or_file: bool = False
    ) -> None:
        """`complete` has the names that begin with a text; `or_file`: another word is a file."""
        self.notation = notation
        self._names = complete
        self._or_file = or_file

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> OptionValue:
        """One value, taken apart. Raises UsageError of kadenz."""
        return value if isinstance(value, OptionValue) else self.notation.parse(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The name, then keys that are not there yet, and their values."""
        before, comma, last = incomplete.rpartition(",")
        if self.notation.name and not comma:
            names = self._names(last) if self._names is not None else ()
            items = [CompletionItem(value, help=text or None) for value, text in names]
            return items or ([CompletionItem(last, type="file")] if self._or_file else [])
        return [
            CompletionItem(f"{before}{comma}{word}", help=text or None)
            for word, text in self._completed(before, last)
        ]

    def _completed(self, before: str, last: str) -> list[tuple[str, str]]:
        name, equals, typed = last.partition("=")
        keys = self.notation.keys
        if not equals:
            left = [key for key in keys if f"{key.name}=" not in before]
            return [(f"{k.name}=", k.help) for k in left if k.name.startswith(name)]
        values = [item for key in keys if key.name == name for item in _values(key, typed)]
        return [(f"{name}={value}", text) for value, text in values]


def merged(
    ctx: click.Context, param: click.Parameter, several: tuple[OptionValue, ...]
) -> dict[str, Any]:
    """Callback of an option with keys alone: those of all its occurrences."""
    assert isinstance(param.type, KeyValues)
    return param.type.notation.merged(several)


def _values(key: Key, typed: str) -> Iterable[tuple[str, str]]:
    if key.complete is not None:
        return key.complete(typed)
    return [(choice, "") for choice in key.choices if choice.startswith(typed)]
