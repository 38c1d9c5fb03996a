# SPDX-License-Identifier: Apache-2.0
"""The conformance test must be able to fail: it finds the defects of a defective port."""

from __future__ import annotations

import pytest

from kadenz.wire.messages import Conform
from tests.rtos.images import TARGETS, boot, build

pytestmark = pytest.mark.counted

WRAPPED = ("kdz_mutex_create", "kdz_delay_until", "kdz_mechanism_at")


def test_a_defective_port_fails_exactly_the_cases_of_its_defects() -> None:
    folder = build(
        "stm32f4",
        "mutant",
        options=(
            ("KDZ_EXTRA_BENCH", str(TARGETS / "mutant.c")),
            ("CMAKE_EXE_LINKER_FLAGS", " ".join(f"-Wl,--wrap={name}" for name in WRAPPED)),
        ),
    )
    cases = boot(folder, "stm32f4", "conformance\nend\n").all(Conform)
    failed = {case.case: case.reason for case in cases if case.result == "fail"}
    assert set(failed) == {
        "a waiter lends its rank to the owner",
        "a missed moment is reported",
        "message-buffer carries items in their order",
        "message-buffer is sent from an interrupt",
    }
    assert all(failed.values())
