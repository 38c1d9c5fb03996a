# SPDX-License-Identifier: Apache-2.0
"""States of a kernel: threads that it holds besides those of the service that is tried.

The image creates them (suite/core/arrivals.c). What the service itself meets is a parameter of it
(suite/bench/critical.h).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import product

from kadenz.config.key_values import Key
from kadenz.config.manifest import STATES
from kadenz.config.params import Value
from kadenz.errors import UsageError
from kadenz.lab.condition import Option
from kadenz.lab.reference import described

State = tuple[tuple[str, int], ...]  # threads by name

MOST = 8  # KDZ_STATE_THREADS; the port on a simulated core has a pool for two such states
PARAMS = ("waiter", "blocks", "urgent")  # of services, each value a state
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


def states_of_services(names: Collection[str]) -> dict[str, list[Value]]:
    """Every value of the parameters that are states, as services declare them."""
    known = described()
    params = [param for name in names if name in known for param in known[name].params]
    return {
        param.name: [param.value(number) for number in range(param.low, param.high + 1)]
        for param in params
        if param.name in PARAMS
    }


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
