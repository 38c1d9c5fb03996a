# SPDX-License-Identifier: Apache-2.0
"""Converts bodies of frames to messages."""

from __future__ import annotations

import msgspec
import numpy as np

from kadenz.wire.frame import SAMPLES_HEADER, BadFrame, Frame, Type
from kadenz.wire.messages import (
    DTYPES,
    WIRE_VERSION,
    AnyMessage,
    Begin,
    Bench,
    Case,
    Conform,
    Done,
    End,
    Fault,
    Hello,
    Samples,
    Text,
    Version,
)

MODELS = {
    Type.HELLO: Hello,
    Type.BENCH: Bench,
    Type.BEGIN: Begin,
    Type.END: End,
    Type.FAULT: Fault,
    Type.DONE: Done,
    Type.CONFORM: Conform,
    Type.CASE: Case,
}
_DECODERS = {int(kind): msgspec.msgpack.Decoder(model) for kind, model in MODELS.items()}
_VERSION = msgspec.msgpack.Decoder(Version)
_NUMPY = tuple(np.dtype(numpy) for _, numpy in DTYPES)


def decode_body(frame: Frame) -> AnyMessage:
    """The message in `frame`.

    Raises BadFrame for an unknown type, a body that does not fit, or another wire version.
    """
    if frame.type == Type.SAMPLES:
        return _decode_samples(frame.body)
    if frame.type == Type.TEXT:
        try:
            return Text(frame.body.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise BadFrame("body", f"TEXT is not UTF-8 at byte {error.start}") from None
    decoder = _DECODERS.get(frame.type)
    if decoder is None:
        raise BadFrame("type", f"unknown frame type {frame.type}")
    try:
        if frame.type == Type.HELLO:
            _check_version(_VERSION.decode(frame.body).wire)
        message: AnyMessage = decoder.decode(frame.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame("body", f"{Type(frame.type).name}: {error}") from None
    return message


def _check_version(spoken: int) -> None:
    if spoken != WIRE_VERSION:
        raise BadFrame(
            "version", f"the target speaks wire version {spoken}, this kadenz reads {WIRE_VERSION}"
        )


def _decode_samples(body: bytes) -> Samples:
    if len(body) < SAMPLES_HEADER.size:
        raise BadFrame(
            "body", f"SAMPLES of {len(body)} bytes, at least {SAMPLES_HEADER.size} needed"
        )
    record, lane, code, first = SAMPLES_HEADER.unpack_from(body)
    if code >= len(_NUMPY):
        raise BadFrame("body", f"SAMPLES of unknown dtype code {code}")
    dtype = _NUMPY[code]
    if (len(body) - SAMPLES_HEADER.size) % dtype.itemsize:
        raise BadFrame("body", f"SAMPLES of record {record}: not a whole number of {dtype.str}")
    values = np.frombuffer(body, dtype=dtype, offset=SAMPLES_HEADER.size)
    return Samples(record, lane, first, DTYPES[code][1], values)
