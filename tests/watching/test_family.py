# SPDX-License-Identifier: Apache-2.0
"""Which processes a program started, from a /proc that is written here."""

from __future__ import annotations

from pathlib import Path

from kadenz.host.family import family_of, is_alive
from kadenz.machine_files import MachineFiles


def process(root: Path, pid: int, parent: int, state: str = "S", name: str = "a (b) c") -> None:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({name}) {state} {parent} 1 1 0 -1\n")


def test_children_and_theirs_are_of_the_family(tmp_path: Path) -> None:
    for pid, parent in ((1, 0), (70, 1), (71, 70), (72, 71), (80, 1)):
        process(tmp_path, pid, parent)
    files = MachineFiles(tmp_path)
    assert sorted(family_of(70, files)) == [70, 71, 72]
    assert family_of(999, files) == [999]


def test_one_that_ended_is_not_alive(tmp_path: Path) -> None:
    process(tmp_path, 70, 1)
    process(tmp_path, 71, 1, "Z")
    files = MachineFiles(tmp_path)
    assert [is_alive(pid, files) for pid in (70, 71, 72)] == [True, False, False]
