# SPDX-License-Identifier: Apache-2.0
"""What is no run folder is a usage error whose remedy names the right command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.forked import kadenz
from tests.synthetic import LINUX, linux_points, manifest, write_run

COMMANDS = ("show", "report", "export", "gate")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["missing", "empty", "file"])
def test_no_run_is_exit_code_2(command: str, kind: str, tmp_path: Path) -> None:
    """An empty folder was 1, a missing one 2."""
    path = tmp_path / "place"
    if kind == "empty":
        path.mkdir()
    elif kind == "file":
        path.write_text("")
    more = {"gate": ["--against", str(path)], "export": ["--output", str(tmp_path / "x.csv")]}
    answer = kadenz(command, str(path), *more.get(command, []))
    assert answer.returncode == 2, answer.stderr
    assert "kadenz runs" in answer.stderr


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("a.vcd", "kadenz import"),
        ("a.sr", "kadenz import"),
        ("a.csv", "kadenz import"),
        ("a.npy", "kadenz jitter"),
        ("a.dat", "kadenz trace"),
    ],
)
def test_a_file_of_another_command_is_named_with_it(name: str, remedy: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("")
    answer = kadenz("show", str(tmp_path / name))
    assert answer.returncode == 2
    assert f"{remedy} {tmp_path / name}" in " ".join(answer.stderr.split())


def test_an_empty_folder_beside_a_run_is_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", manifest(LINUX), linux_points(np.random.default_rng(1)))
    (tmp_path / "empty").mkdir()
    answer = kadenz("show", str(run), str(tmp_path / "empty"))
    assert answer.returncode == 2
    assert "left out" in answer.stderr and answer.stdout
