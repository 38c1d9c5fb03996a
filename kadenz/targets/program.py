# SPDX-License-Identifier: Apache-2.0
"""Tier `guest` for a program of the user's: its calls are counted from outside of the guest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.config.board import GuestTier
from kadenz.config.manifest import EmulatorEntry
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
from kadenz.targets.flows import Flow, Symbol, read_flows
from kadenz.targets.guest import GuestTarget
from kadenz.targets.guest_kernel import GuestKernel
from kadenz.targets.launched import ProgramEnd, launch_plan, launcher, program_end

_BOOT_S = 200.0  # of the guest's time beside the program's limit
_NS = 1_000_000_000


@dataclass(frozen=True)
class Counting:
    """What is counted and how the program is started.

    `functions` are address, bytes, end (0: a function) and the path of the library, "" for the
    program, whose file begins at `entry`. `settings` are the launcher's: (name, value).
    """

    functions: Sequence[tuple[int, int, int, str]]
    path: str  # of the program in the guest
    entry: int
    limit_s: float
    settings: Sequence[tuple[str, str]] = field(default_factory=tuple)
    symbols: Sequence[Symbol] = ()  # of the program and its libraries

    @property
    def parameters(self) -> list[str]:
        """Of the plugin, without the files of an execution."""
        return ["guest=on", f"limit={round((self.limit_s + _BOOT_S) * _NS)}"]

    @property
    def text(self) -> str:
        """The file of functions."""
        lines = [f"program {self.entry:x} {self.path}"]
        for address, size, end, library in self.functions:
            lines.append(f"{address:x} {size:x} {end:x} {library or '-'}")
        return "".join(f"{line}\n" for line in lines)

    @property
    def symbols_text(self) -> str:
        """The file of symbols, each with its object."""
        return "".join(
            f"{each.address:x} {each.size:x} {each.library or '-'}\n" for each in self.symbols
        )

    @property
    def plan(self) -> str:
        """The text that the launcher reads."""
        return launch_plan(self.path, self.limit_s, self.settings)


class ProgramTarget(CallsProgress, GuestTarget):
    """One boot of a guest that runs a program, with the plugin."""

    def __init__(
        self,
        tier: GuestTier,
        kernel: GuestKernel,
        pack: Callable[[str], bytes],
        counting: Counting,
    ) -> None:
        """Builds the plugin. Raises the errors of `scope_plugin.build`."""
        super().__init__(tier, kernel, pack, program=launcher("count"))
        self._counting = counting
        self._library = calls_plugin.library(tier.qemu)

    def boot(self) -> None:
        """Boots the guest, which starts the program."""
        (self._folder / FUNCTIONS).write_text(self._counting.text)
        (self._folder / SYMBOLS).write_text(self._counting.symbols_text)
        self.open(self._counting.plan)

    def end(self, stream: bytes) -> tuple[Calls, Sequence[Flow], ProgramEnd | None]:
        """Waits for the end of the guest. `stream` is what came from it. Its folder stays until
        `close`. The end is None if the guest did not come to the program's end."""
        messages = self._end()
        try:
            calls = Calls(self._folder / CALLS)
            flows = read_flows(self._folder / FLOWS) if calls.end is not None else []
        except TargetFailed as error:
            error.detail = messages or self._last_lines()
            raise
        return calls, flows, program_end(stream)

    def last_lines(self) -> str:
        """The last lines of the guest's console."""
        return self._last_lines()

    def emulator(self) -> EmulatorEntry | None:
        """The emulator's entry, including the plugin."""
        entry = super().emulator()
        if entry is not None:
            entry.arguments += calls_plugin.entry(self._counting.parameters)
        return entry

    def _command(self, folder: Path | None) -> list[str]:
        command = super()._command(folder)
        if folder is None:
            return command
        return [*command, *calls_plugin.options(folder, self._counting.parameters)]

    def _inputs(self) -> dict[str, Path | None]:
        inputs = super()._inputs()
        return {**inputs, LIBRARY: self._library, FUNCTIONS: None, SYMBOLS: None}
