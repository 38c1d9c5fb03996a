# SPDX-License-Identifier: Apache-2.0
"""What the bench of simulated cores saw of a sample with an interrupt in every cycle of it.

The file is described in instruments/rtl/bench/arrivals.hpp: a header, and a row for each arrival
that was tried, all little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kadenz.config.manifest import ARRIVAL, ARRIVALS, companions_of
from kadenz.errors import TargetFailed
from kadenz.targets.scope import HANDLED, RESPONDED

ARRIVE = "arrivals=1"  # of a point in a plan
_AFTER, _STEP = "arrivals.after", "arrivals.step"  # there, of an image that arms a timer
_STATE = "state."  # before the name of a state, there
_BESIDE, _DELAY = "beside", "beside.delay"  # there, of an image with a thread on another core
_MARKS = dict(zip(ARRIVALS, (HANDLED, RESPONDED), strict=True))
_MAGIC, _VERSION = b"KDZARRIV", 2
_SWEEP_MAGIC, _SWEEP_VERSION = b"KDZTRIED", 2
_SWEEP = struct.Struct("=8sIIQQQ")
_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("row_bytes", "<u4"),
        ("extent", "<u4"),
        ("cycles", "<u8"),
        ("step", "<u8"),
    ]
)
_NUMBERS = (
    *("phase", "state", "last", "end", "handled", "responded", "seconds"),
    *(
        f"{lane}{kind}"
        for lane in ARRIVALS
        for kind in ("", ":second", ":pc", ":masked", ":locked")
    ),
)
_ROW = np.dtype([(name, "<u4") for name in _NUMBERS])
_CUT_OFF, _TRIED, _GIVEN_UP, _HAS_TICK, _SHORT, _UNLIKE = range(6)  # extent
_NOT_TRIED, _WHOLE, _UNENDED, _CRASHED = range(4)  # state of a row
_ENDS = {
    _UNENDED: "came to no end, and was last at",
    _CRASHED: "crashed the simulated core; it began at",
}


@dataclass(frozen=True)
class Flag:
    """A word of each core: the address of core 0's, and the bytes from each to the next one's."""

    address: int
    apart: int


@dataclass(frozen=True)
class Asked:
    """The sample that is tried, from 0; in steps of how many cycles; the address of the scheduler's
    lock, which rows show, 0 for none; what each arrival is tried with in every cycle, a key of
    SECONDS; and the threads that the kernel holds meanwhile, by state.

    `by_timer`: a timer of the board raises them, `step` of its ticks apart, in samples behind that.

    On several cores `beside` says what another core does, which begins `delay` turns of a loop
    later than at its first offset. `flag` tells the handler that the interrupt is no call of that
    core. `elsewhere`: that core gets it, not the one that runs the service.

    Or one arrival, in cycle `only`, with the second in cycle `second_at` unless that is 0. It is
    followed from its request to the mark of the lane `until`.
    """

    sample: int
    step: int = 1
    lock: int = 0
    second: str = ""
    only: int = 0
    second_at: int = 0
    until: str = ""
    by_timer: bool = False
    state: tuple[tuple[str, int], ...] = ()
    beside: str = ""
    delay: int = 0
    flag: Flag | None = None
    elsewhere: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Of a point in a plan, for the image."""
        states = (f"{_STATE}{name}={threads}" for name, threads in self.state)
        timer = (f"{_AFTER}={self.sample + 1}", f"{_STEP}={self.step}") if self.by_timer else ()
        other = (f"{_BESIDE}={self.beside}", f"{_DELAY}={self.delay}") if self.beside else ()
        return ARRIVE, *timer, *states, *other

    def arguments(self, file: str, tried: str = "") -> list[str]:
        """Of the bench, which writes `file`, and has the tried arrivals in the file `tried`."""
        arguments = ["--arrivals", file, "--arrival-sample", str(self.sample)]
        arguments += ["--arrivals-tried", tried] if tried and not self.only else []
        arguments += ["--arrival-step", str(self.step)] if self.step != 1 else []
        arguments += ["--arrival-lock", hex(self.lock)] if self.lock else []
        arguments += ["--arrival-second", self.second] if self.second else []
        if self.flag is not None:
            arguments += ["--arrival-flag", f"{self.flag.address:#x},{self.flag.apart}"]
        arguments += ["--arrival-elsewhere", "1"] if self.elsewhere else []
        if self.only:
            arguments += ["--arrival-only", str(self.only)]
            arguments += ["--arrival-second-at", str(self.second_at)]
            arguments += ["--arrival-until", str(_MARKS[self.until])]
        return arguments

    def following(self, phase: int, second_at: int, lane: str) -> Asked:
        """One of these arrivals, to the mark of a lane."""
        return replace(self, step=1, only=phase, second_at=second_at, until=lane)


@dataclass(frozen=True)
class Lost:
    """An arrival after which handler, thread or end did not come: its phase, why, and the program
    counter, where the core was last or when the line rose."""

    phase: int
    why: str
    pc: int


