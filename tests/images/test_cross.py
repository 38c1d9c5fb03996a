# SPDX-License-Identifier: Apache-2.0
"""A program for a guest of another instruction set is compiled by its compilers, with its KDL."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from kadenz import tools
from kadenz.config import inventory
from kadenz.errors import ToolMissing
from kadenz.images.cross import Cross, cross
from kadenz.images.program import build_program

ARM = Cross("aarch64", "aarch64-unknown-linux-gnu")


@pytest.fixture
def kdl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with KDL; compilers and Rust's library count as there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tools, "require", lambda name: Path(name))
    monkeypatch.setattr(tools, "require_rust_target", lambda target: None)
    folder = tmp_path / "kadenz" / "kdl" / "aarch64"
    folder.mkdir(parents=True)
    for name in ("liborocos-kdl.a", "orocos-kdl.pc"):
        (folder / name).touch()
    return folder


def test_cargo_gets_the_compilers_and_kdl_of_the_instruction_set(kdl: Path) -> None:
    variables = ARM.variables({"HOME": "/home"})
    assert variables["HOME"] == "/home"
    assert variables["CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER"] == "aarch64-linux-gnu-g++"
    assert variables["CXX_aarch64_unknown_linux_gnu"] == "aarch64-linux-gnu-g++"
    assert variables["AR_aarch64_unknown_linux_gnu"] == "aarch64-linux-gnu-ar"
    assert variables["PKG_CONFIG_PATH_aarch64_unknown_linux_gnu"] == str(kdl)


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({}, ["-Ctarget-feature=+crt-static"]),
        ({"RUSTFLAGS": "-C debuginfo=1"}, ["-C", "debuginfo=1", "-Ctarget-feature=+crt-static"]),
        (
            {"CARGO_ENCODED_RUSTFLAGS": "-Dwarnings", "RUSTFLAGS": "-C debuginfo=1"},
            ["-Dwarnings", "-Ctarget-feature=+crt-static"],
        ),
    ],
)
def test_a_program_is_static_whatever_flags_of_the_user_are_set(
    given: dict[str, str], flags: list[str], kdl: Path
) -> None:
    assert ARM.variables(given)["CARGO_ENCODED_RUSTFLAGS"].split("\x1f") == flags


def test_without_kdl_nothing_is_compiled_and_the_set_up_is_named(kdl: Path) -> None:
    (kdl / "orocos-kdl.pc").unlink()
    with pytest.raises(ToolMissing, match="KDL for aarch64 guests is not in") as caught:
        build_program("kadenz-motion", ARM)
    assert "kadenz setup --guests" in (caught.value.remedy or "")


def test_a_target_that_rustc_does_not_have_is_named_with_two_remedies() -> None:
    with pytest.raises(ToolMissing, match="no standard library for no-such-target") as caught:
        tools.require_rust_target("no-such-target")
    assert "kadenz setup --guests" in (caught.value.remedy or "")
    assert "rustup target add no-such-target" in (caught.value.remedy or "")


def test_the_archive_counts_once_among_the_parts(kdl: Path) -> None:
    source = Path("/source.rs")
    assert ARM.sources([source, kdl / "liborocos-kdl.a"]) == {source}


def test_only_guests_of_another_instruction_set_need_other_compilers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board = inventory.board("indy7-aarch64")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert cross(board, "guest") == ARM
    assert cross(board, "host") is None
    assert cross(inventory.board("aarch64"), "guest") is None  # it runs the suite
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert cross(board, "guest") is None
