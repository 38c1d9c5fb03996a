# SPDX-License-Identifier: Apache-2.0
"""bern: a kernel in Rust whose threads block, measured by the benchmarks in C."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.wire.messages import Conform, Done, End, Hello
from tests.rtos.images import TARGETS, boot, build

pytestmark = pytest.mark.counted

BOARD = "stm32f4"
PLAN = """\
micro/task-switch id=1 samples=2 iterations=1000
micro/semaphore-shuffle id=2 samples=2 iterations=1000
micro/task-switch-sampled id=3 samples=50
micro/semaphore-shuffle-sampled id=4 samples=50
irq/to-handler id=5 samples=50
irq/to-task id=6 samples=50
cyclic/wakeup-latency id=7 samples=50
perf/activate-to-higher id=8 samples=20
itc/semaphore-counting id=9 samples=20
end
"""


@pytest.fixture(scope="module", name="image")
def _image() -> Path:
    return build(BOARD, kernel="bern")


def test_its_benchmarks_measure_prove_and_repeat(image: Path) -> None:
    said = boot(image, BOARD, PLAN)
    ends = said.all(End)
    assert [(end.record, end.status, end.reason) for end in ends if end.status != "ok"] == []
    assert said.only(Done).records == len(ends) == len(PLAN.splitlines()) - 1
    assert all(end.proof.failed == 0 and end.proof.checked > 0 for end in ends)
    assert boot(image, BOARD, PLAN).raw == said.raw


def test_it_conforms_and_says_what_it_lacks(image: Path) -> None:
    cases = boot(image, BOARD, "conformance\nend\n").all(Conform)
    assert [case.case for case in cases if case.result == "fail"] == []
    passed = {case.case for case in cases if case.result == "pass"}
    assert {"ranks order threads", "a woken thread preempts", "join waits and times out"} <= passed
    reasons = {case.case: case.reason for case in cases if case.result == "n/a"}
    lacks = inventory.kernel("bern").lacks
    assert reasons["a permit is taken once"] == lacks["sem-strict"]
    assert reasons["a wait times out"] == lacks["time-out"]
    assert reasons["a mutex excludes"] == lacks["mutex"]


def test_a_take_that_waited_has_the_defect_that_kernel_toml_names() -> None:
    """The day this fails, bern has repaired it, and `sem-strict` leaves kernel.toml."""
    asks = "asks_for_strict_takes"
    options = (
        ("KDZ_EXTRA_BENCH", str(TARGETS / f"{asks}.c")),
        ("CMAKE_EXE_LINKER_FLAGS", "-Wl,--wrap=kdz_lack"),
    )
    image = build(BOARD, asks, kernel="bern", options=options)
    cases = boot(image, BOARD, "conformance\nend\n").all(Conform)
    failed = {case.case: case.reason for case in cases if case.result == "fail"}
    assert set(failed) == {"a permit is taken once"}
    assert "another thread had taken it" in failed["a permit is taken once"]


def test_memory_that_bern_never_frees_ends_in_a_failed_record(image: Path) -> None:
    plan = "perf/activate-to-higher id=1 samples=700\nmicro/task-switch-sampled id=2 samples=5\n"
    said = boot(image, BOARD, f"{plan}end\n")
    first, second = said.all(End)
    assert first.status == "invalid" and "its creation returned" in first.reason
    assert 500 < first.lanes[0].taken < 700
    assert second.status != "ok" and "could not create" in second.reason


def test_the_image_says_what_it_is_made_of(image: Path) -> None:
    hello = boot(image, BOARD, "end\n").only(Hello)
    lock = (inventory.kernel_folder("bern") / "Cargo.lock").read_text()
    assert f'name = "bern-kernel"\nversion = "{hello.kernel_version}"' in lock
    assert hello.settings["semaphore_give"].startswith("switches")
    assert hello.settings["rust_compiler"].startswith("rustc 1.")
