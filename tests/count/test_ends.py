# SPDX-License-Identifier: Apache-2.0
"""How a counted firmware ends, and what a mistake is answered with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kadenz.counting.firmware import executed, firmware
from kadenz.counting.functions import Functions
from kadenz.errors import KadenzError, TargetFailed, UsageError
from kadenz.store import read_run
from kadenz.targets.firmware import Watching
from tests.rtl.test_arrivals import processes_with

from .firmware import ARM, RISCV, assemble, count, counted, functions, samples

pytestmark = pytest.mark.counted


def refused(arguments: tuple[str, ...], elf: Path) -> KadenzError:
    """The error of a call."""
    answer = count(elf, ARM, *arguments)
    assert isinstance(answer.exception, KadenzError), answer.output
    return answer.exception


def test_a_firmware_ends_at_a_symbol(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path)
    rows = counted(elf, ARM, *functions("six", "down"), "--until", "tail")
    assert rows[""]["ended"] == "reached tail"
    assert rows["six"]["calls"] == 2


def test_a_limit_of_virtual_time_ends_one_that_goes_on(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path, defines=["SPINS=1"])
    answer = count(elf, ARM, *functions("six"), "--limit", "0.001", "--json")
    assert answer.return_value == 0
    data = json.loads(answer.stdout)
    assert data["ended"] == "the limit of 0.001 s of virtual time"
    assert data["functions"][0]["calls"] == 3


def test_a_firmware_that_sleeps_for_good_is_ended(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path, defines=["SLEEPS=1"])
    rows = counted(elf, ARM, *functions("six"))
    assert rows[""]["ended"].startswith("the core executes nothing more")
    assert rows["six"]["calls"] == 3


def test_a_symbol_that_is_not_reached_fails_the_count(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path)
    error = refused((*functions("six"), "--until", "hang"), elf)
    assert isinstance(error, TargetFailed)
    assert error.message == "hang was not reached: by itself, with exit status 0"


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("STATUS=3", "the firmware ended with exit status 3"),
        ("FAULTS=1", "the firmware faulted (HardFault) and was still in fault at the limit of"),
    ],
)
def test_a_firmware_that_fails_fails_the_count(define: str, message: str, tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path, defines=[define])
    error = refused((*functions("six"), "--limit", "0.001"), elf)
    assert isinstance(error, TargetFailed)
    assert message in error.message
    (run,) = (tmp_path / "runs").iterdir()
    assert samples(run, "six")["call"] == [6, 6, 6]
    assert read_run(run).manifest.records[0].status == "failed"


PRINTS = """
    .section .text.start, "ax"
    .globl _start
_start:
    la   sp, 0x80001000
    li   s0, 0x10013000             /* UART0 */
    li   t0, 1
    sw   t0, 8(s0)                  /* txctrl.txen */
    li   s1, 'a'
1:  jal  print
    addi s1, s1, 1
    li   t0, 'z'
    ble  s1, t0, 1b
1:  j    1b
    .type print, @function
print:
    lw   t0, 0(s0)
    bltz t0, print
    sw   s1, 0(s0)
    li   t0, 5000
1:  addi t0, t0, -1
    bnez t0, 1b
    ret
    .size print, . - print
"""


def test_a_text_on_the_console_ends_it_at_the_same_call(tmp_path: Path) -> None:
    source = tmp_path / "prints.S"
    source.write_text(PRINTS)
    elf = assemble(RISCV, tmp_path, str(source))
    arguments = (*functions("print"), "--until-text", "def")
    first, second = (counted(elf, RISCV, *arguments) for _ in range(2))
    assert first[""]["ended"] == "printed 'def'"
    assert first["print"]["calls"] == 5  # and the one that has printed `f`
    assert first["print"] == second["print"]
    console = (Path(first[""]["run"]) / "console.txt").read_text()
    assert console.startswith("abcdef")
    error = count(elf, RISCV, *functions("print"), "--until-text", "zz", "--limit", "0.01")
    assert isinstance(error.exception, TargetFailed)
    assert error.exception.message.startswith("'zz' was not printed: the limit of 0.01 s")
    assert error.exception.detail.startswith("abcdef")


LOOPS = """
    .syntax unified
    .cpu cortex-m4
    .thumb
    .section .vectors, "a"
    .word 0x20010000
    .word _start + 1
    .section .text.start, "ax"
    .globl _start
    .type _start, %function
