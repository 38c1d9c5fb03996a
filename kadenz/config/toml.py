# SPDX-License-Identifier: Apache-2.0
"""Reads a TOML file into a typed model. Errors name file, line, key and the nearest key."""

from __future__ import annotations

import difflib
import functools
import re
import threading
import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec

from kadenz.config.toml_bounds import LEVELS, excess
from kadenz.errors import ConfigError
from kadenz.regular_files import MIB, read_regular

T = TypeVar("T")

# msgspec 0.22 studies a model at its first use, and dies if two threads do so at once.
_CONVERTING = threading.Lock()
_UNKNOWN = re.compile(r"unknown field `(?P<key>[^`]*)`")
_AT = re.compile(r" - at `(?P<path>[^`]*)`$")
_HEADER = re.compile(r"^\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_ASSIGN = re.compile(r"^\s*([A-Za-z0-9_.\"'-]+)\s*=")
_SEE = "See docs/reference for the keys of this file"


def read_toml(path: Path, model: type[T]) -> T:
    """The file at `path` as a `model`. Raises ConfigError if unreadable or invalid."""
    try:
        text = read_regular(path, limit=MIB).decode()
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read: {error.strerror}", remedy="Check the name"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: not UTF-8 at byte {error.start}", remedy="Save the file as UTF-8"
        ) from None
    hashable: Any = model
    document: T = _parsed(text, hashable, str(path))
    return document


@functools.lru_cache(maxsize=512)
def _parsed(text: str, model: Any, name: str) -> Any:
    """The same text of a file is parsed once in a process: its models are frozen."""
    return parse_toml(text, model, name)


def parse_toml(text: str, model: type[T], name: str) -> T:
    """`text` as a `model`; `name` stands for the file in errors."""
    exceeded = excess(text)
    if exceeded is not None:
        line, what = exceeded
        raise ConfigError(f"{name}:{line}: {what}", remedy="No file of kadenz needs this")
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{name}: not TOML: {error}", remedy="See https://toml.io for the syntax"
        ) from None
    try:
        with _CONVERTING:
            return msgspec.convert(raw, model)
    except msgspec.ValidationError as error:
        raise _explain(str(error), raw, text, model, name) from None


def nearest(word: str, known: list[str]) -> str:
    """The known word closest to `word`, or "" if none is near."""
    matches = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return matches[0] if matches else ""


def did_you_mean(word: str, known: list[str]) -> str:
    """A remedy: the nearest known word, or all words if none is near."""
    near = nearest(word, known)
    if near:
        return f"Did you mean `{near}`?"
    return f"Known: {', '.join(sorted(known))}" if known else "None are known"


def _explain(message: str, raw: Any, text: str, model: Any, name: str) -> ConfigError:
    at = _AT.search(message)
    path = _with_keys(at.group("path"), raw, model) if at else "$"
    what = message[: at.start()] if at else message
    unknown = _UNKNOWN.search(what)
    if unknown is None:
        dotted = _dotted(path)
        where = _where(name, text, path)
        what = what[:1].lower() + what[1:]
        return ConfigError(
            f"{where}: `{dotted}`: {what}" if dotted else f"{where}: {what}",
            remedy=_SEE,
        )
    key = unknown.group("key")
    dotted = _dotted(f"{path}.{key}")
    known = list(_fields(_walk(model, path)))
    return ConfigError(
        f"{_where(name, text, f'{path}.{key}')}: unknown key `{dotted}`",
        remedy=did_you_mean(key, known) if known else _SEE,
    )


def _with_keys(path: str, raw: Any, model: Any) -> str:
    """The path with the names of tables such as [target.NAME], for which msgspec has `[...]`."""
    kind, named_path = model, "$"
    for step in _parts(path):
        kind = _without_none(kind)
        if step == "[...]" and isinstance(raw, dict) and get_args(kind):
            key = next((key for key in raw if not _fits(raw[key], get_args(kind)[-1])), step)
            if key == step:
                return path
            kind, raw, named_path = get_args(kind)[-1], raw[key], f"{named_path}.{key}"
        elif step.startswith("["):
            kind, raw, named_path = _below(kind, step), raw[int(step[1:-1])], named_path + step
        else:
            kind, raw, named_path = _below(kind, step), raw.get(step), f"{named_path}.{step}"
    return named_path


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _dotted(path: str) -> str:
    """The path as the user wrote it; msgspec does not name keys of a free table (`[...]`)."""
    return path.removeprefix("$").removeprefix(".").removesuffix("[...]")


def _steps(path: str) -> list[str]:
    """Splits `$.benchmark[1].params[...]` into ["benchmark", "[1]", "params", "[...]"]."""
    return _parts(_dotted(path))


def _parts(path: str) -> list[str]:
    return re.findall(r"\[[^\]]*\]|[^.\[\]]+", path.removeprefix("$"))


def _walk(model: Any, path: str) -> Any:
    """The type at `path` inside `model`."""
    kind = model
    for step in _steps(path):
        kind = _below(kind, step)
    return _without_none(kind)


def _below(kind: Any, step: str) -> Any:
    """The type one step below a type; None where it has none: a user's name may have a dot."""
    kind = _without_none(kind)
    if step.startswith("[") or get_origin(kind) is dict:
        items = [argument for argument in get_args(kind) if argument is not Ellipsis]
        return items[-1] if items else None
    return _fields(kind).get(step)


def _without_none(kind: Any) -> Any:
    """The type of a present key: `Model` for `Model | None`, without annotations."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    structs = [a for a in get_args(kind) if isinstance(a, type) and issubclass(a, msgspec.Struct)]
    is_union = type(None) in get_args(kind)
    return structs[0] if is_union and structs else kind


def _fields(kind: Any) -> dict[str, Any]:
    """The types of a model's keys."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {f.encode_name: f.type for f in msgspec.structs.fields(kind)}
    return {}


def _where(name: str, text: str, path: str) -> str:
    """`file:line` of the key or the nearest table above it; else the file."""
    steps = _steps(path)
    while steps:
        line = _lines(text).get(tuple(steps))
        if line is not None:
            return f"{name}:{line}"
        steps = steps[:-1]
    return name


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of each key and table header, by the steps of `_steps`; arrays of tables are
    counted.

    Handles the usual style (headers and one assignment per line); for other styles only the line
    number is missing.
    """
    lines: dict[tuple[str, ...], int] = {}
    seen: dict[tuple[str, ...], int] = {}  # arrays of tables: index of the open element
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            names = _split(header.group(2))
            table = ()
            for depth, part in enumerate(names):
                table += (part,)
                if header.group(1) == "[[" and depth == len(names) - 1:
                    seen[table] = seen.get(table, -1) + 1
                if table in seen:
                    table += (f"[{seen[table]}]",)
                lines.setdefault(table, number)
            continue
        assign = _ASSIGN.match(line)
        if assign:
            lines.setdefault(table + tuple(_split(assign.group(1))), number)
    return lines


def _split(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".", LEVELS)]
