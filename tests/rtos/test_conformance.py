# SPDX-License-Identifier: Apache-2.0
"""The conformance test must be able to fail: it finds the defects of a defective port."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.elf import Elf
from kadenz.lab.boot import Execution, run_plan
from kadenz.targets.qemu import QemuTarget
from kadenz.wire.messages import Conform
from kadenz.wire.records import Assembler, NoRecords
from tests.forked import kadenz
from tests.rtos.images import TARGETS, boot, build
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.counted

BOARD = "stm32f4"
PLAN = "conformance\nend\n"


def mutant(name: str, *wrapped: str) -> Path:
    """The folder of an image whose port has the defects of tests/rtos/targets/NAME.c."""
    return build(
        BOARD,
        name,
        options=(
            ("KDZ_EXTRA_BENCH", str(TARGETS / f"{name}.c")),
            ("CMAKE_EXE_LINKER_FLAGS", " ".join(f"-Wl,--wrap={each}" for each in wrapped)),
        ),
    )


def test_a_defective_port_fails_exactly_the_cases_of_its_defects() -> None:
    folder = mutant("mutant", "kdz_mutex_create", "kdz_delay_until", "kdz_mechanism_at")
    cases = boot(folder, BOARD, PLAN).all(Conform)
    failed = {case.case: case.reason for case in cases if case.result == "fail"}
    assert set(failed) == {
        "a waiter lends its rank to the owner",
        "a missed moment is reported",
        "message-buffer carries items in their order",
        "message-buffer is sent from an interrupt",
    }
    assert all(failed.values())


# ---- a case that never ends ----------------------------------------------------------------------
RESUMES = "suspend holds until resume"  # the first case that calls kdz_thread_resume


def test_a_case_that_hangs_is_named() -> None:
    tier = inventory.board(BOARD).tier.emulated
    assert tier is not None
    folder = mutant("hang_at_resume", "kdz_thread_resume")
    assembler = Assembler(NoRecords())
    target = QemuTarget(tier, Elf(folder / "kadenz-suite.elf"))

    def patience_s() -> float:
        return 1.0 if assembler.case == RESUMES else PATIENCE_S

    outcome = run_plan(Execution(target, "it", PLAN, patience_s), assembler, threading.Event())
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(f"it hangs in the conformance case `{RESUMES}`: ")
    assert "__wrap_kdz_thread_resume" in outcome.failure.detail


def test_a_case_that_faults_is_named_with_exit_code_1() -> None:
    folder = mutant("fault_at_resume", "kdz_thread_resume")
    image = str(folder / "kadenz-suite.elf")
    answer = kadenz("conformance", f"{BOARD}@emulated", "--image", image)
    assert answer.returncode == 1
    assert f"died in the conformance case `{RESUMES}`: exception" in answer.stderr
    lines = [line.strip() for line in answer.stdout.splitlines()]
    assert lines[lines.index(f"fail  {RESUMES}") + 1] == "the target did not end it"
    assert lines[-1].endswith("; the target did not finish")
