# SPDX-License-Identifier: Apache-2.0
"""`kadenz count` on simulated cores: each call has the cycles that the core took for it."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.counting.firmware import Firmware, executed, firmware
from kadenz.counting.functions import Functions
from kadenz.elf import Elf
from kadenz.errors import TargetFailed, ToolMissing, UsageError
from kadenz.images.image import build_image
from kadenz.store import read_run
from kadenz.targets import rtl_core
from kadenz.targets.calls import Calls
from kadenz.targets.firmware import Watching
from kadenz.targets.rtl import machine_arguments
from tests.rtl.test_arrivals import processes_with

from .firmware import (
    ARM,
    IBEX,
    RISCV,
    VEXRISCV,
    Machine,
    assemble,
    count,
    counted,
    functions,
    samples,
    with_plan,
)

pytestmark = pytest.mark.counted
both = pytest.mark.parametrize("machine", [IBEX, VEXRISCV], ids=["ibex", "vexriscv"])
UART = {"ibex@rtl": "UART=0x10000000", "vexriscv@rtl": "UART=0xf0000000"}
NAMES = {
    "calls": ("six", "down", "tail", "raises", "handler", "saves", "jumps"),
    "threads": ("first", "give_way", "raises", "handler"),
    "ecalls": ("asks_later", "asks", "on_trap"),  # on VexRiscv, an `ecall` does not retire
}

# By the Ibex manual, chapter "Pipeline Details": a load, a store and a jump take 2 cycles, a branch
# that is taken 3, all others here 1. programs/calls.riscv.S, in the order of the returns.
IBEX_BY_HAND = {
    "six": [1 + (1 + 3) + (1 + 1) + 1 + 2] * 3,
    "down": [11 + 12 * depth for depth in range(5)],  # 1 2 3 2 1 2, and 1 2 1 1 2 | 2 1 2
    "tail": [1 + 2 + 10],
    "raises": [1 + 1 + 2 + 10 + 2 + 2],  # behind mret, its next instruction is fetched again: 2
    "handler": [1 + 2 + 1 + 2 + 2 + 1 + 1],
    "saves": [1 + 2 + 2 + 1 + 1 + 2 + 2 + (1 + 2 + 2 + 2) + 2 + 1 + 2],
}


def test_calls_on_ibex_have_the_cycles_counted_by_hand(tmp_path: Path) -> None:
    rows = counted(assemble(IBEX, tmp_path), IBEX, *functions(*IBEX_BY_HAND))
    run = rows[""]["run"]
    assert {name: samples(run, name)["call"] for name in IBEX_BY_HAND} == IBEX_BY_HAND
    # The way into the handler: the instruction that it displaces, two to fetch, and the table.
    assert samples(run, "raises")["call:handlers"] == [3 + 2 + 10]
    manifest = read_run(Path(run)).manifest
    assert (manifest.target.name, manifest.clock.clock_class) == ("ibex@rtl", "cycle-exact")
    assert (manifest.clock.unit, manifest.clock.hz) == ("cycle", 100_000_000)


@both
@pytest.mark.parametrize("program", NAMES)
def test_calls_are_those_of_the_emulator(machine: Machine, program: str, tmp_path: Path) -> None:
    """Beside the cycles: how many there are, which are interrupted, which do not return."""
    names, facts = NAMES[program], []
    for place, where in (("emulated", IBEX), ("rtl", machine)):
        (tmp_path / place).mkdir()
        elf = assemble(where, tmp_path / place, program)
        board = Machine(where.suffix, where.board.replace("rtl", place), "", ())
        rows = counted(elf, board if place == "emulated" else where, *functions(*names))
        kinds = ("calls", "interrupted", "without_return")
        facts.append({name: [rows[name][kind] for kind in kinds] for name in names})
        run = rows[""]["run"]
    assert facts[0] == facts[1]
    if program == "threads":
        threads = samples(run, "first")["call:threads"]
        assert threads[0] > 300  # a loop of two instructions, a hundred times


@both
def test_calls_have_the_cycles_that_the_core_counts(machine: Machine, tmp_path: Path) -> None:
    """Between two readings of mcycle there are also a jump and a reading: always as long."""
    elf = assemble(machine, tmp_path, "timing", [UART[machine.board]])
    run = Path(counted(elf, machine, *functions("leaf"))[""]["run"])
    calls = samples(run, "leaf")["call"][0::2]
    read = [ord(letter) - 32 for letter in (run / "console.txt").read_text().strip()]
    assert len(calls) == len(read) == 8
    around = {between - call for call, between in zip(calls, read, strict=True)}
    assert around == {3 if machine is IBEX else 6}
    assert len({*calls}) > 1
    if machine is IBEX:
        first, last = 1 + 2 + 1 + 3 + 2 + 2 + 2 + 2 + 1, 2 + 1 + 2
        assert calls == [first + 3 + last, first + 1 + 37 + last] * 4


@both
def test_a_span_has_the_cycles_between_two_marks(machine: Machine, tmp_path: Path) -> None:
    """A mark's cycle is that of its store; behind the stores begin the span and its end."""
    elf = Elf(assemble(machine, tmp_path, "timing", [UART[machine.board]]))
    place = Functions(elf).address
    begin, end = place("behind_mark", "--from"), place("behind_end", "--to")
    mark = next(section.address for section in elf.sections if section.name == ".bss")
    (tmp_path / "functions").write_text(f"{begin:x} 0 {end:x}\n")
    tier = inventory.board(machine.board.partition("@")[0]).tier.rtl
    assert tier is not None
    command = [str(rtl_core.build(tier.core).program), *machine_arguments(tier, {})]
    command += ["--elf", str(elf.path), "--watch", hex(mark), "--trace", "trace"]
    command += ["--calls", "calls", "--functions", "functions", "--cycle-limit", "100000"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    spans = np.concatenate([block.instructions for block in Calls(tmp_path / "calls").blocks()])
    trace = (tmp_path / "trace").read_bytes()
    bytes_of_event = int.from_bytes(trace[16:20], "little")
    events = np.frombuffer(trace[32:], np.uint8).reshape(-1, bytes_of_event)[:-1, :8]
    cycles = np.ascontiguousarray(events).view("<u8").ravel()
    assert spans.tolist() == (cycles[1::2] - cycles[0::2]).tolist()


@both
def test_a_call_is_what_it_calls_and_the_rest(machine: Machine, tmp_path: Path) -> None:
    ways = ["tail..six", "saves..jumps", "jumps..saves+0x1a", "saves+0x1a.._start+0x40"]
    spans = [word for way in ways for word in zip(("--from", "--to"), way.split(".."), strict=True)]
    arguments = [*functions("tail", "six", "saves"), *(word for pair in spans for word in pair)]
    run = counted(assemble(machine, tmp_path), machine, *arguments)[""]["run"]
    (tail,), (saves,) = samples(run, "tail")["call"], samples(run, "saves")["call"]
    (before,), *parts = (samples(run, way)["call"] for way in ways)
    assert tail == before + samples(run, "six")["call"][-1]
    assert saves == sum(cycles for (cycles,) in parts)


@both
def test_two_executions_give_the_same_bytes(machine: Machine, tmp_path: Path) -> None:
    elf, digests = assemble(machine, tmp_path, "threads"), []
    for _ in range(2):
        rows = counted(elf, machine, *functions("*"), "--fresh")
        folder = Path(rows[""]["run"]) / "samples"
        files = sorted(folder.iterdir())
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    assert digests[0] == digests[1]


@both
def test_an_image_of_freertos_is_counted_as_it_is(machine: Machine, tmp_path: Path) -> None:
    image = build_image(parse_target(f"freertos/{machine.board}"), "counter").elf.path
    tier = inventory.board(machine.board.partition("@")[0]).tier.rtl
    assert tier is not None
    plan = "itc/queue id=10 samples=50\nend\n"
    elf = with_plan(image, tmp_path / "firmware.elf", tier.plan_address, plan)
    rows = counted(elf, machine, *functions("xQueueGenericSend", "vTaskSwitchContext"))
    lanes = samples(rows[""]["run"], "xQueueGenericSend")
    woke = [i for i, threads in enumerate(lanes["call:threads"]) if threads]
    assert (rows["xQueueGenericSend"]["calls"], len(woke)) == (101, 50)
    assert all(lanes["call:handlers"][i] for i in woke)
    assert rows["vTaskSwitchContext"]["calls"] == 253
    assert max(lanes["call"]) < 600 < min(lanes["call:threads"][i] for i in woke)


@pytest.mark.parametrize(
    ("defines", "arguments", "ended"),
    [
        ([], ("--until", "tail"), "reached tail"),
        (["SPINS=1"], ("--limit", "0.001"), "the limit of 0.001 s of virtual time"),
        (["SLEEPS=1"], (), "the core executes nothing more"),
    ],
)
@both
def test_how_a_core_ends(
    machine: Machine, defines: list[str], arguments: tuple[str, ...], ended: str, tmp_path: Path
) -> None:
    elf = assemble(machine, tmp_path, defines=defines)
    rows = counted(elf, machine, *functions("six"), *arguments)
    assert rows[""]["ended"].startswith(ended)
    assert rows["six"]["calls"] == (2 if "--until" in arguments else 3)


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("STATUS=3", "the firmware ended with exit status 3"),
        ("FAULTS=1", "the firmware faulted (illegal instruction) and was still in dead at the lim"),
    ],
)
@both
def test_a_firmware_that_fails_fails_the_count(
    machine: Machine, define: str, message: str, tmp_path: Path
) -> None:
    elf = assemble(machine, tmp_path, defines=[define])
    error = count(elf, machine, *functions("six"), "--limit", "0.001").exception
    assert isinstance(error, TargetFailed) and message in error.message


