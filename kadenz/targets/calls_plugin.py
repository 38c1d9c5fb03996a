# SPDX-License-Identifier: Apache-2.0
"""The plugin instruments/calls in a QEMU: its library, its files, what it tells while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kadenz import tools
from kadenz.config import inventory
from kadenz.targets import scope_plugin
from kadenz.targets.calls import ROW

PLUGIN = "calls"
# In the folder of an execution.
LIBRARY, FUNCTIONS, CALLS, SYMBOLS, FLOWS = "plugin", "functions", "calls", "symbols", "flows"
_SHARED = ("count.c", "stopwatch.h", "trace.h")  # of instruments/scope: what counts
_PROGRESS = "progress"


def library(qemu: str) -> Path:
    """The plugin for a QEMU. Raises the errors of `scope_plugin.build`."""
    instruments = inventory.root() / "instruments"
    return scope_plugin.build(
        instruments / PLUGIN,
        inventory.build_folder() / PLUGIN,
        tools.version(qemu),
        shared=[instruments / "scope" / name for name in _SHARED],
        name=PLUGIN,
    )


def options(folder: Path, parameters: Sequence[str]) -> list[str]:
    """QEMU's options that load the plugin, which is linked in `folder`."""
    # With a slash: otherwise the loader searches its own folders for the library.
    files = [f"calls={folder / CALLS}", f"functions={folder / FUNCTIONS}"]
    files += [f"symbols={folder / SYMBOLS}", f"flows={folder / FLOWS}"]
    files += [f"progress={folder / _PROGRESS}"]
    return ["-plugin", ",".join([f"./{folder / LIBRARY}", *parameters, *files])]


def entry(parameters: Sequence[str]) -> list[str]:
    """The same for a manifest, without the files of an execution."""
    return ["-plugin", ",".join(["kadenz-calls", *parameters])]


class CallsProgress:
    """What the plugin tells of an execution in `folder`, and that it is to end."""

    _folder: Path

    @property
    def calls_so_far(self) -> int:
        """About how many calls are written."""
        file = self._folder / CALLS
        return file.stat().st_size // ROW.itemsize if file.is_file() else 0

    @property
    def virtual_ns(self) -> int:
        """The machine's time; it stands still while the core executes nothing."""
        return self._told(0)

    def ask_to_end(self) -> None:
        """Lets the plugin end QEMU, at the next look; without waiting for it."""
        file = self._folder / _PROGRESS
        if file.is_file():
            with file.open("r+b") as progress:
                progress.seek(8)
                progress.write((1).to_bytes(8, "little"))

    def _told(self, place: int) -> int:
        """A number of 64 bits that the plugin wrote; 0 before it did."""
        file = self._folder / _PROGRESS
        numbers = file.read_bytes() if file.is_file() else b""
        return int.from_bytes(numbers[8 * place : 8 * place + 8], "little")
