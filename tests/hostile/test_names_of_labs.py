# SPDX-License-Identifier: Apache-2.0
"""No name or path of a lab is taken for anything but a name."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.errors import ConfigError, UsageError
from kadenz.images.build_paths import check_paths
from tests.forked import kadenz

TARGET = '[target.mine]\nkernel = "mine"\nboard = "hifive1-revb"\ntier = "emulated"\n'
# What a shell, CMake, Ninja, make, GCC or QEMU interprets.
HOSTILE = [
    "a$(touch pwned)",
    "a`touch pwned`",
    "a;touch pwned;b",
    "a'b",
    'a"b',
    "a%b",
    "a$b",
    "${ENV}",
    "a\nb",
    "a\tb",
    "a\x1b[2Jb",
    "a\\b",
    "a,b",
    "a|b",
    "a*b",
    "a?b",
    "a[b]",
    "a{b}",
    "a<b>c",
    "a^b",
    "a:b",
    "a=b",
    "a!b",
    "a\u202eb",
]
HARMLESS = ["it is (mine) & yours @2 #1 ~+ä"]
PARTS = {
    "kernels": "kernel.toml",
    "boards": "board.toml",
    "campaigns": ".toml",
    "tunings": ".toml",
    "servers": ".toml",
    "bench": ".c",
}


def make_lab(folder: Path) -> Path:
    shutil.copytree(inventory.root() / "kernels" / "freertos", folder / "kernels" / "mine")
    (folder / "kadenz.toml").write_text(TARGET)
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_a_lab_whose_path_a_build_would_interpret_is_refused_before_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = make_lab(tmp_path / name)
    monkeypatch.chdir(lab)
    answer = kadenz("run", "itc/semaphore-binary", "--target", "mine", "--quick")
    assert answer.returncode == 2, answer.stderr
    assert "a build cannot name a path with" in answer.stderr
    assert not (lab / "build").exists() and not list(tmp_path.rglob("*pwned"))


@pytest.mark.parametrize("option", ["--kernel-source", "--bench"])
def test_so_is_a_path_of_an_option(option: str, tmp_path: Path) -> None:
    given = tmp_path / "a;b"
    given.mkdir()
    with pytest.raises(UsageError, match="cannot name a path with ';'"):
        check_paths([given])
    (given / "x.c").write_text("")
    call = ("run", "itc/queue", "--target", "freertos/hifive1-revb@emulated", "--quick")
    answer = kadenz(*call, option, given / "x.c" if option == "--bench" else given)
    assert answer.returncode == 2, answer.stderr


@pytest.mark.counted
@pytest.mark.parametrize("name", HARMLESS)
def test_a_lab_with_another_path_is_built(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_lab(tmp_path / name))
    answer = kadenz("run", "itc/semaphore-binary", "--target", "mine", "--quick")
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", [*HOSTILE, "-a", ".a", "ä", "a b"])
def test_a_part_with_such_a_name_is_a_problem_with_its_place(
    part: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = PARTS[part]
    path = tmp_path / part / (f"{name}{file}" if file.startswith(".") else f"{name}/{file}")
    path.parent.mkdir(parents=True)
    path.write_text("")
    (tmp_path / "kadenz.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    told = [error.message for error in inventory.problems()]
    assert len(told) == 1 and "has letters, digits" in told[0], told
    assert repr(str(path if file.startswith(".") else path.parent)) in told[0]
    assert name not in {**inventory.kernels(), **inventory.boards(), **inventory.campaigns()}
    assert name not in inventory.tuning_files() and name not in inventory.debug_servers()


def test_a_benchmark_with_such_a_name_stops_every_image_of_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a;b.c").write_text("")
    (tmp_path / "kadenz.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="a;b.c"):
        inventory.benches()
    listed = kadenz("list")
    assert listed.returncode == 0 and "a;b.c" in listed.stdout


def test_init_prints_a_command_that_works(tmp_path: Path) -> None:
    folder = tmp_path / "it's; touch pwned; (mine)"
    answer = kadenz("init", folder)
    command = answer.stdout.rpartition("try:   ")[2].strip()
    assert shlex.split(command)[:2] == ["cd", str(folder)]
    subprocess.run(["sh", "-c", command.partition(" && ")[0]], check=True, cwd=tmp_path)
    assert not (tmp_path / "pwned").exists()
