# SPDX-License-Identifier: Apache-2.0
"""kernels/threadx keeps its promises: on an adapter of FreeRTOS, for ThreadX is in no registry.

The adapter is a CMake project that builds the library `threadx`, as ThreadX's own does.
docs/kernels/threadx.md has the results on ThreadX itself.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.images.image import build_image, image_folder
from kadenz.wire.messages import Hello
from tests.forked import kadenz
from tests.kernels.on_freertos import HERE, NEVER, output, passed
from tests.rtos.images import Said, freertos

pytestmark = pytest.mark.counted

ADAPTER = HERE / "threadx"
TARGET = TargetName("threadx", "stm32f4", "emulated")
PLAN = """
micro/preemption-sampled id=1 samples=50
irq/to-task id=2 samples=20
cyclic/wakeup-latency id=3 samples=20
itc/queue id=4 samples=20 size_bytes=68
alloc/allocate id=5 samples=20 memory=heap holes=4
alloc/release id=6 samples=20 memory=block-pool holes=4
thread-metric/memory id=7 samples=2 window_us=10000 memory=block-pool
conformance
end
"""
NOT_APPLICABLE = NEVER | {
    "a counting semaphore stops at its maximum",
    "the most urgent waiter comes first",
}


@pytest.fixture(scope="module")
def said() -> Said:
    """All output of one boot of the port on the adapter."""
    return output("threadx", "threadx", PLAN)


def test_conformance_passes_on_the_adapter(said: Said) -> None:
    assert {
        "a binary semaphore holds one",
        "queue wakes its waiters in the declared order",
        "event-flags notifies from an interrupt",
        "mutex-inherit survives its owner",
        "heap gives blocks and takes them back",
        "block-pool gives blocks and takes them back",
    } <= passed(said, NOT_APPLICABLE)


def test_interrupts_and_the_tick_reach_the_port(said: Said) -> None:
    for bench in ("micro/preemption-sampled", "irq/to-task", "cyclic/wakeup-latency"):
        assert said.record(bench)[1].status == "ok"


def test_blocks_of_both_pools_are_measured(said: Said) -> None:
    for bench in ("alloc/allocate", "alloc/release", "thread-metric/memory"):
        assert said.record(bench)[1].status == "ok"
    assert len(said.values("alloc/release")) == 20 and min(said.values("alloc/release")) > 0


def test_an_item_above_64_bytes_is_not_applicable(said: Said) -> None:
    end = said.record("itc/queue")[1]
    assert end.status == "n/a" and "64" in end.reason


def test_the_kernel_says_who_it_is(said: Said) -> None:
    hello = said.only(Hello)
    assert (hello.kernel, hello.kernel_version) == ("ThreadX", "6.4.2")
    assert hello.settings["error_checking"] == "on"  # the adapter has no tx_user.h


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A user's own CMake project, with the kernel elsewhere."""
    (tmp_path / "CMakeLists.txt").write_text(
        f'set(KDZ_TEST_FREERTOS "{freertos()}")\nadd_subdirectory({ADAPTER} adapter)\n'
    )
    yield tmp_path
    shutil.rmtree(image_folder(TARGET, "counter", tmp_path))


def test_a_project_of_the_users_is_built_as_it_says_and_described(project: Path) -> None:
    text = (project / "CMakeLists.txt").read_text()
    (project / "CMakeLists.txt").write_text(
        text + "target_compile_options(threadx PRIVATE -Os -DMINE)\n"
    )
    entry = build_image(TARGET, "counter", tree=project).entry
    assert entry.kernel_source == f"cmake {project}, target threadx"
    flags = entry.flags[entry.flags.index("[kernel: ") :].split()
    assert flags.index("-Os") > flags.index("-O2") and "-DMINE" in flags
    kernel = next(part for part in entry.parts if part.part == "kernel")
    assert kernel.files > 15  # the adapter, and FreeRTOS elsewhere
    again = build_image(TARGET, "counter", tree=project).entry
    assert again.parts == entry.parts


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("add_library(other INTERFACE)\n", "has no library `threadx`"),
        ("add_custom_target(threadx)\n", "has no library `threadx`"),
        ("add_library(threadx STATIC missing.c)\n", "CMake cannot generate the build"),
        ('message(FATAL_ERROR "not for you")\n', "CMake cannot read its CMakeLists.txt"),
    ],
)
def test_a_project_without_the_library_is_refused_and_leaves_nothing(
    text: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(text)
    with pytest.raises(UsageError, match=problem) as caught:
        build_image(TARGET, "counter", tree=tmp_path)
    assert str(tmp_path) in caught.value.message and "`threadx`" in caught.value.remedy
    assert not image_folder(TARGET, "counter", tmp_path).exists()


def test_without_a_tree_nothing_is_run_and_the_remedy_is_shown() -> None:
    answer = kadenz("conformance", str(TARGET))
    assert answer.returncode == 2
    assert "ThreadX needs a source tree" in answer.stderr
    assert "--kernel-source threadx=DIR" in answer.stderr


def test_doctor_says_what_the_target_needs() -> None:
    answer = kadenz("doctor", "--json")
    targets = {target["name"]: target for target in json.loads(answer.stdout)["targets"]}
    assert "needs a source tree" in str(targets[str(TARGET)])
