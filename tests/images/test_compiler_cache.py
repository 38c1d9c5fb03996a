# SPDX-License-Identifier: Apache-2.0
"""The cache of compiled objects changes how long a build takes, and nothing of the image."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.images import compiler_cache

pytestmark = pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")
COUNTED = ("direct_cache_hit", "preprocessed_cache_hit", "cache_miss")
BUILD = """
import json
from kadenz.config.target_name import parse_target
from kadenz.images.image import build_image
image = build_image(parse_target("posix/linux@host"), "counter")
files = [f"{one.part}: {one.file}" for one in image.entry.footprint]
print(json.dumps([image.entry.elf_sha256, image.entry.flags, files]))
"""


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own; empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def counts() -> dict[str, int]:
    answer = subprocess.run(
        ["ccache", "--print-stats"],
        env=compiler_cache.environment(Path("/")),
        capture_output=True,
        text=True,
        check=True,
    )
    lines = dict(line.split("\t") for line in answer.stdout.splitlines())
    hits = sum(int(lines[name]) for name in COUNTED[:2])
    return {"hits": hits, "misses": int(lines["cache_miss"])}


def compiled(folder: Path, *flags: str, compiler: str = "cc", **environment: str) -> bytes:
    """The object of `folder`/one.c, by the launcher and environment of a build."""
    (launcher,) = compiler_cache.options().values()
    object_file = folder / f"one-{os.urandom(4).hex()}.o"
    command = [launcher, compiler, "-g", "-O2", *flags, "-MD", "-MT", "one.o"]
    subprocess.run(
        [*command, "-MF", f"{object_file}.d", "-o", str(object_file), "-c", "one.c"],
        cwd=folder,
        env={**compiler_cache.environment(folder), **environment},
        check=True,
    )
    return object_file.read_bytes()


def sources(folder: Path) -> None:
    (folder / "one.h").write_text("#define ONE 1\n")
    (folder / "one.c").write_text('#include "one.h"\nint one(void) { return ONE + KDZ; }\n')
    for name in ("one.h", "one.c"):
        os.utime(folder / name, (1e9, 1e9))


def test_a_changed_header_flag_or_compiler_gives_a_new_object(own_cache: Path) -> None:
    sources(own_cache)
    compiler = own_cache / "bin" / "cc"
    compiler.parent.mkdir()
    real = shutil.which("cc")

    def version(extra: str) -> None:
        compiler.write_text(f'#!/bin/sh\nexec {real} "$@" -DKDZ={extra}\n')
        compiler.chmod(0o755)
        os.utime(compiler, (1e9, 1e9))  # content decides, not the date

    version("1")
    first = compiled(own_cache, compiler=str(compiler))
    assert compiled(own_cache, compiler=str(compiler)) == first
    assert counts() == {"hits": 1, "misses": 1}
    flagged = compiled(own_cache, "-O1", compiler=str(compiler))
    version("2")
    other = compiled(own_cache, compiler=str(compiler))
    (own_cache / "one.h").write_text("#define ONE 3\n")
    os.utime(own_cache / "one.h", (1e9, 1e9))
    edited = compiled(own_cache, compiler=str(compiler))
    assert len({first, flagged, other, edited}) == 4
    assert counts() == {"hits": 1, "misses": 4}
    for expected, extra, header in ((other, "2", "1"), (edited, "2", "3")):
        (own_cache / "one.h").write_text(f"#define ONE {header}\n")
        version(extra)
        assert compiled(own_cache, compiler=str(compiler), CCACHE_DISABLE="1") == expected


def test_settings_of_the_user_do_not_weaken_the_check(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCACHE_SLOPPINESS", "include_file_mtime,time_macros,file_stat_matches")
    monkeypatch.setenv("CCACHE_COMPILERCHECK", "none")
    monkeypatch.setenv("CCACHE_DIR", "/nowhere")
    environment = compiler_cache.environment(own_cache)
    assert environment["CCACHE_SLOPPINESS"] == "" and environment["CCACHE_COMPILERCHECK"] != "none"
    assert Path(environment["CCACHE_DIR"]).is_relative_to(own_cache)


def test_builds_at_once_give_the_objects_of_one_build(own_cache: Path) -> None:
    folders = [own_cache / str(n) for n in range(8)]
    for folder in folders:
        folder.mkdir()
        sources(folder)

    def all_of(folder: Path) -> list[bytes]:
        return [compiled(folder, f"-DKDZ={n}", f"-ffile-prefix-map={folder}=/x") for n in range(4)]

    alone = [
        compiled(folders[0], f"-DKDZ={n}", f"-ffile-prefix-map={folders[0]}=/x", CCACHE_DISABLE="1")
        for n in range(4)
    ]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(all_of, folders)) == [alone] * 8


def test_checkouts_and_labs_share_objects_and_their_images_are_equal(tmp_path: Path) -> None:
    """With and without the cache: the same bytes, flags and files."""
    first, copy = checkout(tmp_path / "one"), checkout(tmp_path / "elsewhere" / "copy")
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "kadenz.toml").touch()
    here = built(first, first)
    for folder in (copy, lab):
        before = counts()["hits"]
        assert built(copy, folder) == here
        assert counts()["hits"] - before >= 50
    shutil.rmtree(copy / "build")
    assert built(copy, copy, CCACHE_DISABLE="1") == here


def test_a_lab_that_changes_its_checkout_has_the_images_of_the_new_one(tmp_path: Path) -> None:
    """The other checkout's files have older dates than the objects."""
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "kadenz.toml").touch()
    original, changed = checkout(tmp_path / "one"), checkout(tmp_path / "other")
    edited = changed / "suite" / "core" / "crc32.c"
    edited.write_text(
        edited.read_text() + "\nextern const int kdz_edited;\nconst int kdz_edited = 1;\n"
    )
    for file in changed.rglob("*"):
        os.utime(file, (1e9, 1e9))
    before = built(original, lab)
    assert built(changed, lab) == built(changed, changed) != before
    assert built(original, lab) == before


def checkout(folder: Path) -> Path:
    """A copy of what images are built from."""
    for part in ("suite", "kernels", "boards", "arch", "instruments", "campaigns"):
        shutil.copytree(inventory.root() / part, folder / part)
    (folder / "kadenz").mkdir()
    shutil.copy(inventory.root() / "kadenz" / "__init__.py", folder / "kadenz")
    return folder


def built(checkout: Path, folder: Path, **environment: str) -> list[object]:
    """Digest, flags and files of an image that a process in `folder` builds with a checkout."""
    answer = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=folder,
        env={**os.environ, "KADENZ_ROOT": str(checkout), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    figures: list[object] = json.loads(answer.stdout)
    return figures
