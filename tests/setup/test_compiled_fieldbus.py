# SPDX-License-Identifier: Apache-2.0
"""Clones with the same files of fieldbus/ share what was compiled, and never more than that."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
MANIFEST = '[package]\nname = "kadenz-one"\nversion = "1.0.0"\nedition = "2021"\n'
PROGRAM = "kadenz-one"


def program(text: str) -> str:
    return f'fn main() {{ println!("{text}"); }}\n'


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def clone(folder: Path, text: str = "first") -> Path:
    """A repository whose fieldbus/ is one program."""
    (folder / "fieldbus/src").mkdir(parents=True)
    (folder / "fieldbus/Cargo.toml").write_text(MANIFEST)
    (folder / "fieldbus/src/main.rs").write_text(program(text))
    (folder / ".gitignore").write_text("target/\n")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    cargo(folder, "generate-lockfile")
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    return folder


def bash(folder: Path, cache: Path, script: str) -> subprocess.CompletedProcess[str]:
    lines = (f". {SCRIPTS}/lib.sh", f". {SCRIPTS}/compiled-fieldbus.sh", f"cd {folder}", script)
    return subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )


def keep(folder: Path, cache: Path) -> None:
    script = f'keep_fieldbus "$(fieldbus_key)" {folder}/fieldbus/target'
    done = bash(folder, cache, script)
    assert done.returncode == 0, done.stderr


def take(folder: Path, cache: Path) -> bool:
    return bash(folder, cache, f"take_fieldbus {folder}/fieldbus/target").returncode == 0


def cargo(folder: Path, *arguments: str) -> str:
    """What cargo reports, without a registry."""
    command = ["cargo", *arguments, "--offline"]
    done = subprocess.run(
        command, cwd=folder / "fieldbus", capture_output=True, text=True, check=True
    )
    return done.stderr


def said(folder: Path) -> str:
    return subprocess.check_output([folder / "fieldbus/target/debug" / PROGRAM], text=True).strip()


@pytest.fixture
def first(tmp_path: Path, cache: Path) -> Path:
    """A clone that was compiled and kept."""
    made = clone(tmp_path / "a")
    assert "Compiling" in cargo(made, "build")
    keep(made, cache)
    return made


@pytest.mark.usefixtures("first")
def test_a_clone_with_the_same_files_compiles_nothing(tmp_path: Path, cache: Path) -> None:
    second = clone(tmp_path / "b")
    assert take(second, cache)
    assert "Compiling" not in cargo(second, "build")
    assert said(second) == "first"


def test_a_change_is_compiled_in_its_clone_alone(first: Path, tmp_path: Path, cache: Path) -> None:
    second, third = clone(tmp_path / "b"), clone(tmp_path / "c")
    assert take(second, cache)
    (second / "fieldbus/src/main.rs").write_text(program("second"))
    assert "Compiling" in cargo(second, "build")
    assert (said(first), said(second)) == ("first", "second")
    assert take(third, cache)
    assert "Compiling" not in cargo(third, "build")
    assert said(third) == "first"


@pytest.mark.usefixtures("first")
def test_other_files_or_another_compiler_are_not_served(tmp_path: Path, cache: Path) -> None:
    other = clone(tmp_path / "b", "other")
    assert not take(other, cache)
    assert not (other / "fieldbus/target").exists()
    compiler = tmp_path / "bin/rustc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\necho rustc 0.0.0\n")
    compiler.chmod(0o755)
    same = clone(tmp_path / "c")
    taken = f"PATH={compiler.parent}:$PATH take_fieldbus {same}/fieldbus/target"
    assert bash(same, cache, taken).returncode != 0


def test_what_changed_while_it_was_compiled_is_not_kept(tmp_path: Path, cache: Path) -> None:
    first = clone(tmp_path / "a")
    script = (
        f'key="$(fieldbus_key)"\necho "// edited" >> {first}/fieldbus/src/main.rs\n'
        f'mkdir -p {first}/fieldbus/target\nkeep_fieldbus "$key" {first}/fieldbus/target'
    )
    done = bash(first, cache, script)
    assert done.returncode == 0, done.stderr
    assert list(cache.rglob("fieldbus-*")) == []


def test_a_file_that_was_removed_is_no_input(tmp_path: Path, cache: Path) -> None:
    first = clone(tmp_path / "a")
    (first / "fieldbus/src/extra.rs").write_text("")
    subprocess.run(["git", "add", "."], cwd=first, check=True)
    (first / "fieldbus/src/extra.rs").unlink()
    cargo(first, "build")
    keep(first, cache)
    assert take(clone(tmp_path / "b"), cache)


def test_trees_without_git_share_nothing(tmp_path: Path, cache: Path) -> None:
    trees = [clone(tmp_path / text, text) for text in ("one", "two")]
    for tree in trees:
        shutil.rmtree(tree / ".git")
        assert bash(tree, cache, "fieldbus_key").returncode != 0
        assert not take(tree, cache)


def test_the_newest_two_are_kept(tmp_path: Path, cache: Path) -> None:
    for text in ("one", "two", "three"):
        one = clone(tmp_path / text, text)
        cargo(one, "build")
        keep(one, cache)
        shutil.rmtree(one)
    assert not take(clone(tmp_path / "x", "one"), cache)
    assert take(clone(tmp_path / "y", "three"), cache)
