# SPDX-License-Identifier: Apache-2.0
"""An image records its sources: the compiled files by part and content."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.config.manifest import BuildEntry
from kadenz.config.target_name import TargetName
from kadenz.images import image
from kadenz.images.image import Image, build_image
from kadenz.images.provenance import Tree, describe, parts, read_by_ninja

LINUX = TargetName("posix", "linux", "host")
BENCH = """#include "mine.h"
#include "kadenz/bench.h"
static void measure(struct kdz_point *point) { point->samples = MINE; }
static const struct kdz_bench mine = {.name = "mine/one", .lane_count = 1,
    .begins = "", .ends = "", .source = "", .measure = measure};
KDZ_BENCH(mine);
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Path]:
    """A benchmark outside the suite with its own header; its image is removed afterwards."""
    file = tmp_path / "mine.c"
    file.write_text(BENCH)
    (tmp_path / "mine.h").write_text("#define MINE 1\n")
    (tmp_path / "notes.h").write_text("#define NOTHING\n")  # never included
    folder = bench_image(file).folder
    yield file
    shutil.rmtree(folder)


def bench_image(bench: Path) -> Image:
    return build_image(LINUX, "counter", extra_bench=[bench])


def digests(image: Image) -> dict[str, str]:
    return digests_of(image.entry)


def digests_of(entry: BuildEntry) -> dict[str, str]:
    return {part.part: part.sha256 for part in entry.parts}


def test_an_edited_header_only_changes_the_digest_of_its_part(bench: Path) -> None:
    before = digests(bench_image(bench))
    assert set(before) == {"extra benchmarks", "suite", "port", "board", "arch", "tool chain"}
    (bench.parent / "mine.h").write_text("#define MINE 2\n")
    after = digests(bench_image(bench))
    assert [part for part in before if before[part] != after[part]] == ["extra benchmarks"]


@pytest.mark.parametrize("header", ["#define A 1\n", "#define A 2\n"])
def test_the_place_of_a_folder_or_a_compiler_is_no_difference(tmp_path: Path, header: str) -> None:
    """Nor is that of a header that a kernel's own project generated."""

    def digests_in(place: Path, text: str) -> dict[str, str]:
        build, compiler = place / "build", place / "gcc" / "include"
        files = [build / "lacks.c", build / "kernel" / "generated.h", compiler / "stddef.h"]
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("same\n")
        files[-1].write_text(text)
        entries = parts(files, [Tree("kernel", build / "kernel")], build)
        return {part.part: part.sha256 for part in entries}

    here, there = digests_in(tmp_path / "a", header), digests_in(tmp_path / "b" / "c", header)
    assert here == there and set(here) == {"kernel", "port", "tool chain"}
    other = digests_in(tmp_path / "a", "#define A 3\n")
    assert [part for part in here if here[part] != other[part]] == ["tool chain"]


def test_another_build_folder_has_the_same_digests(bench: Path, tmp_path: Path) -> None:
    """The folder's name has a digest of the benchmark's path."""
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for file in (bench, bench.with_suffix(".h")):
        shutil.copy(file, copy)
    first, second = bench_image(bench), bench_image(copy / bench.name)
    assert first.folder != second.folder and digests(first) == digests(second)
    shutil.rmtree(second.folder)


def test_a_file_that_was_not_compiled_does_not_count(bench: Path) -> None:
    before = bench_image(bench).entry
    (bench.parent / "notes.h").write_text("#define SOMETHING\n")
    assert bench_image(bench).entry == before


def test_a_replaced_file_with_an_older_date_is_compiled(bench: Path) -> None:
    """As after unpacking an archive over a tree: dates are those of the release."""
    before = bench_image(bench).entry
    header = bench.parent / "mine.h"
    header.write_text("#define MINE 77\n")
    os.utime(header, (0, 0))
    after = bench_image(bench).entry
    assert after.elf_sha256 != before.elf_sha256
    header.write_text("#define MINE 1\n")
    os.utime(header, (0, 0))
    assert bench_image(bench).entry == before


def test_what_an_image_is_made_of_is_read_once(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bench_image(bench).entry
    read: list[str] = []

    def counted(folder: Path, program: str) -> set[Path]:
        read.append(program)
        return read_by_ninja(folder, program)

    monkeypatch.setattr("kadenz.images.image.read_by_ninja", counted)
    assert bench_image(bench).entry == before and not read
    (bench.parent / "mine.h").write_text('#include "notes.h"\n#define MINE 1\n')
    (bench.parent / "notes.h").write_text("#define SOMETHING\n")
    assert digests(bench_image(bench))["extra benchmarks"] != digests_of(before)["extra benchmarks"]
    assert len(read) == 1


def test_another_lab_reads_an_image_while_it_is_described(tmp_path: Path) -> None:
    with image.locked(tmp_path) as lock, (tmp_path / image._LOCK).open() as other:
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        lock.share()
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with pytest.raises(BlockingIOError):  # but it builds nothing
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_git_tree_is_described_and_an_ignored_one_is_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
        subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True
        )

    file = tmp_path / "tasks.c"
    file.write_text("int a;\n")
    assert describe(file) == ""
    git("init", "-q")
    git("add", "tasks.c")
    git("commit", "-q", "-m", "one")
    git("tag", "-a", "V10.4.4", "-m", "release")
    assert describe(file) == "V10.4.4"
    file.write_text("int b;\n")
    assert describe(file) == "V10.4.4-dirty"
    inside = tmp_path / "build" / "tree" / "tasks.c"
    inside.parent.mkdir(parents=True)
    inside.write_text("int a;\n")
    assert describe(inside) == ""
