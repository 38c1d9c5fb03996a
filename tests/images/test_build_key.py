# SPDX-License-Identifier: Apache-2.0
"""An image is built again when a tool or a variable changes that decides it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz import build_key
from kadenz.config.target_name import TargetName
from kadenz.images.image import Image, build_image
from tests.images.test_provenance import BENCH

STM32 = TargetName("freertos", "stm32f4", "emulated")
GCC = "arm-none-eabi-gcc"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "mine.c"
    file.write_text(BENCH)
    (tmp_path / "mine.h").write_text("#define MINE 1\n")
    yield file
    shutil.rmtree(bench_image(file).folder)


def bench_image(bench: Path) -> Image:
    return build_image(STM32, "counter", extra_bench=[bench])


def script(folder: Path, text: str) -> Path:
    """A compiler in front of the machine's."""
    folder.mkdir(exist_ok=True)
    file = folder / GCC
    file.unlink(missing_ok=True)
    file.write_text(f'#!/bin/sh\n{text}\nexec {shutil.which(GCC)} $more "$@"\n')
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    "name",
    [
        *("CFLAGS", "ASMFLAGS", "CXXFLAGS", "LDFLAGS", "CC", "CXX", "CPATH", "C_INCLUDE_PATH"),
        *("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "GNUTARGET"),
        *("LDEMULATION", "LD_RUN_PATH", "LD_LIBRARY_PATH", "SOURCE_DATE_EPOCH", "RUSTFLAGS"),
        *("CMAKE_PREFIX_PATH", "CMAKE_C_COMPILER_LAUNCHER", "RUSTUP_TOOLCHAIN"),
        *("CARGO_PROFILE_RELEASE_LTO", "CARGO_ENCODED_RUSTFLAGS", "DEPENDENCIES_OUTPUT"),
    ],
)
def test_a_variable_that_a_tool_reads_counts(name: str) -> None:
    assert build_key.variables({name: "x"}) == {name: "x"}
    assert not build_key.variables({name: ""})


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "PWD", "TERM", "LANG", "MAKEFLAGS", "GNUMAKEFLAGS", "SHLVL", "TMPDIR"),
        *("PYENV_ROOT", "CARGO_HOME", "RUSTUP_HOME", "RUST_BACKTRACE", "GCC_COLORS", "KADENZ_ROOT"),
        *("CMAKE_BUILD_PARALLEL_LEVEL", "CCACHE_DIR"),
    ],
)
def test_a_variable_that_decides_no_code_does_not_count(name: str) -> None:
    assert not build_key.variables({name: "x"})


def test_every_program_of_a_compiler_counts_by_content(tmp_path: Path) -> None:
    compiler = tmp_path / "gcc"
    for name in ("cc1", "as", "ld", "collect2", "liblto_plugin.so"):
        part = tmp_path / name
        part.write_text("one")
        compiler.write_text(
            f'#!/bin/sh\ncase "$1" in *={name}) echo {part};; *) echo none;; esac\n'
        )
        compiler.chmod(0o755)
        build_key._started_by.cache_clear()
        before = build_key.tools([compiler])
        part.unlink()
        part.write_text("two")
        after = build_key.tools([compiler])
        assert [file for file in before if before[file] != after[file]] == [str(part)]


@pytest.mark.counted
def test_a_compiler_that_was_replaced_compiles_again(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the same place and with the same version, as after an upgrade of a package."""
    bin_folder = tmp_path / "bin"
    script(bin_folder, "more=")
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    before = bench_image(bench).entry
    script(bin_folder, "more=-fno-inline")
    after = bench_image(bench).entry
    assert after.elf_sha256 != before.elf_sha256
    script(bin_folder, "more=")
    assert bench_image(bench).entry == before


@pytest.mark.counted
def test_the_variables_of_one_shell_do_not_stay(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bench_image(bench).entry
    with monkeypatch.context() as shell:
        shell.setenv("CFLAGS", "-fno-inline")
        other = bench_image(bench).entry
    assert other.elf_sha256 != before.elf_sha256 and "CFLAGS=-fno-inline" in other.flags
    assert bench_image(bench).entry == before
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "string.h").write_text("#include_next <string.h>\nstatic int more;\n")
    with monkeypatch.context() as shell:
        shell.setenv("CPATH", str(tmp_path / "first"))
        assert bench_image(bench).entry != before
    assert bench_image(bench).entry == before
