# SPDX-License-Identifier: Apache-2.0
"""Tier `guest`: a Linux that boots in QEMU, its time driven by counted instructions.

The plan is in the initial RAM disk. The kernel's messages and the suite's frames use separate
serial lines; the frames of a program leave through shared memory, once it has ended. The running
guest receives no external input: no key, no packet, no clock, no random number. Therefore
two runs are byte-identical.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from kadenz import tools
from kadenz.config.board import GuestProgram, GuestTier
from kadenz.config.manifest import (
    EmulatorEntry,
    LoadEntry,
    Warning,  # noqa: A004
)
from kadenz.config.target_name import TargetName
from kadenz.errors import ToolMissing
from kadenz.targets import tap, window
from kadenz.targets.guest_kernel import GuestKernel
from kadenz.targets.qemu_process import QemuProcess, counted_instructions
from kadenz.targets.seen import Seen, looks_of, seen

# Descriptions of the loads in kernels/linux/guest/load.c.
LOADS = {
    "cpu": "one thread that computes continuously",
    "memory": "copies blocks of 8 MiB",
    "syscalls": "writes one byte to a pipe and reads it back, continuously",
    "timers": "an interrupt and a wake-up every 97 µs",
    "io": "writes blocks of 64 KiB to a disk through the kernel's cache",
    "paging": "changes a structure of 4 GiB, which is larger than the memory",
}
# Of kernels/linux/guest/modules, which loads need.
_LOAD_MODULES = dict.fromkeys(("io", "paging"), ("configfs", "null_blk"))
_KERNEL_ERRORS = 8  # different ones, of which a run warns
_POWER_OFF_S = 60.0  # after the last frame, for the loads' rates and the end
_LINES = 30  # of its console, shown in an error
_LINE_LENGTH = 400
_CONSOLE_BYTES = 1 << 20  # read of its console at each end: what init says is at both
_LOAD = re.compile(r"^kadenz-load: (\w+) (\w+) (\d{1,19}) (\d{1,19})\s*$", re.MULTILINE)
_WITHOUT = re.compile(r"^kadenz-init: threads (\S+): 0 set", re.MULTILINE)
_OUR_MESSAGES = re.compile(r"^kadenz-.*$", re.MULTILINE)
NOT_SETTLED = "kadenz-init: not settled"  # kernels/linux/guest/init.c
# What Linux says of itself at the level of errors, which `quiet` leaves on the console: an
# interrupt that no driver served (kernel/irq/spurious.c), a processor or thread that does not get
# on (kernel/rcu/tree_stall.h, kernel/watchdog.c, kernel/hung_task.c), memory or swap that is full
# (mm/oom_kill.c).
_KERNEL_ERROR = re.compile(
    r"^(?:\[ *\d+\.\d+\] )?(irq \d+: nobody cared|rcu: INFO: \S+ .*stall.*|watchdog: .*lockup.*"
    r"|INFO: task \S+ blocked for more than \d+ seconds|(?:Memory cgroup o|O)ut of memory: Killed"
    r" process \d+ \(.*?\))",
    re.MULTILINE,
)
_PANIC = re.compile(r"Kernel panic - not syncing: (.*)")
_FAILED = re.compile(r"kadenz-init: failed: (.*)")
_KILLED = re.compile(r"kadenz-init: the suite was ended by (signal \d+)")
_ENDS = (
    (_PANIC, "its kernel panicked"),
    (_FAILED, "it could not start"),
    (_KILLED, "its program was ended"),
)


def modules_of(program: GuestProgram | None, load: str) -> tuple[str, ...]:
    """The modules that a guest loads, in their order: of its program, then of its loads."""
    names = program.modules if program is not None else ()
    for part in load.split("+"):
        names += tuple(name for name in _LOAD_MODULES.get(part, ()) if name not in names)
    return names


def require_program(target: TargetName, program: GuestProgram, isa: str) -> None:
    """ToolMissing unless a program can be compiled here for a guest of `isa`: by this machine's own
    compilers, or by others."""
    machine = platform.machine()
    if machine == isa:
        return
    if not program.target:
        raise ToolMissing(
            f"{target}: {program.crate} is built for this machine's {machine}, and the guest is "
            f"{isa}",
            remedy=f"Measure it on a machine of {isa}, or name its `target` in board.toml",
        )
    tools.require(f"{isa}-linux-gnu-g++")
    tools.require_rust_target(program.target)
    tools.kdl_dir(isa)


class GuestTarget(QemuProcess):
    """One boot of a kernel that runs the suite.

    `pack` makes the initial RAM disk for a plan. `load` names loads inside, joined by `+`.
    `threads` are rules for kernel threads, `irq/*:fifo:50`; later rules override earlier ones.
    `disturbance` configures the module kernels/linux/disturbance, "" for none. `program` runs
    instead of the suite; its frames come when it has ended.
    """

    def __init__(
        self,
        tier: GuestTier,
        kernel: GuestKernel,
        pack: Callable[[str], bytes],
        *,
        load: str = "",
        threads: Sequence[str] = (),
        disturbance: str = "",
        program: GuestProgram | None = None,
    ) -> None:
        super().__init__(tier.qemu)
        self._tier = tier
        self._kernel = kernel
        self._pack = pack
        self._load = load
        self._threads = threads
        self._disturbance = disturbance
        self._program = program
        self._card = program.card if program is not None else None
        self._window: window.Window | None = None  # once it begins
        self._tap = tap.plugin(tier.qemu) if self._card is not None else None
        self._given_up = False
        self.console = ""  # once it is closed
        self.ended_well = False  # its program and the machine, once it is closed
        self.loads: list[LoadEntry] = []  # once it is closed
        self.without_thread: list[str] = []  # globs that match no thread of its kernel; once closed
        self.kernel_errors: list[str] = []  # what its kernel said of itself, each once; once closed
        # Of the program's card, once it is closed; or why there are none.
        self.departures: tap.Departures | None = None
        self.damage = tap.TapDamaged("the guest did not end by itself", remedy=tap.REMEDY)

    def open(self, plan: str) -> None:
        """Boots the kernel with the plan in its initial RAM disk."""
        (self._folder / "initrd").write_bytes(self._pack(plan))
        self._start()
        if self._program is not None:
            self._window = window.Window(self._folder)

    def stop(self) -> bool:
        """The guest cannot be asked to end early."""
        self._given_up = True
        return False

    def why_it_ended(self) -> str:
        """A kernel panic, a failure of init, or a signal that ended its program; "" without."""
        console = self._read_console()
        for pattern, failure in _ENDS:
            match = pattern.search(console)
            if match:
                return f"{failure}: {match.group(1).strip()}"
        code = self._process.poll() if self._process is not None else None
        if self._window is not None and code == -signal.SIGBUS:
            return "QEMU found no room for the frames of its program: the disk is full"
        return super().why_it_ended()

    def post_mortem(self) -> Seen:
        """The last lines of its console, and the last registers."""
        self._given_up = True
        try:
            looks = self._looks()
        except OSError as error:  # the emulator itself may hang
            looks = [f"QEMU does not answer ({type(error).__name__})"]
        report = "\n".join([self._last_lines(), looks[-1], self._output()]).strip()
        return seen(report, looks_of(looks), lambda address: "")

    def close(self) -> str:
        """Waits for the machine to end, or ends it. Returns the output of init, or its last
        lines."""
        if self._process is not None and not self._given_up:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_POWER_OFF_S)
        process = self._process if self._process is not None else self._by_itself
        ended_itself = process is not None and process.poll() == 0
        self.console = self._read_console()
        self.loads = [_entry(*groups) for groups in _LOAD.findall(self.console)]
        self.without_thread = _WITHOUT.findall(self.console)
        self.kernel_errors = kernel_errors(self.console)
        well = ended_itself and "kadenz-init: the suite ended with 0" in self.console
        self.ended_well = well
        if not well or self.warnings():
            self.withdraw()
        if ended_itself and self._card is not None:
            try:
                self.departures = tap.read_departures(self._folder)
            except tap.TapDamaged as damage:
                self.damage = damage
                self.withdraw()
        if self._window is not None:
            self._window.close()
        output = super().close()
        messages = "\n".join(_OUR_MESSAGES.findall(self.console)) if well else self._last_lines()
        return f"{output}\n{messages}".strip()

    def _command(self, folder: Path | None) -> list[str]:
        tier = self._tier
        command = [str(self._qemu), "-machine", tier.machine, "-cpu", tier.cpu, "-smp", "1"]
        command += ["-m", str(tier.memory_mib), "-accel", "tcg,thread=single"]
        command += counted_instructions(tier.icount_shift)
        # Every run has the same date and the same random numbers.
        command += ["-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "7"]
        command += ["-nodefaults", "-display", "none", "-monitor", "none", "-no-reboot"]
        command += ["-append", self._parameters()]
        if self._card is not None:
            command += tap.devices(self._card)
        if self._program is not None:
            command += window.options(folder)
        if folder is None:
            return command
        if self._card is not None:
            command += [*tap.capture(folder), *tap.plugin_arguments(self._card, folder)]
        command += ["-serial", f"file:{folder / 'console'}"]
        if self._program is None:
            command += self._line(folder / "serial")
        command += self._monitor(folder)
        return [*command, "-kernel", str(folder / "kernel"), "-initrd", str(folder / "initrd")]

    def _line(self, file: Path) -> list[str]:
        """The options for the serial line of the suite's frames."""
        if self._tier.frames_device:
            device = f"{self._tier.frames_device},chardev=frames"
            return ["-chardev", f"file,id=frames,path={file}", "-device", device]
        return ["-serial", f"file:{file}"]

    def _ended(self) -> bool:
        """Whether the process has ended; what came through the window is in the file by then."""
        ended = super()._ended()
        if self._window is not None:
            self._window.forward(self._folder / "serial")
        return ended

    def emulator(self) -> EmulatorEntry | None:
        """The emulator's entry, including the plugin."""
        entry = super().emulator()
        if entry is not None and self._card is not None:
            entry.arguments += tap.plugin_entry(self._card)
        return entry

    def _inputs(self) -> dict[str, Path | None]:
        inputs: dict[str, Path | None] = {"kernel": self._kernel.image, "initrd": None}
        return inputs | ({tap.PLUGIN: self._tap} if self._tap is not None else {})

    def warnings(self) -> list[Warning]:
        """What the reader of a run must know of this boot, once it is closed."""
        remarks = []
        if NOT_SETTLED in self.console:
            text = "the kernel was still busy with work of its boot when the measurement began"
            remarks.append(("guest-not-settled", text))
        remarks += [
            ("guest-kernel-error", f"the guest's kernel reported: {error}")
            for error in self.kernel_errors
        ]
        for glob in self.without_thread:
            text = f"no thread of the guest's kernel is called `{glob}`: that rule had no effect"
            remarks.append(("tuning-without-thread", text))
        verified = {load.name for load in self.loads if load.verified}
        for name in filter(None, self._load.split("+")):
            if name not in verified:
                text = f"the load `{name}` inside the guest reported no rate"
                remarks.append(("load-not-verified", text))
        return [Warning(code=code, message=text) for code, text in remarks]

    def _parameters(self) -> str:
        """The kernel's command line: fixed addresses, end on panic, settings for init."""
        parameters = [f"console={self._tier.console}", "quiet", "panic=-1", "oops=panic"]
        parameters += ["nokaslr", "norandmaps", *self._tier.parameters.split()]
        if modules := self._kernel.loaded(modules_of(self._program, self._load)):
            parameters.append(f"KDZ_MODULES={','.join(modules)}")
        if self._load:
            parameters.append(f"KDZ_LOAD={self._load.replace('+', ',')}")
        if self._threads:
            parameters.append(f"KDZ_THREADS={','.join(self._threads)}")
        if self._disturbance:
            parameters.append(f"KDZ_DISTURB={self._disturbance.replace('=', ':')}")
        program = self._program
        if program is None:
            parameters.append(f"KDZ_FRAMES={self._tier.frames}")
        else:
            parameters += [window.PARAMETER, "ipv6.disable=1"]
            if program.wire:
                parameters.append(f"KDZ_WIRE={','.join(program.wire)}")
            if program.ring:
                parameters.append(f"KDZ_RING={','.join(program.ring)}")
            parameters.append(f"KDZ_PROGRAM={','.join(program.arguments)}")
        return " ".join(parameters)

    def _read_console(self) -> str:
        if "_folder" in self.__dict__:
            with contextlib.suppress(OSError), (self._folder / "console").open("rb") as file:
                return _both_ends(file).decode(errors="replace").replace("\r", "")
        return self.console

    def _last_lines(self) -> str:
        lines = self._read_console().splitlines()[-_LINES:]
        return "\n".join(line[:_LINE_LENGTH] for line in lines)


