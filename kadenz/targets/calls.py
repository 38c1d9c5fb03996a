# SPDX-License-Identifier: Apache-2.0
"""The file of calls that instruments/calls or the bench of a core writes, read in blocks."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kadenz.errors import TargetFailed

# instruments/calls/rows.h
ROW = np.dtype(
    [("kind", "<u4"), ("function", "<u4"), ("a", "<u8"), ("b", "<u8"), ("c", "<u8")],
)
_MAGIC = int.from_bytes(b"KDZCALLS", "little")
_VERSION = 1
_HEAD, _CALL, _TALLY, _END, _MORE, _SYSTEM_CALL, _PROGRAM = range(7)
_AT_END = (_TALLY, _END, _SYSTEM_CALL, _PROGRAM)
_FAULTS = (1 << 64) - 1
_SECOND = 2  # behind the head and the first call
_BLOCK_ROWS = 1 << 16  # 2 MiB at a time: memory does not grow with the calls

Values = NDArray[np.uint64]


class Why(enum.IntEnum):
    """Why a firmware ended: of `enum kdz_end` of rows.h."""

    ITSELF = 1
    UNTIL = 2
    TEXT = 3
    LIMIT = 4
    STOPPED = 5
    ASLEEP = 6
    REFUSED = 7


@dataclass(frozen=True)
class End:
    """The end of an execution: its last known address, the fault that was handled, by its number
    on the core (0: none), and the count so far: instructions, or the cycle. Of a call that was
    REFUSED, its number is the fault."""

    why: Why
    address: int
    fault: int
    instructions: int


@dataclass(frozen=True)
class Tally:
    """Calls of a function: that began, that returned, that were left without a return."""

    began: int = 0
    returned: int = 0
    unwound: int = 0

    @property
    def open(self) -> int:
        """Calls that had not returned when the execution ended."""
        return self.began - self.returned - self.unwound


@dataclass(frozen=True)
class CallBlock:
    """Calls of one function, in the order of their returns: values of each, (n,).

    Of a program of Linux `handlers` are those of interrupts, and `more` are those of the kernel for
    the call, and of signals' handlers.
    """

    function: int
    instructions: Values  # or cycles of a simulated core, without the others
    handlers: Values  # of handlers of exceptions inside
    threads: Values  # of other threads, between the switch to them and back
    more: tuple[Values, ...] = ()


@dataclass(frozen=True)
class SystemCalls:
    """System calls of one number inside the calls of a function; `number` None: faults."""

    function: int
    number: int | None
    count: int
    instructions: int  # of the kernel for them


@dataclass(frozen=True)
class ProgramFacts:
    """What a program did: processes that it started, programs that it became, its threads."""

    forked: int
    replaced: int
    threads: int


class Calls:
    """The calls of one execution. TargetFailed for a file of another kind."""

    def __init__(self, file: Path) -> None:
        """Reads the end; without it the emulator was killed, and whole rows are kept."""
        size = file.stat().st_size // ROW.itemsize if file.is_file() else 0
        self._rows = np.memmap(file, ROW, "r", shape=(size,)) if size else np.empty(0, ROW)
        head = self._rows[0] if size else None
        if head is None or (head["kind"], head["a"], head["b"]) != (_HEAD, _MAGIC, _VERSION):
            raise TargetFailed(
                "the emulator wrote no calls", remedy="Its messages say why; run again"
            )
        self.end: End | None = None
        self.tallies: dict[int, Tally] = {}
        self.system_calls: list[SystemCalls] = []
        self.program: ProgramFacts | None = None  # of a program that began
        self._count = size
        self._paired = size > _SECOND and self._rows[_SECOND]["kind"] == _MORE  # a program's
        for row in self._rows[:0:-1]:
            if row["kind"] not in _AT_END:
                break
            self._count -= 1
            self._take(row)
        if self.end is None:
            self._tally()

    def blocks(self) -> Iterator[CallBlock]:
        """All calls, a few at a time."""
        for begin in range(1, self._count, _BLOCK_ROWS):
            rows = np.array(self._rows[begin : min(begin + _BLOCK_ROWS, self._count)])
            for function in np.unique(rows["function"]).tolist():
                calls = rows[rows["function"] == function]
                first = calls[calls["kind"] == _CALL]
                more = calls[calls["kind"] == _MORE]
                first = first[: more.size] if self._paired else first
                rest = (more["a"], more["b"]) if self._paired else ()
                yield CallBlock(function, first["a"], first["b"], first["c"], rest)

    def _tally(self) -> None:
        """Without an end, only calls that returned are known."""
        self.tallies.clear()
        for block in self.blocks():
            count = block.instructions.size + self.tallies.get(block.function, Tally()).began
            self.tallies[block.function] = Tally(count, count)

    def _take(self, row: np.void) -> None:
        values = [int(row[name]) for name in "abc"]
        if row["kind"] == _END:
            self.end = End(Why(int(row["function"])), *values)
        elif row["kind"] == _PROGRAM:
            self.program = ProgramFacts(*values)
        elif row["kind"] == _SYSTEM_CALL:
            number = None if values[0] == _FAULTS else values[0]
            self.system_calls.append(SystemCalls(int(row["function"]), number, *values[1:]))
        else:
            self.tallies[int(row["function"])] = Tally(*values)
