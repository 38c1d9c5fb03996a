# SPDX-License-Identifier: Apache-2.0
"""The pulse train over IgH's master: it compiles against the calls it makes, and makes them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory

FOLDER = inventory.root() / "fieldbus" / "igh"
STAND_INS = Path(__file__).parent / "stand_ins.c"
WARNINGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-pedantic")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("igh") / "edges"
    sources = (str(FOLDER / "edges.c"), str(STAND_INS))
    subprocess.run(
        ["gcc", *WARNINGS, "-I", str(FOLDER / "calls"), *sources, "-o", str(program)], check=True
    )
    return program


def answer(program: Path, *arguments: str, refuse: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *arguments],
        env={**os.environ, "REFUSE": refuse},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_output_changes_with_each_frame(program: Path) -> None:
    done = answer(program, "1000", "6", "1", "0xBAD", "0x20")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "terminal 0:1 bad:20"
    assert lines[1:7] == ["frame 1 0008", "frame 1 0000"] * 3
    assert lines[7].startswith("6 cycles, ") and lines[8] == "released"


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        ("request", "are IgH's modules loaded"),
        ("config", "no terminal at that position"),
        ("activate", "see the kernel's messages"),
    ],
)
def test_a_master_that_refuses_ends_it(program: Path, call: str, complaint: str) -> None:
    done = answer(program, "1000", "6", refuse=call)
    assert done.returncode == 1 and complaint in done.stderr and "frame" not in done.stdout
    assert ("released" in done.stdout) == (call != "request")


@pytest.mark.parametrize(
    "arguments", [(), ("99", "6"), ("1000",), ("1000", "x"), ("1000", "6", "1")]
)
def test_wrong_arguments_have_their_exit_code(program: Path, arguments: tuple[str, ...]) -> None:
    done = answer(program, *arguments)
    assert done.returncode == 2 and done.stderr.startswith("usage: ")
