# SPDX-License-Identifier: Apache-2.0
"""Tier `emulated`: the image runs in QEMU, its time driven by counted instructions.

The plan lies in the board's plan page before reset, the serial line goes into a file that is read
while it grows, and QMP is used only when the target is over: a connection while it runs could
change nothing of its virtual time, but nothing needs one either.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from kadenz.build.elf import Elf
from kadenz.config.board import EmulatedTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.target import tools
from kadenz.target.base import die_with_parent

if TYPE_CHECKING:
    from qemu.qmp import QMPClient

T = TypeVar("T")

_READ_BYTES = 1 << 18
_GRACE_S = 2.0  # between asking QEMU to end and ending it
_EXIT_S = 0.3  # for an image that ends QEMU by itself
_POLL_S = 0.01
_LOOKS = 5  # at a target that hangs
_BETWEEN_LOOKS_S = 0.005
# Lines of `info registers` that hold floating point only: forty that nobody reads.
_FLOATS = re.compile(r"^\s*(f\d+/|fcsr|s\d\d=|FPSCR)|^\s*$")


class QemuTarget:
    """One boot of an image in QEMU."""

    parallel = True  # counted instructions do not see other processes

    def __init__(self, tier: EmulatedTier, elf: Elf) -> None:
        self._tier = tier
        self._elf = elf
        self._qemu = tools.require(tier.qemu)
        self._folder = Path(tempfile.mkdtemp(prefix="kadenz-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._serial: IO[bytes] | None = None

    def open(self, plan: str) -> None:
        """Boots the image with the plan in its page."""
        page = plan.encode() + b"\0"
        if len(page) > self._tier.plan_bytes:
            raise ValueError(f"a plan of {len(page)} bytes, the page has {self._tier.plan_bytes}")
        (self._folder / "plan").write_bytes(page)
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

    def post_mortem(self) -> str:
        """Where the target is, seen several times because its interrupts go on, and its registers.

        The registers are those of the last look.
        """
        try:
            looks = self._talk(_look)
        except Exception as error:  # the emulator itself may be what hangs
            return f"QEMU does not answer ({type(error).__name__}); {self._said()}".strip("; ")
        seen = [dict(self._symbols(registers)) for registers in looks]
        where = [
            f"{name} is in {symbol}" + (f", in {count} of {len(looks)} looks" if count > 1 else "")
            for name in dict.fromkeys(name for names in seen for name in names)
            for symbol, count in _counted(names[name] for names in seen if name in names)
        ]
        kept = [line for line in looks[-1].splitlines() if not _FLOATS.match(line)]
        return "\n".join([*where, *kept, self._said()]).strip()

    def close(self) -> str:
        """Quits QEMU; what QEMU itself said, or how it died."""
        said = self._end()
        if self._serial is not None:
            self._serial.close()
            self._serial = None
        shutil.rmtree(self._folder, ignore_errors=True)
        return said

    def emulator(self) -> EmulatorEntry | None:
        """QEMU, its version, its arguments without the names of temporary files."""
        return EmulatorEntry(
            name=self._tier.qemu,
            version=tools.version(self._tier.qemu),
            arguments=self._command(None)[1:],
        )

    def _command(self, folder: Path | None) -> list[str]:
        """The command line; without a folder the part of it that belongs into a manifest."""
        tier = self._tier
        # sleep=off: when all wait, virtual time jumps to the next timer instead of passing.
        # rr=record: QEMU's main loop and its processor then take turns under one lock. Without it
        # the main loop can see a processor that has just halted, whose last instructions are not
        # counted yet, and jump too far by as many: on a busy machine one tick of about 80,000 was
        # late so. Only the lock is wanted; the recording goes nowhere.
        icount = f"shift={tier.icount_shift},sleep=off,rr=record,rrfile={os.devnull}"
        command = [str(self._qemu), "-machine", tier.machine, "-icount", icount, "-nographic"]
        command += ["-monitor", "none", "-no-reboot", *tier.arguments]
        if folder is None:
            return command
        command += ["-serial", "null"] * tier.serial
        command += ["-serial", f"file:{folder / 'serial'}"]
        command += ["-qmp", f"unix:{folder / 'qmp'},server=on,wait=off"]
        command += ["-kernel", str(self._elf.path)]
        loader = f"loader,file={folder / 'plan'},addr={tier.plan_address:#x},force-raw=on"
        return [*command, "-device", loader]

    def _said(self) -> str:
        with contextlib.suppress(OSError):
            return (self._folder / "words").read_text(errors="replace").strip()
        return ""

    def _symbols(self, registers: str) -> list[tuple[str, str]]:
        """Program counter and return address as functions.

        QEMU writes `pc 2001..` and `x1/ra 2001..` for RISC-V, `R15=0800..` and `R14=..` for Arm.
        """
        names = {"pc": "pc", "R15": "pc", "x1/ra": "ra", "R14": "lr"}
        pattern = r"(?<![\w/])(pc|R15|x1/ra|R14)[ =]+([0-9a-fA-F]{8,16})"
        found = [(names[n], int(value, 16)) for n, value in re.findall(pattern, registers)]
        symbols = [(name, self._elf.symbol_at(value)) for name, value in found]
        return [(name, symbol) for name, symbol in symbols if symbol]

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


def _counted(symbols: Iterable[str]) -> list[tuple[str, int]]:
    """Functions by how often they were seen, each with the offset of its last look."""
    last: dict[str, str] = {}
    count: Counter[str] = Counter()
    for symbol in symbols:
        function = symbol.split("+")[0]
        last[function] = symbol
        count[function] += 1
    return [(last[function], n) for function, n in count.most_common()]