_start:
    ldr  r4, =1000000
1:  bl   leaf
    subs r4, #1
    bne  1b
    .type end, %function
end:
    b    end
    .type leaf, %function
leaf:
    lsls r0, r4, #31
    it   mi
    addmi r1, #1
    bx   lr
    .size leaf, . - leaf
    .pool
"""


def test_a_million_calls_are_whole(tmp_path: Path) -> None:
    source = tmp_path / "loops.S"
    source.write_text(LOOPS)
    elf = assemble(ARM, tmp_path, str(source))
    rows = counted(elf, ARM, *functions("leaf"), "--until", "end")
    assert (rows["leaf"]["calls"], rows["leaf"]["min"], rows["leaf"]["max"]) == (1_000_000, 4, 4)


def test_who_stops_it_keeps_what_was_counted(tmp_path: Path) -> None:
    """As Ctrl-C does: the call that is executed then is no sample."""
    source = tmp_path / "loops.S"
    source.write_text(LOOPS.replace("1000000", "0x70000000"))
    image = firmware(assemble(ARM, tmp_path, str(source)), "stm32f4")
    address = Functions(image.elf).address("leaf", "--function")
    stop = threading.Event()

    def progress(calls: int) -> None:
        if calls > 1000:
            stop.set()

    with executed(image, Watching([(address, 8, 0)], 100.0), stop, progress) as execution:
        tally = execution.calls.tallies[0]
        assert execution.stopped
        assert execution.problem == ""
        assert tally.returned > 1000
        assert sum(block.instructions.size for block in execution.calls.blocks()) == tally.returned


def test_an_emulator_that_is_killed_is_named_and_keeps_its_calls(tmp_path: Path) -> None:
    source = tmp_path / "loops.S"
    source.write_text(LOOPS.replace("1000000", "0x70000000"))
    image = firmware(assemble(ARM, tmp_path, str(source)), "stm32f4")
    address = Functions(image.elf).address("leaf", "--function")

    def progress(calls: int) -> None:
        for child in processes_with(",calls=") if calls > 1000 else ():
            os.kill(child, signal.SIGKILL)

    watching = Watching([(address, 8, 0)], 100.0)
    with executed(image, watching, threading.Event(), progress) as execution:
        assert execution.ended == execution.problem
        assert execution.problem.startswith("the emulator died: ")
        assert "ended by signal 9" in execution.problem
        assert sum(block.instructions.size for block in execution.calls.blocks()) > 1000


def test_ctrl_c_leaves_a_partial_run(tmp_path: Path) -> None:
    """A signal that comes before the end; the emulator is ended, and its calls are recorded."""
    source = tmp_path / "loops.S"
    source.write_text(LOOPS.replace("1000000", "0x70000000"))
    elf = assemble(ARM, tmp_path, str(source))
    code = (
        "import os, signal, sys\n"
        "from kadenz.counting import firmware\n"
        "from kadenz.targets.firmware import FirmwareTarget\n"
        "read, sent = FirmwareTarget.read, []\n"
        "def reading(self, seconds):\n"
        "    if self.calls_so_far > 1000 and not sent:\n"
        "        sent.append(1)\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return read(self, seconds)\n"
        "FirmwareTarget.read = reading\n"
        "from kadenz.cli import main\n"
        f"sys.argv = ['kadenz', 'count', {str(elf)!r}, '--board', 'stm32f4', '--function', "
        f"'leaf', '--output', {str(tmp_path / 'runs')!r}]\n"
        "main()\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 1, answer.stderr
    (run,) = (tmp_path / "runs").iterdir()
    manifest = read_run(run).manifest
    assert (manifest.partial, manifest.partial_reason) == (True, "interrupted (Ctrl-C)")
    assert set(samples(run, "leaf")["call"]) == {4}


def test_a_function_that_is_never_called_fails_if_it_was_named(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path)
    answer = count(elf, ARM, *functions("hang", "six"))
    assert answer.return_value == 1
    assert "count/hang: failed: never called; ended: by itself" in answer.stderr
    answer = count(elf, ARM, *functions("h*", "six"))
    assert answer.return_value == 0
    assert "Never reached: hang." in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        (functions("sixx"), "--function sixx: no such function in", "Did you mean six?"),
        (functions("can_*"), "--function can_*: no such function in", "noinline"),
        (functions("0x8000102"), "not the begin of a function, but _start+0x2", "_start"),
        (functions("0x20000000"), "has no code there", "Its code: 0x8000"),
        (functions("0xsix"), "--function 0xsix: not an address", "0x08000200"),
        ([*functions("six"), "--until", "nowhere"], "--until nowhere: no such function", "nm"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_the_nearest(
    arguments: list[str], message: str, remedy: str, tmp_path: Path
) -> None:
    error = refused(tuple(arguments), assemble(ARM, tmp_path))
    assert isinstance(error, UsageError)
    assert message in error.message
    assert remedy in error.remedy


def test_two_functions_of_a_name_need_an_address(tmp_path: Path) -> None:
    source = tmp_path / "twice.S"
    text = LOOPS.replace("1000000", "9") + '    .type "piece.part.0", %function\n"piece.part.0":'
    source.write_text(f'{text}\n    bx lr\n    .size "piece.part.0", 2\n')
    other = tmp_path / "other.S"
    other.write_text(".thumb\n.type leaf, %function\nleaf: nop\n bx lr\n.size leaf, 4\n")
    elf = tmp_path / "firmware.elf"
    command = [ARM.compiler, "-nostdlib", *ARM.flags, str(source), str(other), "-o", str(elf)]
    subprocess.run(command, check=True)
    error = refused(tuple(functions("leaf")), elf)
    assert "has 2 functions of this name, at 0x0800" in error.message
    address = error.remedy.split()[-1]
    rows = counted(elf, ARM, *functions(address), "--until", "end")
    assert rows[f"leaf@{address}"]["calls"] == 9
    error = refused(tuple(functions("piece")), elf)
    assert "has only pieces of it: piece.part.0" in error.message
    assert "inlined into its callers" in error.remedy


def test_a_stripped_image_takes_addresses(tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path)
    address = f"{Functions(firmware(elf, 'stm32f4').elf).address('six', '--function'):#x}"
    subprocess.run(["arm-none-eabi-strip", str(elf)], check=True)
    error = refused(tuple(functions("six")), elf)
    assert "has no symbols: it is stripped" in error.message
    rows = counted(elf, ARM, *functions(address))
    assert rows[f"{int(address, 16):#010x}"]["calls"] == 3


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("hifive1-revb", "built for EM_ARM, 32 bits; hifive1-revb is EM_RISCV, 32 bits"),
        ("nrf52840-dk", "--board nrf52840-dk: no emulator of kadenz has this board"),
        ("mps2-an386", "are outside the memory of mps2-an386"),
        ("stm32", "stm32"),
    ],
)
def test_an_image_for_another_board_is_refused(board: str, message: str, tmp_path: Path) -> None:
    elf = assemble(ARM, tmp_path)
    with pytest.raises(UsageError) as refusal:
        firmware(elf, board)
    assert message in refusal.value.message


def test_a_file_that_is_no_firmware_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "firmware.elf"
    text.write_text("firmware")
    assert "not an ELF file" in refused(tuple(functions("six")), text).message
    assert "no such file" in refused(tuple(functions("six")), tmp_path / "none.elf").message
    assert "not a firmware" in refused(tuple(functions("six")), Path("/bin/true")).message