def test_a_text_on_the_console_ends_it_at_its_last_byte(tmp_path: Path) -> None:
    elf = assemble(IBEX, tmp_path, "timing", [UART[IBEX.board]])
    text = "".join(chr(32 + cycles) for cycles in (27, 62, 27))
    rows = counted(elf, IBEX, *functions("leaf"), "--until-text", text)
    assert rows[""]["ended"] == f"printed {text!r}"
    assert rows["leaf"]["calls"] == 5
    error = count(elf, IBEX, *functions("leaf"), "--until-text", "zz").exception
    assert isinstance(error, TargetFailed)
    assert error.message == "'zz' was not printed: by itself, with exit status 0"


NAPS = """
    .ifndef MSIP
    .equ MSIP, 0x02000000
    .endif
    .section .text.start, "ax"
    .globl _start
_start:
    li   t0, 0x80                   /* mie.MTIE; mstatus.MIE stays off: no trap */
    csrw mie, t0
    li   t1, MSIP + 0x4000          /* mtimecmp: after 1,000 cycles */
    li   t0, 100
    sw   t0, 0(t1)
    sw   zero, 4(t1)
    csrr s0, mcycle
nap:
    wfi
awake:
    csrr s1, mcycle
    li   t0, FINISHER
    li   t1, 0x5555
done:
    sw   t1, 0(t0)
1:  j    1b
"""


