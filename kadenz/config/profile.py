# SPDX-License-Identifier: Apache-2.0
"""The profile of a record: a file of the run folder, written by measuring and read by analysis."""

from __future__ import annotations

from typing import Literal

import msgspec

PROFILE_VERSION = 1
# All samples of a lane; the sample of the median; the longest of the warm ones; the first one
# measured. A lane of arrivals has the two in the middle alone.
ViewName = Literal["all", "typical", "slowest", "coldest"]
CodeKind = Literal["load", "store", "branch", "other"]
INTERRUPT = "interrupt"  # the part of everything executed while an interrupt is handled


class FunctionEntry(msgspec.Struct):
    """A function that was executed."""

    name: str
    part: str  # as in the footprint: "kernel", "port", "benchmarks"
    file: str


class CodeEntry(msgspec.Struct):
    """An instruction that was executed."""

    address: int
    function: int
    kind: CodeKind
    text: str
    file: str = ""  # "" without debug information
    line: int = 0


class StackEntry(msgspec.Struct):
    """A function called along one path."""

    path: list[int]  # functions, from the outermost known one
    interrupt: bool
    instructions: int  # its own, without those it calls; in the profile's unit, as all lengths
    calls: int


class MaskedEntry(msgspec.Struct):
    """A section that nothing preempts; its ends are addresses."""

    path: list[int]  # functions that called the one in which it begins, it last
    instructions: int
    times: int
    begin: int
    end: int


class ViewEntry(msgspec.Struct):
    """Where the instructions of some samples went."""

    name: ViewName
    sample: int  # its number in the lane, of an arrival its cycle; -1 for all
    samples: int
    instructions: int  # their sum
    stacks: list[StackEntry]
    code: list[tuple[int, int]]  # an instruction's number in `code`, its executions or cycles
    exceptions: dict[str, int]  # entries by handler
    returns: int  # of exceptions
    masked: list[MaskedEntry]  # interrupts off; longest first
    locked: list[MaskedEntry] = []  # the scheduler locked, if the kernel says so
    held: list[MaskedEntry] = []  # one or the other, or a handler executes


class LaneProfile(msgspec.Struct):
    """The views of one lane."""

    lane: str
    paths: int  # different ones
    views: list[ViewEntry]

    @property
    def is_of_samples(self) -> bool:
        """False: of arrivals, from the request to the lane's mark."""
        return any(entry.name == "all" for entry in self.views)


class LockEntry(msgspec.Struct):
    """Whether a profile can tell when the kernel's services lock the scheduler."""

    watched: bool = False  # its word was watched
    lacks: str = ""  # one sentence: why they never lock it

    @property
    def known(self) -> bool:
        """False: a section may be longer than `held` says."""
        return self.watched or bool(self.lacks)


class Profile(msgspec.Struct):
    """The profile of one record."""

    version: int
    record: int
    bench: str
    target: str
    unit: str  # "instruction", or "cycle"
    functions: list[FunctionEntry]
    code: list[CodeEntry]
    lanes: list[LaneProfile]
    lock: LockEntry = msgspec.field(default_factory=LockEntry)
