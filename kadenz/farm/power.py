# SPDX-License-Identifier: Apache-2.0
"""The power switch of a place, by labgrid's driver, in a process of its own.

labgrid's backends wait for a switch without a time limit, so the process has one. It also switches
the board on again if kadenz is killed while the board is off.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kadenz.errors import TargetFailed, UsageError
from kadenz.farm.extra import require

_CYCLE_S = 30.0  # for two calls of the switch, and the 2 s between them
_PASSWORD = re.compile(r"//[^/@\s]*@")  # in a URL


@dataclass(frozen=True)
class PlaceSwitch:
    """The switch of one place."""

    place: str
    port: Mapping[str, Any]  # model, host and index, as labgrid's NetworkPowerPort
    holds: Callable[[str], bool]  # whether this process has the place now

    def cycle(self) -> None:
        """Switches the board off and on. TargetFailed if the place is no longer held, or the switch
        does not do it.
        """
        try:
            held = self.holds(self.place)
        except UsageError as gone:
            raise self._failed(gone.message, gone.remedy) from None
        if not held:
            raise self._failed("this call no longer holds the place", "Measure again")
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        remedy = f"Try `labgrid-client -p {self.place} power cycle`: the board may be off"
        try:
            _, errors = process.communicate(json.dumps(dict(self.port)), _CYCLE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise self._failed(f"no answer in {_CYCLE_S:g} s", remedy) from None
        if process.returncode:
            last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            raise self._failed(_PASSWORD.sub("//", last[0]), remedy)

    def _failed(self, why: str, remedy: str) -> TargetFailed:
        return TargetFailed(
            f"the power of place {self.place} was not switched: {why}", remedy=remedy
        )


def main(port: Mapping[str, Any]) -> None:
    """Switches a port off and on."""
    target = require("labgrid").Target("board")
    require("labgrid.resource").NetworkPowerPort(target, None, **port)
    driver = require("labgrid.driver").NetworkPowerDriver(target, None)
    target.activate(driver)
    driver.cycle()


if __name__ == "__main__":
    main(json.load(sys.stdin))
