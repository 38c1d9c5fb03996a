# SPDX-License-Identifier: Apache-2.0
"""What a hostile image sends: each record has files of its own, or is named as damage."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np
import pytest

from kadenz.targets.paths import RUN, parse_paths
from kadenz.targets.scope import ScopeDamaged
from kadenz.wire.messages import AnyMessage
from tests.wire.streams import begin, end, hello, samples
from tests.wire.test_records import assemble

FIRST = begin()


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, "begins a second time"),
        ({"record": 99, "bench": "a" * 300}, "a name of more than 100 bytes"),
        ({"record": 99, "bench": "é" * 60}, "a name of more than 100 bytes"),
        ({"record": 99, "lanes": ["x" * 300]}, "a name of more than 100 bytes"),
        ({"record": 99, "lanes": ["x", "x"]}, "two lanes of one name"),
        ({"record": 99, "lanes": ["x/y", "x:y"]}, "two lanes of one name"),
    ],
)
def test_a_record_without_files_of_its_own_is_damage(changes: dict[str, Any], what: str) -> None:
    second = msgspec.structs.replace(FIRST, **changes)
    whole: list[AnyMessage] = [
        hello(),
        FIRST,
        samples([1, 2, 3]),
        samples([4, 5, 6], first=3),
        end(),
    ]
    kept, assembler = assemble([*whole, second, samples([1, 2, 3])])
    assert any(what in finding.message for finding in assembler.findings)
    assert list(kept.verdicts) == [FIRST.record]
    assert kept.lanes[FIRST.record, 0] == [1, 2, 3, 4, 5, 6]


def test_a_record_that_begins_again_before_its_end_is_closed() -> None:
    kept, assembler = assemble([hello(), FIRST, samples([1, 2, 3]), FIRST])
    assert kept.verdicts[FIRST.record].reason == "its end was lost"
    assert "begins a second time" in assembler.findings[0].message


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_spoils_its_record_alone(value: float) -> None:
    odd = msgspec.structs.replace(FIRST, record=99, dtype="f8")
    sent = samples([1, 2, 3])._replace(record=99, dtype="<f8", values=np.array([1.0, value, 3.0]))
    kept, _ = assemble([hello(), odd, sent, FIRST, samples([1, 2, 3])])
    assert "a value is not a finite number" in kept.verdicts[99].reason
    assert kept.lanes[99, 0] == [] and kept.lanes[FIRST.record, 0] == [1, 2, 3]


# ---- paths of the scope --------------------------------------------------------------------------
def _chunk(kind: int, *values: int, form: str = "I") -> bytes:
    data = struct.pack(f"<{len(values)}{form}", *values)
    return struct.pack("<II", kind, len(data)) + data


def path_file() -> bytes:
    """Two tokens, one piece, and two regions that execute it."""
    head = struct.pack("<8sIII12x", b"KDZPATHS", 1, 32, 0)
    tokens = [struct.pack("<IIQQ", RUN, 7, 7, address) for address in (0x1000, 0x1020)]
    data = b"".join(struct.pack("<II", 1, 24) + token for token in tokens) + _chunk(2, 0, 1)
    for at in (100, 200):
        data += _chunk(3, at, at, 1, form="Q") + _chunk(4, 0)
        data += _chunk(5, at + 14, at + 14, 2, form="Q")
    return head + data + struct.pack("<II", 6, 0)


@pytest.mark.parametrize("clock", [2**63 - 1, 2**63, 2**64 - 1])
def test_a_path_of_any_length_contradicts_its_marks(clock: int) -> None:
    """A sum that no signed number holds was an OverflowError."""
    whole = path_file()
    assert parse_paths(whole).regions
    token = struct.pack("<IIQQ", RUN, 7, 7, 0x1000)
    assert token in whole
    with pytest.raises(ScopeDamaged, match="its marks are 14 apart"):
        parse_paths(whole.replace(token, struct.pack("<IIQQ", RUN, 7, clock, 0x1000)))
