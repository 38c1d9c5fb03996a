# SPDX-License-Identifier: Apache-2.0
"""A service on one of several cores, with an interrupt in every cycle: what another core does
meanwhile, and which of them gets the interrupt.

The image has a thread for it (instruments/beside).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadenz.errors import UsageError

if TYPE_CHECKING:
    from kadenz.targets.arrivals import Asked

KINDS = ("idle", "loop", "memory", "calls")
_IDLE = KINDS[0]  # it begins nothing, so it has no offset
CORES = ("service", "other")
_WINDOW = 320  # turns of a loop from its first begin to about the begin of the sample
MOST_OFFSETS = 64


@dataclass(frozen=True)
class Beside:
    """A call's wishes for several cores: kinds of work, none for each; at how many offsets from the
    service it begins; and which core gets the interrupt, of CORES."""

    kinds: tuple[str, ...] = ()
    offsets: int = 1
    core: str = CORES[0]

    @property
    def options(self) -> list[str]:
        """The options that the command line has."""
        given = {
            "--beside": bool(self.kinds),
            "--offsets": self.offsets != 1,
            "--core": self.core != CORES[0],
        }
        return [option for option, is_given in given.items() if is_given]

    def of(self, asked: Asked) -> Iterator[Asked]:
        """One for each kind of work and each offset."""
        elsewhere = self.core != CORES[0]
        for kind in self.kinds or KINDS:
            offsets = 1 if kind == _IDLE else self.offsets
            for place in range(offsets):
                delay = place * _WINDOW // offsets
                yield replace(asked, beside=kind, delay=delay, elsewhere=elsewhere)


EACH_KIND = Beside()


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds of `--beside`, parted by commas; none for "". UsageError for another word."""
    kinds = tuple(dict.fromkeys(text.split(","))) if text else ()
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(
            f"--beside {text}: no work `{unknown[0]}` of another core",
            remedy=f"Name one or several of {', '.join(KINDS)}: --beside {KINDS[-1]},{_IDLE}",
        )
    return kinds
