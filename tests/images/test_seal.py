# SPDX-License-Identifier: Apache-2.0
"""A build folder with damaged files, as after a power cut, is built anew."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.config.target_name import TargetName
from kadenz.images.image import Image, build_image
from kadenz.images.seal import is_whole, seal
from tests.images.test_provenance import BENCH

STM32 = TargetName("freertos", "stm32f4", "emulated")
FILES = [
    *("kadenz-suite.elf", "build.ninja", "CMakeCache.txt", ".ninja_deps", ".ninja_log"),
    *("kadenz-options.json", "kadenz-sources.txt", "kadenz-seal.txt", "compile_commands.json"),
    *("lacks.c", "kadenz-suite.map", "CMakeFiles/kadenz-suite.dir/lacks.c.obj"),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = tmp_path_factory.mktemp("bench") / "mine.c"
    file.write_text(BENCH)
    file.with_suffix(".h").write_text("#define MINE 1\n")
    yield file
    shutil.rmtree(bench_image(file).folder)


def bench_image(bench: Path) -> Image:
    return build_image(STM32, "counter", extra_bench=[bench])


@pytest.mark.counted
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_built_again(bench: Path, name: str) -> None:
    image = bench_image(bench)
    file = image.folder / name
    whole = file.read_bytes()
    damages = [whole[: len(whole) // 2], b""]
    if name == "kadenz-suite.elf":
        damages.append(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
    for damage in damages:
        file.write_bytes(damage)
        again = bench_image(bench)
        again.require_unchanged()
        assert again.entry == image.entry and is_whole(image.folder)


def test_any_file_of_the_build_counts_and_none_of_its_readers(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    for name in ("build.ninja", "objects/one.o", "catalog.json", "suite-0123456789abcdef.elf"):
        (tmp_path / name).write_text("one")
    assert not is_whole(tmp_path)
    seal(tmp_path)
    (tmp_path / "catalog.json").write_text("two")
    (tmp_path / "suite-0123456789abcdef.elf").unlink()
    assert is_whole(tmp_path)
    (tmp_path / "objects" / "one.o").write_text("two")
    assert not is_whole(tmp_path)
