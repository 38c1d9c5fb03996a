# SPDX-License-Identifier: Apache-2.0
"""Tier `emulated` under the scope: QEMU stamps the marks; the target stores no samples."""

from __future__ import annotations

from pathlib import Path

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import EmulatedTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.targets import scope, scope_plugin
from kadenz.targets.qemu import QemuTarget


class ScopedQemuTarget(QemuTarget):
    """A QemuTarget with samples from the scope's trace, available once it is closed."""

    def __init__(self, tier: EmulatedTier, elf: Elf) -> None:
        super().__init__(tier, elf)
        version = tools.version(tier.qemu)
        build = inventory.build_folder() / "scope"
        source = inventory.root() / "instruments" / "scope"
        self._library = scope_plugin.build(source, build, version)
        self.records: dict[int, scope.RecordSpans] = {}

    def close(self) -> str:
        """Ends QEMU, which completes the trace, and reads it."""
        self._end()
        trace = self._folder / "trace"
        try:
            if trace.is_file() and trace.stat().st_size:
                self.records = scope.split_records(scope.read_trace(trace))
        finally:
            said = super().close()
        return said

    def emulator(self) -> EmulatorEntry | None:
        """The emulator's entry, including the plugin."""
        entry = super().emulator()
        if entry is not None:
            entry.arguments += ["-plugin", "kadenz-scope"]
        return entry

    def _command(self, folder: Path | None) -> list[str]:
        command = super()._command(folder)
        if folder is not None:
            command += scope_plugin.arguments(self._library, self._elf.path, folder / "trace")
        return command
