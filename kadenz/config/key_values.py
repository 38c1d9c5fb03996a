# SPDX-License-Identifier: Apache-2.0
"""The notation of options with keys: `cpu+disk,workers=2,cpus=0,2-3`.

Only this file parses it. A comma before `KEY=` begins a key; any other comma belongs to a list, if
the value is one. Any other value with a comma is in double quotes, and `""` in it is one quote.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kadenz.config.processors import asked_cpus
from kadenz.config.toml import nearest
from kadenz.errors import UsageError

_WORD = re.compile(
    r'(?:(?P<key>[A-Za-z][\w-]*)=)?(?P<value>"(?:[^"]|"")*"|[^,]*)(?P<comma>,|\Z)', re.DOTALL
)


@dataclass(frozen=True)
class Key:
    """A key of an option, or one of the names that the option takes."""

    name: str
    help: str
    metavar: str = ""  # of its value; "": it is a name, without a value
    # "name or file": it is a file if it has a slash.
    kind: Literal["text", "count", "processors", "file", "folder", "name or file"] = "text"
    many: bool = False  # a list: `6.12,6.1`
    choices: tuple[str, ...] = ()  # of its value; empty: any
    # Shell completion of its value: (value, help) for the typed prefix.
    complete: Callable[[str], Iterable[tuple[str, str]]] | None = None

    def __str__(self) -> str:
        more = ",…" if self.many else ""
        return f"{self.name}={self.metavar}{more}" if self.metavar else self.name


@dataclass(frozen=True)
class OptionValue:
    """What an option was given: its name, if it takes one, and the values of its keys."""

    name: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Notation:
    """What an option accepts. Without `keys`, any key with a list of texts."""

    flag: str  # "--load", for errors; "": an argument
    keys: tuple[Key, ...] = ()
    name: str = ""  # metavar of the name before the keys; "": keys alone

    def parse(self, text: str, folder: Path | None = None) -> OptionValue:
        """One value, taken apart. Files are relative to `folder`, if there is one.

        UsageError for anything else, with the keys that exist.
        """
        return _Parsing(self, text, folder).parsed()

    def merged(self, several: Iterable[OptionValue]) -> dict[str, Any]:
        """The keys of an option that was given several times. UsageError for one given twice."""
        values: dict[str, Any] = {}
        for given in several:
            for key, value in given.keys.items():
                if key in values:
                    raise self.twice(key, self.flag)
                values[key] = value
        return values

    def twice(self, key: str, where: str) -> UsageError:
        """A key that was given twice."""
        many = not self.keys or any(
            option_key.many for option_key in self.keys if option_key.name == key
        )
        return UsageError(
            f"{where}: `{key}` is there twice",
            remedy=f"Several values are one list: {key}=A,B" if many else "Leave one of them out",
        )

    def synopsis(self) -> str:
        """Its keys as a message lists them: `workers=N, cpus=LIST`."""
        return ", ".join(map(str, self.keys))


@dataclass
class _Parsing:
    notation: Notation
    text: str
    folder: Path | None

    def parsed(self) -> OptionValue:
        """The name and the keys with their values."""
        pieces = self._pieces()
        name = ""
        if self.notation.name:
            key, name = pieces.pop(0)
            if key in self._known:
                raise self._error(
                    f"no {self.notation.name} before `{key}`",
                    f"{self.notation.flag} {self.notation.name},{self.text}".lstrip(),
                )
            name = _unquoted(f"{key}={name}" if key else name)
        values = {key: self._value(key, v) for key, v in self._by_key(pieces).items()}
        return OptionValue(name, values)

    @property
    def _known(self) -> dict[str, Key]:
        return {key.name: key for key in self.notation.keys}

    def _pieces(self) -> list[tuple[str, str]]:
        """Keys and values as they were written; the key of a piece without one is ""."""
        pieces: list[tuple[str, str]] = []
        at = 0
        while True:
            match = _WORD.match(self.text, at)
            assert match is not None  # the empty word matches everywhere before a comma
            key, value = match["key"] or "", match["value"]
            if not _unquoted(value):
                what = f"`{key}` has no value" if key else "a word is empty"
                raise self._error(what, self._expected)
            if value.startswith('"') and _unquoted(value) == value:
                raise self._error(f'{value} begins with a quote and ends without: "…"', "")
            pieces.append((key, value))
            at = match.end()
            if not match["comma"]:
                return pieces

    def _by_key(self, pieces: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
        """The values of each key: pieces without a key continue the list before them."""
        values: dict[str, list[str]] = {}
        last = ""
        for key, value in pieces:
            if key:
                self._check_key(key, values, last)
                values[key], last = [_unquoted(value)], key
            elif last and self._is_list(last) and value not in self._known:
                values[last].append(_unquoted(value))
            else:
                raise self._stray(value, last)
        return values

    def _check_key(self, key: str, values: Mapping[str, object], last: str) -> None:
        if key in values:
            raise self.notation.twice(key, self._where)
        if self._known and key not in self._known:
            near = nearest(key, [*self._known])
            hint = f"Did you mean `{near}`? " if near else ""
            quoted = f'. Write a value with a comma as {last}="…"' if last else ""
            raise self._error(f"no key `{key}`", f"{hint}{self._expected}{quoted}")

    def _stray(self, value: str, last: str) -> UsageError:
        if value in self._known:
            return self._error(f"`{value}` has no value", self._expected)
        if last:
            before, _, after = self.text.partition(f"{last}=")
            whole = f'{before}{last}="{after}"'
            return self._error(
                f"`{value}` is not KEY=VALUE",
                f"{self._expected}. If the comma is part of the value: "
                f"{self.notation.flag} {shlex.quote(whole)}",
            )
        repeatable = self.notation.name and self.notation.flag
        more = f". Another {self.notation.name} takes a {self.notation.flag} of its own"
        return self._error(
            f"`{value}` is not KEY=VALUE", self._expected + (more if repeatable else "")
        )

    def _is_list(self, key: str) -> bool:
        known = self._known.get(key)
        return known is None or known.many or known.kind == "processors"

    def _value(self, key: str, values: list[str]) -> Any:
        """The value with the type of its key."""
        known = self._known.get(key)
        text = values[0]
        if known is not None and known.kind == "name or file" and self.folder is not None:
            values = [str(self.folder / value) if "/" in value else value for value in values]
        if known is None or known.many:
            return tuple(dict.fromkeys(values))
        if known.kind == "processors":
            text = ",".join(values)
            asked_cpus(f"{self._where}: {key}", text, UsageError)
            return text
        if known.kind == "count":
            if not re.fullmatch("[1-9][0-9]{0,8}", text):
                raise self._error(f"`{key}={text}` is not a number from 1 on", f"{key}=2")
            return int(text)
        if known.kind in ("file", "folder"):
            return self._path(text, known.kind)
        if known.choices and text not in known.choices:
            raise self._error(f"no {key} `{text}`", f"Known: {', '.join(known.choices)}")
        return text

    def _path(self, text: str, kind: str) -> Path:
        path = Path(text) if self.folder is None else self.folder / text
        if kind == "folder" and not path.is_dir():
            raise self._error(f"`{path}` is not a folder", "Name a folder that exists")
        return path

    @property
    def _where(self) -> str:
        return f"{self.notation.flag} {self.text}".lstrip()

    @property
    def _expected(self) -> str:
        if not self.notation.keys:
            return f"For example {self.notation.flag} KEY=VALUE"
        return f"Its keys: {self.notation.synopsis()}"

    def _error(self, what: str, remedy: str) -> UsageError:
        return UsageError(f"{self._where}: {what}", remedy=remedy)


def _unquoted(text: str) -> str:
    """The text without double quotes around it."""
    whole = re.fullmatch(r'"((?:[^"]|"")*)"', text, re.DOTALL)
    return whole[1].replace('""', '"') if whole else text
