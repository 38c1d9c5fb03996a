# SPDX-License-Identifier: Apache-2.0
"""The key of an execution changes with every byte, name and word that its process can read."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kadenz.values import digests
from kadenz.values.environment import counted_environment
from kadenz.values.key import Command, key_of


@dataclass
class Machine:
    """An emulator with all kinds of files, none of which is executed."""

    folder: Path
    command: Command

    @property
    def key(self) -> str:
        return key_of(self.command).digest

    def file(self, name: str) -> Path:
        return self.folder / name


INPUTS = ("image", "plan", "plugin", "kernel", "initrd")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    scratch, roms = tmp_path / "scratch", tmp_path / "roms"
    scratch.mkdir()
    (roms / "keymaps").mkdir(parents=True)
    for name in ("qemu", "libc.so", "roms/bios.bin", "roms/keymaps/de", "libother.so"):
        (tmp_path / name).write_bytes(name.encode() * 50)
    for name in INPUTS:
        (tmp_path / f"{name}.file").write_bytes(name.encode() * 50)
        (scratch / name).symlink_to(tmp_path / f"{name}.file")
    command = Command(
        program=tmp_path / "qemu",
        arguments=("-machine", "virt", "-kernel", "image", "--memory", "ram:0x0:0x1000:0"),
        environment={"LC_ALL": "C", "QEMU_MODULE_DIR": "/nowhere"},
        folder=scratch,
        inputs=INPUTS,
        reads=(tmp_path / "libc.so", roms, tmp_path / "absent"),
    )
    return Machine(tmp_path, command)


def flip(name: str) -> Callable[[Machine], None]:
    """Changes one bit in the middle of a file, not its size, and puts its time back."""

    def mutate(machine: Machine) -> None:
        file = machine.file(name)
        before = file.stat()
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    return mutate


def argument(before: str, after: str) -> Callable[[Machine], None]:
    def mutate(machine: Machine) -> None:
        arguments = [after if word == before else word for word in machine.command.arguments]
        assert arguments != list(machine.command.arguments)
        machine.command = replace(machine.command, arguments=arguments)

    return mutate


def variable(name: str, value: str) -> Callable[[Machine], None]:
    def mutate(machine: Machine) -> None:
        around = {**machine.command.environment, name: value}
        machine.command = replace(machine.command, environment=around)

    return mutate


def another_program(machine: Machine) -> None:
    """Equal bytes at another place: it may find other files beside itself."""
    other = machine.file("elsewhere")
    other.write_bytes(machine.file("qemu").read_bytes())
    machine.command = replace(machine.command, program=other)


MUTATIONS: dict[str, Callable[[Machine], None]] = {
    "a byte of the image": flip("image.file"),
    "a byte of the plan": flip("plan.file"),
    "a byte of the plugin": flip("plugin.file"),
    "a byte of the kernel": flip("kernel.file"),
    "a byte of the initial RAM disk": flip("initrd.file"),
    "another build of the emulator": flip("qemu"),
    "a byte of a library": flip("libc.so"),
    "a byte of a ROM": flip("roms/bios.bin"),
    "a byte of a file in a folder of ROMs": flip("roms/keymaps/de"),
    "a ROM that is new": lambda machine: machine.file("roms/new.bin").touch(),
    "a ROM that is gone": lambda machine: machine.file("roms/bios.bin").unlink(),
    "a file that was not there": lambda machine: machine.file("absent").touch(),
    "a library more": lambda machine: setattr(
        machine,
        "command",
        replace(machine.command, reads=(*machine.command.reads, machine.file("libother.so"))),
    ),
    "an argument": argument("virt", "microbit"),
    "a wait state": argument("ram:0x0:0x1000:0", "ram:0x0:0x1000:1"),
    "an argument less": argument("virt", ""),
    "a variable": variable("QEMU_MODULE_DIR", "/somewhere"),
    "a variable more": variable("LD_PRELOAD", "libother.so"),
    "another place of the emulator": another_program,
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_a_change_of_anything_that_the_process_reads_changes_the_key(
    what: str, machine: Machine
) -> None:
    before = machine.key
    assert machine.key == before
    MUTATIONS[what](machine)
    assert machine.key != before


def test_the_time_of_a_file_and_the_folder_of_the_execution_do_not_change_the_key(
    machine: Machine, tmp_path: Path
) -> None:
    before = machine.key
    os.utime(machine.file("image.file"), ns=(1, 1))
    assert machine.key == before
    other = tmp_path / "another execution"
    machine.command.folder.rename(other)
    machine.command = replace(machine.command, folder=other)
    assert machine.key == before


def test_words_are_not_joined(machine: Machine) -> None:
    """-m 16 -smp and -m 1 6-smp would be the same text."""
    machine.command = replace(machine.command, arguments=("-m", "16"))
    before = machine.key
    machine.command = replace(machine.command, arguments=("-m16",))
    assert machine.key != before


def test_a_file_that_changes_while_the_process_runs_is_seen(machine: Machine) -> None:
    key = key_of(machine.command)
    assert key.unchanged()
    flip("plugin.file")(machine)
    assert not key.unchanged()


def test_a_file_that_appears_while_the_process_runs_is_seen(machine: Machine) -> None:
    key = key_of(machine.command)
    machine.file("absent").touch()
    assert not key.unchanged()


def test_a_missing_input_has_no_key(machine: Machine) -> None:
    machine.file("image.file").unlink()
    with pytest.raises(OSError, match=r"image"):
        key_of(machine.command)


def test_a_link_in_a_circle_of_folders_ends(machine: Machine) -> None:
    (machine.file("roms") / "again").symlink_to(machine.file("roms"))
    assert machine.key == machine.key


def test_a_digest_is_computed_once_for_an_old_file_and_each_time_for_a_recent_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within the clock's step would leave the same state."""
    file = tmp_path / "file"
    file.write_text("a")
    counted: list[int] = []
    real = digests.hashlib.file_digest  # type: ignore[attr-defined]

    def count(stream: object, name: str) -> object:
        counted.append(1)
        return real(stream, name)

    monkeypatch.setattr(digests.hashlib, "file_digest", count)  # type: ignore[attr-defined]
    for _ in range(3):
        digests.digest_of(file)
    assert len(counted) == 3
    hour_ns = 3_600_000_000_000
    now = time.time_ns()
    monkeypatch.setattr(digests.time, "time_ns", lambda: now + hour_ns)  # type: ignore[attr-defined]
    for _ in range(3):
        digests.digest_of(file)
    assert len(counted) == 4


def test_a_clock_that_was_set_back_makes_no_file_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("a")
    now = time.time_ns()
    monkeypatch.setattr(digests.time, "time_ns", lambda: now // 2)  # type: ignore[attr-defined]
    assert digests.digest_of(file)[0] != ""
    assert not any(name == str(file) for name, _ in digests._known)


def test_a_pipe_has_no_digest(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", stat.S_IRUSR)
    with pytest.raises(OSError, match="not a regular file"):
        digests.state_of(tmp_path / "pipe")


def test_only_variables_that_are_in_the_key_reach_a_process() -> None:
    around = {
        "QEMU_AUDIO_DRV": "wav",
        "LD_LIBRARY_PATH": "/opt/lib",
        "G_SLICE": "always-malloc",
        "MALLOC_ARENA_MAX": "1",
        "TMPDIR": "/var/tmp",
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "de_DE.UTF-8",
        "TZ": "Asia/Seoul",
        "HOME": "/home/me",
    }
    assert counted_environment(around) == {
        "QEMU_AUDIO_DRV": "wav",
        "LD_LIBRARY_PATH": "/opt/lib",
        "LC_ALL": "C",
        "TZ": "UTC0",
    }
