# SPDX-License-Identifier: Apache-2.0
"""One name for a thing in every command: statistics, percentages, JSON, runs, instruction sets."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from kadenz.archive.adding import add
from kadenz.archive.place import open_archive
from kadenz.cli.figures import Percent, Statistic, share, statistic
from kadenz.errors import UsageError
from kadenz.store import read_run
from tests.cli.test_key_options import COMMANDS
from tests.forked import kadenz
from tests.synthetic import STM32F4, Point, manifest, write_run

# They write files, install, or serve: what they print is a line for people.
WITHOUT_JSON = {
    *("setup", "init", "lab trust", "completion", "cache clear", "import", "report", "site"),
    *("export", "export-suite", "archive add", "archive get", "archive export"),
    *("farm keys", "farm scheduler", "farm worker"),
}
IMAGES = {"--kernel-source", "--isa"}  # of each command that builds an image


def options(name: str) -> dict[str, click.Option]:
    named = [option for option in COMMANDS[name].params if isinstance(option, click.Option)]
    return {flag: option for option in named for flag in option.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_answers_does_so_in_json(name: str) -> None:
    assert ("--json" in options(name)) is (name not in WITHOUT_JSON)
    if "--json" in options(name):
        text = str(options(name)["--json"].help)
        assert re.fullmatch("One JSON (object|array) on standard output.", text)
    choices = [getattr(option.type, "choices", ()) for option in options(name).values()]
    assert name == "export" or not any("json" in each for each in choices)


@pytest.mark.parametrize("name", ["run", "profile", "trace", "budget", "footprint", "conformance"])
def test_every_command_that_builds_images_takes_their_conditions(name: str) -> None:
    assert {*options(name)} >= IMAGES


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_a_statistic_in_one_way(name: str) -> None:
    answer = kadenz(*name.split(), "--help", env={"COLUMNS": "80"})
    assert not re.search(r"\bp50\b|\bp999\b|\bp99_9\b", answer.stdout)
    for option in options(name).values():
        assert (option.name or "").startswith("statistic") is (
            isinstance(option.type, Statistic) or "median" in getattr(option.type, "choices", ())
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_calls_a_value_by_what_it_is(name: str) -> None:
    text = kadenz(*name.split(), "--help", env={"COLUMNS": "80"}).stdout
    assert not re.search(r"--[\w-]+ (TEXT|FLOAT|INTEGER|PATH|DIRECTORY|FILENAME)\b", text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 0.05),
        ("5%", 0.05),
        ("5 %", 0.05),
        ("0.5%", 0.005),
        ("0", 0.0),
        ("0%", 0.0),
        (".5%", 0.005),
    ],
)
def test_a_percentage_is_written_with_and_without_its_sign(text: str, value: float) -> None:
    assert share("--threshold", text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["0.05", "0.5", ".5"])
def test_a_fraction_without_a_sign_is_ambiguous_and_both_remedies_work(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"--worst {text}: {text} % or ")) as wrong:
        share("--worst", text)
    small, large = re.findall(r"--worst (\S+%)", wrong.value.remedy)
    assert share("--worst", large) == pytest.approx(100 * share("--worst", small))


@pytest.mark.parametrize(
    "text", ["", "%", "-5%", "five", "nan", "inf%", "1e-3", "5%%", "100%", "1_0"]
)
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a percentage") as wrong:
        share("--threshold", text)
    flag, works = wrong.value.remedy.removeprefix("For example ").split()
    assert flag == "--threshold" and share(flag, works) == 0.05


def test_every_option_with_a_percentage_has_this_notation() -> None:
    percentages = {
        (name, flag)
        for name in COMMANDS
        for flag, option in options(name).items()
        if isinstance(option.type, Percent)
    }
    assert percentages == {
        ("bisect", "--max-worse"),
        ("compare", "--threshold"),
        ("compare", "--between-runs"),
        ("gate", "--max-worse"),
        ("gate", "--between-runs"),
        ("show", "--worst"),
        ("farm plan", "--spread"),
        ("farm plan", "--deaths"),
    }
    for name, flag in percentages:
        assert options(name)[flag].metavar == "PERCENT"


@pytest.mark.parametrize("text", ["10.1%", "0", "0%", "11"])
def test_the_worst_are_above_none_and_up_to_a_tenth(text: str) -> None:
    answer = kadenz("show", "none", "--worst", text)
    assert answer.returncode == 2 and "not a percentage up to 10%" in answer.stderr


@pytest.mark.parametrize("name", ["p0", "p100", "p", "99.9", "p999", "median_us", "Median", "p1e1"])
def test_another_statistic_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="unknown statistic"):
        statistic(name)


def test_p50_is_the_median() -> None:
    assert statistic("median") == "median" and statistic("p99.9") == pytest.approx(0.999)
    with pytest.raises(UsageError) as wrong:
        statistic("p50")
    assert wrong.value.remedy == "Write median"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    import numpy as np

    values = np.arange(1, 2001, dtype=np.uint32)
    run = write_run(tmp_path / "runs", manifest(STM32F4), [Point("itc/queue", {"all": values})])
    add(open_archive(str(tmp_path / "archive"), create=True), read_run(run))
    return tmp_path / "archive"


def test_statistics_have_the_same_names_in_an_archive_and_an_export(archive: Path) -> None:
    place = ("--archive", str(archive))
    sql = 'SELECT min, median, p90, p99, "p99.9", max, mean FROM {}'
    for table in ("records", "percentiles"):
        text = sql.format(table).replace(", mean", "" if table == "percentiles" else ", mean")
        (row,) = json.loads(kadenz("archive", "query", text, *place, "--json").stdout)
        assert (row["median"], row["p99.9"]) == (1000.0, 1998.0)
    for name, value in (("median", 1000), ("p99.9", 1998), ("max", 2000)):
        (series,) = json.loads(kadenz("history", *place, "--statistic", name, "--json").stdout)
        assert series["points"][0]["value"] == value
    (run,) = (archive.parent / "runs").iterdir()
    (figures,) = json.loads(kadenz("show", str(run), "--json").stdout)["runs"][0]["records"]
    assert {"median", "median_low", "median_high", "p99.9", "p99.9_low"} <= {*figures}
    assert not {"p50", "p99_9"} & {*figures}


def test_an_archive_is_checked_in_json(archive: Path) -> None:
    answer = kadenz("archive", "check", "--archive", str(archive), "--json")
    report = json.loads(answer.stdout)
    assert (report["runs"], report["damaged"], report["orphans"]) == (1, {}, [])


def test_the_command_for_a_failed_port_names_its_instruction_set() -> None:
    from kadenz.config.target_name import parse_target
    from kadenz.lab.conformance import _command
    from kadenz.lab.execution import default_setup

    name = parse_target("freertos/hifive1-revb@emulated")
    setup = default_setup(name)
    setup.isa = "rv32ima"
    command = shlex.split(_command(name, setup))
    assert command == ["kadenz", "conformance", str(name), "--isa", "rv32ima"]
    options = COMMANDS["conformance"].make_context("conformance", command[2:]).params
    assert options["isa"] == ("rv32ima",)
