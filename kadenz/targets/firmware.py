# SPDX-License-Identifier: Apache-2.0
"""Tier `emulated` for a firmware without the suite: its calls are counted from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz.config.board import EmulatedTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.errors import TargetFailed
from kadenz.targets import calls_plugin
from kadenz.targets.calls import Calls
from kadenz.targets.calls_plugin import (
    CALLS,
    FLOWS,
    FUNCTIONS,
    LIBRARY,
    SYMBOLS,
    CallsProgress,
)
from kadenz.targets.flows import Flow, read_flows, symbols, symbols_text
from kadenz.targets.qemu import QemuTarget

_TEXT, _SERIAL = "text", "serial"
_NS = 1_000_000_000
# Nothing of this machine: neither its time of day nor its random numbers.
_SETTLED = ("-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "7")
# What it prints by semihosting is on the console beside what its UART says. The plugin ends it
# before a call that would reach a file or a program.
_CONSOLE = "console"
_PRINTS = ("-semihosting-config", f"enable=on,target=native,chardev={_CONSOLE}")
# Calls of semihosting that QEMU answers from this machine (instruments/calls/processor.c).
_ASKED = {0x0D: "SYS_TMPNAM", 0x10: "SYS_CLOCK", 0x11: "SYS_TIME", 0x30: "SYS_ELAPSED"}


@dataclass(frozen=True)
class Watching:
    """What is counted: the code of functions as address, bytes (0: not known) and 0, or of spans
    their first and last address around 0; and what ends the execution beside the firmware itself.
    `limit_s` is virtual time."""

    functions: Sequence[tuple[int, int, int]]
    limit_s: float
    until: int | None = None
    until_text: str = ""

    def places(self) -> str:
        """The file of them, a line each."""
        return "".join(f"{address:x} {size:x} {end:x}\n" for address, size, end in self.functions)

    def parameters(self) -> list[str]:
        """Of the plugin, without the files of an execution."""
        until = [f"until={self.until:#x}"] if self.until is not None else []
        return [*until, f"limit={round(self.limit_s * _NS)}"]


@dataclass(frozen=True)
class Ended:
    """How the emulator, or the simulated core, ended. `status` is the firmware's own; None if it
    was ended from outside. Negative: the emulator's own, by a signal."""

    status: int | None
    messages: str
    calls: Calls
    flows: Sequence[Flow] = ()  # none if the emulator died


class FirmwareTarget(CallsProgress, QemuTarget):
    """One boot of a firmware in QEMU."""

    _standard_output = _SERIAL  # where semihosting's `:tt` is

    def __init__(self, tier: EmulatedTier, elf: Elf, watching: Watching) -> None:
        """Builds the plugin. Raises the errors of `scope_plugin.build`."""
        super().__init__(tier, elf)
        self._watching = watching
        self._library = calls_plugin.library(tier.qemu)

    def boot(self) -> None:
        """Starts the firmware with the plugin."""
        (self._folder / FUNCTIONS).write_text(self._watching.places())
        (self._folder / SYMBOLS).write_text(symbols_text(symbols(self._elf)))
        if self._watching.until_text:
            (self._folder / _TEXT).write_text(self._watching.until_text)
        self._start()

    @property
    def asked(self) -> str:
        """What the firmware asked of this machine, "SYS_TIME"; "" for nothing."""
        return _ASKED.get(self._told(2), "")

    def end(self) -> Ended:
        """Ends QEMU if it still runs. Its folder stays until `close`."""
        messages = self._end()
        try:
            calls = Calls(self._folder / CALLS)
            flows = read_flows(self._folder / FLOWS) if calls.end is not None else []
        except TargetFailed as error:
            error.detail = messages
            raise
        status = self._by_itself.poll() if self._by_itself is not None else None
        return Ended(status, messages, calls, flows)

    def emulator(self) -> EmulatorEntry | None:
        """The emulator's entry, including the plugin."""
        entry = super().emulator()
        if entry is not None:
            entry.arguments += calls_plugin.entry(self._watching.parameters())
        return entry

    def _counted(self) -> list[str]:
        return [*super()._counted(), *_SETTLED]

    def _console(self, folder: Path) -> list[str]:
        device = f"file,id={_CONSOLE},mux=on,append=on,path={folder / _SERIAL}"
        return ["-chardev", device, "-serial", f"chardev:{_CONSOLE}"]

    def _semihosting(self) -> tuple[str, ...]:
        return _PRINTS

    def _placed(self, folder: Path) -> list[str]:
        parameters = self._watching.parameters()
        if self._watching.until_text:
            parameters += [f"console={folder / _SERIAL}", f"text={folder / _TEXT}"]
        return calls_plugin.options(folder, parameters)

    def _inputs(self) -> dict[str, Path | None]:
        inputs = {**super()._inputs(), LIBRARY: self._library, FUNCTIONS: None, SYMBOLS: None}
        if self._watching.until_text:
            inputs[_TEXT] = None
        del inputs["plan"]
        return inputs
