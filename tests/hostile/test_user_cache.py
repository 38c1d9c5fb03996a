# SPDX-License-Identifier: Apache-2.0
"""kadenz starts nothing from a cache that somebody else may have written."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from kadenz.errors import UsageError
from kadenz.user_cache import _refuse_foreign, user_cache
from tests.forked import kadenz

STRANGER = 12345
RTL = ("freertos/ibex@rtl", "freertos/stm32f4@emulated")
STARTS = {
    "run": ("itc/mutex", "--quick", "--target", RTL[0]),
    "conformance": (RTL[1],),
    "footprint": (RTL[1],),
    "profile": ("itc/queue", "--target", RTL[1]),
    "trace": ("itc/queue", "--target", RTL[1]),
    "doctor": (),
    "cache": (),
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with a folder of each kind."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("SUDO_UID", raising=False)
    for name in ("qemu", "rust", "rtl", "guests", "store", "ccache"):
        (tmp_path / "kadenz" / name).mkdir(parents=True)
    return tmp_path / "kadenz"


def test_an_own_cache_is_believed_and_so_is_one_of_root(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert user_cache() == cache
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
        _refuse_foreign.cache_clear()
        assert user_cache() == cache


def test_a_cache_that_does_not_exist_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert not user_cache().exists()


@pytest.mark.parametrize("part", [".", "qemu", "rust", "rtl", "guests", "store", "ccache"])
def test_a_cache_of_another_user_is_not_believed(
    part: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned = (cache / part).resolve()

    def foreign(path: Path) -> int | None:
        return STRANGER if path.resolve() == owned else None

    monkeypatch.setattr("kadenz.user_cache.foreign", foreign)
    with pytest.raises(UsageError, match=f"{owned} belongs to user {STRANGER}") as caught:
        user_cache()
    assert "XDG_CACHE_HOME" in caught.value.remedy


@pytest.mark.parametrize("command", STARTS)
def test_each_command_that_starts_a_program_refuses_a_cache_for_everybody(
    command: str, cache: Path
) -> None:
    (cache / "rtl").chmod(0o777)
    answer = kadenz(command, *STARTS[command])
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert f"{cache}/rtl: everybody may change what kadenz starts from there" in answer.stderr


def test_the_remedy_for_a_cache_for_everybody_works(cache: Path) -> None:
    (cache / "rtl").chmod(0o777)
    answer = kadenz("cache")
    remedy = answer.stderr.split("`kadenz setup`: ")[1].replace("\n", " ")
    subprocess.run(shlex.split(remedy), check=True)
    assert kadenz("cache").returncode == 0
