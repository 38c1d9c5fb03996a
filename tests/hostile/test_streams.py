# SPDX-License-Identifier: Apache-2.0
"""What a hostile image sends: each record has files of its own, or is named as damage."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

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
