# SPDX-License-Identifier: Apache-2.0
"""What no TOML file of kadenz has, and what would take its parser long or end it.

Deep nesting ends tomllib by recursion, a key of many parts takes it quadratic time and memory, and
Python converts no decimal number of more than 4300 digits.
"""

from __future__ import annotations

import re

LEVELS = 32  # of arrays, tables and parts of a key; kadenz's own files have 4
_DIGITS = 1000
# Strings and comments are passed over, also those that do not end: the parser names them.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)|'
    r"'''.*?(?:'''|\Z)|"
    r'"(?:\\.|[^"\\\n])*"?|'
    r"'[^'\n]*'?|"
    r"#[^\n]*|"
    rf"(?P<number>[0-9][0-9_]{{{_DIGITS},}})|"
    r"(?P<mark>[\[{\]}.=,\n])",
    re.DOTALL,
)


def excess(text: str) -> tuple[int, str] | None:
    """The first thing in a TOML text that exceeds a bound: its line, and what it is."""
    depth = parts = 0
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if token["number"]:
            return _line(text, token), f"a number of more than {_DIGITS} digits"
        if mark == ".":
            parts += 1
        elif mark:
            parts = 0
            depth = max(0, depth + (mark in "[{") - (mark in "]}"))
        if max(depth, parts) > LEVELS:
            what = "a key has more parts" if parts else "arrays and tables are nested deeper"
            return _line(text, token), f"{what} than {LEVELS}"
    return None


def _line(text: str, token: re.Match[str]) -> int:
    return text.count("\n", 0, token.start()) + 1
