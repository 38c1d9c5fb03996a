# SPDX-License-Identifier: Apache-2.0
"""What frames say: one typed message for each frame type. Unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kadenz.config.params import Params, Value

# The version of the format that these models describe. Another number is another format: the frame
# around HELLO and its key `wire` are all that two versions have in common.
WIRE_VERSION = 1

Unsigned = Annotated[int, msgspec.Meta(ge=0)]
# Code in a SAMPLES frame -> name in BEGIN, numpy type.
DTYPES: tuple[tuple[str, str], ...] = (("u4", "<u4"), ("i4", "<i4"), ("f8", "<f8"))
DtypeName = Literal["u4", "i4", "f8"]


class Message(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A MessagePack map with exactly these keys."""


class Clock(Message):
    """The clock of the target's stamps."""

    name: str
    hz: Unsigned
    bits: Unsigned
    on_target: bool  # false: somebody outside takes the time (scope)


class Version(msgspec.Struct):
    """What a HELLO of any version of the format holds, whatever else is in it."""

    wire: Unsigned


class Hello(Message):
    """First frame: who speaks."""

    wire: Unsigned
    suite: str
    kernel: str
    kernel_version: str
    board: str
    arch: str
    instrument: str
    clock: Clock
    tick_hz: Unsigned
    timer_hz: Unsigned
    cores: Unsigned
    storage: Unsigned  # samples the target can hold before it has to drain
    capabilities: list[str]
    settings: dict[str, str]


class BenchParam(NamedTuple):
    """A parameter a benchmark declares, and its range."""

    name: str
    initial: int
    low: int
    high: int
    words: list[str] | None = None  # the value of each number, where a plan says it in a word

    def value(self, number: int) -> Value:
        """A value as a plan and a manifest have it."""
        return self.words[number] if self.words else number


class Bench(Message):
    """One benchmark of the image, in answer to the plan line `list`."""

    name: str
    begins: str
    ends: str
    source: str
    self_timed: bool
    available: bool
    reason: str
    params: list[BenchParam]


class Begin(Message):
    """A record opens."""

    record: Unsigned
    bench: str
    planned: Unsigned  # per lane
    lanes: list[str]  # with companions: "core0", "core0:cycle"
    dtype: DtypeName
    unit: str
    params: Params
    ranks: dict[str, int]


def companion(name: str) -> tuple[str, str]:
    """Lane and kind of a companion: ("core0", "cycle") of `core0:cycle`; ("", "") of a lane.

    A companion holds one value for each sample of its lane. END counts lanes of samples only.
    """
    lane, colon, kind = name.partition(":")
    return (lane, kind) if colon else ("", "")


class Samples(NamedTuple):
    """Values of one lane; `first` is the index of values[0] in it."""

    record: int
    lane: int
    first: int
    dtype: str  # numpy: "<u4"
    values: NDArray[Any]  # 1-d, read only, a view of the frame


class EndLane(Message):
    """A lane's own count."""

    taken: Unsigned
    missed: Unsigned
    overrun: Unsigned


class Proof(Message):
    """Whether what was timed really happened (rule 2)."""

    checked: Unsigned
    failed: Unsigned
    reason: str


class End(Message):
    """A record closes."""

    record: Unsigned
    status: Literal["ok", "invalid", "n/a", "failed"]
    reason: str
    lanes: list[EndLane]  # without companions
    proof: Proof
    drains: list[int]


class Text(NamedTuple):
    """Text for a person."""

    text: str


class Fault(Message):
    """The target died."""

    kind: str  # "exception", "assert", "stack-overflow", "out-of-memory"
    message: str
    thread: str
    registers: dict[str, int]


class Done(Message):
    """Last frame."""

    records: Unsigned
    frames: Unsigned  # including this one


class Conform(Message):
    """One case of the conformance test."""

    case: str
    result: Literal["pass", "fail", "n/a"]
    reason: str


AnyMessage = Hello | Bench | Begin | Samples | End | Text | Fault | Done | Conform


def samples_from(values: NDArray[Any], record: int, lane: int, first: int) -> Samples:
    """A Samples message around an array of a type the wire knows."""
    dtype = values.dtype.newbyteorder("<").str
    if dtype not in [d for _, d in DTYPES]:
        raise ValueError(f"dtype {dtype} does not travel; known: {[d for _, d in DTYPES]}")
    return Samples(record, lane, first, dtype, np.ascontiguousarray(values, dtype=dtype))
