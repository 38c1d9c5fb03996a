# SPDX-License-Identifier: Apache-2.0
"""The libraries of a program are those that its loader finds in a guest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.errors import BuildFailed
from kadenz.images.shared_libraries import shared_libraries


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that no loader looks into, with libelsewhere.so."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    source = tmp_path / "library.c"
    source.write_text("int elsewhere(void) { return 0; }\n")
    library = str(folder / "libelsewhere.so")
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", library], check=True)
    return folder


def program(folder: Path, *options: str) -> Path:
    """A program that needs libelsewhere.so of `folder`."""
    source, built = folder.parent / "program.c", folder.parent / "program"
    source.write_text("int elsewhere(void);\nint main(void) { return elsewhere(); }\n")
    link = [f"-L{folder}", "-lelsewhere", *options]
    subprocess.run(["cc", str(source), "-o", str(built), *link], check=True)
    return built


def test_the_libraries_of_a_program_are_those_that_its_loader_names(tmp_path: Path) -> None:
    libraries = [file.name for file in shared_libraries(Path("/bin/sh").resolve())]
    assert "libc.so.6" in libraries and any(name.startswith("ld-linux") for name in libraries)
    text = tmp_path / "text"
    text.write_text("no program")
    with pytest.raises(BuildFailed, match="ldd refuses it"):
        shared_libraries(text)


def test_a_library_that_only_this_machines_loader_finds_is_refused(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest has its file, and neither the variable nor the cache that leads to it."""
    built = program(elsewhere)
    with pytest.raises(BuildFailed, match="libelsewhere.so is not on this machine"):
        shared_libraries(built)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(elsewhere))
    with pytest.raises(BuildFailed, match="loader of a guest does not find") as refused:
        shared_libraries(built)
    assert str(elsewhere / "libelsewhere.so") in refused.value.message
    assert "LD_LIBRARY_PATH" in refused.value.remedy


def test_a_library_that_the_program_says_the_place_of_is_taken(elsewhere: Path) -> None:
    libraries = shared_libraries(program(elsewhere, f"-Wl,-rpath,{elsewhere}"))
    assert elsewhere / "libelsewhere.so" in libraries


def test_what_is_loaded_before_every_program_is_no_library_of_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(elsewhere / "libelsewhere.so"))
    names = [file.name for file in shared_libraries(Path("/bin/sh").resolve())]
    assert "libc.so.6" in names and "libelsewhere.so" not in names
