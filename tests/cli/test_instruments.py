# SPDX-License-Identifier: Apache-2.0
"""A campaign names its instruments; one run for each that matches a target."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.cli.folders import find_runs
from kadenz.cli.run_request import requests_of
from kadenz.config import inventory
from kadenz.config.campaign import Campaign
from kadenz.config.manifest import Instrument
from kadenz.config.toml import parse_toml
from kadenz.errors import ConfigError, UsageError
from kadenz.lab.preparing import Request

HEAD = """
name = "mine"
title = "Mine"
targets = ["freertos/stm32f4@emulated", "freertos/hifive1-revb@emulated", "posix/linux@host"]
"""
BENCH = """
[[benchmark]]
name = "micro/task-switch"
samples = 3
"""


def asked(
    folder: Path, instruments: str, *targets: str, instrument: Instrument | None = None
) -> list[tuple[str, list[str]]]:
    """The instruments of a campaign, each with its targets."""
    file = folder / "mine.toml"
    file.write_text(HEAD + instruments + BENCH)
    (request,) = requests_of(
        partial(Request), [str(file)], targets, {}, quick=False, instrument=instrument
    )
    return [
        (by, [str(name) for name in names]) for by, names in request.instruments.items() if names
    ]


def test_each_instrument_measures_the_targets_that_it_names(tmp_path: Path) -> None:
    table = '[instruments]\nmodel = ["*/stm32f4@*"]\ncounter = ["*"]\n'
    assert asked(tmp_path, table) == [
        ("model", ["freertos/stm32f4@emulated"]),
        ("counter", [*inventory_targets()]),
    ]
    assert asked(tmp_path, table, "posix/linux@host") == [("counter", ["posix/linux@host"])]
    by_scope = asked(tmp_path, table, "freertos/ibex@emulated", instrument="scope")
    assert by_scope == [("scope", ["freertos/ibex@emulated"])]


def inventory_targets() -> list[str]:
    return parse_toml(HEAD + BENCH, Campaign, "mine.toml").targets


def test_without_the_table_the_counter_measures_everything(tmp_path: Path) -> None:
    assert asked(tmp_path, "") == [("counter", inventory_targets())]


def test_a_target_that_no_instrument_names_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    table = '[instruments]\nmodel = ["*/stm32f4@*"]\n'
    with pytest.raises(UsageError, match=r"measures freertos/hifive1-revb@emulated.*counter = "):
        asked(tmp_path, table)
    assert asked(tmp_path, table, instrument="counter") == [("counter", inventory_targets())]


@pytest.mark.parametrize("table", ['clock = ["*"]', 'capture = ["*"]', "counter = true"])
def test_an_instrument_that_no_call_can_ask_for_is_an_error_with_its_key(table: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml.*(invalid enum value|expected `array`)"):
        parse_toml(f"{HEAD}[instruments]\n{table}\n{BENCH}", Campaign, "mine.toml")


def test_an_instrument_that_a_target_lacks_is_refused_before_anything_is_built(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.toml").write_text(f'{HEAD}[instruments]\nmodel = ["*"]\n{BENCH}')
    called = CliRunner().invoke(
        cli, ["run", str(tmp_path / "mine.toml"), "--dry-run"], standalone_mode=False
    )
    assert isinstance(called.exception, UsageError)
    assert "posix/linux@host cannot be measured with the instrument `model`" in str(
        called.exception
    )


@pytest.mark.counted
def test_a_campaign_is_measured_by_both(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        f'{HEAD}[instruments]\nmodel = ["*/stm32f4@*"]\ncounter = ["*"]\n{BENCH}'
    )
    arguments = ["run", str(tmp_path / "mine.toml"), "--target", "freertos/stm32f4@emulated"]
    called = CliRunner().invoke(cli, [*arguments, "--output", str(tmp_path / "runs")])
    assert called.exit_code == 0, called.output
    runs = find_runs([tmp_path / "runs"])
    clocks = [(run.manifest.target.instrument, run.manifest.clock.clock_class) for run in runs]
    assert sorted(clocks) == [("counter", "instruction"), ("model", "cycle-model")]
    assert "freertos/stm32f4@emulated, model: 1/4" in called.output


@pytest.mark.counted
def test_a_campaign_weighs_minimal_applications_if_it_says_so(tmp_path: Path) -> None:
    for name, key in (("with", "minimal = true"), ("without", "")):
        (tmp_path / "mine.toml").write_text(f"{HEAD}{key}\n{BENCH}")
        arguments = ["run", str(tmp_path / "mine.toml"), "--target", "freertos/stm32f4@emulated"]
        called = CliRunner().invoke(cli, [*arguments, "--output", str(tmp_path / name)])
        assert called.exit_code == 0, called.output
        (run,) = find_runs([tmp_path / name])
        assert run.manifest.build is not None
        assert bool(run.manifest.build.minimal) == bool(key)


def test_the_demo_opens_with_the_model_of_three_kernels() -> None:
    demo = inventory.read_campaign(inventory.campaign_file("demo"))
    assert list(demo.instruments) == ["model", "counter"]
