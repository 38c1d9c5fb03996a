# SPDX-License-Identifier: Apache-2.0
"""The file of flows that instruments/calls writes: where the instructions, or cycles, went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kadenz.elf import Elf, Library
from kadenz.errors import TargetFailed

# instruments/calls/flows.h
_ROW = np.dtype([("kind", "<u4"), ("number", "<u4"), ("a", "<u8"), ("b", "<u8")])
_MAGIC = int.from_bytes(b"KDZFLOWS", "little")
_VERSION = 1
_HEAD, _PATH, _VIEW, _PART, _END = range(5)
_ALL = (1 << 64) - 1
ALL = -1  # as a sample: the sum of all

# Places in the list of symbols, the outermost first; -1: no function of the image.
Below = tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """Where the instructions of one call went, or of all calls of a function: by path below the
    function, which is (), its own instructions, and how often it was called."""

    function: int
    sample: int
    parts: Mapping[Below, tuple[int, int]]

    @property
    def instructions(self) -> int:
        """The sum over all parts."""
        return sum(count for count, _ in self.parts.values())


@dataclass(frozen=True)
class Symbol:
    """A function of the image, or of a library of a program."""

    address: int
    size: int
    name: str
    library: str = ""  # its path; "": the image itself


def symbols(elf: Elf | Library, library: str = "") -> list[Symbol]:
    """The functions of an image, by address, each address once."""
    known = {start: Symbol(start, size, name, library) for start, size, name in elf.functions}
    return [known[start] for start in sorted(known)]


def symbols_text(known: Sequence[Symbol]) -> str:
    """The file of symbols of a firmware, a line each."""
    return "".join(f"{each.address:x} {each.size:x}\n" for each in known)


def read_flows(file: Path) -> list[Flow]:
    """The calls that are kept, each function's in their order, and the sum of all. TargetFailed
    for a file of another kind, or a part of one."""
    rows = np.fromfile(file, _ROW)
    head = rows[0] if rows.size else None
    if (
        head is None
        or (head["kind"], head["a"], head["number"]) != (_HEAD, _MAGIC, _VERSION)
        or rows[-1]["kind"] != _END
    ):
        raise TargetFailed(
            "the emulator did not write where the instructions went",
            remedy="Its messages say why; run again",
        )
    paths: list[Below] = [()]
    flows: dict[tuple[int, int], dict[Below, tuple[int, int]]] = {}
    parts: dict[Below, tuple[int, int]] = {}
    depth = 0
    for kind, number, a, b in rows[1:-1].tolist():
        if kind == _PATH:
            paths.append((*paths[number], a - 1))
        elif kind == _VIEW:
            depth = len(paths[b])  # what is around the call is not of it
            sample = ALL if a == _ALL else a
            # Of all there is a sum for each path to the function.
            parts = flows.setdefault((number, sample), {})
        elif kind == _PART:
            below = paths[number][depth:]
            count, calls = parts.get(below, (0, 0))
            parts[below] = count + a, calls + b
    return [Flow(*key, parts) for key, parts in flows.items()]
