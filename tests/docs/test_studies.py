# SPDX-License-Identifier: Apache-2.0
"""The page of the five studies: each item has a verdict, and each command names what exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest

from kadenz.config.target_name import parse_target
from kadenz.load import definitions
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/explanation/studies.md").read_text()
BENCHMARKS = {
    entry["name"]: {param[0] for param in entry.get("params", [])}
    for entry in msgspec.json.decode((ROOT / "suite/benchmarks.json").read_bytes())
}
CAMPAIGNS = {file.stem for file in (ROOT / "campaigns").glob("*.toml")}
COMMANDS = [shlex.split(of) for of in re.findall(r"`((?:sudo )?kadenz run [^`]+)`", PAGE)]


def items() -> Iterator[tuple[str, list[str]]]:
    """Each row of each table: its section, its three cells."""
    for section in PAGE.split("\n## ")[1:]:
        title = section.splitlines()[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if line.startswith("| ") and cells[1] != "here":
                yield title, cells


def options(command: list[str], name: str) -> list[str]:
    return [value for option, value in pairwise(command) if option == f"--{name}"]


def names(command: list[str]) -> list[str]:
    """The campaigns and benchmarks of a command."""
    rest = command[command.index("run") + 1 :]
    return rest[: next((i for i, word in enumerate(rest) if word.startswith("-")), len(rest))]


def test_every_study_has_items_and_each_a_verdict() -> None:
    rows = list(items())
    studies = {campaign for campaign in CAMPAIGNS if re.fullmatch(r"[a-z]+20\d\d", campaign)}
    assert studies and {title for title, _ in rows} >= studies
    assert len(rows) > 60
    for title, cells in rows:
        assert len(cells) == 3 and cells[1] in ("yes", "partly", "no"), (title, cells)
        assert cells[1] != "yes" or "`kadenz " in cells[2] or "`sudo kadenz " in cells[2], cells
        assert cells[1] != "no" or "`kadenz run" not in cells[2], cells
        assert cells[2], cells


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_names_what_exists(command: list[str]) -> None:
    chosen = names(command)
    known = [name for name in chosen if name in BENCHMARKS or name in CAMPAIGNS]
    assert chosen and known == chosen
    targets = options(command, "target")
    assert targets or set(chosen) <= CAMPAIGNS, "a benchmark alone has no target"
    for target in targets:
        parse_target(target)
    for setting in options(command, "set"):
        name = setting.partition("=")[0]
        assert all(name in BENCHMARKS[bench] for bench in chosen)
    assert set(options(command, "load")) <= {"none", *definitions.names()}
