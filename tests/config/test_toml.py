# SPDX-License-Identifier: Apache-2.0
"""A wrong file is reported with file, line, key and the nearest known key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from kadenz.config import inventory
from kadenz.config.board import Board
from kadenz.config.campaign import Campaign
from kadenz.config.kernel import Kernel
from kadenz.config.model import FileModel
from kadenz.config.toml import parse_toml, read_toml
from kadenz.errors import EXIT_USAGE, ConfigError

BOARD = """\
title = "a board"
arch = "riscv"

[memory]
data_bytes = 16384

[tier.emulated]
qemu = "qemu-system-riscv32"
machine = "sifive_e"
icount_shift = 0
plan_address = 0x20300000
"""
CAMPAIGN = """\
name = "c"
title = "t"
targets = ["freertos/stm32f4@emulated"]

[[benchmark]]
name = "itc/queue"
samples = 1000

[[benchmark]]
name = "itc/mutex"
samples = 10
[benchmark.params]
size_bytes = [60, 120]
"""


def error(text: str, model: type) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, model, "x.toml")
    assert caught.value.exit_code == EXIT_USAGE
    return caught.value


def test_a_good_board_is_read() -> None:
    board = parse_toml(BOARD, Board, "x.toml")
    assert board.memory is not None and board.memory.data_bytes == 16384
    assert board.tier.names() == ["emulated"]
    assert board.tier.emulated is not None and board.tier.emulated.clock_unit == "instruction"


@pytest.mark.parametrize(
    ("right", "wrong", "place", "hint"),
    [
        ("icount_shift", "icont_shift", "10: unknown key `tier.emulated.icont_shift`", "icount_shift"),  # noqa: E501
        ("data_bytes", "data_byte", "5: unknown key `memory.data_byte`", "data_bytes"),
        ("title", "titel", "1: unknown key `titel`", "title"),
        ("[memory]", "[memroy]", "4: unknown key `memroy`", "memory"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_reported_with_line_and_nearest(
    right: str, wrong: str, place: str, hint: str
) -> None:
    refusal = error(BOARD.replace(right, wrong), Board)
    assert refusal.message == f"x.toml:{place}"
    assert refusal.remedy == f"Did you mean `{hint}`?"


def test_for_a_key_unlike_any_other_the_known_ones_are_listed() -> None:
    refusal = error(BOARD.replace("machine =", "zzz ="), Board)
    assert "icount_shift" in refusal.remedy and refusal.remedy.startswith("Known: ")


def test_the_right_element_of_an_array_of_tables_is_named() -> None:
    refusal = error(CAMPAIGN.replace("samples = 10\n", "smaples = 10\n"), Campaign)
    assert refusal.message == "x.toml:11: unknown key `benchmark[1].smaples`"


def test_a_wrong_type_is_reported_with_key_and_line() -> None:
    refusal = error(CAMPAIGN.replace("samples = 1000", 'samples = "many"'), Campaign)
    assert refusal.message == "x.toml:7: `benchmark[0].samples`: expected `int`, got `str`"


def test_a_value_out_of_range_is_reported() -> None:
    refusal = error(CAMPAIGN.replace("samples = 1000", "samples = 0"), Campaign)
    assert "x.toml:7" in refusal.message and ">= 1" in refusal.message


def test_a_missing_key_is_reported() -> None:
    refusal = error(BOARD.replace('arch = "riscv"\n', ""), Board)
    assert "missing required field `arch`" in refusal.message


def test_a_wrong_value_in_a_free_table_is_reported_at_its_key() -> None:
    refusal = error(CAMPAIGN.replace("[60, 120]", "[1.5]"), Campaign)
    assert "x.toml:13: `benchmark[1].params.size_bytes[0]`" in refusal.message


def test_invalid_toml_is_reported_with_its_line() -> None:
    assert "line 2" in error("a = 1\nb = = 2\n", Board).message


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_toml(tmp_path / "none.toml", Board)


def test_a_binary_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_toml(tmp_path / "x.toml", Board)


def test_a_sweep_is_the_cartesian_product_with_the_last_parameter_fastest() -> None:
    text = CAMPAIGN + "rank_a = [1, 2]\nfixed = 5\n"
    points = parse_toml(text, Campaign, "x").benchmark[1].points()
    assert points == [
        {"size_bytes": 60, "rank_a": 1, "fixed": 5},
        {"size_bytes": 60, "rank_a": 2, "fixed": 5},
        {"size_bytes": 120, "rank_a": 1, "fixed": 5},
        {"size_bytes": 120, "rank_a": 2, "fixed": 5},
    ]


def test_quick_never_takes_more_than_the_full_run() -> None:
    first, second = parse_toml(CAMPAIGN, Campaign, "x").benchmark
    assert (first.count(quick=False), first.count(quick=True)) == (1000, 50)
    assert (second.count(quick=False), second.count(quick=True)) == (10, 10)


def test_every_board_kernel_and_campaign_of_the_checkout_is_well_formed() -> None:
    boards, kernels = inventory.boards(), inventory.kernels()
    assert boards and kernels
    for kernel in kernels.values():
        assert isinstance(kernel, Kernel)
        assert set(kernel.boards) <= set(boards)
    assert inventory.problems() == []
    assert all(campaign.name == name for name, campaign in inventory.campaigns().items())


def test_an_invalid_root_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KADENZ_ROOT", str(tmp_path))
    with pytest.raises(ConfigError, match="not a kadenz checkout"):
        inventory.root()


@pytest.mark.parametrize("sentence", ["", 'it \\"has\\" none', "two\\nlines", "a\\\\b"])
def test_a_sentence_of_lacks_that_the_build_cannot_take_is_refused(
    sentence: str, tmp_path: Path
) -> None:
    file = tmp_path / "kernel.toml"
    file.write_text(f'title = "t"\nboards = []\n[lacks]\n"pipe" = "{sentence}"\n')
    with pytest.raises(ConfigError, match="one sentence on one line"):
        read_toml(file, Kernel)


class Memory(FileModel, kw_only=True, frozen=True):
    """A table of an array."""

    wait: Annotated[int, msgspec.Meta(le=10)]


class Machine(FileModel, kw_only=True, frozen=True):
    """Has an array of tables."""

    memory: Annotated[tuple[Memory, ...], msgspec.Meta(min_length=1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wait = 11", r"a.toml:4: `memory\[1\].wait`: expected `int` <= 10"),
        ("wayt = 1", r"a.toml:4: unknown key `memory\[1\].wayt`"),
    ],
)
def test_a_value_in_an_array_of_tables_is_named(line: str, message: str) -> None:
    text = f"[[memory]]\nwait = 1\n[[memory]]\n{line}\n"
    with pytest.raises(ConfigError, match=message):
        parse_toml(text, Machine, "a.toml")


TOGETHER = """
import sys, threading
from kadenz.config import inventory
sys.setswitchinterval(1e-6)
start = threading.Barrier(4)
def read():
    start.wait()
    inventory.board("stm32f4")
threads = [threading.Thread(target=read) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""


def test_threads_may_read_the_first_file_of_a_model_together() -> None:
    """In a process of its own: it would be ended by a signal."""
    assert subprocess.run([sys.executable, "-c", TOGETHER], check=False).returncode == 0
