# SPDX-License-Identifier: Apache-2.0
"""Benchmarks as the suite's page and the lab's sources describe them, before an image is built.

The page is tested against the images (`tests/rtos/test_boards.py`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from kadenz.config import inventory
from kadenz.errors import ConfigError

PAGE = "docs/reference/benchmarks.md"
_ROW = re.compile(r"^\| `(\w+/[\w-]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]*) \|$", re.M)
_TEXT = re.compile(r'\.(name|begins|ends|source) = "([^"]+)"')  # of a benchmark in C
_PARAM = re.compile(r"`(\w+)` \(([^)]+)\)")


class Described(NamedTuple):
    """A row of the page, or the texts in a file of the lab."""

    begins: str
    ends: str
    source: str
    params: dict[str, str]  # initial values by name; none from a file


def described() -> dict[str, Described]:
    """Benchmarks by name. If two tables of the page name one, the first has its end points."""
    rows = _ROW.findall((inventory.root() / PAGE).read_text(encoding="utf-8"))
    found = {
        name: Described(begins, ends, source, dict(_PARAM.findall(params)))
        for name, begins, ends, source, params in reversed(rows)
    }
    for file in _of_the_lab():
        texts = dict(_TEXT.findall(file.read_text(errors="replace")))
        if "/" in texts.get("name", ""):
            begins, ends, source = (texts.get(key, "") for key in ("begins", "ends", "source"))
            found[texts["name"]] = Described(begins, ends, source, {})
    return found


def _of_the_lab() -> list[Path]:
    try:
        return inventory.benches()
    except ConfigError:
        return []  # `kadenz list` has it among the problems
