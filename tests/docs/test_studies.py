# SPDX-License-Identifier: Apache-2.0
"""The pages that go item by item: each item has a verdict, each command names what exists."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest

from kadenz.config.target_name import parse_target
from kadenz.load import definitions
from tests.docs.pages import ROOT

STUDIES = (ROOT / "docs/explanation/studies.md").read_text()
RT_TESTS = (ROOT / "docs/explanation/rt-tests.md").read_text()
# (lowest, highest, words or None) of each parameter.
BENCHMARKS = {
    entry["name"]: {param[0]: param[2:] for param in entry.get("params", [])}
    for entry in msgspec.json.decode((ROOT / "suite/benchmarks.json").read_bytes())
}
CAMPAIGNS = {file.stem for file in (ROOT / "campaigns").glob("*.toml")}
# Benchmarks of other programs than the suite, whose parameters no file lists.
FIELDBUS = set(
    re.findall(
        r'^name = "(ethercat/[\w-]+|motion/[\w-]+)"',
        "\n".join(file.read_text() for file in (ROOT / "campaigns").glob("*.toml")),
        re.MULTILINE,
    )
)
VERBS = ("run", "trace", "profile")
NOT_PARAMETERS = {"samples", "seconds", "cold"}
COMMANDS = [
    shlex.split(of)
    for of in re.findall(rf"`((?:sudo )?kadenz (?:{'|'.join(VERBS)}) [^`]+)`", STUDIES + RT_TESTS)
]


def items(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each row of each table of verdicts: its section, its three cells."""
    for section in page.split("\n## ")[1:]:
        title = section.splitlines()[0]
        verdicts = False
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if not line.startswith("|"):
                verdicts = False
            elif cells[1:2] == ["here"]:
                verdicts = True
            elif verdicts and not line.startswith("|--"):
                yield title, cells


def options(command: list[str], name: str) -> list[str]:
    return [value for option, value in pairwise(command) if option == f"--{name}"]


def names(command: list[str]) -> list[str]:
    """The campaigns and benchmarks of a command."""
    rest = command[command.index("kadenz") + 2 :]
    return rest[: next((i for i, word in enumerate(rest) if word.startswith("-")), len(rest))]


def test_every_study_has_items() -> None:
    rows = list(items(STUDIES))
    studies = {campaign for campaign in CAMPAIGNS if re.fullmatch(r"[a-z]+20\d\d", campaign)}
    assert studies and {title for title, _ in rows} >= studies
    assert len(rows) > 50


@pytest.mark.parametrize("page", [STUDIES, RT_TESTS], ids=["studies", "rt-tests"])
def test_each_item_has_a_verdict_and_its_command_or_reason(page: str) -> None:
    rows = list(items(page))
    assert len(rows) > 50
    for title, cells in rows:
        assert len(cells) == 3 and cells[1] in ("yes", "partly", "no"), (title, cells)
        assert cells[1] != "yes" or "`kadenz " in cells[2] or "`sudo kadenz " in cells[2], cells
        assert cells[1] != "no" or "`kadenz run" not in cells[2], cells
        assert cells[2], cells


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg lists the programs of rt-tests")
def test_every_program_of_rt_tests_has_an_item() -> None:
    listed = subprocess.run(["dpkg", "-L", "rt-tests"], capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("rt-tests is not installed")
    programs = set(re.findall(r"^/usr/s?bin/(\S+)$", listed.stdout, re.MULTILINE))
    rows = [cells[0] for title, cells in items(RT_TESTS) if title == "Programs of rt-tests"]
    assert len(programs) > 10
    assert programs - {name for row in rows for name in re.split(r"[,:]? ", row)} == set()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_names_what_exists(command: list[str]) -> None:
    chosen = names(command)
    known = [name for name in chosen if name in {*BENCHMARKS, *CAMPAIGNS, *FIELDBUS}]
    assert chosen and known == chosen
    targets = options(command, "target")
    assert targets or set(chosen) <= CAMPAIGNS, "a benchmark alone has no target"
    for target in targets:
        parse_target(target)
    for setting in options(command, "set"):
        name, _, values = setting.partition("=")
        of_suite = [bench for bench in chosen if bench not in FIELDBUS]
        assert name in NOT_PARAMETERS or all(name in BENCHMARKS[bench] for bench in of_suite)
        for bench in of_suite:
            if name in BENCHMARKS.get(bench, ()):
                low, high, choices = BENCHMARKS[bench][name]
                for value in values.split(","):
                    assert value in choices if choices else low <= int(value) <= high, setting
    assert set(options(command, "load")) <= {"none", *definitions.names()}