@both
def test_a_sleep_belongs_to_its_wfi(machine: Machine, tmp_path: Path) -> None:
    """Time is skipped in it, too."""
    (tmp_path / "naps.S").write_text(NAPS)
    elf = assemble(machine, tmp_path, str(tmp_path / "naps.S"))
    ways = ("--from", "nap", "--to", "awake", "--from", "awake", "--to", "done")
    run = counted(elf, machine, *ways)[""]["run"]
    (asleep,), (awake,) = (samples(run, way)["call"] for way in ("nap..awake", "awake..done"))
    assert 700 < asleep < 1000 and awake < 40


LOOPS = """
    .section .text.start, "ax"
    .globl _start
_start:
    jal  leaf
    j    _start
    .type leaf, @function
leaf:
    ret
    .size leaf, . - leaf
"""


def looping(folder: Path) -> tuple[Firmware, Watching]:
    """A firmware that calls a function without end."""
    (folder / "loops.S").write_text(LOOPS)
    image = firmware(assemble(VEXRISCV, folder, str(folder / "loops.S")), VEXRISCV.board)
    return image, Watching([(Functions(image.elf).address("leaf", "--function"), 2, 0)], 1e4)


def test_who_stops_it_keeps_what_was_counted(tmp_path: Path) -> None:
    """As Ctrl-C does."""
    image, watching = looping(tmp_path)
    stop = threading.Event()

    def progress(calls: int) -> None:
        if calls > 1000:
            stop.set()

    with executed(image, watching, stop, progress) as execution:
        assert (execution.stopped, execution.problem) == (True, "")
        assert execution.calls.end is not None
        assert execution.calls.tallies[0].returned > 1000


