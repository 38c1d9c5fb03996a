# SPDX-License-Identifier: Apache-2.0
"""A port on an adapter of FreeRTOS, for kernels that are in no registry."""

from __future__ import annotations

from pathlib import Path

from kadenz.wire.messages import Conform
from tests.rtos.images import OF_SEVERAL_CORES, Said, boot, build, freertos

HERE = Path(__file__).parent
# One core, one address space, and fixed priorities only.
NEVER = OF_SEVERAL_CORES | {
    "a round-robin thread runs",
    "a deadline thread runs",
    "a fair thread runs",
    "a context is as long as announced",
    "a process shares what is shared and nothing else",
}


def output(kernel: str, target: str, plan: str) -> Said:
    """One boot of the port. The folder of the kernel's name builds the library `target`."""
    folder = build(
        "stm32f4",
        "adapter",
        kernel=kernel,
        options=(
            ("KDZ_KERNEL_SOURCE", str(HERE / kernel)),
            ("KDZ_KERNEL_TARGET", target),
            ("KDZ_TEST_FREERTOS", str(freertos())),
        ),
    )
    return boot(folder, "stm32f4", plan)


def passed(said: Said, not_applicable: set[str]) -> set[str]:
    """The cases that passed. None fails, and only those named are not applicable."""
    results = {case.case: case.result for case in said.all(Conform)}
    assert {case for case, result in results.items() if result == "fail"} == set()
    assert {case for case, result in results.items() if result == "n/a"} == not_applicable
    return {case for case, result in results.items() if result == "pass"}
