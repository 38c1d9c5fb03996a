# SPDX-License-Identifier: Apache-2.0
"""Writes the frames of a target, for tests: the inverse of kadenz/wire."""

from __future__ import annotations

import zlib

import msgspec
from cobs import cobs

from kadenz.wire.codec import MODELS
from kadenz.wire.frame import BODY_MAX, CRC, HEADER, SAMPLES_HEADER, Frame, Type
from kadenz.wire.messages import DTYPES, AnyMessage, Bench, Samples, Text

_TYPES: dict[type, Type] = {model: kind for kind, model in MODELS.items()}
_ENCODER = msgspec.msgpack.Encoder()
_CODES = {numpy: code for code, (_, numpy) in enumerate(DTYPES)}


def encode_message(message: AnyMessage, sequence: int) -> bytes:
    """The frame that carries `message`, as bytes on the line."""
    if isinstance(message, Samples):
        head = SAMPLES_HEADER.pack(
            message.record, message.lane, _CODES[message.dtype], message.first
        )
        body = head + message.values.astype(message.dtype).tobytes()
        return encode_frame(Frame(Type.SAMPLES, sequence, body))
    if isinstance(message, Text):
        return encode_frame(Frame(Type.TEXT, sequence, message.text.encode()))
    body = _ENCODER.encode(_short(message) if isinstance(message, Bench) else message)
    return encode_frame(Frame(_TYPES[type(message)], sequence, body))


def encode_frame(frame: Frame) -> bytes:
    """The bytes on the line, with the final zero."""
    if len(frame.body) > BODY_MAX:
        raise ValueError(f"a body has at most {BODY_MAX} bytes, not {len(frame.body)}")
    raw = HEADER.pack(frame.type, 0, frame.sequence, len(frame.body)) + frame.body
    encoded: bytes = cobs.encode(raw + CRC.pack(zlib.crc32(raw)))
    return encoded + b"\0"


def _short(bench: Bench) -> dict[str, object]:
    """A parameter of numbers travels without words."""
    params = [param[:4] if param.choices is None else param for param in bench.params]
    return {**msgspec.structs.asdict(bench), "params": params}
