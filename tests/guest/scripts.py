# SPDX-License-Identifier: Apache-2.0
"""Many runs of the suite's program in one boot of a guest, each by a script.

targets/runner.c takes the place of the suite and executes the scripts one after the other. What a
script observes is therefore a function of the files that boot, and no other process is beside.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kadenz.config import inventory
from kadenz.images.cpio import Entry, File, archive
from kadenz.images.image import locked
from kadenz.lab.guests import guest_image
from tests.decoded import Decoded, decode
from tests.guest.conftest import Machine

RUNNER = Path(__file__).parent / "targets" / "runner.c"
SUITE = "/kadenz-suite"
# Lines before a start: a user without rights, who measures all the same.
AS_NOBODY = ("user 65534", "argument --allow=no-realtime")
_FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


@dataclass(frozen=True)
class Script:
    """A plan for the program, and what is done around it: see targets/runner.c."""

    plan: str
    before: tuple[str, ...] = ()  # the start
    during: tuple[str, ...] = ()  # before its end is waited for
    after: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As the runner reads it."""
        lines = [*self.before, "start", *self.during, "wait", *self.after, "plan"]
        return "\n".join(lines) + "\n" + self.plan


@dataclass(frozen=True)
class Thread:
    """A line of a look."""

    process: str  # "suite" or "child"
    policy: int  # sched.h
    processor: int
    faults: tuple[int, int]  # minor and major page faults since its start
    name: str


@dataclass(frozen=True)
class Answer:
    """What a script left."""

    code: int
    stream: bytes = field(repr=False)
    text: str = field(repr=False)
    took_ns: int  # in the guest's time, from the start to the end

    @cached_property
    def decoded(self) -> Decoded:
        """The frames."""
        return decode(self.stream, self.code, self.text)

    @property
    def looks(self) -> list[list[Thread]]:
        """The threads at each look."""
        looks: list[list[Thread]] = []
        for line in self.text.splitlines():
            if line == "look":
                looks.append([])
            elif line.startswith("thread "):
                _, process, policy, processor, minor, major, name = line.split(" ", 6)
                faults = (int(minor), int(major))
                looks[-1].append(Thread(process, int(policy), int(processor), faults, name))
        return looks

    @property
    def left(self) -> list[str]:
        """What `left` listed."""
        return [line for line in self.text.splitlines() if line.startswith("left ")]

    def file(self, path: str) -> str:
        """The contents of a file that the script showed."""
        head, _, rest = self.text.partition(f"file {path} ")
        assert rest, f"{path} was not shown: {head}"
        size, _, rest = rest.partition("\n")
        return rest[: int(size)]


def run_scripts(
    machine: Machine, scripts: Mapping[str, Script], folder: Path, **programs: bytes
) -> dict[str, Answer]:
    """Boots the guest once, unless another process of these tests has done so in `folder`.

    `programs` are further files of its root, executable.
    """
    entries: dict[str, Entry] = {"plan": File(b""), "scripts": None}
    for number, script in enumerate(scripts.values()):
        entries[f"scripts/{number:03d}"] = File(script.text.encode())
    with locked(folder):
        stream = folder / "stream"
        if not stream.is_file():
            programs |= {"suite": _runner(machine, folder), SUITE[1:]: _suite(machine)}
            entries |= {name: File(data, 0o755) for name, data in programs.items()}
            stream.write_bytes(_boot(machine, archive(entries)))
        return dict(zip(scripts, _parted(stream.read_bytes()), strict=True))


def _boot(machine: Machine, files: bytes) -> bytes:
    target = machine.target(machine.initrd() + files)
    stream = bytearray()
    target.open("")
    try:
        while (data := target.read(1.0)) is not None:
            stream += data
    finally:
        target.close()
    assert "kadenz-init: the suite ended with 0" in target.console, target.console
    return bytes(stream)


def _parted(stream: bytes) -> list[Answer]:
    answers: list[Answer] = []
    while stream:
        head, _, stream = stream.partition(b"\n")
        word, number, code, frames, text, took_ns = head.split()
        assert (word, int(number)) == (b"script", len(answers)), head
        end = int(frames) + int(text)
        answers.append(
            Answer(
                int(code),
                stream[: int(frames)],
                stream[int(frames) : end].decode(errors="replace"),
                int(took_ns),
            )
        )
        assert len(stream) >= end, "the stream ends early"
        stream = stream[end:]
    return answers


def _suite(machine: Machine) -> bytes:
    """The program of the stock archive."""
    return (guest_image(machine.name, machine.guest, ()).folder / "suite").read_bytes()


def _runner(machine: Machine, folder: Path) -> bytes:
    board = machine.name.board
    compiler = inventory.compiler(board, inventory.board(board).arch)
    program = folder / "runner"
    command = [compiler, *_FLAGS, "-static", "-s", str(RUNNER), "-o", str(program)]
    subprocess.run(command, check=True)
    return program.read_bytes()
