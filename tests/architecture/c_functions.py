# SPDX-License-Identifier: Apache-2.0
"""Functions of C and C++ in the format of .clang-format: a body is between braces in column 0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(r"([A-Za-z_][\w:~]*)\s*\(")


@dataclass(frozen=True)
class Definition:
    """A function that is defined in a file."""

    name: str
    line: int  # of the first word of its signature
    lines: int  # from there to the closing brace
    parameters: int


def definitions(text: str) -> Iterator[Definition]:
    """Every function of one file."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line != "{":
            continue
        first = _signature(lines, at)
        signature = " ".join(lines[first:at])
        name = _NAME.search(signature)
        if name is None:  # a structure, an enumeration, a namespace, a class
            continue
        last = lines.index("}", at) if "}" in lines[at:] else at
        count = _parameters(signature[name.end() :])
        yield Definition(name[1], first + 1, last - first + 1, count)


def _signature(lines: list[str], at: int) -> int:
    """Where the signature begins whose body begins at line `at`."""
    first = at
    while first > 0 and _continues(lines[first - 1]):
        first -= 1
    return first


def _continues(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("}", "#", "/*", " *", "//"))


def _parameters(text: str) -> int:
    """Number of parameters in `text`, which begins behind the opening parenthesis."""
    depth, commas, inside = 0, 0, ""
    for letter in text:
        if letter == ")" and depth == 0:
            break
        depth += (letter in "(<[{") - (letter in ")>]}")
        commas += letter == "," and depth == 0
        inside += letter
    return 0 if inside.strip() in {"", "void"} else commas + 1
