# SPDX-License-Identifier: Apache-2.0
"""Reads the kernel's trace buffers as they are: pages of binary events of one processor.

A page (include/linux/ring_buffer.h, kernel/trace/ring_buffer.c): the time of its first event, the
bytes that it holds with flags for events lost before it, and events of a header of 32 bits each.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeAlias

from kadenz.watching.events import Happening, Loss

# at, cpu, current, payload
Decoder: TypeAlias = Callable[[int, int, int, bytes], Happening | None]

_HEAD = struct.Struct("=QQ")
_WORD = struct.Struct("=I")
_COMMON = struct.Struct("=HBBi")  # type, flags, preemption, pid
_LENGTH = 0xFFFFF
_MISSED = 1 << 31
_COUNTED = 1 << 30
_PADDING, _EXTENDED, _ABSOLUTE = 29, 30, 31
_SHIFT = 27
_TOP = ~((1 << 59) - 1)  # bits that an absolute time leaves out


def events_of_pages(
    spool: BinaryIO, page_bytes: int, cpu: int, decoders: dict[int, Decoder]
) -> Iterator[Happening]:
    """The events of a processor, in their order, with a Loss before the first behind a gap."""
    while len(page := spool.read(page_bytes)) == page_bytes:
        yield from events_of_page(page, cpu, decoders)


def bytes_of(page: bytes) -> int:
    """How full a page is."""
    return int(_HEAD.unpack_from(page)[1] & _LENGTH)


def events_of_page(page: bytes, cpu: int, decoders: dict[int, Decoder]) -> Iterator[Happening]:
    """The events of a page of a processor, with a Loss before the first behind a gap."""
    time, commit = _HEAD.unpack_from(page)
    at, end = _HEAD.size, min(_HEAD.size + (commit & _LENGTH), len(page))
    lost = _lost(page, commit, end)
    while at + 4 <= end:
        (head,) = _WORD.unpack_from(page, at)
        kind, delta = head & 31, head >> 5
        if kind in (_PADDING, _EXTENDED, _ABSOLUTE, 0) and at + 8 > end:
            return
        extra = _WORD.unpack_from(page, at + 4)[0] if kind in (0, 29, 30, 31) else 0
        if kind == _PADDING:
            if not delta:
                return
            time, at = time + delta, at + 4 + extra
            continue
        if kind in (_EXTENDED, _ABSOLUTE):
            span = delta + (extra << _SHIFT)
            time = time + span if kind == _EXTENDED else (time & _TOP) | span
            at += 8
            continue
        begin, length = (at + 8, extra - 4) if kind == 0 else (at + 4, kind * 4)
        time, at = time + delta, begin + length
        if length < _COMMON.size or at > end:
            return
        number, _, _, current = _COMMON.unpack_from(page, begin)
        if lost is not None:
            yield Loss(time, cpu, current, lost)
            lost = None
        decoder = decoders.get(number)
        try:
            event = decoder(time, cpu, current, page[begin:at]) if decoder else None
        except struct.error:
            continue  # shorter than the kernel's own description
        if event:
            yield event


def _lost(page: bytes, commit: int, end: int) -> int | None:
    """The number of events lost before a page, 0 if it is not known; None: none were lost."""
    if not commit & _MISSED:
        return None
    if commit & _COUNTED and end + 8 <= len(page):
        return int(struct.unpack_from("=Q", page, end)[0])
    return 0
