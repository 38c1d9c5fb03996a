# SPDX-License-Identifier: Apache-2.0
"""Traces of Perfetto: the kernel's events (`linux.ftrace`) in packets of protocol buffers.

A file is a sequence of fields `packet` of the message Trace; the schema is the one of the PyPI
package `perfetto`. Each bundle has the events of one processor, in the order of their times.
"""

from __future__ import annotations

import heapq
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from kadenz.errors import ToolMissing, UsageError
from kadenz.recordings.form import Format
from kadenz.recordings.ftrace_bundle import Bundles, damage_of
from kadenz.regular_files import MIB, open_regular
from kadenz.watching.events import Happening

_PACKET = 0x0A  # field 1, with a length
_MOST_BYTES = 256 * MIB  # of a packet
_INFLATED_BYTES = 256 * MIB  # of a compressed one
_LONGEST_VARINT = 10
_TEXT = frozenset(b"\t\n\r") | frozenset(range(0x20, 0x7F))
_RECORD = (
    "a data source linux.ftrace with ftrace_events sched/sched_switch, sched/sched_waking, irq/*, "
    "raw_syscalls/*"
)


class _Place(NamedTuple):
    """Where a packet is: its bytes in the file, and which packet inside, if it is compressed."""

    at: int
    length: int
    inside: int  # -1: the packet itself


def _messages(file: Path) -> Any:
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise ToolMissing(
            f"{file}: a trace of Perfetto, and its package is missing: {error}",
            remedy="Install the extra: pip install 'kadenz[perfetto]'",
        ) from None
    return perfetto_trace_pb2


def _events(file: Path) -> Iterator[Happening]:
    """Two readings: where the bundles of each processor are, then all processors side by side."""
    messages = _messages(file)
    reader = _Reader(file, messages)
    with ExitStack() as resources:
        source = resources.enter_context(open_regular(file))
        places, machine = reader.index(source)
        streams = [
            Bundles(cpu, machine).events(reader.bundles(source, of_cpu))
            for cpu, of_cpu in sorted(places.items())
        ]
        yield from heapq.merge(*streams, key=lambda event: event.at)


class _Reader:
    """Reads the packets of a file. UsageError, with the place, for damage."""

    def __init__(self, file: Path, messages: Any) -> None:
        from google.protobuf.message import DecodeError

        self._file, self._messages, self._error = file, messages, DecodeError

    def index(self, source: BinaryIO) -> tuple[dict[int, list[_Place]], str]:
        """The places of the bundles of each processor, and the machine's name ("" if not said)."""
        places: dict[int, list[_Place]] = {}
        machine = ""
        for at, length in self._packets(source):
            for inside, packet in self._unpacked(source, at, length):
                if packet.HasField("ftrace_events"):
                    cpu = packet.ftrace_events.cpu
                    if damage := damage_of(packet.ftrace_events):
                        raise self._damaged(at, f"a damaged bundle of processor {cpu}: {damage}")
                    places.setdefault(cpu, []).append(_Place(at, length, inside))
                elif packet.HasField("system_info"):
                    machine = str(packet.system_info.utsname.machine)
        return places, machine

    def bundles(self, source: BinaryIO, places: list[_Place]) -> Iterator[Any]:
        """The bundles at these places."""
        last: tuple[int, list[Any]] = (-1, [])
        for place in places:
            if last[0] != place.at:
                unpacked = self._unpacked(source, place.at, place.length)
                last = (place.at, [packet for _, packet in unpacked])
            yield last[1][max(0, place.inside)].ftrace_events

    def _packets(self, source: BinaryIO) -> Iterator[tuple[int, int]]:
        """Where the bytes of each packet begin, and how many they are."""
        size, at = os.fstat(source.fileno()).st_size, 0
        while at < size:
            source.seek(at)
            head = source.read(1 + _LONGEST_VARINT)
            length, used = _varint(head[1:])
            begin = at + 1 + used
            if head[0] != _PACKET or not used or length > _MOST_BYTES:
                raise self._damaged(at, "no packet begins here")
            if begin + length > size:
                raise UsageError(
                    f"{self._file}: ends at byte {size:,}, inside the packet at byte {at:,}",
                    remedy="Record or copy it again",
                )
            yield begin, length
            at = begin + length

    def _unpacked(self, source: BinaryIO, at: int, length: int) -> list[tuple[int, Any]]:
        """The packets in a packet: itself (-1), or those that it has compressed."""
        source.seek(at)
        try:
            packet = self._messages.TracePacket.FromString(source.read(length))
            if not packet.compressed_packets:
                return [(-1, packet)]
            inflater = zlib.decompressobj()
            content = inflater.decompress(packet.compressed_packets, _INFLATED_BYTES)
            if inflater.unconsumed_tail:
                raise self._damaged(at, f"a packet above {_INFLATED_BYTES // MIB} MiB")
            return list(enumerate(self._messages.Trace.FromString(content).packet))
        except (self._error, zlib.error) as error:
            raise self._damaged(at, f"a damaged packet ({error})") from None

    def _damaged(self, at: int, what: str) -> UsageError:
        return UsageError(f"{self._file}: at byte {at:,}: {what}", remedy="Record or copy it again")


def _varint(content: bytes) -> tuple[int, int]:
    """A number of seven bits a byte, and the bytes that it has; 0 bytes if it does not end."""
    number = 0
    for place, byte in enumerate(content):
        number |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return number, place + 1
    return 0, 0


def _recognises(head: bytes) -> bool:
    """Whether a packet begins here, and a field with a known number in it; no text does."""
    if all(byte in _TEXT for byte in head):
        return False
    length, used = _varint(head[1:11])
    if head[:1] != bytes([_PACKET]) or not used or not 0 < length <= _MOST_BYTES:
        return False
    tag, has_tag = _varint(head[1 + used : 11 + used])
    return bool(has_tag) and tag & 7 in (0, 1, 2, 5) and 0 < tag >> 3 < 1 << 12


PERFETTO = Format(tool="Perfetto", recognises=_recognises, read=_events, record=_RECORD)
