# SPDX-License-Identifier: Apache-2.0
"""Frames that left an emulated network card: their bytes, and when, by the emulator's clock.

QEMU writes each frame into a capture whose times are whole µs. A plugin (instruments/tap) stamps in
ns the stores that hand a frame to a card, of every card of the kind. Both are joined here: the
stores of the captured card are those that agree with the capture.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import GuestCard
from kadenz.errors import TargetFailed
from kadenz.targets import scope_plugin

PLUGIN = "tap"
MAGIC = b"KDZTAP01"
# instruments/tap/tap.c
_STAMP = np.dtype([("ns", "<u8"), ("address", "<u8")])
_LAST = 2**64 - 1
# pcap, as https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html describes it
_CAPTURE = struct.Struct("<IHHiIII")
_CAPTURE_MAGIC = 0xA1B2C3D4
_FRAME = struct.Struct("<IIII")
REMEDY = "Measure again; if it persists, report it with the emulator's version"
_CAPTURE_FILE, _STAMPS_FILE = "capture", "stamps"

Times = NDArray[np.uint64]


class TapDamaged(TargetFailed):
    """The capture or the stamps of a card are not valid, or do not belong together."""


@dataclass(frozen=True)
class Departures:
    """Frames in the order in which they left a card: virtual ns (n,), and n times the bytes."""

    ns: Times
    frames: list[bytes]


def devices(card: GuestCard) -> list[str]:
    """QEMU's options for two cards on one hub. The first is the program's, and is captured."""
    options = []
    for number, name in enumerate(("program", "devices"), start=1):
        options += ["-netdev", f"hubport,id={name},hubid=0"]
        place = f"mac=02:00:00:00:00:{number:02},addr={number + 3}"
        options += ["-device", f"{card.device},netdev={name},{place},romfile="]
    return options


def capture(folder: Path) -> list[str]:
    """QEMU's option that writes what the program's card sends into a file of `folder`."""
    file = folder / _CAPTURE_FILE
    return ["-object", f"filter-dump,id=capture,netdev=program,queue=rx,file={file}"]


def plugin_arguments(card: GuestCard, folder: Path) -> list[str]:
    """QEMU's arguments that load the plugin, which is linked as `tap` in `folder`."""
    # With a slash: otherwise the loader searches its own folders for the library.
    arguments = [f"./{folder / PLUGIN}", f"stamps={folder / _STAMPS_FILE}", *_register(card)]
    return ["-plugin", ",".join(arguments)]


def plugin_entry(card: GuestCard) -> list[str]:
    """The same for a manifest, without the files of an execution."""
    return ["-plugin", ",".join(["kadenz-tap", *_register(card)])]


def plugin(qemu: str) -> Path:
    """The library of the plugin for a QEMU. Raises the errors of `scope_plugin.build`."""
    source = inventory.root() / "instruments" / PLUGIN
    return scope_plugin.build(
        source, inventory.build_folder() / PLUGIN, tools.version(qemu), name=PLUGIN
    )


def read_departures(folder: Path) -> Departures:
    """The frames of an execution in `folder`. Raises TapDamaged."""
    try:
        stamps = (folder / _STAMPS_FILE).read_bytes()
        captured = (folder / _CAPTURE_FILE).read_bytes()
    except OSError as error:
        raise TapDamaged(
            f"the frames of the emulated card cannot be read: {error.strerror}",
            remedy="The emulator ended before it wrote them: see its output",
        ) from error
    return join(parse_stamps(stamps), *parse_capture(captured))


def parse_stamps(data: bytes) -> Mapping[int, Times]:
    """The times of the stores (n,), ns, by the register's physical address. Raises TapDamaged for
    a file that does not end with its last stamp."""
    body = data[len(MAGIC) :]
    stamps = np.frombuffer(body, _STAMP, count=len(body) // _STAMP.itemsize)
    if not data.startswith(MAGIC) or not stamps.size or stamps["ns"][-1] != _LAST:
        raise TapDamaged(
            f"the stamps of the emulated card are cut: {len(data):,} bytes", remedy=REMEDY
        )
    stamps = stamps[:-1]
    addresses = np.unique(stamps["address"])
    return {int(address): stamps["ns"][stamps["address"] == address] for address in addresses}


def parse_capture(data: bytes) -> tuple[NDArray[np.int64], list[bytes]]:
    """The times of the frames of a pcap file (n,), µs, and their bytes. Raises
    TapDamaged."""
    if len(data) < _CAPTURE.size or _CAPTURE.unpack_from(data)[0] != _CAPTURE_MAGIC:
        raise TapDamaged("the capture of the emulated card is not a pcap file", remedy=REMEDY)
    times: list[int] = []
    frames: list[bytes] = []
    at = _CAPTURE.size
    while at + _FRAME.size <= len(data):
        seconds, micros, size, _ = _FRAME.unpack_from(data, at)
        at += _FRAME.size
        if at + size > len(data):
            raise TapDamaged(f"frame {len(frames)} of the capture is cut", remedy=REMEDY)
        times.append(seconds * 1_000_000 + micros)
        frames.append(data[at : at + size])
        at += size
    return np.array(times, np.int64), frames


def join(
    stamps: Mapping[int, Times], captured_us: NDArray[np.int64], frames: list[bytes]
) -> Departures:
    """The frames of a capture (n,) with the stamps of the card that sent them.

    Before its first frame a driver clears the register, which sends nothing. Raises TapDamaged if
    the other stores of no card agree with the capture in number and in every µs.
    """
    if not frames:
        return Departures(np.zeros(0, np.uint64), [])
    for stores in stamps.values():
        times = stores[-len(frames) :]
        if times.size == len(frames):
            # The capture counts from the date of the emulated clock.
            offset = captured_us - (times // np.uint64(1000)).astype(np.int64)
            if (offset == offset[0]).all():
                return Departures(times, frames)
    sizes = ", ".join(f"{stores.size:,}" for stores in stamps.values()) or "none"
    raise TapDamaged(
        f"the capture of the emulated card has {len(frames):,} frames, and no card was given as "
        f"many at these times (stores: {sizes})",
        remedy=REMEDY,
    )


def _register(card: GuestCard) -> list[str]:
    return [
        f"device={card.region}",
        f"bytes={card.region_bytes:#x}",
        f"offset={card.doorbell:#x}",
        f"text={card.driver_text:#x}",
        *([f"end={card.driver_text_end:#x}"] if card.driver_text_end else ()),
    ]
