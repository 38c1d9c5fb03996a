# SPDX-License-Identifier: Apache-2.0
"""An execution starts the image that its run describes, whatever is built meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.config.manifest import BuildEntry
from kadenz.config.target_name import parse_target
from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.images.image import Image, build_image
from kadenz.images.private_copy import private_copy
from kadenz.lab.execution import make_target, setup_of
from tests.images.test_provenance import BENCH

HOLDER = """
import sys
from pathlib import Path
from kadenz.images.private_copy import private_copy
print(private_copy(Path(sys.argv[1]), Path(sys.argv[2])), flush=True)
sys.stdin.read()
"""


def copies(folder: Path) -> set[str]:
    return {file.read_text() for file in folder.glob("suite-*") if file.suffix != ".map"}


def rebuild(program: Path, text: str) -> None:
    """Writes another program as linkers do: a new file."""
    program.unlink(missing_ok=True)
    program.write_text(text)
    program.chmod(0o755)
    program.with_suffix(".map").write_text(f"map of {text}")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "suite"
    rebuild(file, "first")
    return file


def test_a_copy_is_kept_while_a_process_may_start_it(program: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(program), str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        copy = Path(holder.stdout.readline().strip())
        rebuild(program, "second")
        private_copy(program, tmp_path)
        assert copy.read_text() == "first" and os.access(copy, os.X_OK)
        holder.stdin.close()
    rebuild(program, "third")
    private_copy(program, tmp_path)
    # That of the ended process is gone; this one may still start both of its own.
    assert copies(tmp_path) == {"second", "third"}
    assert len(list(tmp_path.glob("suite-*.map"))) == 2


def test_a_copy_has_its_map_and_the_capabilities_of_the_program(
    program: Path, tmp_path: Path
) -> None:
    copy = private_copy(program, tmp_path)
    assert copy.with_suffix(".map").read_text() == "map of first"
    assert copy.samefile(program)  # where the kernel keeps them


def test_a_file_system_without_links_has_copies(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    copy = private_copy(program, tmp_path)
    assert copy.read_text() == "first" and os.access(copy, os.X_OK)
    assert not copy.samefile(program)


def test_a_damaged_copy_is_replaced(program: Path, tmp_path: Path) -> None:
    copy = private_copy(program, tmp_path)
    copy.write_text("fir")
    rebuild(program, "first")
    assert private_copy(program, tmp_path) == copy and copy.read_text() == "first"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Path]:
    """A benchmark outside the suite; the images with it are removed afterwards."""
    file = tmp_path / "mine.c"
    file.write_text(BENCH)
    (tmp_path / "mine.h").write_text("#define MINE 1\n")
    folders: set[Path] = set()
    yield file
    for name in ("posix/linux@host", "freertos/stm32f4@emulated"):
        folders.add(build_image(parse_target(name), "counter", extra_bench=[file]).folder)
    for folder in folders:
        shutil.rmtree(folder)


@pytest.mark.counted
@pytest.mark.parametrize("name", ["posix/linux@host", "freertos/stm32f4@emulated"])
def test_a_build_between_two_boots_changes_nothing(name: str, bench: Path) -> None:
    target = parse_target(name)
    first = build_image(target, "counter", extra_bench=[bench])
    (bench.parent / "mine.h").write_text("#define MINE 2\n")
    second = build_image(target, "counter", extra_bench=[bench])
    assert first.folder == second.folder
    assert first.entry.elf_sha256 != second.entry.elf_sha256
    for image in (first, second):
        assert Elf(image.elf.path).sha256 == image.entry.elf_sha256
        make_target(target, "counter", image, setup_of(target)).close()


@pytest.mark.parametrize("damage", ["image", "another file"])
def test_no_boot_of_a_file_that_is_not_the_described_one(tmp_path: Path, damage: str) -> None:
    target = parse_target("freertos/stm32f4@emulated")
    elf, other = tmp_path / "image", tmp_path / "another file"
    elf.write_bytes(b"one")
    other.write_bytes(b"two")
    entry = BuildEntry(
        compiler="",
        compiler_version="",
        flags="",
        elf_sha256=Elf(elf).sha256,
        text_bytes=0,
        data_bytes=0,
        bss_bytes=0,
        kernel_source="",
    )
    image = Image(Elf(elf), tmp_path, entry, others={other: Elf(other).sha256})
    make_target(target, "counter", image, setup_of(target)).close()
    (tmp_path / damage).write_bytes(b"six")
    with pytest.raises(TargetFailed, match=f"{damage} changed after its check"):
        make_target(target, "counter", image, setup_of(target))
