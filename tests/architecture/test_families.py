# SPDX-License-Identifier: Apache-2.0
"""A family of benchmarks is one file: no other decides by the beginning of a benchmark's name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kadenz
from kadenz.lab.reference import described
from kadenz.report.families import declared

ROOT = Path(kadenz.__file__).parent
# Whose subject is one benchmark, or those that a bound or a study is made of.
SUBJECT = {
    "analysis/budget.py": "the set of tasks that holds a bound",
    "analysis/overheads.py": "the costs in a bound, each by its benchmark",
    "analysis/motion_timeline.py": "the motion program",
    "analysis/published.py": "what published figures compare with",
    "lab/clock.py": "the clock, measured before anything else",
    "lab/plan.py": "the clock, measured before anything else",
    "tuning/plan.py": "/proc/irq, which is no benchmark",
    "watching/selection.py": "threads of interrupts, which are no benchmarks",
}
FOLDERS = ("report/families/", "report/studies/")


def named(file: Path, families: set[str]) -> Iterator[str]:
    """Strings of a file that are the name of a benchmark, or the beginning of one."""
    name = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(families)))})/[a-z0-9-]*")
    for node in ast.walk(ast.parse(file.read_text())):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and name.fullmatch(text):
            yield text


def families() -> set[str]:
    return {bench.partition("/")[0] for bench in described()} | declared().keys()


def test_no_file_names_a_family_but_its_own() -> None:
    by_file = {
        where: names
        for file in sorted(ROOT.rglob("*.py"))
        if not (where := file.relative_to(ROOT).as_posix()).startswith(FOLDERS)
        and (names := list(named(file, families())))
    }
    assert {where: by_file[where] for where in by_file.keys() - SUBJECT.keys()} == {}
    assert SUBJECT.keys() <= by_file.keys(), "no longer needed: remove it from SUBJECT"


def test_a_name_is_found_wherever_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("""a = ("clock/", {"irq/to-task": 1}, "kadenz run irq/to-task")""")
    assert list(named(file, {"clock", "irq"})) == ["clock/", "irq/to-task"]


def test_every_family_of_the_suite_is_declared_once() -> None:
    assert {bench.partition("/")[0] for bench in described()} <= declared().keys()
    places = [family.place for family in declared().values()]
    assert len(set(places)) == len(places)
