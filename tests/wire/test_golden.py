# SPDX-License-Identifier: Apache-2.0
"""The golden frames that C, Python and Rust share (tests/golden/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from kadenz.wire import messages
from kadenz.wire.codec import decode_body
from kadenz.wire.frame import Type, decode_frame
from kadenz.wire.messages import AnyMessage, Samples, Text
from tests.wire.encoder import encode_message

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = [
    each
    for name in ("golden.json", "words.json")
    for each in json.loads((FOLDER / name).read_text(encoding="utf-8"))
]
_NUMPY = dict(messages.DTYPES)


def message_of(golden: dict[str, Any]) -> AnyMessage:
    """The message that golden.json describes."""
    body = golden["body"]
    if golden["type"] == "TEXT":
        return Text(body)
    if golden["type"] == "SAMPLES":
        dtype = _NUMPY[body["dtype"]]
        values = np.array(body["values"], dtype=dtype)
        return Samples(body["record"], body["lane"], body["index"], dtype, values)
    model = getattr(messages, golden["type"].capitalize())
    message: AnyMessage = msgspec.convert(body, model)
    return message


def plain(message: AnyMessage) -> object:
    if isinstance(message, Samples):
        return (*message[:4], message.values.dtype.str, message.values.tobytes())
    return message


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["name"])
def test_a_golden_frame_decodes_to_its_description(golden: dict[str, Any]) -> None:
    data = (FOLDER / f"{golden['name']}.bin").read_bytes()
    assert data.endswith(b"\0") and b"\0" not in data[:-1]
    frame = decode_frame(data[:-1])
    assert (Type(frame.type).name, frame.sequence) == (golden["type"], golden["sequence"])
    assert plain(decode_body(frame)) == plain(message_of(golden))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["name"])
def test_the_description_encodes_to_the_golden_frame(golden: dict[str, Any]) -> None:
    data = (FOLDER / f"{golden['name']}.bin").read_bytes()
    assert encode_message(message_of(golden), golden["sequence"]) == data


def test_every_frame_type_has_a_golden_frame() -> None:
    assert {golden["type"] for golden in GOLDEN} == {kind.name for kind in Type}
    assert {f"{golden['name']}.bin" for golden in GOLDEN} == {
        file.name for file in FOLDER.glob("*.bin")
    }
