# SPDX-License-Identifier: Apache-2.0
"""The timed region only contains two stamps and the operation, as the machine code shows.

On RISC-V a stamp is one instruction, `csrr rd, mcycle`, so the disassembly of a benchmark shows its
regions. Between a stamp and the timed call there are only the instructions that load the call's
arguments; between the call and the closing stamp there are none. No branch, no other call.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import pytest

from tests.rtos.images import build, run

pytestmark = pytest.mark.counted

STAMP = "stamp"
ENTRY = "entry"  # the function's first instruction
INDIRECT = "*"  # a call through a pointer: a channel's send or receive

# Four arguments, two of them addresses that take two instructions, and the call's pointer.
ARGUMENTS_MAX = 8

# file, function, and the steps around its stamps, in this order
REGIONS = [
    ("clock_read_cost", "measure", [STAMP, STAMP]),
    ("itc_round_trip", "time_reply", [INDIRECT, STAMP, INDIRECT, STAMP]),
    ("itc_round_trip", "time_whole", [STAMP, INDIRECT, INDIRECT, STAMP]),
    ("handover", "turn_semaphore", ["kdz_sem_give", STAMP, "kdz_delay_until"]),
    ("handover", "turn_semaphore_to_higher", [STAMP, "kdz_sem_give"]),
    ("handover", "turn_mutex", ["kdz_mutex_unlock", STAMP, "kdz_delay_until"]),
    ("handover", "turn_mutex_to_higher", [STAMP, "kdz_mutex_unlock"]),
    ("handover", "wait_semaphore", ["kdz_sem_take", STAMP]),
    ("handover", "wait_mutex", ["kdz_mutex_lock", STAMP]),
    ("micro_task_switch", "sampled_a", [STAMP, "kdz_thread_yield"]),
    ("micro_task_switch", "sampled_b", ["kdz_thread_yield", STAMP]),
    ("micro_preemption", "sampled_low", [STAMP, "kdz_thread_resume"]),
    ("micro_preemption", "sampled_high", ["kdz_thread_suspend", STAMP]),
    ("micro_semaphore_shuffle", "sampled_a", [STAMP, "kdz_sem_give", "kdz_thread_yield"]),
    ("micro_semaphore_shuffle", "sampled_b", ["kdz_sem_take", STAMP]),
    ("micro_message_latency", "sampled_sender", [STAMP, INDIRECT]),
    ("micro_message_latency", "sampled_receiver", [INDIRECT, STAMP]),
    ("irq_to_handler", "raise", [STAMP, "kdz_board_irq_raise"]),
    ("irq_to_handler", "handle", [ENTRY, STAMP]),
    ("irq_to_task", "raise", [STAMP, "kdz_board_irq_raise"]),
    ("irq_to_task", "wait", ["kdz_sem_take", STAMP]),
    ("notify", "time_one_way", [STAMP, INDIRECT]),
    ("notify", "time_round_trip", [STAMP, INDIRECT, INDIRECT, STAMP]),
    ("notify", "task_2_one_way", [INDIRECT, STAMP]),
    ("itc_locks", "task_1", [STAMP, INDIRECT]),
    ("itc_locks", "task_2", [INDIRECT, STAMP]),
    ("alloc", "time_allocate", [STAMP, INDIRECT, STAMP]),
    ("alloc", "time_release", [STAMP, INDIRECT, STAMP]),
    ("memory", "time_copy", [STAMP, "memcpy", STAMP]),
    ("memory", "time_fill", [STAMP, "memset", STAMP]),
    ("timer_calls", "time_start", [STAMP, INDIRECT, STAMP]),
    ("timer_calls", "time_stop", [STAMP, INDIRECT, STAMP]),
    ("crowd", "lets_go", [STAMP, INDIRECT]),
    ("perf_timer", "release_in_thread", [STAMP, "kdz_sem_give", STAMP]),
    ("perf_timer", "release_in_interrupt", [STAMP, "kdz_sem_give_from_isr", STAMP]),
    ("perf_tasks", "woken_by_suspend", ["kdz_thread_suspend", STAMP]),
    ("perf_tasks", "wakes_by_suspend", [STAMP, "kdz_thread_resume"]),
    ("perf_tasks", "woken_by_semaphore", ["kdz_sem_take", STAMP]),
    ("perf_tasks", "wakes_by_semaphore", [STAMP, "kdz_sem_give"]),
    ("perf_tasks", "sleeps_by_suspend", [STAMP, "kdz_thread_suspend"]),
    ("perf_tasks", "runs_on_by_suspend", ["kdz_thread_resume", STAMP]),
    ("perf_tasks", "sleeps_by_semaphore", [STAMP, "kdz_sem_take"]),
    ("perf_tasks", "runs_on_by_semaphore", ["kdz_sem_give", STAMP]),
    ("perf_tasks", "activates_lower", [STAMP, "kdz_sem_give", STAMP]),
    ("perf_start", "starts", [STAMP, "kdz_thread_create"]),
    ("perf_start", "job", [ENTRY, STAMP]),
    ("thread_metric_basic", "lead_samples", [STAMP, "walk", STAMP]),
    ("thread_metric_cooperative", "time_turns", [STAMP, "kdz_thread_yield", STAMP]),
    ("thread_metric_preemptive", "lead_samples", [STAMP, "kdz_thread_resume", STAMP]),
    (
        "thread_metric_interrupt",
        "lead_samples",
        [STAMP, "kdz_board_irq_raise", "kdz_sem_take", STAMP],
    ),
    ("thread_metric_interrupt_preemption", "lead_samples", [STAMP, "kdz_board_irq_raise", STAMP]),
    ("thread_metric_message", "lead_samples", [STAMP, INDIRECT, INDIRECT, STAMP]),
    (
        "thread_metric_synchronization",
        "lead_samples",
        [STAMP, "kdz_sem_take", "kdz_sem_give", STAMP],
    ),
    ("thread_metric_memory", "lead_samples", [STAMP, INDIRECT, INDIRECT, STAMP]),
    ("smp_offset", "time_give", [STAMP, "kdz_sem_give", STAMP]),
    ("smp_offset", "time_send", [STAMP, INDIRECT, STAMP]),
    ("inversion", "ask", [STAMP, "kdz_mutex_lock", STAMP]),
    ("inversion", "ask_plain", [STAMP, INDIRECT, STAMP]),
]


class Step(NamedTuple):
    """One instruction; `what` is STAMP, the callee of a call, "branch", or "" for all others."""

    what: str
    text: str


_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:")
_INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+(?P<name>[a-z][\w.]*)\s*(?P<operands>.*)")
_CALL = re.compile(r"R_RISCV_(?:CALL|CALL_PLT|JAL|RVC_JUMP)\s+(?P<callee>\S+)")
_JUMPS = re.compile(r"^(b\w+|j|jr|ret)$")


def disassemble(file: str) -> dict[str, list[Step]]:
    """The functions of a benchmark's object file, unlinked, so that calls carry their names."""
    folder = build("hifive1-revb")
    name = folder / "CMakeFiles" / "kadenz-suite.dir" / "bench" / f"{file}.c.obj"
    functions: dict[str, list[Step]] = {}
    steps: list[Step] = []
    for line in run("riscv64-unknown-elf-objdump", "-dr", "--no-show-raw-insn", str(name)).split(
        "\n"
    ):
        if match := _FUNCTION.match(line):
            if not match["name"].startswith(".L"):  # a label inside the function
                steps = functions.setdefault(match["name"], [])
        elif (match := _CALL.search(line)) and steps:
            callee = match["callee"]
            if not callee.startswith(".L"):
                # The pair auipc, jalr of an unlinked call: the following jalr gets the name.
                steps[-1] = Step(f"to {callee}", steps[-1].text)
        elif match := _INSTRUCTION.match(line):
            steps.append(_step(match["name"], match["operands"], steps))
    return functions