def kernel_errors(console: str) -> list[str]:
    """What a kernel reports of interrupts, stalls and memory: the first sentences, each once."""
    lines = (match[1][:_LINE_LENGTH].strip() for match in _KERNEL_ERROR.finditer(console))
    return list(dict.fromkeys(lines))[:_KERNEL_ERRORS]


def _entry(name: str, unit: str, done: str, time_ns: str) -> LoadEntry:
    """A load's own count: units of work, over a time of the guest's clock."""
    rate = int(done) * 1e9 / max(1, int(time_ns))
    return LoadEntry(
        name=name,
        title=f"inside the guest: {LOADS.get(name, name)}",
        workers=1,
        command=["/load", name],
        counter="the load's own count, in the guest's virtual time",
        unit=f"{unit}/s",
        idle_rate=0.0,
        rate=rate,
        verified=rate > 0,
        reason="" if rate > 0 else "it did no work",
    )


def _both_ends(file: BinaryIO) -> bytes:
    """What a file begins with and ends with; all of a short one."""
    head = file.read(_CONSOLE_BYTES)
    rest = os.fstat(file.fileno()).st_size - len(head)
    file.seek(-min(rest, _CONSOLE_BYTES), os.SEEK_END)
    gap = b"\n...\n" if rest > _CONSOLE_BYTES else b""
    return head + gap + file.read(_CONSOLE_BYTES)
