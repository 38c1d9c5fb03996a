# SPDX-License-Identifier: Apache-2.0
"""Compilers and emulators: found, checked by version, and reported with a remedy if missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz import tools
from kadenz.errors import ToolMissing
from kadenz.tools import Need
from kadenz.user_cache import user_cache

QEMU = tools.need("qemu-system-arm")


def program(folder: Path, name: str, script: str) -> Path:
    """An executable that runs the script."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def qemu(folder: Path, version: str) -> Path:
    return program(
        folder, "qemu-system-arm", f'echo "QEMU emulator version {version} (Debian 1:1)"'
    )


def test_a_tool_in_the_path_is_found(tmp_path: Path) -> None:
    path = qemu(tmp_path / "bin", "10.0.2")
    tool = tools.look_up(QEMU, path=str(tmp_path / "bin"), cache=tmp_path / "cache")
    assert (tool.path, tool.version, tool.problem) == (path, "10.0.2", "")


def test_the_private_tool_is_used_if_the_systems_is_too_old(tmp_path: Path) -> None:
    qemu(tmp_path / "bin", "7.2.18")
    private = qemu(tmp_path / "cache" / "qemu" / "tools" / "bin", "10.0.2")
    tool = tools.look_up(QEMU, path=str(tmp_path / "bin"), cache=tmp_path / "cache")
    assert (tool.path, tool.problem) == (private, "")


def test_the_systems_tool_comes_before_the_private_one(tmp_path: Path) -> None:
    installed = qemu(tmp_path / "bin", "11.0.0")
    qemu(tmp_path / "cache" / "qemu" / "tools" / "bin", "10.0.2")
    tool = tools.look_up(QEMU, path=str(tmp_path / "bin"), cache=tmp_path / "cache")
    assert tool.path == installed


def test_a_tool_that_is_too_old_is_reported_with_the_needed_version(tmp_path: Path) -> None:
    path = qemu(tmp_path, "7.2.18")
    tool = tools.look_up(QEMU, path=str(tmp_path), cache=tmp_path / "cache")
    assert tool.problem == f"{path} is version 7.2.18; version 10 is required"


def test_a_missing_tool_is_an_error_with_its_purpose_and_remedy(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing) as caught:
        tools.require("qemu-system-arm", path=str(tmp_path), cache=tmp_path)
    assert caught.value.message == "qemu-system-arm is not installed (emulates Arm boards)"
    assert "kadenz setup" in caught.value.remedy
    assert caught.value.exit_code == 2


def test_a_tool_that_does_not_start_shows_its_last_message(tmp_path: Path) -> None:
    program(tmp_path, "qemu-system-arm", "echo error while loading libpixman >&2; exit 127")
    tool = tools.look_up(QEMU, path=str(tmp_path), cache=tmp_path / "cache")
    assert "does not start: error while loading libpixman" in tool.problem


def test_the_version_of_a_compiler_is_not_its_distributors(tmp_path: Path) -> None:
    program(
        tmp_path,
        "arm-none-eabi-gcc",
        'case $1 in --version) echo "arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205";; '
        "*) echo /usr/lib/picolibc.specs;; esac",
    )
    tool = tools.look_up(tools.need("arm-none-eabi-gcc"), path=str(tmp_path), cache=tmp_path)
    assert (tool.version, tool.problem) == ("12.2.1", "")


def test_a_compiler_without_its_c_library_is_detected(tmp_path: Path) -> None:
    program(
        tmp_path,
        "arm-none-eabi-gcc",
        'case $1 in --version) echo "arm-none-eabi-gcc (1) 12.2.1";; *) echo picolibc.specs;; esac',
    )
    tool = tools.look_up(tools.need("arm-none-eabi-gcc"), path=str(tmp_path), cache=tmp_path)
    assert "does not find picolibc.specs" in tool.problem
    assert "picolibc-arm-none-eabi" in tool.need.remedy


def test_the_cache_follows_the_base_directories() -> None:
    assert user_cache({"XDG_CACHE_HOME": "/var/cache/me"}) == Path("/var/cache/me/kadenz")
    assert user_cache({"HOME": "/home/me"}) == Path("/home/me/.cache/kadenz")


def test_every_need_is_a_program_that_kadenz_starts() -> None:
    with pytest.raises(ToolMissing):
        tools.need("emacs")


def test_every_need_has_a_remedy() -> None:
    for wanted in tools.NEEDS:
        assert isinstance(wanted, Need)
        assert wanted.purpose
        assert "kadenz setup" in wanted.remedy
