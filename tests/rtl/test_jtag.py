# SPDX-License-Identifier: Apache-2.0
"""The JTAG port and the debug module of a simulated core, bit by bit: what OpenOCD does not try.

"RISC-V External Debug Support" 0.13.2 says what each access has to answer.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.targets import rtl_core

pytestmark = pytest.mark.counted
IDCODE, START = 0x10000001, 0x80000080
_IR, _DR = 5, 41
DATA0, DMCONTROL, DMSTATUS, ABSTRACTCS, COMMAND, AUTO = 0x04, 0x10, 0x11, 0x16, 0x17, 0x18
PROGBUF0, SBCS, SBADDRESS, SBDATA = 0x20, 0x38, 0x39, 0x3C
ACTIVE, NDMRESET, RESUME, HALT = 1, 1 << 1, 1 << 30, 1 << 31
HALT_AT_RESET, NO_HALT_AT_RESET = 1 << 3, 1 << 2
HALTED, RUNNING, HAVERESET = 1 << 8, 1 << 10, 1 << 18
TRANSFER, WRITE, EXECUTE, SIZE32 = 1 << 17, 1 << 16, 1 << 18, 2 << 20
S0, S1, DCSR, DPC, MSCRATCH = 0x1008, 0x1009, 0x7B0, 0x7B1, 0x340
COUNT_UP = (0x00140413, 0xFFDFF06F)  # addi s0, s0, 1; j to it
ILLEGAL = 0xFFFFFFFF


class Adapter:
    """The near end of `remote_bitbang`."""

    def __init__(self, path: Path) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(20.0)
        self._line.connect(str(path))
        self.reset_tap()

    def close(self) -> None:
        self._line.close()

    def reset_tap(self) -> None:
        self._clock([(1, 0)] * 5 + [(0, 0)])

    def _clock(self, bits: list[tuple[int, int]]) -> None:
        commands = "".join(f"{tms << 1 | tdi}{4 | tms << 1 | tdi}" for tms, tdi in bits)
        self._line.sendall(commands.encode())

    def _shift(self, value: int, length: int) -> int:
        commands = ""
        for place in range(length):
            pins = (place == length - 1) << 1 | (value >> place & 1)
            commands += f"{pins}R{4 | pins}"
        self._line.sendall(commands.encode())
        answer = b""
        while len(answer) < length:
            answer += self._line.recv(length)
        self._clock([(1, 0), (0, 0)])
        return int(answer[::-1], 2)

    def instruction(self, value: int) -> int:
        self._clock([(1, 0), (1, 0), (0, 0), (0, 0)])
        return self._shift(value, _IR)

    def data(self, value: int, length: int) -> int:
        self._clock([(1, 0), (0, 0), (0, 0)])
        return self._shift(value, length)

    # ---- registers of the debug module, with the instruction dmi ---------------------------------
    def read(self, address: int) -> int:
        self.data(address << 34 | 1, _DR)
        answer = self.data(0, _DR)
        assert answer & 3 == 0 and answer >> 34 == address
        return answer >> 2 & 0xFFFFFFFF

    def write(self, address: int, value: int) -> None:
        self.data(address << 34 | value << 2 | 2, _DR)

    def error(self) -> int:
        """cmderr, which is cleared then."""
        code = self.read(ABSTRACTCS) >> 8 & 7
        self.write(ABSTRACTCS, 7 << 8)
        return code

    def register(self, number: int) -> int:
        self.write(COMMAND, SIZE32 | TRANSFER | number)
        return self.read(DATA0)

    def set_register(self, number: int, value: int) -> None:
        self.write(DATA0, value)
        self.write(COMMAND, SIZE32 | TRANSFER | WRITE | number)

    def halt(self) -> None:
        self.write(DMCONTROL, HALT | ACTIVE)
        assert self.read(DMSTATUS) & HALTED
        self.write(DMCONTROL, ACTIVE)

    def resume(self) -> None:
        self.write(DMCONTROL, RESUME | ACTIVE)
        self.write(DMCONTROL, ACTIVE)


@pytest.fixture
def tap(tmp_path: Path) -> Iterator[Adapter]:
    """A core with a program that counts in s0."""
    path = tmp_path / "jtag"
    options = ["--socket", str(path), "--idcode", hex(IDCODE), "--entry", hex(START)]
    options += ["--memory", "rom:0x80000000:0x1000:0", "--memory", "ram:0x80040000:0x1000:0"]
    board = subprocess.Popen([rtl_core.build("ibex", rtl_core.BY_JTAG).program, *options])
    while not path.exists():
        assert board.poll() is None
        time.sleep(0.01)
    adapter = Adapter(path)
    adapter.instruction(0x11)
    adapter.write(DMCONTROL, ACTIVE)
    adapter.write(SBCS, 1 << 16 | 2 << 17)  # words, one after the other
    adapter.write(SBADDRESS, START)
    for word in COUNT_UP:
        adapter.write(SBDATA, word)
    yield adapter
    adapter.close()
    board.terminate()
    board.wait()


def reset(tap: Adapter) -> None:
    tap.write(DMCONTROL, NDMRESET | ACTIVE)
    tap.write(DMCONTROL, ACTIVE)


def test_the_tap_has_an_idcode_a_bypass_and_a_debug_transport(tap: Adapter) -> None:
    tap.reset_tap()
    assert tap.data(0, 32) == IDCODE
    assert tap.instruction(0x1F) & 3 == 1
    assert tap.data(0b1011001, 7) == 0b0110010  # bypass: a bit late
    tap.instruction(0x10)
    dtmcs = tap.data(0, 32)
    assert dtmcs & 15 == 1 and dtmcs >> 4 & 63 == 7  # version 0.13, seven bits of address


def test_a_hart_halts_steps_resumes_and_keeps_its_registers(tap: Adapter) -> None:
    reset(tap)
    assert tap.read(DMSTATUS) & RUNNING
    tap.halt()
    assert tap.register(DCSR) >> 6 & 7 == 3  # because of haltreq
    count = tap.register(S0)
    assert tap.register(DPC) in (START, START + 4)
    tap.set_register(DPC, START)
    tap.set_register(DCSR, tap.register(DCSR) | 4)  # step
    tap.resume()
    assert tap.read(DMSTATUS) & HALTED
    assert (tap.register(S0), tap.register(DPC)) == (count + 1, START + 4)
    tap.set_register(DCSR, tap.register(DCSR) & ~4)
    tap.resume()
    assert tap.read(DMSTATUS) & RUNNING
    while tap.register(S0) <= count + 10:
        tap.resume()
        tap.halt()


def test_a_reset_is_seen_once_and_may_halt_the_hart_at_its_first_instruction(tap: Adapter) -> None:
    tap.write(DMCONTROL, HALT_AT_RESET | ACTIVE)
    reset(tap)
    assert tap.read(DMSTATUS) & HALTED and tap.read(DMSTATUS) & HAVERESET
    assert tap.register(DPC) == START and tap.register(S0) == 0
    tap.write(DMCONTROL, 1 << 28 | NO_HALT_AT_RESET | ACTIVE)
    assert not tap.read(DMSTATUS) & HAVERESET
    reset(tap)
    assert tap.read(DMSTATUS) & RUNNING


def test_commands_that_cannot_work_say_why_and_cost_no_register(tap: Adapter) -> None:
    tap.write(COMMAND, SIZE32 | TRANSFER | S0)
    assert tap.error() == 4  # the hart runs
    tap.halt()
    tap.set_register(S0, 0x12345678)
    for command, error in (
        (SIZE32 | TRANSFER | 0x1020, 2),  # a floating-point register
        (3 << 20 | TRANSFER | S0, 2),  # 64 bits
        (2 << 24, 2),  # access to memory
        (SIZE32 | TRANSFER | 0x7FF, 3),  # a register that Ibex does not have
        (SIZE32 | TRANSFER | WRITE | 0x7FF, 3),
    ):
        tap.write(COMMAND, command)
        assert tap.error() == error, hex(command)
    assert tap.register(S0) == 0x12345678 and tap.error() == 0


def test_a_program_buffer_executes_again_at_each_access_to_data(tap: Adapter) -> None:
    tap.halt()
    tap.write(SBADDRESS, 0x80040000)
    for word in range(4):
        tap.write(SBDATA, 100 + word)
    tap.set_register(S0, 0x80040000)
    tap.write(PROGBUF0, 0x00042483)  # lw s1, 0(s0)
    tap.write(PROGBUF0 + 1, 0x00440413)  # addi s0, s0, 4
    for place in range(2, 8):
        tap.write(PROGBUF0 + place, 0x00000013)  # the ebreak behind the last word is implicit
    tap.write(COMMAND, EXECUTE)
    tap.write(AUTO, 1)
    tap.write(COMMAND, SIZE32 | TRANSFER | EXECUTE | S1)
    assert [tap.read(DATA0) for _ in range(3)] == [100, 101, 102]
    tap.write(AUTO, 0)
    tap.write(PROGBUF0, ILLEGAL)
    tap.write(COMMAND, EXECUTE)
    assert tap.error() == 3 and tap.read(DMSTATUS) & HALTED
    assert tap.register(MSCRATCH) == 0 and tap.error() == 0  # and it serves on


def test_the_bus_is_read_while_the_hart_runs_and_names_what_it_cannot_do(tap: Adapter) -> None:
    def bus_error() -> int:
        code = tap.read(SBCS) >> 12 & 7
        tap.write(SBCS, 7 << 12)
        return code

    reset(tap)
    tap.write(SBCS, 1 << 20 | 1 << 15 | 1 << 16)  # bytes: read at the address, and go on
    tap.write(SBADDRESS, START)
    assert bytes(tap.read(SBDATA) for _ in range(4)) == COUNT_UP[0].to_bytes(4, "little")
    assert tap.read(DMSTATUS) & RUNNING and bus_error() == 0
    for access, address, error in ((2, 0x50000000, 2), (2, START + 2, 3), (3, START, 4)):
        tap.write(SBCS, 1 << 20 | access << 17)
        tap.write(SBADDRESS, address)
        assert bus_error() == error


def test_a_stray_pointer_of_the_image_finds_no_memory_at_the_debug_module(tap: Adapter) -> None:
    """The same fault as on the tier rtl, where nothing is at these addresses."""
    trap = 0x80000100
    tap.halt()
    tap.write(SBADDRESS, START)
    tap.write(SBDATA, 0x38002483)  # lw s1, 0x380(zero): where data is in debug mode
    tap.write(SBADDRESS, trap)
    tap.write(SBDATA, 0x0000006F)  # j to itself
    tap.set_register(0x305, trap | 1)  # mtvec
    tap.set_register(DPC, START)
    tap.resume()
    tap.halt()
    while tap.register(DPC) != trap:
        tap.resume()
        tap.halt()
    assert tap.register(0x342) == 5  # mcause: load access fault
