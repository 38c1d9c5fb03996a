# SPDX-License-Identifier: Apache-2.0
"""Results through the debugger: two rings in the target's memory, in SEGGER's layout of RTT.

The image calls `kdz_rtt_service` when a frame is complete, and while it waits for its plan. A
breakpoint there is the only stop, and no timed region has it: boards/console/rtt.c.
"""

from __future__ import annotations

import struct
from pathlib import Path

from kadenz.elf import Elf
from kadenz.errors import TargetFailed, UsageError
from kadenz.targets.board.gdb import Gdb
from kadenz.targets.board.way import Stopped

_BLOCK = "_SEGGER_RTT"
_SERVICE = "kdz_rtt_service"
_ID = b"SEGGER RTT".ljust(16, b"\0")
_HEAD = struct.Struct("<16sii")
_RING = struct.Struct("<IIIIII")  # name, bytes, size, write, read, mode
_DESTROYED = "Something in the image writes there: a stack that overflows, a stray pointer"
_WRITE, _READ = 12, 16  # offsets in a ring


class Rtt:
    """Two rings of one target."""

    def __init__(self, elf: Elf) -> None:
        places = {s.name: s.address for s in elf.symbols if s.name in (_BLOCK, _SERVICE)}
        if len(places) < 2:
            raise UsageError(
                f"{elf.path}: the image's console is not RTT: it has no {_BLOCK}",
                remedy="Build it with -DKDZ_CONSOLE=rtt, or pass --board results=uart",
            )
        self._block = places[_BLOCK]
        self._service = places[_SERVICE] & ~1  # bit 0 says Thumb
        self._gdb: Gdb | None = None
        self._plan = b""
        self._answered = False

    @property
    def answered(self) -> bool:
        """Whether anything was in the ring since `begin`: nothing else writes there."""
        return self._answered

    def open(self, gdb: Gdb | None, folder: Path) -> None:
        """Sets the breakpoint at which the rings are served."""
        assert gdb is not None
        self._gdb = gdb
        gdb.break_at(self._service)

    def begin(self, plan: str) -> None:
        """The plan goes into its ring as the target empties it."""
        self._plan = plan.encode()
        self._answered = False

    def read(self, timeout_s: float) -> bytes:
        """Content of the ring at the next stop; the target continues."""
        assert self._gdb is not None
        stop = self._gdb.stopped(timeout_s)
        if stop is None:
            return b""
        if stop.address != self._service:
            raise Stopped(stop)
        data = self._serve(self._gdb)
        self._gdb.resume()
        self._answered = self._answered or bool(data)
        return data

    def close(self) -> None:
        """Nothing: the breakpoint ends with GDB."""

    def _serve(self, gdb: Gdb) -> bytes:
        """Empties the ring of frames, and fills that of the plan."""
        raw = gdb.read(self._block, _HEAD.size + 2 * _RING.size)
        name, ups, downs = _HEAD.unpack_from(raw)
        if name != _ID or ups < 1 or downs < 1:
            raise TargetFailed(
                f"the control block of RTT at {self._block:#x} is destroyed",
                remedy=_DESTROYED,
                detail=raw.hex(" ", 4),
            )
        up = _RING.unpack_from(raw, _HEAD.size)
        down = _RING.unpack_from(raw, _HEAD.size + _RING.size)
        self._check(up)
        self._check(down)
        data = self._taken(gdb, up, self._block + _HEAD.size)
        if self._plan:
            self._put(gdb, down, self._block + _HEAD.size + _RING.size)
        return data

    def _check(self, ring: tuple[int, ...]) -> None:
        _, _, size, write, read, _ = ring
        if not size or write >= size or read >= size:
            raise TargetFailed(
                f"a ring of RTT is destroyed: {size} bytes, written to {write}, read to {read}",
                remedy=_DESTROYED,
            )

    def _taken(self, gdb: Gdb, ring: tuple[int, ...], at: int) -> bytes:
        _, start, size, write, read, _ = ring
        if write == read:
            return b""
        if write > read:
            data = gdb.read(start + read, write - read)
        else:
            data = gdb.read(start + read, size - read) + gdb.read(start, write)
        gdb.write(at + _READ, struct.pack("<I", write))
        return data

    def _put(self, gdb: Gdb, ring: tuple[int, ...], at: int) -> None:
        _, start, size, write, read, _ = ring
        room = (read - write - 1) % size
        piece, self._plan = self._plan[:room], self._plan[room:]
        first = size - write
        gdb.write(start + write, piece[:first])
        gdb.write(start, piece[first:])
        if piece:
            gdb.write(at + _WRITE, struct.pack("<I", (write + len(piece)) % size))
