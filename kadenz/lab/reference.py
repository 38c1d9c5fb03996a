# SPDX-License-Identifier: Apache-2.0
"""Benchmarks before an image is built: the suite's, as an image listed them, and the lab's.

`suite/benchmarks.json` is written by `python -m tests.docs.benchmarks`, which asks an image. The
lab's benchmarks are read from their C files: the image has the last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from kadenz.config import inventory
from kadenz.config.manifest import Nature
from kadenz.config.toml import read_toml
from kadenz.errors import ConfigError
from kadenz.json_text import read_json
from kadenz.regular_files import read_regular
from kadenz.wire.messages import BenchParam

SUITE = "suite/benchmarks.json"
FAMILIES = "suite/bench/families.toml"
_BENCH = re.compile(r"\bstruct kdz_bench \w+ = \{(.*?)\n\s*\};", re.S)
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_TEXT = re.compile(rf"\.(name|begins|ends|source) = ({_STRING}(?:\s*{_STRING})*)")
_PARAMS = re.compile(r"\.params = (\w+)")
_ROW = re.compile(r'\{\s*"(\w+)",\s*(\d+),\s*(\d+),\s*(\d+)\s*\}')


class Described(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A benchmark in its own texts. `lacks`: kernels without it, with their sentences."""

    name: str
    begins: str = ""
    ends: str = ""
    source: str = ""
    self_timed: bool = False
    nature: Nature = "span"
    params: list[BenchParam] = []
    lacks: dict[str, str] = {}


class FamilyText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the benchmarks of a family share, and the name of the page that explains them."""

    text: str
    page: str = ""


def families() -> dict[str, FamilyText]:
    """The families of the suite, in the order of the list of benchmarks."""
    return read_toml(inventory.root() / FAMILIES, dict[str, FamilyText])


def described() -> dict[str, Described]:
    """The benchmarks of the suite and of the lab by name; a benchmark of the lab wins."""
    suite = read_json((inventory.root() / SUITE).read_bytes(), list[Described])
    lab = [bench for file in _files_of_the_lab() for bench in _of_c(_text(file))]
    return {bench.name: bench for bench in (*suite, *lab)}


def _of_c(text: str) -> Iterator[Described]:
    """The benchmarks of a C file, as far as they are written without macros."""
    for block in _BENCH.findall(text):
        texts: dict[str, Any] = {key: _joined(value) for key, value in _TEXT.findall(block)}
        if "/" in texts.get("name", ""):
            table = _PARAMS.search(block)
            yield Described(**texts, params=_params(text, table[1]) if table else [])


def _joined(strings: str) -> str:
    """Adjacent string literals as one text."""
    return "".join(literal[1:-1] for literal in re.findall(_STRING, strings)).replace('\\"', '"')


def _params(text: str, table: str) -> list[BenchParam]:
    """The rows of a table of parameters that are numbers."""
    match = re.search(rf"\bstruct kdz_param {table}\[[^=]*=\s*\{{(.*?)\}};", text, re.S)
    rows = _ROW.findall(match[1]) if match else []
    return [
        BenchParam(name, int(initial), int(low), int(high)) for name, initial, low, high in rows
    ]


def _files_of_the_lab() -> list[Path]:
    try:
        return inventory.benches()
    except ConfigError:
        return []  # `kadenz list` has it among the problems


def _text(file: Path) -> str:
    try:
        return read_regular(file).decode(errors="replace")
    except OSError:
        return ""  # the build names a file that cannot be read
