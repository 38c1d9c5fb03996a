# SPDX-License-Identifier: Apache-2.0
"""States of a kernel: threads that it holds besides those of the service that is tried.

The image creates them (suite/core/arrivals.c).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from kadenz.config.key_values import Key
from kadenz.config.manifest import STATES
from kadenz.errors import UsageError
from kadenz.lab.condition import Option

State = tuple[tuple[str, int], ...]  # threads by name

MOST = 8  # KDZ_STATE_THREADS; the port on a simulated core has a pool for two such states
_HELP = (
    "N more threads sleep for minutes.",
    "N more threads sleep until the next tick, again and again.",
    "N more threads wait for the processor, below all others.",
)
OPTION = Option(
    "--state",
    f"What the kernel holds besides, 0 to {MOST} threads: its pool has room for two such states. "
    "One run for each combination.",
    metavar="NAME=N[,N…]",
    kind="keys",
    keys=tuple(Key(name, text, "N", many=True) for name, text in zip(STATES, _HELP, strict=True)),
)


def states_of(given: Mapping[str, Sequence[str]]) -> list[State]:
    """Every combination of the values of `--state`; without any, the state that holds nothing more.

    UsageError for anything but numbers in range.
    """
    for name, texts in given.items():
        if not all(re.fullmatch(f"[0-{MOST}]", text) for text in texts):
            raise UsageError(
                f"{OPTION.flag} {name}={','.join(texts)}: expected NAME=N,N… with 0 to {MOST} "
                "threads",
                remedy=f"For example {OPTION.flag} {name}=0,1,2,4,{MOST}",
            )
    sweeps = [[(name, int(text)) for text in texts] for name, texts in given.items()]
    return list(product(*sweeps))
