# SPDX-License-Identifier: Apache-2.0
"""The bounds of a run: a file of its folder, written by `kadenz bound` and read by analysis."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

Cycles = Annotated[int, msgspec.Meta(ge=0)]


class LaneBound(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """From the request to the first statement of the handler, or of the thread that it wakes."""

    tried: Cycles  # the largest arrival of all states
    bound: Cycles | None  # None: there is none
    why_not: str  # "" where there is a bound
    section: str  # where the longest section begins: "vTaskSuspendAll+0x6"
    parts: dict[str, Cycles]  # of the bound, by function or later part


class ServiceBound(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A service in all of the run's states, and what its bound excludes."""

    bench: str
    records: Annotated[list[int], msgspec.Meta(min_length=1)]  # a state each
    tick: bool  # a tick of the kernel is part of the bound
    never: list[str]  # functions on no way of this service, as the kernel declares
    handler: LaneBound
    task: LaneBound


class RunBounds(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The services of one run, and the premises that they share."""

    VERSION: ClassVar[int] = 1

    version: int
    unit: str  # of every figure, as the clock of the run has it: "cycle"
    at_most: dict[str, Cycles]  # each quantity that bounds loops of the kernel
    services: list[ServiceBound]
