# SPDX-License-Identifier: Apache-2.0
"""The phrase checker of `make lint` reads prose, and only prose, in every language of the tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKER = Path(__file__).resolve().parents[2] / "scripts" / "prose.py"


def check(file: Path, text: str) -> subprocess.CompletedProcess[str]:
    file.write_text(text)
    command = [sys.executable, str(CHECKER), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("page.md", "# Title\n\nEach variant runs so\noften.\n", 3),
        ("module.py", '"""Purpose.\n\nTakes so many samples.\n"""\n', 3),
        ("module.py", "x = 1  # so many\n", 1),
        ("module.py", "# Runs so\n# many times.\n", 1),
        ("module.py", 'x = 0\ny = ("so "\n     "many")\n', 2),
        ("module.py", "def test_it_runs_so_often() -> None: ...\n", 1),
        ("part.c", "int a; /* one\n * of what is\n * left */\n", 2),
        ("part.c", 'puts("that belongs "\n     "into it");\n', 1),
        ("part.c", "// this belongs\n// into a table\n", 1),
        ("part.rs", "/// The mode is\n/// told.\nfn mode() {}\n", 1),
        ("part.rs", "fn a_frame_wins_no_time() {}\n", 1),
        ("file.toml", "# so many\n", 1),
    ],
)
def test_a_phrase_is_found_where_a_reader_meets_it(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    answer = check(tmp_path / name, text)
    assert answer.returncode == 1
    assert f"{name}:{line}: " in answer.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "Plain `so many` code.\n\n```\nso many\n```\n"),
        ("module.py", "so = many = 1\nprint(so, many)\n"),
        ("part.c", "int so, many; char c = '\"'; int b; /* fine */\n"),
        ("part.rs", "fn f<'a>(so: &'a str, many: u8) {}\n"),
        ("page.md", "The two are told apart.\n"),
    ],
)
def test_code_is_not_prose(tmp_path: Path, name: str, text: str) -> None:
    answer = check(tmp_path / name, text)
    assert answer.returncode == 0, answer.stdout
