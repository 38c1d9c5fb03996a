# SPDX-License-Identifier: Apache-2.0
"""`kadenz gate --comment`: what changed in a pull request, and sizes beside counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.errors import UsageError
from kadenz.store import read_run

from .firmware import ARM, assemble, counted, functions

pytestmark = pytest.mark.counted


def call(*arguments: str) -> Result:
    """A command of kadenz."""
    return CliRunner(mix_stderr=False).invoke(cli, arguments, standalone_mode=False)


def sides(folder: Path, *names: str, more: int = 7) -> tuple[str, str]:
    """Runs before and after a change of `clamp`."""
    runs = []
    for side, planted in (("before", 0), ("after", more)):
        (folder / side).mkdir()
        elf = assemble(ARM, folder / side, "gate", defines=[f"MORE={planted}"])
        runs.append(counted(elf, ARM, *functions(*names))[""]["run"])
    return runs[0], runs[1]


def comment(folder: Path, before: str, after: str, *options: str) -> str:
    """The comment of a gate."""
    file = folder / "comment.md"
    answer = call("gate", after, "--against", before, "--comment", str(file), *options)
    assert answer.exception is None, answer.output
    return file.read_text()


def test_a_changed_function_is_a_row_with_count_size_and_callee(tmp_path: Path) -> None:
    text = comment(tmp_path, *sides(tmp_path, "gate", "scale"), "--link", "https://e.org/x")
    lines = text.splitlines()
    assert lines[0] == "<!-- kadenz gate -->"
    assert "1 of 2 functions changed." in lines
    rows = [line for line in lines if line.startswith("| `")]
    assert rows == ["| `gate` | 9 → 16 instructions | +77.8 % | 12 | +7 in `clamp` | **worse** |"]
    assert "Image on stm32f4@emulated: flash 60 → 72 bytes (+12), RAM 0 bytes." in lines
    assert lines[-1] == "[All figures](https://e.org/x)"


def test_nothing_that_changed_is_one_sentence(tmp_path: Path) -> None:
    text = comment(tmp_path, *sides(tmp_path, "*", more=0))
    assert "kadenz gate passed" in text and "Nothing changed, of 3 points." in text
    assert "|" not in text


def test_a_limit_that_is_broken_is_in_the_comment(tmp_path: Path) -> None:
    before, after = sides(tmp_path, "gate", more=0)
    text = comment(tmp_path, before, after, "--limit", "count/gate max < 5 instructions")
    assert "kadenz gate failed" in text
    assert "max | below 5 instructions" in text


def test_a_function_that_is_new_or_gone_is_named(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path, "gate")
    first, second = (
        counted(elf, ARM, *functions(*names))[""]["run"]
        for names in (("gate", "scale"), ("gate", "clamp"))
    )
    text = comment(tmp_path, first, second)
    assert "Without a baseline:" in text and "count/clamp" in text
    assert "count/scale" in text and "not measured" in text


def test_a_name_stays_text(tmp_path: Path) -> None:
    """A symbol may have any characters: none of them is markup in the comment."""
    source = tmp_path / "named.S"
    name = "a|b <img src=x> [x](y) *z*"
    program = (Path(__file__).parent / "programs" / "gate.arm.S").read_text()
    for word in (".type clamp", "\nclamp:", "bl   clamp", ".size clamp, . - clamp"):
        assert word in program
        program = program.replace(word, word.replace("clamp", f'"{name}"'))
    source.write_text(program)
    runs = []
    for planted in (0, 7):
        folder = tmp_path / str(planted)
        folder.mkdir()
        elf = assemble(ARM, folder, str(source), defines=[f"MORE={planted}"])
        runs.append(counted(elf, ARM, *functions("gate", "*img*"))[""]["run"])
    rows = [line for line in comment(tmp_path, *runs).splitlines() if line.startswith("| `")]
    quoted = name.replace("|", "\\|")
    assert any(row.startswith(f"| `{quoted}` | 2 → 9 ") for row in rows), rows
    assert any(f"+7 in `{quoted}`" in row for row in rows), rows


@pytest.mark.parametrize(
    "options", [["--link", "https://e.org"], ["--comment", "c.md", "--link", "javascript:x"]]
)
def test_a_link_is_an_address_of_a_comment(options: list[str], tmp_path: Path) -> None:
    answer = call("gate", str(tmp_path), "--limit", "count/* max < 5 instructions", *options)
    assert isinstance(answer.exception, UsageError)
    assert "--link" in answer.exception.message


def test_compare_shows_sizes_that_differ(tmp_path: Path) -> None:
    before, after = sides(tmp_path, "gate", "clamp")
    assert [record.code_bytes for record in read_run(Path(after)).manifest.records] == [12, 18]
    answer = call("compare", before, after)
    assert "count/clamp code: 4 → 18 bytes (+14)" in answer.stdout
    assert "stm32f4@emulated flash: 60 → 72 bytes (+12)" in answer.stdout
    assert "count/gate code" not in answer.stdout
    sizes = json.loads(call("compare", before, after, "--json").stdout)["sizes"]
    assert {
        "bench": "count/clamp",
        "kind": "code",
        "baseline": 4,
        "candidate": 18,
    }.items() <= sizes[1].items()
