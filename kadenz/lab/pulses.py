# SPDX-License-Identifier: Apache-2.0
"""The pulses of a digital output, as the frames of its EtherCAT master order them, and the cycles
of any master.

EtherCAT frames as ETG.1000.4 describes them: an Ethernet frame of type 0x88A4 with a header of two
bytes and datagrams behind it. Process data are read and written at logical addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

from kadenz.config.board import OutputBit
from kadenz.targets.tap import Departures

_TYPE = b"\x88\xa4"
_TYPE_AT, _FIRST_AT = 12, 16  # in a frame: its type, its first datagram
_HEAD, _COUNTER = 10, 2  # bytes of a datagram before and behind its data
_LENGTH, _MORE = 0x7FF, 0x8000
_LOGICAL_WRITE = (0x0B, 0x0C)  # LWR, LRW
_LOGICAL = (0x0A, *_LOGICAL_WRITE)  # and LRD: process data
_BROADCAST_WRITE, _AL_CONTROL = 0x08, 0x0120  # how a master begins: all devices into INIT
# Pulses within which a master that was held up has made up for it: its releases are half a period
# apart, and it skips those of more than 100 ms.
_CAUGHT_UP = 256
# Of the gaps of a master's cycles, the share near the usual one; cycles that show it.
_EVEN, _FEW = 0.8, 20


@dataclass(frozen=True)
class Datagram:
    """One command of a frame. `address` is logical, or that of a register."""

    command: int
    address: int
    data: bytes


@dataclass(frozen=True)
class Pulses:
    """A train of pulses: when each frame left that begins one, virtual ns (n,), and which it is.

    Pulses that were never ordered leave holes in `numbers`.
    """

    ns: NDArray[np.uint64]
    numbers: NDArray[np.int64]


def trains(departures: Departures, bit: OutputBit) -> list[dict[int, Pulses]]:
    """The pulses of an output, a train for each time that the master brought its ring up; by each
    address that the output may have, where frames have that address."""
    times: list[dict[int, list[int]]] = []
    places = {bit.address, *bit.moved.values()}
    high: set[int] = set()
    for ns, frame in zip(departures.ns.tolist(), departures.frames, strict=True):
        for datagram in datagrams(frame):
            if _begins(datagram):
                if not times or times[-1]:
                    times.append({})
                high = set()
            for address in places:
                level = _level(datagram, address, bit.mask)
                if level and address not in high and times:
                    times[-1].setdefault(address, []).append(ns)
                if level is not None:
                    high = high | {address} if level else high - {address}
    return [
        {address: _train(np.array(train, np.uint64)) for address, train in seen.items()}
        for seen in times
        if seen
    ]


class Uneven(ValueError):
    """The frames of a master are no cycles of the period and the number that were asked for."""


def cycles(departures: Departures, skip: int, frames: int, period_us: float) -> Pulses:
    """The cycles of a master: of its frames with process data behind the first `skip`, the first of
    every `frames`, which the longest gap precedes. The ring counts the same frames
    (fieldbus/kadenz-motion/src/given.rs). Raises Uneven."""
    is_cyclic = np.array([_has_process_data(frame) for frame in departures.frames], bool)
    ns = departures.ns[is_cyclic]
    gaps = np.diff(ns, prepend=ns[:1]).astype(np.float64)
    usual = [np.median(gaps[skip + place :: frames]) for place in range(frames) if ns.size > skip]
    first = ns[skip + int(np.argmax(usual)) :: frames] if usual else ns[:0]
    if first.size > _FEW:
        _require_even(np.diff(first.astype(np.float64)) / 1000, period_us, frames)
    return _train(first)


def _require_even(gaps_us: NDArray[np.float64], period_us: float, frames: int) -> None:
    usual = float(np.median(gaps_us))
    if (np.abs(gaps_us - usual) < usual / 2).mean() < _EVEN:
        raise Uneven(
            f"its frames come in groups, {gaps_us.min():,.0f} to {gaps_us.max():,.0f} µs apart: "
            "how many are a cycle? Set `frames`"
        )
    if abs(usual - period_us) > period_us / 10:
        what, remedy = "its frames come", "set the program's own"
        if frames > 1:
            what, remedy = f"{frames} of its frames come", f"{remedy}, or `frames`"
        raise Uneven(f"{what} every {usual:,.0f} µs, and `period_us` is {period_us:,.0f}: {remedy}")


def _has_process_data(frame: bytes) -> bool:
    return any(datagram.command in _LOGICAL for datagram in datagrams(frame))


def datagrams(frame: bytes) -> Iterator[Datagram]:
    """The datagrams of a frame, as far as it has them; none of another protocol."""
    if frame[_TYPE_AT : _TYPE_AT + len(_TYPE)] != _TYPE:
        return
    at, more = _FIRST_AT, True
    while more and at + _HEAD <= len(frame):
        length = int.from_bytes(frame[at + 6 : at + 8], "little")
        size, more = length & _LENGTH, bool(length & _MORE)
        data = frame[at + _HEAD : at + _HEAD + size]
        command = frame[at]
        wide = command in _LOGICAL
        address = int.from_bytes(frame[at + (2 if wide else 4) : at + 6], "little")
        yield Datagram(command, address, data)
        at += _HEAD + size + _COUNTER


def _begins(datagram: Datagram) -> bool:
    return datagram.command == _BROADCAST_WRITE and datagram.address == _AL_CONTROL


def _level(datagram: Datagram, address: int, mask: int) -> bool | None:
    """The output's level in process data; None for a datagram without it."""
    place = address - datagram.address
    if datagram.command not in _LOGICAL_WRITE or not 0 <= place < len(datagram.data):
        return None
    return bool(datagram.data[place] & mask)


def _train(ns: NDArray[np.uint64]) -> Pulses:
    """Numbers the pulses of one train (n,).

    A master that is held up orders the pulses that are due at once, and is back in time: such a
    pulse is late, and none is missing. One that never makes up for them has left them out.
    """
    order = np.arange(ns.size)
    if ns.size < 3:
        return Pulses(ns, order)
    elapsed = (ns - ns[0]).astype(np.float64)
    gaps = np.diff(elapsed)
    usual = float(np.median(gaps))
    near = gaps[np.abs(gaps - usual) < usual / 2]
    period = float(near.mean()) if near.size else usual
    behind = elapsed - order * period
    # The least of those to come: only what lasts is in it. The filter's window is centred, and so
    # shifted by half.
    least = scipy.ndimage.minimum_filter1d(
        behind, _CAUGHT_UP, mode="nearest", origin=-(_CAUGHT_UP // 2)
    )
    skipped = np.round(np.diff(least) / period).astype(np.int64)
    numbers = order + np.concatenate(([0], np.cumsum(skipped)))
    return Pulses(ns, numbers)
