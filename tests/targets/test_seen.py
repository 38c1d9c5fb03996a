# SPDX-License-Identifier: Apache-2.0
"""Whether a silent processor moves, and where it is, from several looks."""

from __future__ import annotations

import pytest

from kadenz.targets.seen import Look, looks_of, seen

FUNCTIONS = {0x100: "wait", 0x200: "tick", 0x300: "work", 0x400: "more"}


def symbol_at(address: int) -> str:
    start = address & ~0xFF
    return f"{FUNCTIONS[start]}+{address - start:#x}" if start in FUNCTIONS else ""


def at(*places: int, registers: tuple[str, ...] = ()) -> list[Look]:
    return [Look(pc, registers) for pc in places]


@pytest.mark.parametrize(
    ("looks", "place"),
    [
        (at(*[0x104] * 10), "at wait+0x4"),
        (at(*[0x104] * 7, 0x200, 0x210, 0x220), "at wait+0x4"),  # the tick interrupts it
        (at(*[0x9000] * 10), "at 0x9000"),  # no function there
        # Looked at when its timer expires, more often than in between.
        (
            [*at(*[0x104] * 4), *(Look(0x200, (), True) for _ in range(6))],
            "at wait+0x4, in a handler in 6 of 10 looks",
        ),
        (
            [*at(*[0x104] * 5), *(Look(0x200 + 4 * i, (), True, 0x104) for i in range(5))],
            "at wait+0x4",
        ),
        # It handles an interrupt without end.
        ([Look(0x204, (), True)] * 10, "at tick+0x4"),
    ],
)
def test_a_processor_at_one_place_stands_still(looks: list[Look], place: str) -> None:
    verdict = seen("words", looks, symbol_at)
    assert (verdict.report, verdict.moves, verdict.place) == ("words", False, place)


@pytest.mark.parametrize(
    ("looks", "place"),
    [
        (at(0x300, 0x304, 0x308, 0x30C), "in work (4 of 4 looks)"),
        (at(0x300, 0x304, 0x400, 0x300, 0x408), "in work (3 of 5 looks), more (2 of 5 looks)"),
        # Interrupts are masked in a section of its own: the last one came elsewhere, long ago.
        (
            [*at(*[0x300] * 4), *(Look(0x400 + 4 * i, (), True, 0x204) for i in range(6))],
            "in more (6 of 10 looks), work (4 of 10 looks)",
        ),
        # One block of instructions, which QEMU shows at its beginning: the registers change.
        ([Look(0x300, (str(i),)) for i in range(4)], "in work (4 of 4 looks)"),
        (
            at(0x9000, 0x9004, 0x300),
            "in 0x9000 (1 of 3 looks), 0x9004 (1 of 3 looks), work (1 of 3 looks)",
        ),
    ],
)
def test_a_processor_that_moves_runs_and_its_functions_are_named(
    looks: list[Look], place: str
) -> None:
    verdict = seen("", looks, symbol_at)
    assert (verdict.moves, verdict.place) == (True, place)


@pytest.mark.parametrize("looks", [[], at(0x100)])
def test_one_look_shows_nothing(looks: list[Look]) -> None:
    assert (seen("", looks, symbol_at).moves, seen("", looks, symbol_at).place) == (None, "")


@pytest.mark.parametrize(
    ("report", "pc", "registers"),
    [
        (" pc       20010123\n x0/zero  00000000 x1/ra    2001ffff\n", 0x20010123, 2),
        ("R00=00000001 R01=20000000\nR14=08000123 R15=08000a10\nXPSR=61000000", 0x08000A10, 4),
        (
            "RAX=0000000000000001 RSI=0000000000000002\nRIP=ffffffff81000010 RFL=00000246",
            0xFFFFFFFF81000010,
            2,
        ),
        (" PC=ffff800080001234 X00=0000000000000000 X01=0000000000000001", 0xFFFF800080001234, 2),
    ],
)
def test_the_registers_of_every_architecture_are_read(report: str, pc: int, registers: int) -> None:
    (look,) = looks_of([report, "QEMU says something else"])
    assert look.pc == pc and len(look.registers) == registers


@pytest.mark.parametrize(
    ("report", "handles", "interrupted"),
    [
        ("R15=08000a10\nXPSR=61000000 -ZC- T priv-thread\n", False, None),
        ("R15=08000a10\nXPSR=6100000f -ZC- T handler\n", True, None),
        (" pc       20010123\n mstatus  00001888\n mepc     20010100\n", False, None),
        (" pc       20010123\n mstatus  00001880\n mepc     20010100\n", True, 0x20010100),
        ("RIP=ffffffff81000010 RFL=00000246", False, None),
    ],
)
def test_a_look_says_whether_an_interrupt_is_handled(
    report: str, handles: bool, interrupted: int | None
) -> None:
    (look,) = looks_of([report])
    assert (look.handles, look.interrupted) == (handles, interrupted)
