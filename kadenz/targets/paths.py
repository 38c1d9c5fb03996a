# SPDX-License-Identifier: Apache-2.0
"""Reads what the target executed between stamps: the scope's paths file.

A path is a sequence of tokens: runs of instructions, marks, stores to watched words and changes of
watched registers. Repeated sequences are pieces, written once (instruments/scope/README.md).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kadenz.targets.scope import ScopeDamaged

MAGIC = b"KDZPATHS"
VERSION = 1
HEADER_BYTES = 32
_HEADER = struct.Struct("<8sIII")
_CHUNK = struct.Struct("<II")
_ENDPOINT = struct.Struct("<QQQ")
_TOKEN, _PIECE, _BEGIN, _PATH, _END, _LAST = range(1, 7)

# Kinds of tokens, instruments/scope/paths.h: STORE and STATE plus a number of word or register,
# NAME plus a number of eight bytes.
RUN, MARK, STORE, STATE, NAME = 1, 2, 0x10, 0x20, 0x30

TOKEN = np.dtype([("kind", "<u4"), ("instructions", "<u4"), ("clock", "<u8"), ("value", "<u8")])
Numbers = NDArray[np.uint32]
Unit = Literal["instruction", "cycle"]  # what a sample counts

_REPORT = "Measure again; if it persists, report it with the benchmark's name"


@dataclass(frozen=True)
class Region:
    """One region: from the store of its first mark to that of its last, which it includes."""

    instructions: tuple[int, int]  # executed at its begin and at its end
    clock: tuple[int, int]  # of the instrument, there
    mark: int  # that began it
    path: tuple[int, ...]  # its pieces, in order


@dataclass(frozen=True)
class Paths:
    """A paths file. `complete` is false if it was cut: the regions that ended are in it."""

    tokens: NDArray[np.void]  # of TOKEN
    pieces: list[Numbers]  # the tokens of each piece
    regions: list[Region]
    whole_records: bool  # regions are records; else from BEGIN to END
    complete: bool
    unit: Unit = "instruction"  # "cycle": each run is one instruction, and the clock counts them

    def span(self, region: Region) -> int:
        """The length of a region, in the unit."""
        begin, end = region.clock if self.unit == "cycle" else region.instructions
        return end - begin

    def spent(self, token: int) -> int:
        """The length of a run, in the unit."""
        return int(self.tokens[token]["clock" if self.unit == "cycle" else "instructions"])


def read_paths(file: Path, *, unit: Unit = "instruction") -> Paths:
    """Reads a paths file. Raises ScopeDamaged with the problem and its place."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ScopeDamaged(
            f"{file}: the scope's paths cannot be read: {error.strerror}",
            remedy="The emulator ended before the plugin could write them: see its output",
        ) from error
    return replace(parse_paths(data, source=str(file)), unit=unit)


def parse_paths(data: bytes, *, source: str = "paths") -> Paths:
    """Decodes the bytes of a paths file; `source` names it in errors.

    Every path is checked: its runs add up to its region, in instructions and in the clock.
    """
    if len(data) < HEADER_BYTES or data[:8] != MAGIC:
        raise ScopeDamaged(
            f"{source}: not a file of paths (it does not begin with {MAGIC.decode()})",
            remedy="Pass the file that the plugin wrote",
        )
    _, version, header_bytes, whole_records = _HEADER.unpack_from(data)
    if version != VERSION or header_bytes != HEADER_BYTES:
        raise ScopeDamaged(
            f"{source}: paths of version {version}; this kadenz reads version {VERSION}",
            remedy="Measure again with this version of kadenz",
        )
    reader = _Reader(data, source)
    complete = reader.read()
    tokens = np.frombuffer(b"".join(reader.tokens), dtype=TOKEN)
    _check_sums(tokens, reader.pieces, reader.regions, source)
    return Paths(tokens, reader.pieces, reader.regions, bool(whole_records), complete)


@dataclass
class _Reader:
    data: bytes
    source: str
    tokens: list[bytes] = field(default_factory=list)
    pieces: list[Numbers] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    _open: tuple[int, int, int] | None = None
    _path: list[int] = field(default_factory=list)

    def read(self) -> bool:
        """Every chunk up to the last, or to where the file was cut. True if it is complete."""
        at = HEADER_BYTES
        while at + _CHUNK.size <= len(self.data):
            kind, size = _CHUNK.unpack_from(self.data, at)
            start = at + _CHUNK.size
            if start + size > len(self.data):
                return False
            if kind == _LAST:
                if start != len(self.data):
                    raise self._damaged(at, "goes on behind its end")
                return True
            self._take(kind, start, size)
            at = start + size
        return False

    def _take(self, kind: int, at: int, size: int) -> None:
        if kind == _TOKEN and size == TOKEN.itemsize:
            self.tokens.append(self.data[at : at + size])
        elif kind == _PIECE and size and not size % 4:
            self.pieces.append(self._numbers(at, size, len(self.tokens), "token"))
        elif kind == _PATH and size and not size % 4 and self._open is not None:
            self._path += self._numbers(at, size, len(self.pieces), "piece").tolist()
        elif kind == _BEGIN and size == _ENDPOINT.size and self._open is None:
            self._open = _ENDPOINT.unpack_from(self.data, at)
            self._path = []
        elif kind == _END and size == _ENDPOINT.size and self._open is not None:
            instructions, clock, _ = _ENDPOINT.unpack_from(self.data, at)
            begun = self._open
            self.regions.append(
                Region((begun[0], instructions), (begun[1], clock), begun[2], tuple(self._path))
            )
            self._open = None
        else:
            raise self._damaged(at, f"has a chunk of kind {kind} and {size} bytes there")

    def _numbers(self, at: int, size: int, below: int, what: str) -> Numbers:
        numbers = np.frombuffer(self.data, dtype="<u4", count=size // 4, offset=at)
        if numbers.max() >= below:
            raise self._damaged(at, f"names a {what} that it has not defined")
        return numbers

    def _damaged(self, at: int, what: str) -> ScopeDamaged:
        return ScopeDamaged(f"{self.source}: damaged at byte {at}: it {what}", remedy=_REPORT)


def _check_sums(
    tokens: NDArray[Any], pieces: list[Numbers], regions: list[Region], source: str
) -> None:
    # Sums are modulo 2^64, as the numbers of a region are.
    counts = np.array([tokens["instructions"][p].sum(dtype="u8") for p in pieces], dtype="u8")
    clocks = np.array([tokens["clock"][p].sum(dtype="u8") for p in pieces], dtype="u8")
    for number, region in enumerate(regions):
        path = np.asarray(region.path, dtype=np.intp)
        for what, sums, (begin, end) in (
            ("instructions", counts, region.instructions),
            ("counts of the clock", clocks, region.clock),
        ):
            total = int(sums[path].sum()) if path.size else 0
            if total != end - begin:
                raise ScopeDamaged(
                    f"{source}: the path of region {number} has {total} {what}, its marks are "
                    f"{end - begin} apart",
                    remedy=_REPORT,
                )
