# SPDX-License-Identifier: Apache-2.0
"""What a program really is: behind its wrapper, with its libraries and its folders.

The QEMU that `kadenz setup` unpacks is started by a script that sets where libraries and firmware
are. Which program runs in the end, with which arguments and libraries, its own process says: it is
started once, without a machine, and looked at through /proc.
"""

from __future__ import annotations

import functools
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kadenz.values.digests import State, files_below, state_of

_ANSWER_S = 60.0
# A QEMU without a machine that waits for commands; it has loaded its libraries when it greets.
_WAITING = (
    *("-machine", "none", "-nodefaults", "-display", "none", "-no-user-config", "-S"),
    *("-monitor", "none", "-qmp", "stdio"),
)
_MODULES = "QEMU_MODULE_DIR"
_OF_THE_SHELL = ("PWD", "OLDPWD", "SHLVL", "_")  # set by the wrapper's shell, not by the wrapper


@dataclass(frozen=True)
class Program:
    """A program as the kernel executes it."""

    path: Path
    arguments: tuple[str, ...]  # that its wrapper puts first
    environment: Mapping[str, str]
    reads: tuple[Path, ...]  # its libraries, and the folders that it searches


def emulator(
    program: Path, environment: Mapping[str, str], in_child: Callable[[], Callable[[], None]]
) -> Program | None:
    """QEMU behind `program`; None if it cannot be looked at.

    `in_child` makes the function that its process calls first, so that it dies with the lab.
    """
    try:
        around = tuple(sorted(environment.items()))
        return _emulator(program, around, in_child, state_of(program))
    except (OSError, subprocess.SubprocessError):
        return None


def core(program: Path, environment: Mapping[str, str]) -> Program | None:
    """A simulated core, which has no wrapper; None if its libraries are not known."""
    try:
        reads = _libraries(program, tuple(sorted(environment.items())), state_of(program))
    except (OSError, subprocess.SubprocessError):
        return None
    return Program(program, (), environment, reads)


@functools.lru_cache(maxsize=32)
def _emulator(
    program: Path,
    environment: tuple[tuple[str, str], ...],
    in_child: Callable[[], Callable[[], None]],
    _state: State,
) -> Program | None:
    process = subprocess.Popen(
        [str(program), *_WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        start_new_session=True,
        preexec_fn=in_child(),  # noqa: PLW1509 (one system call, loaded before)
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        if not _greets(process.stdout.fileno()):
            return None
        about = Path("/proc") / str(process.pid)
        path = (about / "exe").readlink()
        command = _strings(about / "cmdline")
        around = dict(word.split("=", 1) for word in _strings(about / "environ"))
        around = {name: value for name, value in around.items() if name not in _OF_THE_SHELL}
        mapped = _mapped((about / "maps").read_text(errors="surrogateescape"))
    finally:
        process.kill()
        process.communicate()
    arguments = tuple(command[1 : -len(_WAITING)])
    if tuple(command[-len(_WAITING) :]) != _WAITING or path not in mapped:
        return None
    firmware = _firmware(path, arguments, around)
    named = [Path(around[_MODULES])] if _MODULES in around else []
    modules = sorted({*named, *(file.parent / "qemu" for file in mapped)})  # beside its libraries
    reads = {*mapped, *modules, *firmware}
    loader = next((file for file in mapped if file.name.startswith("ld-")), None)
    for file in (module for place in modules for module in files_below(place)):
        reads |= _loaded([str(loader), "--list", str(file)], around) if loader else set()
    return Program(path, arguments, around, tuple(sorted(reads))) if firmware else None


def _greets(descriptor: int) -> bool:
    """Whether QEMU's greeting arrives: a line that begins with {"QMP"."""
    text, end = b"", time.monotonic() + _ANSWER_S
    while b"\n" not in text:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
        piece = os.read(descriptor, 1 << 12) if ready else b""
        if not piece:
            return False
        text += piece
    return text.startswith(b'{"QMP"')


def _strings(file: Path) -> list[str]:
    return [os.fsdecode(word) for word in file.read_bytes().split(b"\0") if word]


def _mapped(maps: str) -> list[Path]:
    """The files that a process has mapped, in the order of their names."""
    names = {line.split(maxsplit=5)[5] for line in maps.splitlines() if line.count("/")}
    return sorted(Path(name) for name in names if name.startswith("/") and Path(name).is_file())


def _firmware(path: Path, arguments: tuple[str, ...], around: Mapping[str, str]) -> list[Path]:
    """The folders in which QEMU searches for firmware, as it lists them."""
    answer = subprocess.run(
        [str(path), *arguments, "-L", "help"],
        capture_output=True,
        text=True,
        env=dict(around),
        timeout=_ANSWER_S,
        check=False,
    )
    return [Path(line) for line in answer.stdout.splitlines() if line.startswith("/")]


@functools.lru_cache(maxsize=32)
def _libraries(
    program: Path, environment: tuple[tuple[str, str], ...], _state: State
) -> tuple[Path, ...]:
    """The libraries of a program. OSError if its loader does not list them."""
    libraries = _loaded([str(program)], {**dict(environment), "LD_TRACE_LOADED_OBJECTS": "1"})
    if not libraries:
        raise OSError(f"{program}: its loader lists no libraries")
    return tuple(sorted(libraries))


def _loaded(command: list[str], environment: Mapping[str, str]) -> set[Path]:
    """The libraries that a loader lists; none if it fails."""
    answer = subprocess.run(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_ANSWER_S,
        check=False,
    )
    fields = [word for line in answer.stdout.splitlines() for word in line.split()]
    return set() if answer.returncode else {Path(word) for word in fields if word.startswith("/")}
