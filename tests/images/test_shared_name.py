# SPDX-License-Identifier: Apache-2.0
"""The link to the checkout in a build folder, and folders that have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.images import shared_name

SOURCE = "suite/core/crc32.c"


def commands_of(folder: Path) -> list[dict[str, str]]:
    """What CMake lists for a source below `folder`/src."""
    file = f"{folder}/src/{SOURCE}"
    commands = [{"file": file, "command": f"cc -c {file}"}]
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    return commands


def test_a_file_below_the_link_is_the_checkouts(tmp_path: Path) -> None:
    home = shared_name.link(tmp_path, keep=".lock")
    checkout_file = str(inventory.root() / SOURCE)
    assert shared_name.below(home, checkout_file) == f"{tmp_path}/src/{SOURCE}"
    assert shared_name.below(home, "/elsewhere/x.c") == "/elsewhere/x.c"
    commands_of(tmp_path)
    assert shared_name.compile_commands(tmp_path) == [
        {"file": checkout_file, "command": f"cc -c {checkout_file}"}
    ]


def test_a_build_folder_with_two_names_is_one(tmp_path: Path) -> None:
    folder, other = tmp_path / "build", tmp_path / "other"
    shared_name.link(folder, keep=".lock")
    other.symlink_to(folder)
    commands = [{"directory": str(folder), "file": f"{folder}/src/{SOURCE}"}]
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    (command,) = shared_name.compile_commands(other)
    assert command["file"] == str(inventory.root() / SOURCE)


def test_a_projects_own_folder_of_that_name_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    listed = commands_of(tmp_path)
    assert shared_name.compile_commands(tmp_path) == listed


def test_a_file_system_without_links_builds_by_the_checkouts_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "symlink_to", refused)
    home = shared_name.link(tmp_path / "build", keep=".lock")
    assert home == inventory.root()
    assert shared_name.below(home, str(home / SOURCE)) == str(home / SOURCE)


def test_what_another_checkout_built_is_removed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    folder = tmp_path / "build"
    (folder / "objects").mkdir(parents=True)
    for name in (".lock", "build.ninja", "objects/one.o"):
        (folder / name).touch()
    (folder / "src").symlink_to(other)
    shared_name.link(folder, keep=".lock")
    assert {file.name for file in folder.iterdir()} == {".lock", "src"} and other.is_dir()
    assert (folder / "src").resolve() == inventory.root()
