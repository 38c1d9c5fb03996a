# SPDX-License-Identifier: Apache-2.0
"""QEMU as a process: started, its serial line read while it grows, asked, ended.

QMP is used only when the target is over or hangs: a connection while it runs could change nothing
of its virtual time, but nothing needs one either.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from kadenz import tools
from kadenz.config.manifest import EmulatorEntry
from kadenz.targets.base import die_with_parent

if TYPE_CHECKING:
    from qemu.qmp import QMPClient

T = TypeVar("T")

_FOLDER = "kadenz-qemu-"  # then the process that made it
_READ_BYTES = 1 << 18
_GRACE_S = 2.0  # between asking QEMU to end and ending it
_EXIT_S = 0.3  # for an image that ends QEMU by itself
_POLL_S = 0.01
_LOOKS = 5  # at a target that hangs
_BETWEEN_LOOKS_S = 0.005


def sweep() -> None:
    """Removes folders that a killed kadenz left; its QEMU died with it (`die_with_parent`)."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}[0-9]*-*"):
        process = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)


class QemuProcess:
    """What every target inside QEMU shares. A subclass names the command line."""

    def __init__(self, qemu: str) -> None:
        self._name = qemu
        self._qemu = tools.require(qemu)
        self._process: subprocess.Popen[bytes] | None = None
        self._serial: IO[bytes] | None = None

    @cached_property
    def _folder(self) -> Path:
        """A folder of this execution, made when it is first needed."""
        sweep()
        return Path(tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-"))

    def _start(self) -> None:
        """Starts QEMU; the file `serial` of the folder becomes what the target says."""
        (self._folder / "serial").touch()
        self._serial = (self._folder / "serial").open("rb")
        with (self._folder / "words").open("wb") as words:
            self._process = subprocess.Popen(
                self._command(self._folder),
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the lab, which then ends QEMU
                preexec_fn=die_with_parent(),  # noqa: PLW1509 (one system call, loaded before)
            )

    def read(self, timeout_s: float) -> bytes | None:
        """What the serial line brought since the last call."""
        assert self._serial is not None and self._process is not None
        end = time.monotonic() + timeout_s
        while True:
            over = self._process.poll() is not None  # asked before reading, so nothing is missed
            data = self._serial.read(_READ_BYTES)
            if data:
                return data
            if over:
                return None
            if time.monotonic() >= end:
                return b""
            time.sleep(_POLL_S)

    def stop(self) -> bool:
        """Nothing inside can be asked; what it sent so far is what there is."""
        return False

    def close(self) -> str:
        """Quits QEMU; what QEMU itself said, or how it died."""
        said = self._end()
        if self._serial is not None:
            self._serial.close()
            self._serial = None
        if "_folder" in self.__dict__:
            shutil.rmtree(self._folder, ignore_errors=True)
        return said

    def emulator(self) -> EmulatorEntry | None:
        """QEMU, its version, its arguments without the names of temporary files."""
        return EmulatorEntry(
            name=self._name,
            version=tools.version(self._name),
            arguments=self._command(None)[1:],
        )

    def _command(self, folder: Path | None) -> list[str]:
        """The command line; without a folder the part of it that belongs into a manifest."""
        raise NotImplementedError

    def _looks(self) -> list[str]:
        """Its registers at some moments. Raises when QEMU does not answer in time."""
        return self._talk(_look)

    def _said(self) -> str:
        if "_folder" not in self.__dict__:
            return ""
        with contextlib.suppress(OSError):
            return (self._folder / "words").read_text(errors="replace").strip()
        return ""

    def _end(self) -> str:
        """Ends the process if it still runs; what it said."""
        process, self._process = self._process, None
        if process is None:
            return ""
        try:
            # After its last frame the image ends QEMU by itself (semihosting).
            died = process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            self._quit(process)
            died = 0
        how = f"{self._qemu.name} was ended by signal {-died}\n" if died < 0 else ""
        return (how + self._said()).strip()

    def _quit(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(Exception):
            self._talk(_leave)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()  # a plugin can make QEMU deaf to SIGTERM
            process.wait()

    def _talk(self, conversation: Callable[[QMPClient], Awaitable[T]]) -> T:
        """A conversation over QMP. Raises when QEMU does not answer in time."""
        import asyncio

        from qemu.qmp import QMPClient

        async def talk() -> T:
            client = QMPClient("kadenz")
            await client.connect(str(self._folder / "qmp"))
            try:
                return await conversation(client)
            finally:
                with contextlib.suppress(Exception):  # it may be gone already
                    await client.disconnect()

        return asyncio.run(asyncio.wait_for(talk(), _GRACE_S))


def counted_instructions(shift: int) -> list[str]:
    """Options that make an instruction 2**shift ns of virtual time, and runs byte-identical."""
    # sleep=off: when all wait, virtual time jumps to the next timer instead of passing.
    # rr=record: QEMU's main loop and its processor then take turns under one lock. Without it
    # the main loop can see a processor that has just halted, whose last instructions are not
    # counted yet, and jump too far by as many: on a busy machine one tick of about 80,000 was
    # late so. Only the lock is wanted; the recording goes nowhere.
    return ["-icount", f"shift={shift},sleep=off,rr=record,rrfile={os.devnull}"]


async def _leave(client: QMPClient) -> None:
    with contextlib.suppress(Exception):  # it may be gone before it answers
        await client.execute("quit")


async def _look(client: QMPClient) -> list[str]:
    """Registers at some moments, each with the machine stopped so that they belong together."""
    import asyncio

    looks: list[str] = []
    for _ in range(_LOOKS):
        await client.execute("stop")
        answer = await client.execute("human-monitor-command", {"command-line": "info registers"})
        looks.append(str(answer))
        await client.execute("cont")
        await asyncio.sleep(_BETWEEN_LOOKS_S)
    return looks
