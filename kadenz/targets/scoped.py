# SPDX-License-Identifier: Apache-2.0
"""Tier `emulated` under the scope: QEMU stamps the marks; the target stores no samples.

The stamps are instructions, or cycles of a timing model.
"""

from __future__ import annotations

from pathlib import Path

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import EmulatedTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.targets import scope, scope_plugin, timing_model
from kadenz.targets.paths import Paths, read_paths
from kadenz.targets.qemu import QemuTarget
from kadenz.targets.timing_model import Model

_PLUGIN = "plugin"


class ScopedQemuTarget(QemuTarget):
    """A QemuTarget with samples from the scope's trace, available once it is closed."""

    def __init__(
        self,
        tier: EmulatedTier,
        elf: Elf,
        model: Model | None = None,
        watched: scope_plugin.Watched | None = None,
    ) -> None:
        """`watched`: record paths too, and this along them."""
        super().__init__(tier, elf)
        self.watched = watched
        self._model = model
        if model is not None:
            self._library = timing_model.plugin(model.name, tier.qemu)
        else:
            build = inventory.build_folder() / "scope"
            source = inventory.root() / "instruments" / "scope"
            self._library = scope_plugin.build(source, build, tools.version(tier.qemu))
        self.records: dict[int, scope.RecordSpans] = {}
        self.paths: Paths | None = None

    def close(self) -> str:
        """Ends QEMU, which completes the trace, and reads it."""
        output = self._end()
        trace = self._folder / "trace"
        try:
            if trace.is_file() and trace.stat().st_size:
                self.records = scope.split_records(scope.read_trace(trace))
                if self.watched is not None:
                    self.paths = read_paths(self._folder / "paths")
        except BaseException:
            self.withdraw()
            raise
        finally:
            super().close()
        return output

    def emulator(self) -> EmulatorEntry | None:
        """The emulator's entry, including the plugin."""
        entry = super().emulator()
        if entry is not None:
            parameters = self._model.arguments if self._model is not None else []
            name = f"kadenz-model-{self._model.name}" if self._model is not None else "kadenz-scope"
            entry.arguments += ["-plugin", ",".join([name, *parameters])]
        return entry

    def _command(self, folder: Path | None) -> list[str]:
        command = super()._command(folder)
        if folder is not None:
            parameters = self._model.arguments if self._model is not None else []
            if self.watched is not None:
                paths = scope_plugin.path_arguments(folder / "paths", self.watched)
                parameters = [*parameters, *paths]
            trace = folder / "trace"
            # With a slash: otherwise the loader searches its own folders for the library.
            library = f"./{folder / _PLUGIN}"
            command += scope_plugin.arguments(library, self._elf.path, trace, parameters)
        return command

    def _inputs(self) -> dict[str, Path | None]:
        return {**super()._inputs(), _PLUGIN: self._library}