def _step(name: str, operands: str, before: list[Step]) -> Step:
    text = f"{name} {operands}".strip()
    if name == "csrr" and "mcycle" in operands:
        return Step(STAMP, text)
    if name in ("jalr", "jal"):
        if before and before[-1].what.startswith("to "):
            callee = before[-1].what.removeprefix("to ")
            before[-1] = Step("", before[-1].text)
            return Step(callee, text)
        return Step(INDIRECT, text)
    return Step("branch" if _JUMPS.match(name) else "", text)


def between(steps: list[Step], shape: list[str]) -> list[list[Step]]:
    """The instructions between the parts of `shape`, which must occur in this order."""
    places = [i for i, step in enumerate(steps) if step.what == STAMP]
    anchor = shape.index(STAMP)
    for place in places:
        gaps: list[list[Step]] = []
        at = place
        for want in reversed(shape[:anchor]):
            gap: list[Step] = []
            while at > 0 and steps[at - 1].what == "":
                at -= 1
                gap.insert(0, steps[at])
            if want == ENTRY and at == 0:
                gaps.insert(0, gap)
                break
            at -= 1
            if at < 0 or steps[at].what != want:
                break
            gaps.insert(0, gap)
        if len(gaps) != anchor:
            continue
        at = place
        for want in shape[anchor + 1 :]:
            gap = []
            while at + 1 < len(steps) and steps[at + 1].what == "":
                at += 1
                gap.append(steps[at])
            at += 1
            if at >= len(steps) or steps[at].what != want:
                break
            gaps.append(gap)
        if len(gaps) == len(shape) - 1:
            return gaps
    listing = "\n".join(f"{step.what:28}{step.text}" for step in steps)
    pytest.fail(f"no {' … '.join(shape)} without a branch or another call between:\n{listing}")


@pytest.mark.parametrize(("file", "function", "shape"), REGIONS, ids=lambda value: str(value))
def test_a_timed_region_only_contains_the_operation(
    file: str, function: str, shape: list[str]
) -> None:
    gaps = between(disassemble(file)[function], shape)
    for (left, right), gap in zip(pairwise(shape), gaps, strict=True):
        sentence = f"{len(gap)} between {left} and {right}: {[step.text for step in gap]}"
        if right == STAMP and left not in (STAMP, ENTRY):
            assert len(gap) <= 1, sentence  # nothing, or a move of the result
        elif left == STAMP and right == STAMP:
            assert len(gap) == 0, sentence
        else:
            assert len(gap) <= ARGUMENTS_MAX, sentence
        print(f"{file}.{function}: {sentence}")


def test_the_check_finds_extra_work_in_a_region() -> None:
    """A call, a branch, or too many instructions in a region fail the check."""
    stamp, call = Step(STAMP, "csrr a0,mcycle"), Step("kdz_sem_give", "jalr ra")
    between([stamp, Step("", "mv a0,s0"), call], [STAMP, "kdz_sem_give"])
    for intruder in (Step("kdz_record_drain", "jalr ra"), Step("branch", "beqz a0,8")):
        with pytest.raises(pytest.fail.Exception):
            between([stamp, intruder, call], [STAMP, "kdz_sem_give"])
