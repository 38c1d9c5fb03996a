# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS for every microcontroller: its image lies where the chip has memory, and starts.

A board that no emulator has is built, linked and checked only. Two more start on a machine of QEMU
that has the same core and registers, behind its GDB stub.
"""

from __future__ import annotations

import functools
import struct
from itertools import pairwise

import pytest

from kadenz.config import inventory
from kadenz.config.board_link import BoardLink
from kadenz.elf import Elf
from kadenz.targets.board.reach import reach
from kadenz.targets.board.target import BoardTarget
from kadenz.wire.messages import Conform
from tests.board.bench import session
from tests.rtos.images import boot, build

pytestmark = pytest.mark.emulated

# Positions of the vector table, and the one that software raises: from the chip's manual, or from
# public headers where that was not at hand.
VECTORS = {
    "mps2-an386": (32, 31),  # a pin of the FPGA
    "nrf52840-dk": (48, 20),  # SWI0
    "nucleo-f401re": (85, 6),  # EXTI0
    "nucleo-f429zi": (91, 6),
    "stm32f4": (82, 6),
    "stm32l432": (83, 6),
}
BOARDS = sorted(
    name
    for name, board in inventory.boards().items()
    if ("freertos", name) in inventory.pairs() and not set(board.tier.names()) & {"rtl", "guest"}
)


@functools.cache
def image(board: str) -> Elf:
    return Elf(build(board) / "kadenz-suite.elf")


@functools.cache
def places(board: str) -> dict[str, int]:
    """The value of each symbol; of Thumb code bit 0 is cleared."""
    from elftools.elf.elffile import ELFFile

    with image(board).path.open("rb") as file:
        symbols = list(ELFFile(file).get_section_by_name(".symtab").iter_symbols())
    found = {}
    for symbol in symbols:
        if symbol["st_shndx"] != "SHN_UNDEF":
            thumb = symbol["st_info"]["type"] == "STT_FUNC"
            found[symbol.name] = symbol["st_value"] & ~thumb
    return found


def loaded(board: str) -> list[tuple[int, bytes]]:
    """What a debugger writes: load address and contents of each segment."""
    from elftools.elf.elffile import ELFFile

    with image(board).path.open("rb") as file:
        segments = list(ELFFile(file).iter_segments("PT_LOAD"))
        return sorted((s["p_paddr"], s.data()) for s in segments if s["p_filesz"])


def words(board: str, address: int, count: int) -> tuple[int, ...]:
    """Words of the image as the flash holds them."""
    for start, data in loaded(board):
        if start <= address < start + len(data):
            return struct.unpack_from(f"<{count}I", data, address - start)
    raise AssertionError(f"nothing is loaded at {address:#x}")


@pytest.mark.parametrize("board", BOARDS)
def test_an_image_lies_in_the_memories_of_its_chip(board: str) -> None:
    memory = inventory.board(board).memory
    assert memory is not None and memory.code_bytes is not None
    ranges = [range(start, start + size) for start, size in memory.ranges]

    def home(start: int, size: int) -> range:
        (one,) = [r for r in ranges if start in r and (start + size - 1) in r]
        return one

    for section in image(board).sections:
        if section.size:
            home(section.address, section.size)
    at = places(board)
    pieces = [piece for piece in loaded(board) if piece[0] != at["kdz_plan_page"]]
    assert all(a + len(x) <= b for (a, x), (b, _) in pairwise(pieces))
    flash = home(pieces[0][0], 1)
    end = pieces[-1][0] + len(pieces[-1][1])
    assert all(start in flash for start, _ in pieces)
    assert end - pieces[0][0] <= memory.code_bytes
    # Everything that may be written, from the first variable to the top of the stack.
    ram = home(at["kdz_data"], 4)
    assert at["kdz_stack_top"] - at["kdz_data"] <= memory.data_bytes
    assert at["kdz_data"] in ram and at["kdz_stack_top"] - 1 in ram
    # The plan has memory of its own behind the image: blank until a debugger writes it.
    assert at["kdz_plan_page"] in flash and at["kdz_plan_page"] >= end
    tier = inventory.board(board).tier.emulated
    assert tier is None or tier.plan_address == at["kdz_plan_page"]


@pytest.mark.parametrize("board", sorted(VECTORS))
def test_the_vector_table_is_where_the_core_looks_and_has_the_chips_positions(board: str) -> None:
    positions, irq = VECTORS[board]
    memory = inventory.board(board).memory
    assert memory is not None
    start = memory.ranges[0][0]  # the flash, whose first word is the first vector
    at = places(board)
    assert at["kdz_vectors"] == start
    stack, reset, *system = words(board, start, 16)
    assert (stack, reset) == (at["kdz_stack_top"], at["kdz_reset"] | 1)
    assert system[12:] == [at["PendSV_Handler"] | 1, at["SysTick_Handler"] | 1]
    table = words(board, start + 64, positions)
    own = {irq: at["kdz_irq_entry"] | 1}
    assert table == tuple(own.get(n, at["kdz_armv7m_fault_entry"] | 1) for n in range(positions))
    code = sorted(f.address for f in image(board).symbols if f.address >= start + 64)
    assert 0 <= code[0] - (start + 64 + 4 * positions) < 64  # code follows, after its alignment


def test_every_board_with_such_a_table_is_checked() -> None:
    assert {b for b in BOARDS if inventory.board(b).arch == "armv7m"} == set(VECTORS)


@pytest.mark.parametrize("board", [b for b in BOARDS if inventory.board(b).arch == "riscv"])
def test_a_riscv_image_starts_at_the_first_word_of_its_flash(board: str) -> None:
    memory = inventory.board(board).memory
    assert memory is not None
    assert places(board)["_start"] == loaded(board)[0][0]
    assert loaded(board)[0][0] in [start for start, _ in memory.ranges]


@pytest.mark.parametrize("board", ["hifive1-reva", "mps2-an386"])
def test_freertos_conforms_on_more_machines_of_qemu(board: str) -> None:
    plan = "conformance\nitc/queue id=1 samples=50\nirq/to-task id=2 samples=50\nend\n"
    said = boot(build(board), board, plan)
    assert len(said.all(Conform)) >= 27
    assert [case for case in said.all(Conform) if case.result == "fail"] == []
    assert said.values("itc/queue").size == said.values("irq/to-task").size == 50
    assert boot(build(board), board, plan).raw == said.raw


@pytest.mark.parametrize(
    ("board", "machine"),
    [("nucleo-f401re", "olimex-stm32-h405"), ("stm32l432", "b-l475e-iot01a")],
)
def test_a_start_up_runs_on_a_machine_with_the_same_registers(board: str, machine: str) -> None:
    """QEMU has no such chip, but one of its family. Under the scope no counter is needed."""
    tier = inventory.board(board).tier.board
    assert tier is not None and tier.chip["qemu-arm"] == machine
    options = (("KDZ_CONSOLE", "rtt"),)
    elf = Elf(build(board, "rtt", instrument="scope", options=options) / "kadenz-suite.elf")
    way = reach(board, tier, BoardLink(server="qemu-arm", results="rtt"))
    made = session(BoardTarget(way, tier, elf), "conformance\nend\n")
    assert made.outcome.failure is None
    assert len(made.assembler.conforms) >= 27
    assert [case for case in made.assembler.conforms if case.result == "fail"] == []
