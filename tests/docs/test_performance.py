# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md is what the benchmarks printed: `make benchmark` writes it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.performance import FOLDER, HOW, PAGE, Printed, page_text, printed, programs, replace
from tests.docs.pages import ROOT

PROGRAM = '''"""The cost of {name}, beside a peer.

How it is measured.
"""

import sys

TITLE = "Cost of {name}"
RUNS = ("--rounds 2", "--only a")

print("progress", file=sys.stderr)
print("| {name} | peer |\\n|---|---|\\n| 1 | 2 |")
print("\\nanswer: half of the peer")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two programs, each of which printed something a day ago."""
    (tmp_path / "printed").mkdir()
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(PROGRAM.format(name=name))
        part = Printed(f"Cost of {name}", "on 2026-01-01 at abc", "old", "| old |\n|---|\n")
        (tmp_path / "printed" / f"{name}.md").write_text(part.text())
    return tmp_path


def test_the_page_is_its_parts() -> None:
    assert PAGE.read_text() == page_text(), HOW


def test_each_program_has_a_part_with_an_answer_or_names_the_page_of_its_figures() -> None:
    for program in programs():
        file = FOLDER / "printed" / f"{program.name}.md"
        assert file.exists() == bool(program.title), program.name
        if program.title:
            assert printed(file).title == program.title
            assert "answer: " in program.file.read_text(), program.name
        else:
            (page,) = set(re.findall(r"\b(?:docs|kadenz)/[\w/.-]+\w", program.subject))
            assert program.file.name in (ROOT / page).read_text(), program.name


def test_each_part_has_a_day_an_answer_and_a_table() -> None:
    files = list((FOLDER / "printed").glob("*.md"))
    assert len(files) > 20
    for file in files:
        part = printed(file)
        assert re.match(r"on \d{4}-\d\d-\d\d at [0-9a-f]{7,}(?: with changes)?: ", part.origin)
        assert part.answer and "|---" in part.body, file
        assert part.text() == file.read_text()


def test_a_program_that_runs_again_replaces_its_own_part_alone(folder: Path) -> None:
    before = page_text(folder)
    first, second = programs(folder)
    replace(second)
    part = printed(folder / "printed" / "second.md")
    assert part.answer == "half of the peer" and "answer" not in part.body
    assert part.body.count("| 1 | 2 |") == 2 and "--only a`" in part.body
    assert "progress" not in part.body
    after = page_text(folder)
    assert after.partition("## Cost of second")[0].count("old") == 2  # of the first: answer, table
    assert "| [Cost of second](#cost-of-second) | half of the peer |" in after
    assert before.partition("## Cost of second")[0].count("old") == 3
    assert f"{first.subject} Printed on 2026-01-01 at abc." in after


def test_a_program_that_fails_keeps_what_it_printed_last(folder: Path) -> None:
    (folder / "first.py").write_text(PROGRAM.format(name="first") + "sys.exit(1)\n")
    first, _ = programs(folder)
    with pytest.raises(subprocess.CalledProcessError):
        replace(first)
    assert printed(folder / "printed" / "first.md").answer == "old"


def test_the_origin_of_a_run_is_its_day_its_commit_and_its_machine(folder: Path) -> None:
    first, _ = programs(folder)
    replace(first)
    origin = printed(folder / "printed" / "first.md").origin
    assert re.fullmatch(
        r"on \d{4}-\d\d-\d\d at [0-9a-f]{7,}(?: with changes)?: \d+ × .*, Linux .*, "
        r"load average [\d.]+",
        origin,
    )
