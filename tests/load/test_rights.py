# SPDX-License-Identifier: Apache-2.0
"""A load that root starts runs as another user, without a right and without a way to gain one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kadenz.load import counters, definitions, running, supervisor
from kadenz.load.definitions import Options
from kadenz.load.running import RunningLoad
from kadenz.owner import user_without_rights
from tests.load.machine import left_behind, on_a_disk, working_in
from tests.rights import AS_USER, NOBODY, ROOT_ONLY, USER, WITHOUT, rights_of, without
from tests.waiting import wait_for

pytestmark = pytest.mark.machine  # loads start, and rights of root are given up


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(running, "_WINDOW_S", 0.1)
    monkeypatch.setattr(running, "_WINDOWS", 1)
    folder = on_a_disk(tmp_path)
    yield folder
    supervisor.kill(working_in(folder))
    wait_for(lambda: left_behind(folder) == [])  # what was killed takes its time to end


def loaded(name: str, folder: Path, check: Callable[[], None]) -> RunningLoad:
    """The load while it ran; `check` was called meanwhile."""
    with RunningLoad(name, Options(workers=1, allow_weak=True), folder, lambda _: None) as load:
        load.start(threading.Event())
        check()
        assert load.alive(), load.ended
    return load


def user() -> int:
    return (user_without_rights() or (os.geteuid(), 0))[0]


@pytest.mark.parametrize("name", definitions.kinds())
def test_no_process_of_a_load_has_a_right_or_can_gain_one(here: Path, name: str) -> None:
    if shutil.which("stress-ng") is None and definitions.kinds()[name].program[0] == "stress-ng":
        pytest.skip("stress-ng is not installed")

    def check() -> None:
        assert working_in(here)
        wait_for(lambda: rights_of(working_in(here)) == {without(user())})

    load = loaded(name, here, check)
    assert "rights" not in load.entries[0].settings


@ROOT_ONLY
def test_with_sudo_a_load_is_the_callers(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", "1234")
    monkeypatch.setenv("SUDO_GID", "1235")

    def check() -> None:
        wait_for(lambda: rights_of(working_in(here)) == {without(1234)})
        (folder,) = here.glob(".kadenz-load-*")
        assert (folder.stat().st_uid, folder.stat().st_gid) == (1234, 1235)
        assert folder.stat().st_mode & 0o777 == 0o700

    loaded("io", here, check)


@ROOT_ONLY
def test_only_a_caller_of_sudo_who_is_not_root_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for uid, gid in (("0", "0"), ("", ""), ("1000", ""), ("x", "5")):
        monkeypatch.setenv("SUDO_UID", uid)
        monkeypatch.setenv("SUDO_GID", gid)
        assert user_without_rights() == (NOBODY, NOBODY)


@ROOT_ONLY
@pytest.mark.parametrize("name", ["memory", "paging"])  # those that are programs of kadenz
def test_a_load_starts_from_a_home_that_nobody_else_may_enter(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    home = here / "home"
    shutil.copytree(definitions._WORKERS, home / "workers")
    (home / "python").symlink_to(sys.executable)
    for path in (home / "workers", home):
        path.chmod(0o700)
        os.chown(path, 1236, 1236)
    monkeypatch.setattr(definitions, "_WORKERS", home / "workers")
    monkeypatch.setattr(sys, "executable", str(home / "python"))
    loaded(name, home, lambda: wait_for(lambda: rights_of(working_in(here)) == {without(NOBODY)}))


def answer_of(folder: Path, prefix: list[str], user: tuple[int, int] | None) -> tuple[str, str]:
    """Why the rights of a program are not all given up, and which it has."""
    program = {"part": "x", "argv": ["sleep", "600"], "grouped": False, "reads": False}
    spec = {
        "folder": str(folder / ".kadenz-load-x"),
        "groups": [],
        "cpus": sorted(os.sched_getaffinity(0)),
        "user": user,
        "programs": [program],
    }
    with subprocess.Popen(
        [*prefix, sys.executable, "-I", "-S", supervisor.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps(spec), file=process.stdin, flush=True)
        answer = json.loads(process.stdout.readline())
        (rights,) = rights_of(answer["pids"]["x"])
        process.stdin.close()
    return answer["refused"], rights


@ROOT_ONLY
@pytest.mark.parametrize("capability", ["0 chown", "6 another user", "7 another user"])
def test_where_another_user_is_refused_it_is_said_and_no_capability_is_left(
    here: Path, capability: str
) -> None:
    number, what = capability.split(maxsplit=1)
    prefix = [sys.executable, "-c", WITHOUT, number]
    refused, rights = answer_of(here, prefix, user_without_rights())
    assert (refused, rights) == (f"{what}: Operation not permitted", without(0))


@ROOT_ONLY
def test_a_load_of_another_user_has_none_of_its_capabilities(here: Path) -> None:
    assert answer_of(here, AS_USER, None) == ("", without(USER))


def test_what_a_load_kept_is_in_its_run(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    hear, refusal = RunningLoad._hear, "another user: Operation not permitted"

    def refused(self: RunningLoad, timeout_s: float) -> object:
        answer = hear(self, timeout_s)
        return answer and {**answer, "refused": refusal}

    monkeypatch.setattr(RunningLoad, "_hear", refused)
    with RunningLoad("io", Options(allow_weak=True), here, said.append) as load:
        load.start(threading.Event())
        (entry,) = load.entries
    assert entry.settings["rights"] == f"not all given up: {refusal}"
    assert f"load io does not give up all rights: {refusal}" in said


def test_nothing_in_the_folder_of_a_load_is_followed(tmp_path: Path) -> None:
    """It belongs to the load's user: a link or a pipe there is no count."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"\xff" * 8)
    (tmp_path / "memory-0.count").symlink_to(secret)
    os.mkfifo(tmp_path / "memory-1.count")
    (tmp_path / "memory-2.count").mkdir()
    (tmp_path / "memory-3.count").write_bytes((3_000_000).to_bytes(8, "little"))
    place = counters.Place([0], tmp_path, "")
    assert counters.COUNTERS["memory-moved"].read(place) == 3.0


def test_the_output_of_a_program_is_written_through_no_link(here: Path) -> None:
    kept = here / "kept"
    kept.write_text("kept")
    folder = here / ".kadenz-load-x"
    first = ["sh", "-c", f"ln -s {kept} second-1.log; sleep 600"]
    started: list[dict[str, object]] = []
    spec = {
        "folder": str(folder),
        "groups": [],
        "cpus": sorted(os.sched_getaffinity(0)),
        "user": None,
        "programs": [
            {"part": "first", "argv": first, "grouped": False, "reads": False},
            {"part": "second", "argv": ["echo", "x"], "grouped": False, "reads": False},
        ],
    }
    above = supervisor.Supervisor(spec, lambda event, **more: started.append(more))
    begin = above._start_program

    def after_the_link(program: dict[str, object], log: object) -> object:
        process = begin(program, log)  # type: ignore[arg-type]
        wait_for(lambda: (folder / "second-1.log").is_symlink())
        return process

    above._start_program = after_the_link  # type: ignore[method-assign, assignment]
    try:
        with pytest.raises(FileExistsError):
            above.start()
    finally:
        above.clean()
    assert started == [] and kept.read_text() == "kept"
