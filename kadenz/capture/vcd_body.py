# SPDX-License-Identifier: Apache-2.0
"""The value changes of a VCD, a block of bytes at a time, as arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kadenz.capture.waveform import GAP, Edges

_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.intp]

# Meaning of the first byte of a token.
_GARBAGE, _TIME, _SCALAR, _VECTOR, _KEYWORD = range(5)
_KIND = np.full(256, _GARBAGE, np.uint8)
_KIND[list(b"01xXzZuUwWlLhH-")] = _SCALAR
_KIND[list(b"bBrRsS")] = _VECTOR  # its identifier is the next token
_KIND[ord("#")] = _TIME
_KIND[ord("$")] = _KEYWORD
_UNDEFINED = 2
_LEVEL = np.full(256, _UNDEFINED, np.uint8)
_LEVEL[list(b"0lL")], _LEVEL[list(b"1hH")] = 0, 1  # VHDL has weak levels
_WIDE = 3  # no level of one bit
_COMMENT, _END = b"$comment", b"$end"
_GAP = b"$dumpoff"  # up to $dumpon nothing is recorded
_KEYWORDS = {_COMMENT, _END, _GAP, b"$dumpvars", b"$dumpall", b"$dumpon"}
_DIGITS = 18  # an int64 holds every number of 18


@dataclass(frozen=True)
class _Tokens:
    """The tokens of a block, each with its place: where it begins, and its end.

    Of the change of a value also where its identifier begins and the last byte of its value, -1 if
    the block before has it. A value of several bits is a token of its own; it is left out, and its
    identifier stands for the change.
    """

    starts: _Places
    ends: _Places
    kinds: npt.NDArray[np.uint8]
    identifiers: _Places
    values: _Places

    def until(self, end: int) -> _Tokens:
        """The first `end` tokens."""
        cut = slice(end)
        return _Tokens(
            self.starts[cut],
            self.ends[cut],
            self.kinds[cut],
            self.identifiers[cut],
            self.values[cut],
        )


class Body:
    """Reads blocks in turn; each begins with a token and ends with white space."""

    def __init__(self, identifiers: Sequence[bytes], known: Collection[bytes]) -> None:
        self._identifiers = identifiers
        self._longest = max(map(len, known), default=0)
        self._unknown = np.ones(256, np.bool_)  # no identifier begins with this byte
        self._unknown[[identifier[0] for identifier in known]] = False
        self._levels = [_UNDEFINED] * len(identifiers)
        self._now = 0
        self._in_comment = False
        self._value = b""  # the last token of the block before, if its identifier is to come
        self.damage: tuple[int, str] | None = None  # where in the last block, and what

    def edges(self, block: bytes) -> Edges:
        """The edges of the block, up to its `damage`; `GAP` where the recording pauses."""
        data = np.frombuffer(block, np.uint8)
        value = self._value
        starts, ends = self._without_comments(block, *_token_places(data))
        tokens = self._joined(data, starts, ends)
        whole = tokens.kinds.size
        times_at = np.flatnonzero(tokens.kinds == _TIME)
        times, good = _numbers(data, tokens.starts[times_at] + 1, tokens.ends[times_at])
        good[1:] &= times[1:] >= times[:-1]
        if good.size:
            good[0] &= times[0] >= self._now
        if not good.all():
            bad = int(np.argmin(good))
            before = int(times[bad - 1]) if bad else self._now
            whole = int(times_at[bad])
            self._damaged(data, tokens, whole, f"is no time after {before}")
            times_at, times = times_at[:bad], times[:bad]
        tokens = tokens.until(whole)
        tokens, gaps = self._to_garbage(data, tokens)
        at, channels, high = self._changes(data, value, tokens, gaps)
        now = np.concatenate((np.array([self._now]), times))
        passed = np.searchsorted(times_at, at)
        self._now = int(now[np.searchsorted(times_at, tokens.kinds.size)])
        return Edges(now[passed], channels, high)

    def _changes(
        self, data: _Bytes, value: bytes, tokens: _Tokens, gaps: _Places
    ) -> tuple[_Places, npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Which tokens are edges, of which identifier, and whether rising."""
        parts = [(gaps, np.full(gaps.size, GAP, np.uint8), np.zeros(gaps.size, np.bool_))]
        for number, identifier in enumerate(self._identifiers):
            mine = tokens.ends - tokens.identifiers == len(identifier)
            mine &= tokens.kinds == _SCALAR
            at = np.flatnonzero(mine)
            for place, byte in enumerate(identifier):
                at = at[data[tokens.identifiers[at] + place] == byte]
            levels = self._levels_of(data, value, tokens, at)
            before = np.concatenate((np.array([self._levels[number]], np.uint8), levels))
            self._levels[number] = int(before[-1])
            edge = (before[:-1] ^ levels) == 1  # neither is undefined, which is 2
            at = at[edge]
            parts.append((at, np.full(at.size, number, np.uint8), levels[edge] == 1))
        if len(parts) == 2 and not gaps.size:
            return parts[1]
        places = np.concatenate([part[0] for part in parts])
        order = np.argsort(places, kind="stable")
        channels = np.concatenate([part[1] for part in parts])
        high = np.concatenate([part[2] for part in parts])
        return places[order], channels[order], high[order]

    def _levels_of(
        self, data: _Bytes, value: bytes, tokens: _Tokens, at: _Places
    ) -> npt.NDArray[np.uint8]:
        """The levels of some changes of wires of one bit: "1!", or "b1 !", also with zeros."""
        last = tokens.values[at]
        levels = _LEVEL[data[last]]
        if last.size and last[0] < 0:
            levels[0] = _LEVEL[value[-1]] if value[1:-1].strip(b"0") == b"" else _WIDE
        vectors = np.flatnonzero((last >= 0) & (last != tokens.starts[at]))
        before = last[vectors] - 1
        while (zeros := data[before] == ord("0")).any():
            before = before - zeros
        wide = (data[before] | 32) != ord("b")  # in lower case
        levels[vectors[wide]] = _WIDE
        if (bad := np.flatnonzero(levels == _WIDE)).size:
            levels[bad[0] :] = _UNDEFINED
            self._damaged(data, tokens, int(at[bad[0]]), "gets a value of more than one bit")
        return levels

    def _without_comments(
        self, block: bytes, starts: _Places, ends: _Places
    ) -> tuple[_Places, _Places]:
        if not self._in_comment and _COMMENT not in block:
            return starts, ends
        kept = np.ones(starts.size, np.bool_)
        first = 0 if self._in_comment else None
        keyword = np.frombuffer(block, np.uint8)[starts] == ord("$")
        for at in np.flatnonzero(keyword):
            token = block[starts[at] : ends[at]]
            if first is None and token == _COMMENT:
                first = int(at)
            elif first is not None and token == _END:
                kept[first : at + 1] = False
                first = None
        self._in_comment = first is not None
        if first is not None:
            kept[first:] = False
        return starts[kept], ends[kept]

    def _joined(self, data: _Bytes, starts: _Places, ends: _Places) -> _Tokens:
        """Joins values that are tokens of their own with the identifiers behind them."""
        kinds = _KIND[data[starts]]
        tokens = _Tokens(starts, ends, kinds, starts + 1, starts)
        vectors = kinds == _VECTOR
        if not kinds.size or not (self._value or vectors.any()):
            return tokens
        if self._value:
            vectors[0] = False
        # An identifier may look like a value: of such tokens in a row, every second is one.
        numbers = np.arange(kinds.size)
        begins = np.where(vectors & ~np.concatenate(([False], vectors[:-1])), numbers, 0)
        values = vectors & ((numbers - np.maximum.accumulate(begins)) % 2 == 0)
        # "b1!" has no space before its identifier: the next token is none.
        broken = values & ((data[starts] | 32) == ord("b")) & (_KIND[data[ends - 1]] != _SCALAR)
        kinds = np.where(broken, np.uint8(_GARBAGE), kinds)
        values &= ~broken
        behind = np.concatenate(([bool(self._value)], values[:-1]))
        self._value = data[starts[-1] : ends[-1]].tobytes() if values[-1] else b""
        last = np.concatenate(([0], ends[:-1])) - 1  # of the token before; -1: in the block before
        kept = ~values
        return _Tokens(
            starts[kept],
            ends[kept],
            np.where(behind, np.uint8(_SCALAR), kinds)[kept],
            np.where(behind, starts, starts + 1)[kept],
            np.where(behind, last, starts)[kept],
        )

    def _to_garbage(self, data: _Bytes, tokens: _Tokens) -> tuple[_Tokens, _Places]:
        """The tokens before the first that no VCD has, and which of them begin a gap."""
        odd = (tokens.kinds == _GARBAGE) | (tokens.kinds == _KEYWORD)
        # Behind the last byte of a token is white space, which begins no identifier.
        alien = self._unknown[data[tokens.identifiers]]
        alien |= tokens.ends - tokens.identifiers > self._longest
        odd |= (tokens.kinds == _SCALAR) & (tokens.values == tokens.starts) & alien
        gaps = list[int]()
        for at in np.flatnonzero(odd):
            token = data[tokens.starts[at] : tokens.ends[at]].tobytes()
            if token not in _KEYWORDS:
                self._damaged(data, tokens, int(at), "is no change of a value")
                return tokens.until(int(at)), np.array(gaps, np.intp)
            if token == _GAP:
                gaps.append(int(at))
        return tokens, np.array(gaps, np.intp)

    def _damaged(self, data: _Bytes, tokens: _Tokens, at: int, what: str) -> None:
        start, end = tokens.starts[at], tokens.ends[at]
        token = data[start:end][:40].tobytes().decode(errors="replace")
        self.damage = int(start), f"`{token}` {what}"


def _token_places(data: _Bytes) -> tuple[_Places, _Places]:
    space = data <= ord(" ")
    turns = np.flatnonzero(space[1:] != space[:-1]) + 1
    if data.size and not space[0]:
        turns = np.concatenate((np.zeros(1, turns.dtype), turns))
    return turns[0::2], turns[1::2]


def _numbers(
    data: _Bytes, starts: _Places, ends: _Places
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The decimal numbers of some tokens, and which tokens are none."""
    lengths = ends - starts
    good = (lengths > 0) & (lengths <= _DIGITS)
    numbers = np.zeros(starts.size, np.int64)
    for length in np.unique(lengths[good]):
        at = np.flatnonzero(lengths == length)
        value = np.zeros(at.size, np.int64)
        for place in range(length):
            digit = data[starts[at] + place] - np.uint8(ord("0"))
            good[at] &= digit < 10
            value *= 10
            value += digit
        numbers[at] = value
    return numbers, good
