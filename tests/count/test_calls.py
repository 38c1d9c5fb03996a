# SPDX-License-Identifier: Apache-2.0
"""`kadenz count`: each call has the instructions that were counted by hand."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from kadenz.cli import cli
from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.errors import EXIT_PASS, EXIT_REGRESSION
from kadenz.images.image import build_image

from .firmware import (
    ARM,
    CORTEX_M0,
    HERE,
    RISCV,
    Machine,
    assemble,
    count,
    counted,
    functions,
    samples,
    with_plan,
)

pytestmark = pytest.mark.counted

# Counted by hand in the comments of programs/calls.*.S, in the order of the returns.
BY_HAND = {
    "arm": {
        "six": [6, 6, 6],
        "down": [4, 10, 16, 22, 28],
        "tail": [8],
        "raises": [4],
        "svc": [2],
        "saves": [17],
        "grows": [9],
    },
    "riscv": {
        "six": [7, 7, 7],
        "down": [6, 14, 22, 30, 38],
        "tail": [9],
        "raises": [6],
        "handler": [7],
        "saves": [14],
    },
}
HANDLER = {"arm": 2, "riscv": 7}
both = pytest.mark.parametrize("machine", [ARM, RISCV], ids=["arm", "riscv"])
each = pytest.mark.parametrize("machine", [ARM, CORTEX_M0, RISCV], ids=["m4", "m0", "riscv"])


def digests(folder: str) -> dict[str, str]:
    """Of the files of samples."""
    files = sorted((Path(folder) / "samples").iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@each
def test_calls_have_the_instructions_counted_by_hand(machine: Machine, tmp_path: Path) -> None:
    by_hand = BY_HAND[machine.suffix]
    run = counted(assemble(machine, tmp_path), machine, *functions(*by_hand))[""]["run"]
    assert {name: samples(run, name)["call"] for name in by_hand} == by_hand


@each
def test_instructions_of_a_handler_are_apart(machine: Machine, tmp_path: Path) -> None:
    rows = counted(assemble(machine, tmp_path), machine, *functions("raises", "six"))
    lanes = samples(rows[""]["run"], "raises")
    assert lanes["call:handlers"] == [HANDLER[machine.suffix]]
    assert lanes["call:threads"] == [0]
    assert (rows["raises"]["interrupted"], rows["six"]["interrupted"]) == (1, 0)


@each
def test_a_function_alone_has_the_same_samples(machine: Machine, tmp_path: Path) -> None:
    """What is followed beside it changes nothing."""
    elf, by_hand = assemble(machine, tmp_path), BY_HAND[machine.suffix]
    for name in by_hand:
        run = counted(elf, machine, *functions(name))[""]["run"]
        assert samples(run, name)["call"] == by_hand[name], name


def test_a_handler_behind_a_table_of_vectors_has_its_instructions(tmp_path: Path) -> None:
    """Alone, its entry is reached by a jump that nobody followed."""
    elf = assemble(RISCV, tmp_path, defines=["VECTORED=1"])
    for names in (("handler",), ("handler", "raises")):
        run = counted(elf, RISCV, *functions(*names))[""]["run"]
        assert samples(run, "handler")["call"] == [7]
    assert samples(run, "raises") == {
        "call": [6],
        "call:handlers": [1 + 7],
        "call:threads": [0],
    }


@each
def test_a_call_that_a_longjmp_leaves_is_named(machine: Machine, tmp_path: Path) -> None:
    answer = count(assemble(machine, tmp_path), machine, *functions("saves", "jumps"))
    assert "jumps: of 1 calls, 1 left without a return (longjmp" in answer.stderr
    assert "count/jumps: failed: no call returned, of 1" in answer.stderr
    (row,) = [line.split() for line in answer.stdout.splitlines() if line.startswith("jumps")]
    assert row[:6] == ["jumps", "0", "–", "–", "–", "1"]
    assert answer.return_value == 1


def test_a_longjmp_of_the_c_library_leaves_the_inner_call_alone(tmp_path: Path) -> None:
    elf = tmp_path / "firmware.elf"
    memory = {"flash": 0x08000000, "flash_size": 0x100000, "ram": 0x20000000, "ram_size": 0x20000}
    command = [ARM.compiler, "-O2", "-mcpu=cortex-m4", "-mthumb", "--specs=picolibc.specs"]
    command += ["--crt0=semihost", "--oslib=semihost"]
    command += [f"-Wl,--defsym=__{name}={value:#x}" for name, value in memory.items()]
    command += [str(HERE / "programs" / "longjmp.c"), "-o", str(elf)]
    subprocess.run(command, check=True)
    rows = counted(elf, ARM, *functions("guarded", "inner", "setjmp"))
    calls = {name: (rows[name]["calls"], rows[name]["without_return"]) for name in rows if name}
    assert calls == {"guarded": (20, 0), "inner": (19, 1), "setjmp": (20, 0)}
    # Both have the loops of memset inside; the call that was left is in that of its caller.
    guarded, inner = (samples(rows[""]["run"], name)["call"] for name in ("guarded", "inner"))
    around = {outer - within for outer, within in zip(guarded[:7], inner[:7], strict=True)}
    assert len(around) == 1


@both
def test_two_executions_give_the_same_bytes(machine: Machine, tmp_path: Path) -> None:
    elf = assemble(machine, tmp_path)
    runs = [counted(elf, machine, *functions("*"), "--fresh")[""]["run"] for _ in range(2)]
    first, second = map(digests, runs)
    assert first == second


@both
def test_seven_instructions_more_make_a_gate_red(machine: Machine, tmp_path: Path) -> None:
    sides = []
    for name, defines in (("before", []), ("after", ["MORE=7"])):
        (tmp_path / name).mkdir()
        elf = assemble(machine, tmp_path / name, defines=defines)
        sides.append(counted(elf, machine, *functions("six", "down"))[""]["run"])
    before, after = sides
    assert samples(after, "six")["call"] == [n + 7 for n in samples(before, "six")["call"]]
    arguments = ("--max-worse", "1%", "--statistic", "median", "--statistic", "max")
    red = CliRunner().invoke(
        cli, ["gate", after, "--against", before, *arguments], standalone_mode=False
    )
    green = CliRunner().invoke(
        cli, ["gate", before, "--against", after, *arguments], standalone_mode=False
    )
    assert (red.return_value, green.return_value) == (EXIT_REGRESSION, EXIT_PASS)


def test_what_another_thread_executes_is_apart(tmp_path: Path) -> None:
    """Two threads exchange their stacks in the middle of calls, and one is interrupted."""
    elf = assemble(RISCV, tmp_path, "threads")
    run = counted(elf, RISCV, *functions("first", "raises", "give_way", "handler"))[""]["run"]
    lanes = samples(run, "first")
    assert lanes["call"] == [21]
    assert lanes["call:handlers"] == [2 * 7]
    # The loop, two calls of raises, and those of give_way; the first one begins the thread.
    assert lanes["call:threads"] == [(1 + 2 * 100) + 2 * (1 + 6) + 2 * (1 + 7)]
    assert samples(run, "raises")["call"] == [6, 6]
    assert samples(run, "give_way")["call"] == [7, 7, 7]


@both
def test_an_image_of_freertos_is_counted_as_it_is(machine: Machine, tmp_path: Path) -> None:
    """The suite's own image, which has no marks: one message to a thread that waits and one back
    for each sample. Arm switches in PendSV, RISC-V in a trap by `ecall`."""
    image = build_image(parse_target(f"freertos/{machine.board}@emulated"), "counter").elf.path
    tier = inventory.board(machine.board).tier.emulated
    assert tier is not None
    plan = "itc/queue id=10 samples=50\nend\n"
    elf = with_plan(image, tmp_path / "firmware.elf", tier.plan_address, plan)
    rows = counted(elf, machine, *functions("xQueueGenericSend"))
    lanes = samples(rows[""]["run"], "xQueueGenericSend")
    assert rows["xQueueGenericSend"]["calls"] == len(lanes["call"]) > 100
    # Half of them wake a thread that is more urgent: a switch, and what that thread does.
    woke = [i for i, threads in enumerate(lanes["call:threads"]) if threads]
    assert len(woke) == 50
    assert all(lanes["call:handlers"][i] for i in woke)
    assert max(lanes["call"]) < 300 < min(lanes["call:threads"][i] for i in woke)


def test_a_handler_of_an_interrupt_is_a_function_too(tmp_path: Path) -> None:
    image = build_image(parse_target("freertos/stm32f4@emulated"), "counter").elf.path
    tier = inventory.board("stm32f4").tier.emulated
    assert tier is not None
    plan = "itc/queue id=10 samples=50\nend\n"
    elf = with_plan(image, tmp_path / "firmware.elf", tier.plan_address, plan)
    rows = counted(elf, ARM, *functions("PendSV_Handler", "vTaskSwitchContext", "SysTick_Handler"))
    assert rows["PendSV_Handler"]["calls"] == rows["vTaskSwitchContext"]["calls"] > 200
    assert rows["SysTick_Handler"]["min"] == 34  # docs/explanation/scope.md
    assert all(rows[name]["without_return"] == 0 for name in rows if name)
