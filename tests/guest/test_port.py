# SPDX-License-Identifier: Apache-2.0
"""The POSIX port in a guest: settings, channels, inversion, one processor, planted defects."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kadenz.config import inventory
from kadenz.images import compiler_cache, shared_name
from kadenz.tools import require
from tests.decoded import Decoded, plan
from tests.guest.scripts import AS_NOBODY, Answer, Script

pytestmark = pytest.mark.counted

MUTANT = Path(__file__).parent / "targets" / "mutant.c"
# Each by a defect of targets/mutant.c.
DEFECTS = {
    "eventfd is kept and wakes": "lost",
    "mutex-plain excludes and keeps its protocol": "lent",
    "mutex-robust survives its owner": "",
}

SIZES = (4, 3072)
CHANNELS = [
    f"itc/{kind} samples=50 period_us=1000 size_bytes={size}"
    for kind, size in product(("pipe", "fifo", "message-queue"), SIZES)
]
WHOLE = [f"itc/pipe-round-trip samples=50 period_us=1000 size_bytes={size}" for size in SIZES]
QUEUE_LIMIT = 8192  # msgsize_max of a Linux that nobody changed, mq_overview(7)
LIMITS = [
    "itc/pipe samples=5 period_us=300 size_bytes=4096 processes=1",
    f"itc/message-queue samples=5 period_us=300 size_bytes={QUEUE_LIMIT}",
    "itc/unix-socket samples=5 period_us=300 size_bytes=65536 processes=1",
]
BEYOND = {
    "itc/pipe samples=5 size_bytes=4097": ("PIPE_BUF = 4096", "itc/unix-socket"),
    "itc/fifo samples=5 size_bytes=4097": ("PIPE_BUF = 4096", "itc/unix-socket"),
    f"itc/message-queue samples=5 size_bytes={QUEUE_LIMIT + 1}": ("msgsize_max",),
}
INVERSION = "inversion/mutex samples=60 period_us=0 section_us=50 middle_us=400"
LOCKS = [
    INVERSION,
    f"{INVERSION} inheritance=0",
    "inversion/mutex samples=5 rank_middle=9",
    "rhealstone/deadlock-break samples=200 period_us=300",
]
CYCLIC = "cyclic/wakeup-latency samples=4 period_us=4000 rank=8 threads=1"
ACROSS = [
    "itc/semaphore-counting-to-higher samples=3 core_b=1",
    "itc/mutex-to-higher samples=3 core_b=1",
    "itc/semaphore-give samples=3 core_b=1",
    "smp/clocks samples=10",
    "smp/wake-up samples=3 other_core=busy",
    "smp/contention samples=20 other_core=loop",
    "smp/offset samples=50",
    "inversion/mutex samples=3 core_high=1",
    f"{CYCLIC} migrate=watch",
    f"{CYCLIC} migrate=move",
]
SCRIPTS = {
    "settings": Script("end\n"),
    "idle states": Script("end\n", before=("argument --allow=idle-states",)),
    "channels": Script(plan(*CHANNELS, *WHOLE)),
    # A user with CAP_SYS_RESOURCE may have longer messages in a queue.
    "sizes": Script(plan(*LIMITS, *BEYOND), before=AS_NOBODY),
    "locks": Script(plan(*LOCKS)),
    "two cores": Script(plan(*ACROSS)),
    "mutant": Script("conformance\nend\n", before=("program /mutant",)),
}


def mutant() -> bytes:
    """The suite with defective mechanisms, in its own folder."""
    folder = inventory.root() / "build" / "tests" / "posix-x86_64-counter-mutant"
    home = shared_name.link(folder, keep=".lock")
    cmake = str(require("cmake"))
    for command in (
        [
            *(cmake, "-S", str(home / "suite"), "-B", str(folder), "-G", "Ninja"),
            *("-DKDZ_KERNEL=posix", "-DKDZ_BOARD=x86_64", "-DKDZ_INSTRUMENT=counter"),
            f"-DCMAKE_TOOLCHAIN_FILE={home}/boards/x86_64/toolchain.cmake",
            f"-DKDZ_EXTRA_BENCH={MUTANT}",
            *(f"-D{key}={value}" for key, value in compiler_cache.options().items()),
            "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--wrap=kdz_mechanism_at",
        ],
        [cmake, "--build", str(folder), "--parallel", "2"],
    ):
        answer = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=compiler_cache.environment(folder),
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
    return (folder / "kadenz-suite").read_bytes()


@pytest.fixture
def answers(booted: dict[str, dict[str, Answer]]) -> dict[str, Answer]:
    return booted["port"]


def measured(answers: dict[str, Answer], script: str, records: int) -> Decoded:
    """The frames of a script whose first records all have to be measured and proved."""
    said = answers[script].decoded
    assert answers[script].code == 0 and said.done, said.messages[-1]
    for end in said.ends[:records]:
        assert (end.status, end.reason) == ("ok", ""), end
        assert end.proof.failed == 0
    return said


def test_hello_reports_settings_that_affect_figures(answers: dict[str, Answer]) -> None:
    settings = answers["settings"].decoded.hello.settings
    assert settings["policy"] == "SCHED_FIFO"
    assert settings["memory_locked"] == "yes"
    assert settings["idle_states"] == "off: /dev/cpu_dma_latency held at 0"
    assert settings["preempt"] == "PREEMPT_RT"
    assert settings["sched_rt_runtime_us"] == "950000"
    assert settings["mqueue_msgsize_max"] == str(QUEUE_LIMIT)
    assert settings["priorities_of_ranks_1_to_12"].split()[6:8] == ["90", "95"]


def test_idle_states_can_be_left_unchanged(answers: dict[str, Answer]) -> None:
    said = answers["idle states"].decoded
    assert said.hello.settings["idle_states"] == "as the system has them"
    assert said.notes == ""


@pytest.mark.parametrize("point", CHANNELS)
def test_a_channel_of_the_study_is_measured_and_proved(
    answers: dict[str, Answer], point: str
) -> None:
    said = measured(answers, "channels", len(CHANNELS))
    record = CHANNELS.index(point)
    assert said.begins[record].ranks == {"rank_a": 95, "rank_b": 90}
    assert len(said.values(record)) == 50
    assert said.end(record).proof.checked >= 100


@pytest.mark.parametrize("size", SIZES)
def test_the_round_trip_includes_the_reply(answers: dict[str, Answer], size: int) -> None:
    """Send, switch, reply: the whole is longer than its part, quantile by quantile once warm.

    A tick of the kernel may fall into one sample of either. It lengthens that sample alone, so
    the two are compared in their order, not the largest of one with the smallest of the other.
    """
    said = measured(answers, "channels", len(CHANNELS + WHOLE))
    part = said.values(CHANNELS.index(f"itc/pipe samples=50 period_us=1000 size_bytes={size}"))
    whole = said.values(len(CHANNELS) + SIZES.index(size))
    assert len(part) == len(whole) == 50
    assert (np.sort(part[10:]) < np.sort(whole[10:])).all()


def test_each_channel_takes_its_largest_message_and_refuses_more_with_a_remedy(
    answers: dict[str, Answer],
) -> None:
    said = measured(answers, "sizes", len(LIMITS))
    for record, parts in enumerate(BEYOND.values(), start=len(LIMITS)):
        end = said.end(record)
        assert end.status == "failed"
        assert all(word in end.reason for word in parts), end.reason


def test_without_inheritance_the_wait_includes_the_middle_thread(
    answers: dict[str, Answer],
) -> None:
    """With inheritance the wait is bounded by the section; without, the middle thread's work adds
    up."""
    said = measured(answers, "locks", 2)
    for record in (0, 1):
        assert said.end(record).proof.checked == 300  # five of a sample
    bounded, unbounded = said.values(0, 0), said.values(1, 0)
    section = said.values(0, 1)
    # Both run the same loop: the wait includes it once, and without inheritance eight times more.
    assert section.min() <= bounded.min() and bounded.max() < 2 * section.max()
    assert unbounded.min() > 8 * section.max()


def test_an_inversion_requires_three_ordered_ranks(answers: dict[str, Answer]) -> None:
    end = answers["locks"].decoded.end(2)
    assert end.status == "failed"
    assert "rank_low < rank_middle < rank_high" in end.reason


def test_a_deadlock_is_broken_every_time(answers: dict[str, Answer]) -> None:
    end = answers["locks"].decoded.end(3)
    assert (end.status, end.reason) == ("ok", "")
    assert (end.proof.checked, end.proof.failed) == (1000, 0)


def test_on_one_processor_points_of_two_are_n_a_with_one_sentence(
    answers: dict[str, Answer],
) -> None:
    said = answers["two cores"].decoded
    assert said.hello.cores == 1 and said.done
    assert len(said.ends) == len(ACROSS)
    assert {(end.status, end.reason) for end in said.ends} == {
        ("n/a", "this point needs two cores, and the board has one")
    }
    assert not any(np.size(said.values(record)) for record in range(len(ACROSS)))


def test_defective_mechanisms_fail_exactly_their_own_cases(answers: dict[str, Answer]) -> None:
    cases = answers["mutant"].decoded.cases
    failed = {case.case: case.reason for case in cases if case.result == "fail"}
    assert set(failed) == set(DEFECTS)
    assert all(DEFECTS[name] in reason for name, reason in failed.items()), failed
