# SPDX-License-Identifier: Apache-2.0
"""The contents of frames: one typed message per frame type. Unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from numpy.typing import NDArray

from kadenz.config.manifest import Nature
from kadenz.config.params import Params, Value

# The version of the format that these models describe. Another version is another format: only the
# frame around HELLO and its key `wire` are common to all versions.
WIRE_VERSION = 2

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
    on_target: bool  # false: the time is taken from outside (scope)


class Version(msgspec.Struct):
    """The part of HELLO that all versions of the format share."""

    wire: Unsigned


class Hello(Message):
    """First frame: identifies the target."""

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
    """A parameter of a benchmark, and its range."""

    name: str
    initial: int
    low: int
    high: int
    choices: list[str] | None = None  # the value of each number, where a plan says it in a word

    def value(self, number: int) -> Value:
        """A value as a plan and a manifest have it."""
        return self.choices[number] if self.choices else number


class Bench(Message):
    """One benchmark of the image, in answer to the plan line `list`."""

    name: str
    begins: str
    ends: str
    source: str
    self_timed: bool
    nature: Nature
    available: bool
    reason: str
    params: list[BenchParam]

    @property
    def defaults(self) -> Params:
        """The parameters of a point of which a plan says nothing."""
        return {param.name: param.value(param.initial) for param in self.params}


class Begin(Message, omit_defaults=True):
    """Opens a record: what is measured, and how much is planned."""

    record: Unsigned
    bench: str
    planned: Unsigned  # per lane
    lanes: list[str]  # with companions: "core0", "core0:cycle"
    dtype: DtypeName
    unit: str
    params: Params
    ranks: dict[str, int]
    # A timer of the board that may raise an interrupt in its samples, and the ticks of the clock in
    # one of its ticks; of images whose stamps arm it.
    device: str = ""
    device_ticks: Unsigned = 0


def companion(name: str) -> tuple[str, str]:
    """Lane and kind of a companion: ("core0", "cycle") of `core0:cycle`; ("", "") of a lane.

    A companion has one value per sample of its lane. END counts only lanes of samples.
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
    """The counts of one lane."""

    taken: Unsigned
    missed: Unsigned
    overrun: Unsigned


class Proof(Message):
    """Proof that the timed events happened (rule 2)."""

    checked: Unsigned
    failed: Unsigned
    reason: str


class End(Message):
    """Closes a record: its counts, proofs and drains."""

    record: Unsigned
    status: Literal["ok", "invalid", "n/a", "failed"]
    reason: str
    lanes: list[EndLane]  # without companions
    proof: Proof
    drains: list[int]


class Text(NamedTuple):
    """Text for the user."""

    text: str


class Fault(Message):
    """The target crashed: where, and with what in its registers."""

    kind: str  # "exception", "assert", "stack-overflow", "out-of-memory"
    message: str
    thread: str
    registers: dict[str, int]


class Done(Message):
    """The last frame of a plan, with counts to compare with those that arrived."""

    records: Unsigned
    frames: Unsigned  # including this one


class Case(Message):
    """A case of the conformance test runs now; images from before this frame do not send it."""

    case: str


class Conform(Message):
    """The result of one case of the conformance test."""

    case: str
    result: Literal["pass", "fail", "n/a"]
    reason: str


AnyMessage = Hello | Bench | Begin | Samples | End | Text | Fault | Done | Case | Conform
