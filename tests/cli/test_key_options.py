# SPDX-License-Identifier: Apache-2.0
"""Options with keys have one notation in every command: their help, their errors, completion."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from kadenz.cli import cli
from kadenz.cli.key_values import KeyValues
from kadenz.cli.option_groups import GroupedCommand, GroupedOption
from kadenz.cli.run import run
from kadenz.cli.run_options import RunOptions
from kadenz.config.campaign import Campaign, LoadSettings
from kadenz.config.manifest import CallEntry
from kadenz.config.target_name import parse_target
from kadenz.errors import UsageError
from kadenz.lab.conditions import choices
from kadenz.lab.conditions.load import LoadChoice
from kadenz.lab.variants import combinations
from tests.cli.test_command_line import complete
from tests.forked import kadenz
from tests.synthetic import STM32F4, manifest, write_run

LINUX = parse_target("posix/linux@host")
CAMPAIGN = Campaign(
    name="c", title="", targets=[], benchmark=[], loads=["io"], load=LoadSettings(workers=3)
)


def commands() -> dict[str, click.Command]:
    """Every command and every command of a group, by its words."""
    by_name: dict[str, click.Command] = {}
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        members = command.commands if isinstance(command, click.Group) else {}
        by_name |= {f"{name} {inner}": each for inner, each in members.items()} or {name: command}
    return by_name


COMMANDS = commands()
KEYED = [
    (name, option, key)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, GroupedOption)
    for key in option.keys
]


def test_the_options_of_run_fit_into_one_head() -> None:
    """27, and the two of a program that is given, which is neither an image nor a guest's key."""
    assert len([option for option in run.params if isinstance(option, click.Option)]) <= 30


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns(name: str) -> None:
    answer = kadenz(*name.split(), "--help", env={"COLUMNS": "80"})
    assert answer.returncode == 0, answer.stderr
    assert max(map(len, answer.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", sorted({name for name, _, _ in KEYED}))
def test_help_has_a_row_for_each_key(name: str) -> None:
    text = kadenz(*name.split(), "--help", env={"COLUMNS": "80"}).stdout
    for _, option, key in (keyed for keyed in KEYED if keyed[0] == name):
        assert re.search(rf"^    {re.escape(str(key))}  ", text, re.MULTILINE), (option.name, key)
        assert key.help and "`" not in key.name


@pytest.mark.parametrize("name", sorted({name for name, _, _ in KEYED}))
def test_a_key_written_as_an_option_is_answered_with_its_notation(name: str) -> None:
    command = COMMANDS[name]
    assert isinstance(command, GroupedCommand)
    for _, option, key in (keyed for keyed in KEYED if keyed[0] == name):
        flag = option.opts[0]
        with pytest.raises(click.NoSuchOption) as wrong:
            command.make_context(name, [f"{flag}-{key.name}", "x"])
        (said,) = wrong.value.possibilities or ()
        assert said.startswith(f"{flag} ") and said.endswith(str(key))


def test_the_same_option_is_the_same_in_every_command() -> None:
    by_flag: dict[str, set[object]] = {}
    for _, option, _ in KEYED:
        notation = option.type.notation if isinstance(option.type, KeyValues) else option.keys
        by_flag.setdefault(option.opts[0], set()).add((option.help, notation))
    assert {flag: len(each) for flag, each in by_flag.items()} == dict.fromkeys(by_flag, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--board", "port=a", "--board", "port=b"), "--board: `port` is there twice"),
        (("--board", "results=usb"), "no results `usb`"),
        (("--bus", "interfce=eth1"), "no key `interfce`"),
        (("--guest", "disturbance="), "`disturbance` has no value"),
        (("--load", "cpu,disk"), "`disk` is not KEY=VALUE"),
        (("--tuning", "cpus=2"), "no PROFILE before `cpus`"),
        (("--wait-states", "rom=1", "--wait-states", "rom=2"), "`rom` is there twice"),
        (("--set", "samples=1", "--set", "samples=2"), "`samples` is there twice"),
        (("--guest", "load=cpu"), "no target of this run is a guest"),
        (("--board", "port=/dev/x"), "no target of this run is a board"),
        (("--wait-states", "rom=1"), "no target of this run is a simulated core"),
        (("--isa", "rv32im"), "no board of these targets has this instruction set"),
        (("--bus", "interface=eth1"), "has no bus"),
        (("--allow", "no-realtme"), "'no-realtme' is not one of"),
        (("--load", "none,workers=2"), "there is nothing to set"),
        (("--tuning", "none,cpus=0"), "nothing is tuned"),
    ],
)
def test_a_mistake_is_a_usage_error_before_anything_is_built(
    options: tuple[str, ...], message: str
) -> None:
    answer = kadenz("run", "itc/pipe", "--target", str(LINUX), "--allow", "no-realtime", *options)
    assert answer.returncode == 2 and message in answer.stderr, answer.stderr
    assert "building" not in answer.stderr and answer.stdout == ""


def values(*arguments: str) -> RunOptions:
    return RunOptions.of(run.make_context("run", ["demo", *arguments]).params)


def test_keys_apart_are_keys_together() -> None:
    apart = values("--board", "port=/dev/x", "--board", "results=uart", "--guest", "load=cpu")
    together = values("--board", "port=/dev/x,results=uart", "--guest", "load=cpu")
    assert apart == together and apart.link.results == "uart"


def load(*texts: str) -> LoadChoice:
    options = [word for text in texts for word in ("--load", text)]
    given = values(*options, "--allow", "weak-load").conditions
    (load_choice,) = (
        choice for choice in choices(CAMPAIGN, given) if isinstance(choice, LoadChoice)
    )
    return load_choice


def test_each_load_is_a_run_of_its_own_with_its_own_settings(tmp_path: Path) -> None:
    asked = load("cpu+disk,workers=1,cpus=0", f"disk,scratch={tmp_path}", "cpu,workers=1", "none")
    assert [(entry.name, entry.how.workers, tuple(entry.how.cpus)) for entry in asked.loads] == [
        ("cpu+disk", 1, (0,)),
        ("disk", 3, ()),  # the campaign's number of workers
        ("cpu", 1, ()),
        ("none", 0, ()),
    ]
    assert [entry.how.allow_weak for entry in asked.loads] == [True, True, True, False]
    assert asked.loads[1].how.scratch == tmp_path


def test_loads_that_differ_in_their_settings_are_told_apart() -> None:
    asked = load("cpu,workers=1", "cpu,workers=2", "cpu,workers=2,cpus=0,2-3", "cpu,workers=1")
    variants = combinations(LINUX, [asked])
    entries = [condition.entries[0].value for (condition,) in variants]
    assert entries == ["cpu,workers=1", "cpu,workers=2", "cpu,workers=2,cpus=0,2-3"]
    suffixes = [condition.suffix for (condition,) in variants]
    assert suffixes[0] == "-load-cpu-workers-1" and len({*suffixes}) == 3
    assert all(re.fullmatch(r"[\w.+-]+", suffix) for suffix in suffixes)


def test_completion_offers_keys_and_their_values() -> None:
    assert complete("kadenz run --load cpu,") == ["cpu,workers=", "cpu,cpus=", "cpu,scratch="]
    assert complete("kadenz run --load cpu,workers=2,c") == ["cpu,workers=2,cpus="]
    assert complete("kadenz run --board re") == ["results="]
    assert "results=rtt" in complete("kadenz run --board results=")
    assert "load=cpu+timers" in complete("kadenz run --guest load=cpu+t")
    assert "none" in complete("kadenz run --tuning no")
    assert "isolated" in complete("kadenz tune apply iso")
    assert complete("kadenz tune apply isolated,c") == ["isolated,cpus="]


def test_a_run_of_an_older_kadenz_is_not_resumed_with_other_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = manifest(STM32F4)
    document.call = CallEntry(arguments=["demo", "--load-workers", "2"], folder=str(tmp_path))
    folder = write_run(tmp_path / "runs", document, [])
    answer = kadenz("run", "--resume", str(folder))
    assert answer.returncode == 2 and f"{folder} was called by a kadenz" in answer.stderr
    assert "No such option: --load-workers" in answer.stderr and "Measure anew" in answer.stderr


@pytest.mark.parametrize("text", ["50us", "50/1001", "50us/50us", "0.5us/10us", "9 ticks/10us"])
def test_a_disturbance_is_busy_in_a_period_of_whole_microseconds(text: str) -> None:
    from kadenz.lab.conditions.guest import checked_disturbance

    with pytest.raises(UsageError, match="BUSY/PERIOD") as wrong:
        checked_disturbance(text)
    works = wrong.value.remedy.rpartition("=")[2]
    assert checked_disturbance(works) == "period_us=1001,busy_us=50"
    assert checked_disturbance("0.2ms/1ms") == "period_us=1000,busy_us=200"
