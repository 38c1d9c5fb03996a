# SPDX-License-Identifier: Apache-2.0
"""doctor and list start no program of a lab: only those that kadenz itself knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadenz.config import inventory
from tests.forked import kadenz

BOARD = 'kernels = ["freertos"]\n'


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    """A program that leaves a trace if it is started: `ran` beside it."""
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\necho 14.0\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def lab(tmp_path: Path, witness: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab with a board, around the working directory; the witness is in PATH."""
    folder = tmp_path / "lab"
    board = folder / "boards" / "desk"
    board.mkdir(parents=True)
    (folder / "kadenz.toml").write_text("")
    stock = (inventory.root() / "boards" / "stm32f4" / "board.toml").read_text()
    (board / "board.toml").write_text(BOARD + stock)
    monkeypatch.setenv("PATH", f"{witness.parent}:/usr/bin:/bin")
    monkeypatch.chdir(folder)
    return folder


def checked(name: str) -> dict[str, object]:
    """What doctor says of a target."""
    answer = kadenz("doctor", "--json")
    assert "Traceback" not in answer.stderr
    targets = {target["name"]: target for target in json.loads(answer.stdout)["targets"]}
    report: dict[str, object] = targets[name]
    return report


@pytest.mark.parametrize("by_path", [True, False])
def test_a_compiler_that_a_lab_names_is_looked_for_and_not_started(
    by_path: bool, lab: Path, witness: Path
) -> None:
    name = str(witness) if by_path else witness.name
    file = lab / "boards" / "desk" / "toolchain.cmake"
    file.write_text(f"set(CMAKE_C_COMPILER {name})\n")
    check = checked("freertos/desk@emulated")
    assert f"not checked: {name} is named by {file}" in str(check["note"])
    assert f"{name} is not installed" not in str(check["missing"])
    kadenz("doctor")
    kadenz("list")
    assert not (witness.parent / "ran").exists()


def test_a_compiler_that_a_lab_names_is_missed(lab: Path) -> None:
    file = lab / "boards" / "desk" / "toolchain.cmake"
    file.write_text("set(CMAKE_C_COMPILER nowhere-gcc)\n")
    check = checked("freertos/desk@emulated")
    assert f"nowhere-gcc is not installed; {file} names it" in str(check["missing"])


def test_a_debug_server_that_a_lab_names_is_not_started(lab: Path, witness: Path) -> None:
    (lab / "servers").mkdir()
    stock = (inventory.root() / "servers" / "openocd.toml").read_text()
    changed = stock.replace('program = "openocd"', f'program = "{witness}"')
    assert changed != stock
    (lab / "servers" / "mine.toml").write_text(changed)
    board = lab / "boards" / "desk" / "board.toml"
    board.write_text(board.read_text().replace('server = "openocd"', 'server = "mine"'))
    problem = f"not checked: {witness} is named by {lab}/servers"
    answer = json.loads(kadenz("doctor", "--json").stdout)
    servers = {server["name"]: server["problem"] for server in answer["debug_servers"]}
    assert servers["mine"] == problem
    assert not any(text == problem for name, text in servers.items() if name != "mine")
    assert not (witness.parent / "ran").exists()


@pytest.mark.parametrize("part", ["qemu", "machine"])
def test_an_emulator_that_a_lab_names_is_not_started(part: str, lab: Path, witness: Path) -> None:
    board = lab / "boards" / "desk" / "board.toml"
    lines = board.read_text().splitlines()
    board.write_text(
        "\n".join(
            f'{part} = "{witness}"' if line.startswith(f"{part} =") else line for line in lines
        )
    )
    check = checked("freertos/desk@emulated")
    assert check["ready"] is False and str(witness) in str(check["missing"])
    assert not (witness.parent / "ran").exists()
