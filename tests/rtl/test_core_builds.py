# SPDX-License-Identifier: Apache-2.0
"""A core's program in the cache: what it is made from, and that nothing half-built stays there."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kadenz.config import inventory
from kadenz.errors import BuildFailed, ConfigError, ToolMissing
from kadenz.targets import rtl_core
from tests.waiting import PATIENCE_S

Compiler = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def rtl_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's folder of cores, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "kadenz" / "rtl"


def replace_compiler(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object]) -> None:
    """A small program stands for the compiler's long work, after `before`."""
    real = subprocess.run

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        if "--Mdir" not in command:
            return real(command, **options)  # type: ignore[call-overload, no-any-return]
        folder = Path(command[command.index("--Mdir") + 1])
        folder.mkdir()
        (folder / "bench").write_text("program")
        before()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("kadenz.targets.rtl_core.subprocess.run", run)


def test_two_builds_at_once_do_not_hurt_each_other(
    rtl_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both compile, one is kept whole."""
    both = threading.Barrier(2)
    replace_compiler(monkeypatch, lambda: both.wait(PATIENCE_S))
    cores = []
    threads = [threading.Thread(target=lambda: cores.append(rtl_core.build("ibex"))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(cores) == 2 and cores[0].program == cores[1].program
    assert cores[0].program.read_text() == "program"
    assert list(rtl_cache.iterdir()) == [cores[0].program.parent]


def test_the_folder_of_a_killed_build_is_removed_and_that_of_a_running_one_stays(
    rtl_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, running = rtl_cache / "ibex-1.building.a", rtl_cache / "ibex-1.building.b"
    for folder in (killed, running):
        (folder / "obj").mkdir(parents=True)
    handle = os.open(running, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # as a build does
        replace_compiler(monkeypatch, lambda: None)
        kept = rtl_core.build("ibex").program.parent
    finally:
        os.close(handle)
    assert sorted(rtl_cache.iterdir()) == sorted([running, kept])


def test_a_core_that_cannot_be_kept_is_an_error_and_no_program(
    rtl_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    replace_compiler(monkeypatch, lambda: None)
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(BuildFailed, match="cannot be kept in .*: No space left on device"):
        rtl_core.build("ibex")
    assert list(rtl_cache.iterdir()) == []


def test_all_processes_of_a_build_end_with_a_killed_lab(tmp_path: Path) -> None:
    """Each holds the pipe: the compiler, what it waits for and what it does not wait for."""
    os.mkfifo(tmp_path / "held")
    program = f"exec 9>{tmp_path}/held; echo begun >&9; sleep 60 & sleep 60; echo late >&9"
    lab = os.fork()
    if lab == 0:
        try:
            rtl_core._run(["bash", "-c", program], dict(os.environ))
        finally:
            os._exit(0)
    with (tmp_path / "held").open("rb", buffering=0) as held:
        assert held.readline() == b"begun\n"
        os.kill(lab, signal.SIGKILL)
        os.waitpid(lab, 0)
        ready, _, _ = select.select([held], [], [], 10)
        assert ready and held.read() == b""


def test_a_build_ends_with_the_code_and_the_words_of_the_compiler() -> None:
    answer = rtl_core._run(["sh", "-c", "echo out; echo error >&2; exit 7"], dict(os.environ))
    assert (answer.returncode, answer.stdout) == (7, "out\nerror\n")


def test_a_program_is_rebuilt_when_verilog_or_compiler_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verilog, programs = tmp_path / "verilog", tmp_path / "bin"
    (verilog / "include").mkdir(parents=True)
    programs.mkdir()
    read = [verilog / "core.sv", verilog / "include" / "macros.svh"]
    compiler = programs / "g++"
    for source in read:
        source.write_text("1")
    compiler.write_text("#!/bin/sh\necho 12.2\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setattr("kadenz.targets.rtl_core._verilog", lambda name, file: verilog)
    file = msgspec.structs.replace(
        rtl_core.core_file("ibex"), sources=("core.sv",), include=("include",)
    )
    digests = [rtl_core._digest("ibex", file, rtl_core.ALONE)]
    for changed, text in [
        *((source, "2") for source in read),
        (compiler, "#!/bin/sh\necho 13.1\n"),
    ]:
        changed.write_text(text)
        digests.append(rtl_core._digest("ibex", file, rtl_core.ALONE))
    assert len(set(digests)) == 4
    assert rtl_core._digest("ibex", file, rtl_core.ALONE) == digests[-1]


def test_a_core_is_digested_again_only_after_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each execution of a job asks for its core."""
    digest = rtl_core._digest("ibex", rtl_core.core_file("ibex"), rtl_core.ALONE)
    asked: list[str] = []
    source = tmp_path / "core.sv"
    source.write_text("1")
    os.utime(tmp_path, (0, 0))

    def counted(name: str, *_: object) -> str:
        asked.append(name)
        return digest

    monkeypatch.setattr(rtl_core, "_built", {})
    monkeypatch.setattr(rtl_core, "_digest", counted)
    monkeypatch.setattr(rtl_core, "_read", lambda *_: ([tmp_path], [source]))
    first = rtl_core.build("ibex")
    assert rtl_core.build("ibex") is first and len(asked) == 1
    source.write_text("changed")
    rtl_core.build("ibex")
    assert len(asked) == 2
    (tmp_path / "new.svh").write_text("")
    rtl_core.build("ibex")
    assert len(asked) == 3
    source.unlink()
    rtl_core.build("ibex")
    rtl_core.build("ibex")
    assert len(asked) == 4


@pytest.mark.parametrize("core", ["vexriscv-imac", "vexriscv-cluster"])
def test_the_caches_of_core_toml_are_those_of_the_verilog(core: str) -> None:
    """By the memories of its module, which the cores share: words of code, data by bytes."""
    file = rtl_core.core_file(core)
    try:
        rtl_core.require(core)
    except ToolMissing:
        pytest.skip(f"{core} is not there (make rtl-cluster)")
    (source,) = file.sources
    text = (rtl_core._verilog(core, file) / source).read_text()
    banks = re.findall(r"reg +\[31:0\] +banks_\d+ \[0:(\d+)\]", text)
    ways = re.findall(r"reg +\[7:0\] +ways_\d+_data_symbol\d \[0:(\d+)\]", text)
    assert sum(4 * (int(last) + 1) for last in banks) == file.instruction_cache_bytes
    assert sum(int(last) + 1 for last in ways) == file.data_cache_bytes


def test_a_board_with_more_cores_than_the_verilog_has_is_refused() -> None:
    rtl_core.check_cores("vexriscv-cluster", inventory.board("vexriscv-cluster").cores)
    rtl_core.check_cores("ibex", 4)  # any number, an instance each
    with pytest.raises(ConfigError, match="has 1 cores, and coherent VexRiscv cluster has 2"):
        rtl_core.check_cores("vexriscv-cluster", 1)
