# SPDX-License-Identifier: Apache-2.0
"""An execution whose calls were counted, once it is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kadenz.config.manifest import EmulatorEntry, ValueEntry
from kadenz.config.manifest import Warning as RunWarning
from kadenz.targets.calls import Calls
from kadenz.targets.flows import Flow

_LAST_LINES = 12


@dataclass(frozen=True)
class Execution:
    """An execution that is over. `problem`: why its figures are not those of the image's work, ""
    if nothing was wrong; `remedy`: what would mend it, "" if only the image can. `stopped`:
    somebody pressed Ctrl-C."""

    calls: Calls
    ended: str  # how it ended: "reached `done`"
    problem: str
    remedy: str
    stopped: bool
    console: str
    duration_s: float
    emulator: EmulatorEntry | None
    flows: Sequence[Flow] = ()  # where the instructions of some calls went
    value: ValueEntry | None = None  # None: nothing is kept of it
    warnings: list[RunWarning] = field(default_factory=list)

    @property
    def stored(self) -> bool:
        """Whether it was executed before, and its output is from the store."""
        return self.value is not None and self.value.stored

    @property
    def account(self) -> str:
        """How it ended, and from which day it is if it is from the store."""
        ended = self.ended or "interrupted"
        if self.value is None or not self.value.stored:
            return ended
        return f"{ended}. From the store, measured {self.value.day}"

    @property
    def last_output(self) -> str:
        """The last lines of the console."""
        return "\n".join(self.console.rstrip().splitlines()[-_LAST_LINES:])
