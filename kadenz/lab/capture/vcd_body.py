# SPDX-License-Identifier: Apache-2.0
"""The value changes of a VCD, a block of bytes at a time, as arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from kadenz.lab.capture.waveform import Edges

_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.intp]

# Meaning of the first byte of a word.
_GARBAGE, _TIME, _SCALAR, _VECTOR, _KEYWORD = range(5)
_KIND = np.full(256, _GARBAGE, np.uint8)
_KIND[list(b"01xXzZuUwWlLhH-")] = _SCALAR
_KIND[list(b"bBrRsS")] = _VECTOR  # its identifier is the next word
_KIND[ord("#")] = _TIME
_KIND[ord("$")] = _KEYWORD
_UNDEFINED = 2
_LEVEL = np.full(256, _UNDEFINED, np.uint8)
_LEVEL[ord("0")], _LEVEL[ord("1")] = 0, 1
_COMMENT, _END = b"$comment", b"$end"
_KEYWORDS = {_COMMENT, _END, b"$dumpvars", b"$dumpall", b"$dumpon", b"$dumpoff"}
_DIGITS = 18  # an int64 holds every number of 18


class Body:
    """Reads blocks in turn; each begins with a word and ends with white space."""

    def __init__(self, identifiers: Sequence[bytes], known: Collection[bytes]) -> None:
        self._identifiers = identifiers
        self._longest = max(map(len, known), default=0)
        self._unknown = np.ones(256, np.bool_)  # no identifier begins with this byte
        self._unknown[[one[0] for one in known]] = False
        self._levels = [_UNDEFINED] * len(identifiers)
        self._now = 0
        self._in_comment = False
        self._after_vector = False
        self.damage: tuple[int, str] | None = None  # where in the last block, and what

    def edges(self, block: bytes) -> Edges:
        """The edges of the block, up to its `damage`."""
        data = np.frombuffer(block, np.uint8)
        starts, ends = _words(data)
        starts, ends = self._without_comments(block, starts, ends)
        starts, ends, kinds = self._without_vectors(data, starts, ends)
        whole = kinds.size
        times_at = np.flatnonzero(kinds == _TIME)
        times, good = _numbers(data, starts[times_at] + 1, ends[times_at])
        good[1:] &= times[1:] >= times[:-1]
        if good.size:
            good[0] &= times[0] >= self._now
        if not good.all():
            bad = int(np.argmin(good))
            before = int(times[bad - 1]) if bad else self._now
            whole = int(times_at[bad])
            self._damaged(data, starts[whole], ends[whole], f"is no time after {before}")
            times_at, times = times_at[:bad], times[:bad]
        whole = self._to_garbage(data, starts[:whole], ends[:whole], kinds[:whole])
        now = np.concatenate((np.array([self._now]), times))
        found = self._changes(data, starts[:whole], ends[:whole])
        passed = np.searchsorted(times_at, found[0])
        self._now = int(now[np.searchsorted(times_at, whole)])
        return Edges(now[passed], found[1], found[2])

    def _changes(
        self, data: _Bytes, starts: _Places, ends: _Places
    ) -> tuple[_Places, npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Which words are edges, of which identifier, and whether rising."""
        parts: list[tuple[_Places, npt.NDArray[np.uint8], npt.NDArray[np.bool_]]] = []
        for number, identifier in enumerate(self._identifiers):
            mine = ends - starts == len(identifier) + 1
            mine &= _KIND[data[starts]] == _SCALAR
            at = np.flatnonzero(mine)
            for place, byte in enumerate(identifier, start=1):
                at = at[data[starts[at] + place] == byte]
            levels = _LEVEL[data[starts[at]]]
            before = np.concatenate((np.array([self._levels[number]], np.uint8), levels))
            self._levels[number] = int(before[-1])
            edge = (before[:-1] ^ levels) == 1  # neither is undefined, which is 2
            at = at[edge]
            parts.append((at, np.full(at.size, number, np.uint8), levels[edge] == 1))
        if len(parts) == 1:
            return parts[0]
        words = np.concatenate([part[0] for part in parts])
        order = np.argsort(words, kind="stable")
        channels = np.concatenate([part[1] for part in parts])
        high = np.concatenate([part[2] for part in parts])
        return words[order], channels[order], high[order]

    def _without_comments(
        self, block: bytes, starts: _Places, ends: _Places
    ) -> tuple[_Places, _Places]:
        if not self._in_comment and _COMMENT not in block:
            return starts, ends
        kept = np.ones(starts.size, np.bool_)
        first = 0 if self._in_comment else None
        keyword = np.frombuffer(block, np.uint8)[starts] == ord("$")
        for at in np.flatnonzero(keyword):
            word = block[starts[at] : ends[at]]
            if first is None and word == _COMMENT:
                first = int(at)
            elif first is not None and word == _END:
                kept[first : at + 1] = False
                first = None
        self._in_comment = first is not None
        if first is not None:
            kept[first:] = False
        return starts[kept], ends[kept]

    def _without_vectors(
        self, data: _Bytes, starts: _Places, ends: _Places
    ) -> tuple[_Places, _Places, npt.NDArray[np.uint8]]:
        """Leaves out the values of several bits, and the identifiers behind them."""
        kinds = _KIND[data[starts]]
        vectors = kinds == _VECTOR
        if not self._after_vector and not vectors.any():
            return starts, ends, kinds
        if self._after_vector and kinds.size:
            vectors[0] = False
        # An identifier may look like a value: in a run of words, every second one is one.
        numbers = np.arange(kinds.size)
        begins = np.where(vectors & ~np.concatenate(([False], vectors[:-1])), numbers, 0)
        values = vectors & ((numbers - np.maximum.accumulate(begins)) % 2 == 0)
        behind = np.concatenate(([self._after_vector], values))
        self._after_vector = bool(behind[-1])
        kept = ~(values | behind[:-1])
        return starts[kept], ends[kept], kinds[kept]

    def _to_garbage(
        self, data: _Bytes, starts: _Places, ends: _Places, kinds: npt.NDArray[np.uint8]
    ) -> int:
        """How many words come before the first that no VCD has."""
        odd = (kinds == _GARBAGE) | (kinds == _KEYWORD)
        # Behind the last byte of a word is white space, which begins no identifier.
        alien = self._unknown[data[starts + 1]] | (ends - starts > self._longest + 1)
        odd |= (kinds == _SCALAR) & alien
        for at in np.flatnonzero(odd):
            if data[starts[at] : ends[at]].tobytes() not in _KEYWORDS:
                self._damaged(data, starts[at], ends[at], "is no change of a value")
                return int(at)
        return int(kinds.size)

    def _damaged(self, data: _Bytes, start: np.intp, end: np.intp, what: str) -> None:
        word = data[start:end][:40].tobytes().decode(errors="replace")
        self.damage = int(start), f"`{word}` {what}"


def _words(data: _Bytes) -> tuple[_Places, _Places]:
    space = data <= ord(" ")
    turns = np.flatnonzero(space[1:] != space[:-1]) + 1
    if data.size and not space[0]:
        turns = np.concatenate((np.zeros(1, turns.dtype), turns))
    return turns[0::2], turns[1::2]


def _numbers(
    data: _Bytes, starts: _Places, ends: _Places
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The decimal numbers of some words, and which words are none."""
    lengths = ends - starts
    good = (lengths > 0) & (lengths <= _DIGITS)
    found = np.zeros(starts.size, np.int64)
    for length in np.unique(lengths[good]):
        at = np.flatnonzero(lengths == length)
        value = np.zeros(at.size, np.int64)
        for place in range(length):
            digit = data[starts[at] + place] - np.uint8(ord("0"))
            good[at] &= digit < 10
            value *= 10
            value += digit
        found[at] = value
    return found, good
