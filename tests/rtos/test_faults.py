# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS with checks enabled: a fault is reported with its location, then the board halts."""

from __future__ import annotations

import pytest

from kadenz.wire.messages import End, Fault, Hello
from tests.rtos.images import BOARDS, TARGETS, Said, boot, build

E2E = TARGETS.parents[1] / "e2e" / "targets"

pytestmark = pytest.mark.counted


def boot_with(board: str, checks: str, plan: str) -> Said:
    files = [TARGETS / "kernel_assert.c", TARGETS / "no_memory.c", E2E / "faults.c"]
    benches = ";".join(str(file) for file in files)
    options = (("KDZ_EXTRA_BENCH", benches), ("KDZ_FREERTOS_CHECKS", checks))
    return boot(build(board, f"checks-{checks.lower()}", options=options), board, plan)


@pytest.mark.parametrize("board", BOARDS)
def test_an_assertion_of_the_kernel_names_its_file_and_line(board: str) -> None:
    said = boot_with(board, "ON", "fault/kernel-assert id=1 samples=1\nend\n")
    fault = said.only(Fault)
    assert fault.kind == "assert"
    assert fault.message == "tasks.c"
    assert fault.registers["line"] > 0
    assert fault.thread == "intruder"
    assert said.only(Hello).settings["asserts"] == "on"


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("checks", ["OFF", "ON"])
def test_a_stack_overflow_names_the_thread(board: str, checks: str) -> None:
    """Found by FreeRTOS at a switch if checks are enabled, else when the thread is joined."""
    said = boot_with(board, checks, "fault/overflow id=1 samples=1\nend\n")
    fault = said.only(Fault)
    assert (fault.kind, fault.thread) == ("stack-overflow", "greedy")


@pytest.mark.parametrize("board", BOARDS)
def test_running_out_of_memory_ends_the_record_and_not_the_run(board: str) -> None:
    plan = "fault/no-memory id=1 samples=1\nclock/read-cost id=2 samples=5\nend\n"
    said = boot_with(board, "OFF", plan)
    first, second = said.all(End)
    assert (first.status, second.status) == ("failed", "ok")
    assert "memory" in first.reason


def test_measuring_images_have_no_checks() -> None:
    hello = boot(build("stm32f4"), "stm32f4", "end\n").only(Hello)
    assert hello.settings["asserts"] == "off"
    assert hello.settings["stack_check"] == "at join"


def test_a_fault_keeps_its_registers_when_a_kernel_moved_the_vectors() -> None:
    options = (("KDZ_EXTRA_BENCH", str(TARGETS / "own_vectors.c")),)
    folder = build("stm32f4", "own-vectors", options=options)
    fault = boot(folder, "stm32f4", "fault/own-vectors id=1 samples=1\nend\n").only(Fault)
    assert (fault.kind, fault.message) == ("exception", "undefined instruction")
    assert fault.registers["r3"] == 0x12345678
    assert fault.thread == "main"
