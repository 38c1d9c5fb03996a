# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS for every microcontroller: its image lies where the chip has memory, and starts.

A board that no emulator has is built, linked and checked only. Two more start on a machine of QEMU
that has the same core and registers, behind its GDB stub.
"""

from __future__ import annotations

import functools
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from kadenz.config import inventory
from kadenz.config.board_link import BoardLink
from kadenz.elf import Elf
from kadenz.targets.board.reach import reach
from kadenz.targets.board.target import BoardTarget
from kadenz.wire.messages import Conform
from tests.board.bench import session
from tests.rtos.images import boot, build

pytestmark = pytest.mark.counted

# Positions of the vector table, and the one that software raises: from the chip's manual, or from
# public headers where that was not at hand.
VECTORS = {
    "microbit": (32, 20),  # SWI0
    "mps2-an386": (32, 8),  # timer 0; under the scope 31, a pin of the FPGA
    "nrf52840-dk": (48, 20),  # SWI0
    "nucleo-f401re": (85, 6),  # EXTI0
    "nucleo-f429zi": (91, 6),
    "rp2040": (32, 26),  # no device's
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
    return Elf(image_folder(board) / "kadenz-suite.elf")


def image_folder(board: str) -> Path:
    """The folder of the board's image, for its first instrument."""
    return build(board, instrument=inventory.board(board).instruments[0])


@functools.cache
def places(board: str) -> dict[str, int]:
    """The value of each symbol; of Thumb code bit 0 is cleared."""
    from elftools.elf.elffile import ELFFile

    with image(board).path.open("rb") as file:
        symbols = list(ELFFile(file).get_section_by_name(".symtab").iter_symbols())
    addresses = {}
    for symbol in symbols:
        if symbol["st_shndx"] != "SHN_UNDEF":
            thumb = symbol["st_info"]["type"] == "STT_FUNC"
            addresses[symbol.name] = symbol["st_value"] & ~thumb
    return addresses


def memory_of(board: str) -> tuple[tuple[int, int], ...]:
    """Addresses and sizes of the chip's memories."""
    memory = inventory.board(board).memory
    assert memory is not None
    return memory.ranges


def loaded(board: str) -> list[tuple[int, bytes]]:
    """The bytes that a debugger writes: load address and contents of each segment."""
    from elftools.elf.elffile import ELFFile

    with image(board).path.open("rb") as file:
        segments = list(ELFFile(file).iter_segments("PT_LOAD"))
        return sorted((s["p_paddr"], s.data()) for s in segments if s["p_filesz"])


def words_at(board: str, address: int, count: int) -> tuple[int, ...]:
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
        (region,) = [r for r in ranges if start in r and (start + size - 1) in r]
        return region

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
    stack, reset, *system = words_at(board, start, 16)
    assert (stack, reset) == (at["kdz_stack_top"], at["kdz_reset"] | 1)
    assert system[12:] == [at["PendSV_Handler"] | 1, at["SysTick_Handler"] | 1]
    table = words_at(board, start + 64, positions)
    handlers = {irq: at["kdz_irq_entry"] | 1}
    assert table == tuple(
        handlers.get(n, at["kdz_cortexm_fault_entry"] | 1) for n in range(positions)
    )
    code = sorted(f.address for f in image(board).symbols if f.address >= start + 64)
    assert 0 <= code[0] - (start + 64 + 4 * positions) < 64  # code follows, after its alignment


def test_every_board_with_such_a_table_is_checked() -> None:
    cores = {"armv6m", "armv7m"}
    assert {b for b in BOARDS if inventory.board(b).arch in cores} == set(VECTORS)


@pytest.mark.parametrize("board", [b for b in BOARDS if inventory.board(b).arch == "riscv"])
def test_a_riscv_image_starts_at_the_first_word_of_its_flash(board: str) -> None:
    memory = inventory.board(board).memory
    assert memory is not None
    assert places(board)["_start"] == loaded(board)[0][0]
    assert loaded(board)[0][0] in [start for start, _ in memory.ranges]


@pytest.mark.parametrize("board", ["hifive1-reva", "microbit", "mps2-an386"])
def test_freertos_conforms_on_more_machines_of_qemu(board: str) -> None:
    plan = "conformance\nitc/queue id=1 samples=50\nirq/to-task id=2 samples=50\nend\n"
    said = boot(image_folder(board), board, plan)
    assert len(said.all(Conform)) >= 27
    assert [case for case in said.all(Conform) if case.result == "fail"] == []
    for bench in ("itc/queue", "irq/to-task"):
        end = said.record(bench)[1]
        assert (end.status, end.lanes[0].taken) == ("ok", 50)
        # The scope holds its samples outside of the target.
        assert "-scope-" in image_folder(board).name or said.values(bench).size == 50
    assert boot(image_folder(board), board, plan).raw == said.raw


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
    board_session = session(BoardTarget(way, tier, elf), "conformance\nend\n")
    assert board_session.outcome.failure is None
    assert len(board_session.assembler.conforms) >= 27
    assert [case for case in board_session.assembler.conforms if case.result == "fail"] == []


def test_an_image_in_ram_is_started_at_its_entry_after_a_reset(tmp_path: Path) -> None:
    """The Pico's image on a Cortex-M0 of QEMU with as much RAM, and none of its clocks.

    The reset vector is that of other code, as in the boot ROM. The image gets as far as its
    crystal, and says so through its memory.
    """
    tier = inventory.board("rp2040").tier.board
    assert tier is not None and tier.in_ram
    elf = Elf(build("rp2040", "rtt", options=(("KDZ_CONSOLE", "rtt"),)) / "kadenz-suite.elf")
    here = msgspec.structs.replace(tier, chip={"qemu-arm": "microbit"})
    way = reach("rp2040", here, BoardLink(server="qemu-arm", results="rtt"))
    ram = f"nrf51-soc.sram-size={sum(size for _, size in memory_of('rp2040'))}"
    boot_rom = tmp_path / "boot.rom"  # every vector leads to one instruction that jumps to itself
    boot_rom.write_bytes(struct.pack("<16I", 0x20001000, *[0x41] * 15) + b"\xfe\xe7")
    rom = f"loader,file={boot_rom},addr=0,force-raw=on"
    way = replace(way, command=(*way.command, "-global", ram, "-device", rom))
    board_session = session(BoardTarget(way, here, elf), "clock/read-cost id=1 samples=10\nend\n")
    assert (
        "the crystal or the PLL did not start: this board expects 12 MHz at XIN"
        in board_session.told
    )
    lost = BoardTarget(way, msgspec.structs.replace(here, in_ram=False, answer_s=0.5), elf)
    assert "no answer in 0.5 s, and none after a reset" in session(lost, "end\n").told
