# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzzer for two seconds, and proves that it can find a violation."""

from __future__ import annotations

import pytest

from kadenz.wire import decoder
from kadenz.wire.frame import CRC, HEADER, BadFrame, Frame
from tests.wire.fuzz import fuzz


def test_two_seconds_of_random_damage_find_nothing() -> None:
    assert fuzz(2.0, seed=20261121) > 500


def test_the_fuzzer_finds_a_decoder_that_does_not_check_the_crc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cobs import cobs

    def careless(encoded: bytes) -> Frame:
        try:
            raw = cobs.decode(encoded)
        except cobs.DecodeError:
            raise BadFrame("cobs", "") from None
        if len(raw) < HEADER.size + CRC.size:
            raise BadFrame("length", "")
        kind, _, sequence, _ = HEADER.unpack_from(raw)
        return Frame(kind, sequence, raw[HEADER.size : -CRC.size])

    monkeypatch.setattr(decoder, "decode_frame", careless)
    with pytest.raises(AssertionError, match=r"invented|moved|ok with"):
        fuzz(20.0, seed=1)
