# SPDX-License-Identifier: Apache-2.0
"""Templates must build, and report that they are empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from kadenz.cli.folders import find_runs
from kadenz.config import inventory
from kadenz.config.kernel import Kernel
from kadenz.config.toml import read_toml
from kadenz.wire.messages import Bench, Conform, End, Hello, Text
from tests.docs.test_commands import followed, followed_here
from tests.rtos.images import BOARDS, TARGETS, boot, build

pytestmark = pytest.mark.counted


@pytest.mark.parametrize("board", BOARDS)
def test_the_kernel_template_runs_and_declares_what_it_lacks(board: str) -> None:
    folder = build(board, kernel="template")
    said = boot(folder, board, "list\nclock/read-cost id=1 samples=20\nend\n")
    assert said.only(Hello).capabilities == []
    assert said.only(End).status == "ok"
    runnable = {bench.name for bench in said.all(Bench) if bench.available}
    # Some of the others find out at set-up, by the channel or the memory in the plan.
    assert runnable <= {
        "clock/instructions",
        "clock/read-cost",
        "clock/resolution",
        "clock/monotonic",
        "clock/rate",
        "smp/clocks",
        "critical/sleep",
        "critical/thread-create",
        "critical/thread-join",
        "interference/job",
        "interference/release",
        "interference/sleep",
        "micro/message-latency",
        "micro/message-latency-sampled",
        "memory/copy",
        "memory/fill",
        "mix/memory",
        "mix/message",
        "thread-metric/memory",
        "thread-metric/memory-sampled",
        "thread-metric/message",
        "thread-metric/message-sampled",
    }


def test_features_that_the_template_lacks_are_n_a_never_zero() -> None:
    folder = build("stm32f4", kernel="template")
    benches = boot(folder, "stm32f4", "list\nend\n").all(Bench)
    names = [bench.name for bench in benches if not bench.name.startswith(("clock/", "memory/"))]
    for some in (names[::2], names[1::2]):  # all do not fit a plan
        plan = "".join(f"{name} id={i + 1} samples=5\n" for i, name in enumerate(some)) + "end\n"
        said = boot(folder, "stm32f4", plan)
        assert len(said.all(End)) == len(some)
        assert {end.status for end in said.all(End)} == {"n/a"}, said.all(End)
        assert all(end.reason for end in said.all(End))
        assert said.samples == {}


def test_an_empty_port_does_not_pass_the_conformance_test() -> None:
    said = boot(build("stm32f4", kernel="template"), "stm32f4", "conformance\nend\n")
    assert any(case.result == "fail" for case in said.all(Conform))


@pytest.mark.parametrize("kernel", ["template", "freertos"])
def test_the_board_template_builds_with_a_kernel(kernel: str) -> None:
    folder = build("template", kernel=kernel)
    assert (folder / "kadenz-suite.elf").stat().st_size > 0


def test_the_kernel_template_gives_a_reason_for_each_missing_feature() -> None:
    kernel = read_toml(inventory.root() / "kernels" / "template" / "kernel.toml", Kernel)
    freertos = boot(build("stm32f4"), "stm32f4", "end\n").only(Hello)
    assert set(freertos.capabilities) <= set(kernel.lacks)
    assert all(kernel.lacks.values())


def test_the_benchmark_of_the_how_to_page_builds_and_measures() -> None:
    page = (inventory.root() / "docs" / "how-to" / "add-a-benchmark.md").read_text()
    code = page.split("```c\n", 1)[1].split("```", 1)[0]
    source = inventory.root() / "build" / "tests" / "mine_give.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_file() or source.read_text() != code:
        source.write_text(code)
    folder = build("stm32f4", "how-to", options=(("KDZ_EXTRA_BENCH", str(source)),))
    said = boot(folder, "stm32f4", "mine/give id=1 samples=20\nend\n")
    assert said.only(End).status == "ok"
    assert said.values("mine/give").size == 20


def test_a_kernel_may_own_reset() -> None:
    options = (
        ("KDZ_EXTRA_BENCH", str(TARGETS / "own_reset.c")),
        ("CMAKE_PROJECT_kadenz-suite_INCLUDE", str(TARGETS / "own_reset.cmake")),
    )
    folder = build("stm32f4", "own-reset", options=options)
    said = boot(folder, "stm32f4", "itc/queue id=1 samples=5\nend\n")
    assert said.only(End).status == "ok"
    assert "started by the kernel's own reset" in said.only(Text).text


def test_the_page_on_kernels_works_outside_the_checkout(tmp_path: Path) -> None:
    """A copy of the template, as the page makes it: measured, and failed by conformance."""
    page = "docs/how-to/add-a-kernel.md"
    assert len(followed_here(page)) >= 4
    assert followed(tmp_path, page) == []
    lab = tmp_path / "mylab"
    (run,) = find_runs([lab / "runs"])
    assert run.manifest.target.name == "mykernel/stm32f4@emulated"
    assert {record.status for record in run.manifest.records} == {"ok"}
    text = (inventory.root() / page).read_text()
    assert "`wfi`" in text and "`kadenz/thread_options.h`" in text
