# SPDX-License-Identifier: Apache-2.0
"""`kadenz count --from main.c:12 --to main.c:20`: places by line of a source."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.counting.functions import Functions
from kadenz.elf import Elf
from kadenz.errors import UsageError

from .firmware import ARM, RISCV, Machine, count, counted, functions, samples

pytestmark = pytest.mark.counted
both = pytest.mark.parametrize("machine", [ARM, RISCV], ids=["m4", "riscv"])

MAIN = """
#include "step.h"
volatile int level; int *stack_end;

__attribute__((noinline)) int first(int value)
{
    level = value; /* first */
    return step(value); /* steps */
}

__attribute__((noinline)) int second(int value)
{
    level += value; /* second */
    level = step(level);
    return level; /* third */
}

int removed(int value)
{
    return level - value; /* removed */
}

void start(void)
{
    for (int i = 0; i < 9; i++) {
        first(i);
        second(i); /* loop */
    }
    for (;;) {
        level = 1;
    }
}
"""
STEP = """
static inline __attribute__((always_inline)) int step(int value)
{
    extern volatile int level;
    level = 3; /* inlined */
    return value + 1;
}
"""
START = {
    "arm": '__attribute__((section(".vectors"), used)) void *const vectors[] = {'
    "(void *)0x20004000, (void *)start};\n",
    "riscv": '__attribute__((section(".text.unlikely"), naked, used)) void _begin(void)'
    '{ __asm__("li sp, 0x80001000\\n j start"); }\n',
}


def build(machine: Machine, folder: Path, *options: str) -> Path:
    """The firmware of these sources, with debug information."""
    (folder / "step.h").write_text(STEP)
    (folder / "main.c").write_text(MAIN + START[machine.suffix])
    entry = "start" if machine is ARM else "_begin"
    command = [machine.compiler, "-O2", "-g", "-ffunction-sections", "-nostdlib", *machine.flags]
    command += ["-Wl,--gc-sections", f"-Wl,-e,{entry}", "-Wl,-u,vectors", *options]
    subprocess.run([*command, "main.c", "-o", "firmware.elf"], check=True, cwd=folder)
    return folder / "firmware.elf"


def line(text: str, source: str = MAIN) -> int:
    """The number of the line with a comment."""
    (number,) = (n for n, each in enumerate(source.split("\n"), 1) if f"/* {text} */" in each)
    return number


def refused(elf: Path, text: str) -> UsageError:
    """The error of a place."""
    with pytest.raises(UsageError) as refusal:
        Functions(Elf(elf)).address(text, "--from")
    return refusal.value


@both
def test_a_line_is_its_first_instruction(machine: Machine, tmp_path: Path) -> None:
    """That addr2line names with it, and no instruction before it in its function."""
    elf = build(machine, tmp_path)
    known = Functions(Elf(elf))
    tool = machine.compiler.replace("gcc", "addr2line")
    for text, name in (("first", "first"), ("second", "second"), ("third", "second")):
        number = line(text)
        at = known.address(f"main.c:{number}", "--from")
        begin = known.address(name, "--from")
        before = range(begin, at + 1, 2)
        command = [tool, "-e", str(elf), *map(hex, before)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        named = listed.stdout.splitlines()
        assert [f"main.c:{number}" in each for each in named].index(True) == len(before) - 1


@both
def test_a_span_between_lines_is_counted(machine: Machine, tmp_path: Path) -> None:
    elf = build(machine, tmp_path)
    begin, end = (f"main.c:{line(text)}" for text in ("second", "third"))
    run = counted(elf, machine, "--from", begin, "--to", end, "--limit", "0.01")[""]["run"]
    values = samples(run, f"{begin}..{end}")["call"]
    assert len(values) == 9 and len({*values}) == 1 and values[0] > 3
    whole = counted(elf, machine, *functions("second"), "--limit", "0.01")[""]["run"]
    assert values[0] < samples(whole, "second")["call"][0]


@both
def test_a_line_that_is_inlined_twice_is_refused_with_its_addresses(
    machine: Machine, tmp_path: Path
) -> None:
    elf = build(machine, tmp_path)
    error = refused(elf, f"step.h:{line('inlined', STEP)}")
    assert "in the code 2 times" in error.message
    assert "(first+0x" in error.message and "(second+0x" in error.message
    address = int(error.remedy.split()[-1], 16)
    assert Functions(Elf(elf)).address(hex(address), "--from") == address


@both
def test_a_line_that_the_linker_removed_has_no_code(machine: Machine, tmp_path: Path) -> None:
    error = refused(build(machine, tmp_path), f"main.c:{line('removed')}")
    assert "no instruction of" in error.message
    assert f"next to it: {line('third')} and " in error.remedy


def test_mistakes_are_answered_with_the_nearest(tmp_path: Path) -> None:
    elf = build(ARM, tmp_path)
    error = refused(elf, "man.c:7")
    assert "has no source called man.c" in error.message and "main.c" in error.remedy
    assert "no instruction of" in refused(elf, "main.c:99999").message
    plain = build(ARM, tmp_path, "-g0")
    assert "has no lines of sources" in refused(plain, "main.c:7").message
    answer = count(plain, ARM, "--from", "main.c:7", "--to", "main.c:8")
    assert isinstance(answer.exception, UsageError) and "-g" in answer.exception.remedy


def test_two_sources_of_a_name_need_more_of_the_path(tmp_path: Path) -> None:
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "unit.c").write_text(f"int {name}(int a)\n{{\n    return 3 * a;\n}}\n")
    elf = build(ARM, tmp_path, "left/unit.c", "right/unit.c", "-Wl,-u,left", "-Wl,-u,right")
    error = refused(elf, "unit.c:3")
    assert "2 sources of" in error.message
    known = Functions(Elf(elf))
    assert known.address("left/unit.c:3", "--from") == known.address("left", "--from")
    assert known.address("right/unit.c:3", "--from") == known.address("right", "--from")
