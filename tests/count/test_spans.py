# SPDX-License-Identifier: Apache-2.0
"""`kadenz count --from A --to B`: spans that begin and end anywhere."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from kadenz.elf import Elf
from kadenz.errors import EXIT_FAILED, UsageError
from kadenz.store import read_run

from .firmware import ARM, CORTEX_M0, RISCV, Machine, assemble, count, counted, functions, samples

pytestmark = pytest.mark.counted

# Counted by hand in programs/calls.*.S. From the innermost `down`: it, the rest of the four around
# it, the jump to `tail`. `raises`, and the way to `saves`. The first instruction of `six`.
BY_HAND = {
    "arm": {"down..tail": [4 + 4 + 1], "raises..saves": [4 + 1], "six..six+0x2": [1, 1, 1]},
    "riscv": {"down..tail": [6 + 12 + 1], "raises..saves": [6 + 3], "six..six+0x2": [1, 1, 1]},
}
HANDLER = {"arm": 2, "riscv": 7}
each = pytest.mark.parametrize("machine", [ARM, CORTEX_M0, RISCV], ids=["m4", "m0", "riscv"])


def spans(*names: str) -> list[str]:
    """The options for some spans, `from..to`."""
    places = [name.split("..") for name in names]
    return [word for begin, end in places for word in ("--from", begin, "--to", end)]


@each
def test_spans_have_the_instructions_counted_by_hand(machine: Machine, tmp_path: Path) -> None:
    by_hand, elf = BY_HAND[machine.suffix], assemble(machine, tmp_path)
    run = counted(elf, machine, *spans(*by_hand))[""]["run"]
    assert {name: samples(run, name)["call"] for name in by_hand} == by_hand
    lanes = samples(run, "raises..saves")
    assert lanes["call:handlers"] == [HANDLER[machine.suffix]]
    entry = next(each for each in read_run(Path(run)).manifest.records if "raises" in each.bench)
    assert (entry.begins, entry.ends) == ("raises is next", "saves is next, in the same thread")


@each
def test_functions_beside_a_span_change_nothing(machine: Machine, tmp_path: Path) -> None:
    by_hand, elf = BY_HAND[machine.suffix], assemble(machine, tmp_path)
    for name, values in by_hand.items():
        run = counted(elf, machine, *spans(name), *functions("*"))[""]["run"]
        assert samples(run, name)["call"] == values


def test_a_span_belongs_to_the_thread_in_which_it_began(tmp_path: Path) -> None:
    elf = assemble(RISCV, tmp_path, "threads")
    lanes = samples(counted(elf, RISCV, *spans("first..finish"))[""]["run"], "first..finish")
    assert lanes == {
        "call": [21 + 1],
        "call:handlers": [2 * 7],
        "call:threads": [(1 + 2 * 100) + 2 * (1 + 6) + 2 * (1 + 7)],  # as tests/count/test_calls
    }


def test_a_span_that_begins_again_has_no_end(tmp_path: Path) -> None:
    answer = count(assemble(ARM, tmp_path), ARM, *spans("down..tail", "hang..fault"))
    assert "down..tail: of 5 spans, 4 begun again, or left by their thread" in answer.stderr
    assert "count/hang..fault: failed: never begun" in answer.stderr
    assert answer.return_value == EXIT_FAILED


MARKED = """
#define COUNT_MARK(name) __asm__ volatile(".globl " #name "\\n" #name ":" ::: "memory")
static volatile int work;
void start(void)
{
    register int call __asm__("r0");
    register const int *argument __asm__("r1");
    static const int status[] = {0x20026, 0};
    for (int turn = 0; turn < 9; turn++) {
        COUNT_MARK(filter_begins);
        work = 3 * work + turn;
        COUNT_MARK(filter_ends);
        work = 0;
    }
    call = 0x20;
    argument = status;
    __asm__ volatile("bkpt 0xab" : : "r"(call), "r"(argument) : "memory");
}
__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    (void *)0x20004000, (void *)start};
"""


def marked(folder: Path, text: str) -> Path:
    """The firmware of a C file, at the same address each time."""
    source, elf = folder / "marked.c", folder / "marked.elf"
    source.write_text(text)
    command = [ARM.compiler, "-O2", "-nostdlib", *ARM.flags, "-Wl,-e,start"]
    subprocess.run([*command, str(source), "-o", str(elf)], check=True)
    return elf


def test_marks_of_a_firmware_are_places_and_cost_nothing(tmp_path: Path) -> None:
    """The macro of docs/how-to/count-a-function.md."""
    elf = marked(tmp_path, MARKED)
    run = counted(elf, ARM, *spans("filter_begins..filter_ends"))[""]["run"]
    values = samples(run, "filter_begins..filter_ends")["call"]
    assert len(values) == 9 and len({*values}) == 1
    plain = re.sub(r"(?<=    )COUNT_MARK\(.*?\)", '__asm__ volatile("" ::: "memory")', MARKED)
    with_marks = Elf(elf).sizes
    assert Elf(marked(tmp_path, plain)).sizes == with_marks


@pytest.mark.parametrize(
    ("arguments", "why", "remedy"),
    [
        (("--from", "six"), "--from: 1 places, and --to: 0", "Each span has both"),
        (spans("six..six"), "ends where it begins", "--function"),
        (spans("six..six+0x400"), "six has 8 bytes", "objdump"),
        (spans("six..nowhere"), "--to nowhere: no such function", ""),
        (spans("0x20000000..six"), "has no code there", "Its code"),
        ((), "nothing to count", "--from and --to"),
    ],
)
def test_a_place_that_is_none_is_refused(
    arguments: Sequence[str], why: str, remedy: str, tmp_path: Path
) -> None:
    error = count(assemble(ARM, tmp_path), ARM, *arguments).exception
    assert isinstance(error, UsageError) and why in error.message
    assert remedy in error.remedy
