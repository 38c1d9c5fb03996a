# SPDX-License-Identifier: Apache-2.0
"""One frame: its layout and decoding (docs/reference/wire-format.md)."""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import Literal, NamedTuple

from cobs import cobs

HEADER = struct.Struct("<BBIH")  # type, reserved, sequence, length of the body
CRC = struct.Struct("<I")
SAMPLES_HEADER = struct.Struct("<HBBI")  # record, lane, dtype code, index of the first value
BODY_MAX = 4096
FRAME_MAX = HEADER.size + BODY_MAX + CRC.size
# COBS adds one byte for every 254 bytes or part of them.
ENCODED_MAX = FRAME_MAX + FRAME_MAX // 254 + 1
SEQUENCE_MODULUS = 1 << 32


class Type(IntEnum):
    """Frame types of wire version 1."""

    HELLO = 1
    BENCH = 2
    BEGIN = 3
    SAMPLES = 4
    END = 5
    TEXT = 6
    FAULT = 7
    DONE = 8
    CONFORM = 9
    CASE = 10


class Frame(NamedTuple):
    """A frame with valid length and CRC."""

    type: int
    sequence: int
    body: bytes


FindingKind = Literal[
    "preamble",  # bytes before the first zero, from before the target's first frame
    "cobs",
    "length",
    "crc",
    "type",
    "version",  # the target uses another version of the format: nothing after it is read
    "body",
    "gap",
    "doubled",
    "restarted",
    "truncated",
]


class BadFrame(Exception):
    """Bytes between two zeros that are not a frame; `kind` names the damage."""

    def __init__(self, kind: FindingKind, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def decode_frame(encoded: bytes) -> Frame:
    """The frame between two zeros. Raises BadFrame."""
    if len(encoded) > ENCODED_MAX:
        raise BadFrame(
            "length", f"{len(encoded)} bytes without a zero; a frame has at most {ENCODED_MAX}"
        )
    try:
        raw = cobs.decode(encoded)
    except cobs.DecodeError as error:
        raise BadFrame("cobs", str(error)) from None
    if len(raw) < HEADER.size + CRC.size:
        raise BadFrame("length", f"{len(raw)} bytes instead of at least {HEADER.size + CRC.size}")
    kind, reserved, sequence, length = HEADER.unpack_from(raw)
    (crc,) = CRC.unpack_from(raw, len(raw) - CRC.size)
    actual = zlib.crc32(memoryview(raw)[: -CRC.size])
    if crc != actual:
        raise BadFrame("crc", f"CRC {actual:08x}, the frame says {crc:08x}")
    body = raw[HEADER.size : -CRC.size]
    if length != len(body) or length > BODY_MAX:
        raise BadFrame("length", f"body of {len(body)} bytes, the frame says {length}")
    if reserved != 0:
        raise BadFrame("type", f"reserved byte is {reserved} instead of 0")
    return Frame(kind, sequence, body)
