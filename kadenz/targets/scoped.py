# SPDX-License-Identifier: Apache-2.0
"""Tier `emulated` under the scope: QEMU stamps the marks; the target stores no samples.

The stamps are instructions, or cycles of a timing model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import DeviceStore, EmulatedTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.targets import arrivals, scope, scope_plugin, timing_model
from kadenz.targets.paths import Paths, read_paths
from kadenz.targets.qemu import QemuTarget
from kadenz.targets.qemu_process import counted_instructions
from kadenz.targets.timing_model import Model

_PLUGIN = "plugin"
_ARRIVALS = "arrivals"
# By which the plugin raises an interrupt.
_SERVER = ("-qtest", "unix:qtest,server=on,wait=off", "-qtest-log", "none")


@dataclass(frozen=True)
class Arriving:
    """Which arrivals the plugin tries, by what store, and how the core shows its state."""

    asked: arrivals.Asked
    interrupt: DeviceStore
    core: scope_plugin.ShownState

    def parameters(self, file: str) -> list[str]:
        """Of the plugin, which writes `file`."""
        asked, shown = self.asked, self.core
        parameters = [f"arrivals={file}", f"sample={asked.sample}", f"step={asked.step}"]
        parameters += [f"raise={self.interrupt.address:#x}:{self.interrupt.value:#x}"]
        parameters += [f"lock={asked.lock:#x}"] if asked.lock else []
        parameters += [f"off-if-set={name}:{mask:#x}" for name, mask in shown.off_if_set]
        parameters += [f"off-if-clear={name}:{mask:#x}" for name, mask in shown.off_if_clear]
        return [*parameters, f"tick={shown.tick}"]


class ScopedQemuTarget(QemuTarget):
    """A QemuTarget with samples from the scope's trace, available once it is closed."""

    def __init__(
        self,
        tier: EmulatedTier,
        elf: Elf,
        model: Model | None = None,
        watched: scope_plugin.Watched | None = None,
        arriving: Arriving | None = None,
    ) -> None:
        """`watched`: record paths too, and this along them. `arriving`: an interrupt in every
        instruction of a sample, where the plan lets one arrive."""
        super().__init__(tier, elf)
        self.watched = watched
        self._asked, self._arriving = arriving, False
        self._model = model
        if model is not None:
            self._library = timing_model.plugin(model.name, tier.qemu)
        else:
            build = inventory.build_folder() / "scope"
            source = inventory.root() / "instruments" / "scope"
            self._library = scope_plugin.build(source, build, tools.version(tier.qemu))
        self.records: dict[int, scope.RecordSpans] = {}
        self.paths: Paths | None = None
        self.arrivals: arrivals.Arrivals | None = None

    def open(self, plan: str) -> None:
        """Boots the image; records of the clock let no interrupt arrive."""
        self._arriving = arrivals.ARRIVE in plan.split()
        super().open(plan)

    def close(self) -> str:
        """Ends QEMU, which completes the trace, and reads it."""
        output = self._end()
        trace = self._folder / "trace"
        try:
            if trace.is_file() and trace.stat().st_size:
                self.records = scope.split_records(scope.read_trace(trace))
                if self.watched is not None:
                    self.paths = read_paths(self._folder / "paths")
                seen = self._folder / _ARRIVALS
                if seen.is_file() and seen.stat().st_size:  # else QEMU was killed
                    self.arrivals = arrivals.read_arrivals(seen)
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
        command += _SERVER if self._asked is not None else ()
        if folder is not None:
            parameters = self._model.arguments if self._model is not None else []
            if self.watched is not None:
                paths = scope_plugin.path_arguments(folder / "paths", self.watched)
                parameters = [*parameters, *paths]
            if self._asked is not None and self._arriving:
                parameters = [*parameters, *self._asked.parameters(_ARRIVALS)]
            trace = folder / "trace"
            # With a slash: otherwise the loader searches its own folders for the library.
            library = f"./{folder / _PLUGIN}"
            command += scope_plugin.arguments(library, self._elf.path, trace, parameters)
        return command

    def _counted(self) -> list[str]:
        """An interrupt comes where a block ends: each has one instruction."""
        if self._asked is None:
            return super()._counted()
        short = ["-accel", "tcg,thread=single,one-insn-per-tb=on"]
        return [*short, *counted_instructions(self._tier.icount_shift, served=True)]

    def _inputs(self) -> dict[str, Path | None]:
        return {**super()._inputs(), _PLUGIN: self._library}