def test_a_core_that_is_killed_is_named_and_keeps_its_calls(tmp_path: Path) -> None:
    image, watching = looping(tmp_path)

    def progress(calls: int) -> None:
        for child in processes_with("--functions") if calls > 1000 else ():
            os.kill(child, signal.SIGKILL)

    with executed(image, watching, threading.Event(), progress) as execution:
        assert execution.problem.startswith("the simulator died: ")
        assert "ended by signal 9" in execution.problem
        assert sum(block.instructions.size for block in execution.calls.blocks()) > 1000


@pytest.mark.parametrize(
    ("board", "why", "remedy"),
    [
        ("ibex2", "it has 2 cores, and a thread may go on another one", "ibex@rtl"),
        ("vexriscv-cluster@rtl", "it has 2 cores", "ibex@rtl"),
        ("stm32f4@rtl", "stm32f4 has no tier `rtl` on which calls are counted", "stm32f4@emulated"),
        ("ibex@board", "ibex has no tier `board` on which calls are counted", "ibex@"),
        ("nrf52840-dk", "no emulator of kadenz has this board", "vexriscv"),
    ],
)
def test_a_board_that_cannot_be_counted_is_refused(
    board: str, why: str, remedy: str, tmp_path: Path
) -> None:
    elf = assemble(IBEX, tmp_path)
    with pytest.raises(UsageError) as refusal:
        firmware(elf, board)
    assert why in refusal.value.message
    assert remedy in refusal.value.remedy


@pytest.mark.parametrize(
    ("built", "why"),
    [
        (ARM, "built for EM_ARM, 32 bits; ibex is EM_RISCV"),
        (RISCV, "are outside the memory of ibex"),
        (Machine("riscv", "", IBEX.compiler, (*IBEX.flags, "-march=rv32imac_zicsr")), "has no `a`"),
        (Machine("riscv", "", IBEX.compiler, (*IBEX.flags, "-Wl,-Ttext=0x80000100")), "begins at"),
        (VEXRISCV, "are outside the memory of ibex"),
    ],
    ids=["arm", "hifive1", "atomics", "entry", "vexriscv"],
)
def test_an_image_for_another_core_is_refused(built: Machine, why: str, tmp_path: Path) -> None:
    error = count(assemble(built, tmp_path), IBEX, *functions("six")).exception
    assert isinstance(error, UsageError) and why in error.message


def test_a_core_that_cannot_be_built_has_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elf = assemble(IBEX, tmp_path)
    monkeypatch.setattr(rtl_core, "_VERILATOR_VERSION", "9.9")
    error = count(elf, IBEX, *functions("six")).exception
    assert isinstance(error, ToolMissing)
    assert "kadenz[rtl]" in error.remedy
