# SPDX-License-Identifier: Apache-2.0
"""Options of `kadenz run`: each has one typed place, and one heading in `--help` and reference."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from kadenz.cli.option_groups import GroupedOption
from kadenz.cli.run import run
from kadenz.cli.run_options import How, Results, RunOptions, What
from kadenz.config.board_link import BoardLink
from kadenz.config.key_values import OptionValue
from kadenz.lab.conditions import kinds

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "commands.md"
ARGUMENT = {"work"}
NO_OPTION = {"command", "power"}  # of a link: the lab file and the place of a rack give them


def options() -> list[GroupedOption]:
    return [option for option in run.params if isinstance(option, GroupedOption)]


def under(heading: str) -> set[str]:
    """Names of the options that `--help` shows under a heading."""
    return {str(option.name) for option in options() if option.group == heading}


def test_every_option_is_a_field_of_the_part_that_its_heading_names() -> None:
    assert {field.name for field in fields(What)} - ARGUMENT == under("What to measure")
    assert {field.name for field in fields(How)} == under("How to measure")
    assert {field.name for field in fields(Results)} == under("Results")
    link = {field.name for field in fields(BoardLink)}
    assert link - NO_OPTION == {
        key.name for option in options() if option.name == "board" for key in option.keys
    }
    conditions = {option.key for kind in kinds() for option in kind.options}
    assert conditions == set().union(*(under(kind.title) for kind in kinds()))


def test_options_arrive_with_their_types() -> None:
    arguments = [
        "demo",
        "--rounds",
        "5",
        "--load",
        "disk,workers=2",
        "--board",
        "port=/dev/x",
        "--no-wait",
    ]
    given = RunOptions.of(run.make_context("run", arguments).params)
    assert given.what.work == ("demo",)
    assert (given.how.rounds, given.how.wait, given.how.instrument) == (5, False, None)
    assert given.conditions["load"] == (OptionValue("disk", {"workers": 2}),)
    assert given.link.port == "/dev/x"


def test_a_value_that_is_missing_is_not_taken_as_empty() -> None:
    values = run.make_context("run", ["demo"]).params
    del values["report"]
    with pytest.raises(KeyError, match="report"):
        RunOptions.of(values)


def documented() -> dict[str, set[str]]:
    """Flags by heading, of the tables in the section of `kadenz run`."""
    section = REFERENCE.read_text().split("\n## kadenz run\n")[1].split("\n## ")[0]
    flags: dict[str, set[str]] = {}
    heading = ""
    for line in section.splitlines():
        if title := re.fullmatch(r"\*\*(.+)\*\*", line):
            heading = title[1]
        elif heading and line.startswith("| `--"):
            cell = line.split(" | ")[0]
            flags.setdefault(heading, set()).update(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", cell))
    return flags


def test_the_reference_has_each_option_under_the_heading_of_help() -> None:
    wanted: dict[str, set[str]] = {}
    for option in options():
        flags = {*option.opts, *option.secondary_opts}
        wanted.setdefault(option.group, set()).update(flags)
    assert documented() == wanted


def test_help_shows_the_headings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.exceptions.Exit):
        run.make_context("run", ["--help"])
    shown = re.findall(r"^([A-Z][\w ]+):$", capsys.readouterr().out, re.MULTILINE)
    assert [*documented()] == shown[:-1]  # the last is Options, with --help alone