@dataclass(frozen=True)
class Arrivals:
    """A sample of `cycles` cycles with an arrival every `step` of them, each with many of `second`
    if it was asked for; of these the cycles are those of the longest sample.

    `whole`: the sample was seen to its end, and arrivals did not end for another reason than
    `given_up`: too many were lost, and no further one was tried. `used_up`: each had a sample of
    its own, and there were too few; `unlike`: these went different ways by themselves. `has_tick`:
    it has a tick of the kernel, so none was tried in every cycle. `rows` (n,) are the arrivals that
    came to their end, with the fields of the file; `lost` are the others that were tried. The rest
    of `planned` met a core that slept, while time was skipped.
    """

    cycles: int
    step: int
    whole: bool
    used_up: bool
    unlike: bool
    given_up: bool
    has_tick: bool
    rows: NDArray[np.void]
    lost: tuple[Lost, ...]
    second: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of the companions of both lanes."""
        return (*ARRIVAL, *companions_of(self.second))

    def values(self, lane: str, kind: str = "") -> NDArray[np.uint32]:
        """Of a lane (n,), or of its companion of a kind."""
        fields = dict(zip(companions_of(self.second), ("second", "seconds"), strict=False))
        field = fields.get(kind, kind)
        shared = field in ("phase", "seconds")
        return self.rows[field if shared else f"{lane}:{field}" if field else lane]

    @property
    def repeated(self) -> list[int]:
        """Phases of arrivals after which the handler or the thread ran more often than there were
        requests; the thread that both wake may run once."""
        rows = self.rows
        most = 2 if self.second == "request" else 1
        usual = np.isin(rows["handled"], range(1, most + 1)) & (rows["responded"] == 1)
        return [int(phase) for phase in rows["phase"][~usual]]

    @property
    def flaw(self) -> str:
        """Why samples, one for each arrival, do not stand for one sample; empty if they do."""
        tried = len(self.rows) + len(self.lost)
        if self.unlike or (self.used_up and not tried):
            return "without an interrupt, its samples go different ways: try it on a simulated core"
        if not self.used_up:
            return ""
        step = self.step * (self.planned * 5 // (4 * tried) + 1)  # some are repeated
        return (
            f"its samples suffice for {tried:,} of {self.planned:,} arrivals: try one in {step}, "
            f"with --step {step}"
        )

    @property
    def planned(self) -> int:
        """Arrivals that the sample has room for."""
        return -(-self.cycles // self.step)

    @property
    def untried(self) -> int:
        """Arrivals that were not tried, for another reason than that the core slept."""
        tried = len(self.rows) + len(self.lost)
        return max(0, self.planned - tried) if self.given_up else 0


@dataclass(frozen=True)
class Sweep:
    """How many of the `planned` arrivals of a sample are tried by now, of them by `earlier`
    executions that were stopped."""

    planned: int
    tried: int
    earlier: int


def read_sweep(path: Path) -> Sweep | None:
    """Read the head of a file of tried arrivals, instruments/rtl/bench/tried.hpp. None: the sample
    has not ended yet, so the number of its arrivals is unknown."""
    try:
        with path.open("rb") as file:
            data = file.read(_SWEEP.size)
    except OSError:
        return None
    if len(data) < _SWEEP.size:
        return None
    magic, version, _, planned, tried, earlier = _SWEEP.unpack(data)
    known = magic == _SWEEP_MAGIC and version == _SWEEP_VERSION and planned
    return Sweep(planned, tried, earlier) if known else None


def read_arrivals(path: Path, second: str = "") -> Arrivals:
    """Read a file of arrivals that were tried with `second`. Raises TargetFailed with the
    problem."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _damaged(path, f"cannot be read: {error.strerror}") from error
    if len(data) < _HEADER.itemsize or data[:8] != _MAGIC:
        raise _damaged(path, f"does not begin with {_MAGIC.decode()}")
    header = np.frombuffer(data, _HEADER, 1)[0]
    sizes = int(header["header_bytes"]), int(header["row_bytes"])
    if header["version"] != _VERSION or sizes != (_HEADER.itemsize, _ROW.itemsize):
        raise _damaged(path, f"has version {int(header['version'])}, not {_VERSION}")
    body = data[_HEADER.itemsize :]
    if len(body) % _ROW.itemsize:
        raise _damaged(path, "ends within a row")
    if not header["step"]:
        raise _damaged(path, "has a step of 0")
    rows = np.frombuffer(body, _ROW)
    lost = tuple(
        Lost(int(row["phase"]), _ENDS[int(row["state"])], int(row["last"]))
        for row in rows[np.isin(rows["state"], list(_ENDS))]
    )
    return Arrivals(
        cycles=int(header["cycles"]),
        step=int(header["step"]),
        whole=int(header["extent"]) not in (_CUT_OFF, _SHORT, _UNLIKE),
        used_up=int(header["extent"]) == _SHORT,
        unlike=int(header["extent"]) == _UNLIKE,
        given_up=int(header["extent"]) == _GIVEN_UP,
        has_tick=int(header["extent"]) == _HAS_TICK,
        rows=rows[rows["state"] == _WHOLE],
        lost=lost,
        second=second,
    )


def _damaged(path: Path, why: str) -> TargetFailed:
    return TargetFailed(
        f"{path.name}: what the bench wrote of its arrivals {why}",
        remedy="Measure again: the bench was ended while it wrote, or the disk is full",
    )
