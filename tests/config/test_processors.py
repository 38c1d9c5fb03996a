# SPDX-License-Identifier: Apache-2.0
"""Lists of processors: Linux's format is read; anything else is an error with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.config import inventory
from kadenz.config.processors import asked_cpus, parse_cpus, show_cpus
from kadenz.errors import ConfigError, UsageError

WRONG = {
    "3-1": "is reversed",
    "0-": "`0-` is neither",
    "-3": "`-3` is neither",
    "0,,1": "`` is neither",
    "0,": "`` is neither",
    "0-1-2": "neither a number nor a range",
    "1_0": "neither",
    "+1": "neither",
    "0, 1": "neither",
    "٣": "neither",
    "all": "neither",
    "0-99999": "processor 99999 is out of range",
    "0-999999999999": "neither",
}


@pytest.mark.parametrize("text", ["0", "0-2", "0,2-3", "0-1,31-33,64"])
def test_the_format_of_linux_is_understood(text: str) -> None:
    assert show_cpus(parse_cpus(f"{text}\n")) == text


def test_an_empty_file_of_the_kernel_means_none() -> None:
    assert parse_cpus("\n") == frozenset()
    assert parse_cpus("1,0,1-1") == {0, 1}


@pytest.mark.parametrize("text", WRONG)
def test_anything_else_is_an_error_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match=WRONG[text]):
        parse_cpus(text)
    with pytest.raises(ConfigError, match="--cpus .*not a list of processors") as wrong:
        asked_cpus("--cpus", text)
    assert "For example" in wrong.value.remedy


def test_a_user_must_name_at_least_one() -> None:
    with pytest.raises(ConfigError, match="it is empty"):
        asked_cpus("--cpus", " ")


@pytest.mark.parametrize("text", ["3-1", "0-", ","])
def test_processors_of_a_load_are_never_silently_all_of_them(text: str) -> None:
    arguments = [
        "run",
        "clock/resolution",
        "--target",
        "posix/linux@host",
        "--load",
        f"cpu,cpus={text}",
    ]
    error = CliRunner().invoke(cli, arguments, standalone_mode=False).exception
    assert isinstance(error, UsageError) and "--load cpu,cpus=" in error.message


@pytest.mark.parametrize("table", ["thread", "interrupt"])
def test_a_range_that_runs_backwards_in_a_profile_names_its_key(table: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'title = "own"\n[[{table}]]\nmatch = "x"\ncpus = "3-1"\n')
    with pytest.raises(ConfigError, match=rf"{table}\[0\].cpus.*is reversed"):
        inventory.read_tuning(str(file))
