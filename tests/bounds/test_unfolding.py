# SPDX-License-Identifier: Apache-2.0
"""The ways through compiled functions: a switch by a table, what nothing decides, and a switch of
threads that the end of a lock owes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz import tools
from kadenz.bounds.machine import Place, Pointer, State, Value
from kadenz.bounds.unfolding import Unfolded
from kadenz.config import inventory
from kadenz.elf import Elf, opened
from kadenz.images.code import Code

CASES = 7
SWITCH = """
volatile int written;
void chosen(unsigned number)
{{
    switch (number) {{
{cases}
    default: {otherwise}
    }}
}}
"""
FLAGS = ["-O2", "-march=rv32imc", "-mabi=ilp32", "-mcmodel=medany", "-nostdlib", "-nostartfiles"]


def compiled(folder: Path, text: str, entry: str) -> Elf:
    source, image = folder / "chosen.c", folder / "chosen.elf"
    source.write_text(text)
    compiler = tools.require(inventory.compiler("ibex", inventory.board("ibex").arch))
    flags = [
        *FLAGS,
        "-fno-tree-switch-conversion",
        "-Wl,-Ttext=0x80000000",
        f"-Wl,-e{entry}",
    ]
    subprocess.run([str(compiler), *flags, str(source), "-o", str(image)], check=True)
    return Elf(image)


def global_pointer(elf: Elf) -> int:
    """The linker addresses data by it."""
    with opened(elf.path) as file:
        (symbol,) = file.get_section_by_name(".symtab").get_symbol_by_name("__global_pointer$")
    return int(symbol["st_value"])


def unfolded(folder: Path, otherwise: str) -> Unfolded:
    cases = "\n".join(f"    case {n}: written = {n * n + 3}; break;" for n in range(CASES))
    elf = compiled(folder, SWITCH.format(cases=cases, otherwise=otherwise), "chosen")
    ways = Unfolded(Code(elf, "ibex"))
    ways.follow(elf.entry, State.at_entry(global_pointer(elf), {}), masked=False)
    return ways


def jumps(ways: Unfolded) -> list[int]:
    """How many ways lead on from each jump through a register."""
    return [
        len(after) for node, after in ways.ways.items() if ways.instruction(node).flow == "jump"
    ]


def test_each_entry_of_a_jump_table_is_a_way(tmp_path: Path) -> None:
    ways = unfolded(tmp_path, "break;")
    assert jumps(ways) == [CASES]
    assert not ways.open
    values = {
        int(ways.instruction(node).text.split(",")[1])
        for node in ways.ways
        if "li a" in ways.instruction(node).text
    }
    assert {n * n + 3 for n in range(CASES)} <= values


def test_a_jump_table_without_a_compare_is_refused(tmp_path: Path) -> None:
    ways = unfolded(tmp_path, "__builtin_unreachable();")
    (why,) = ways.open.values()
    assert why == "`jr a5` leads through a register" and jumps(ways) == [0]


KERNEL = """
volatile int lock, work;
int *volatile running, *volatile next;
void (*volatile hook)(void);
__attribute__((noinline)) void give_up(void) { __asm__ volatile("nop"); }
static inline void check(void) { if (next != running) give_up(); }
"""


def service(folder: Path, body: str) -> Unfolded:
    """A service of a kernel that switches by a call, and decides it behind a lock."""
    elf = compiled(folder, f"{KERNEL}void service(void) {{ {body} }}", "service")
    at = {symbol.name: symbol.address for symbol in elf.symbols}
    owes = {Pointer(at["running"], True), Pointer(at["next"], False)}
    code = Code(elf, "ibex")
    ways = Unfolded(code, lock=at["lock"], switches={at["give_up"]}, owes=owes)
    memory: dict[int | Place, Value] = {pointer.word: pointer for pointer in owes}
    ways.follow(
        elf.entry, State.at_entry(global_pointer(elf), memory | {at["lock"]: 0}), masked=False
    )
    return ways


def owing(ways: Unfolded) -> list[bool]:
    """Of each return, whether a switch is owed there."""
    return sorted(node.owed for node in ways.ends if node not in ways.traps)


def test_the_end_of_a_lock_owes_a_switch_until_the_threads_are_compared(tmp_path: Path) -> None:
    ways = service(tmp_path, "lock++; work = 1; lock--; work = 2; check(); work = 3;")
    (switch,) = ways.traps
    assert switch.owed and not switch.locked and not ways.passed
    assert owing(ways) == [False]
    between = [node for node in ways.states if node.owed and not node.locked]
    assert len(between) > 2
    assert not any(node.owed for node in ways.ways[switch])


@pytest.mark.parametrize(
    "body",
    [
        "lock++; lock--;",
        "lock++; int *before = next; lock--; if (before != running) give_up();",
        "lock++; lock--; if (next != &work) give_up();",
        "lock++; lock--; check(); lock++; lock--;",
    ],
)
def test_a_return_may_owe_a_switch(body: str, tmp_path: Path) -> None:
    """Where nothing compares, and where what was read before the lock's end is compared."""
    assert True in owing(service(tmp_path, body))


def test_a_call_that_is_passed_before_an_owed_switch_is_kept(tmp_path: Path) -> None:
    ways = service(tmp_path, "hook(); lock++; lock--; hook(); check();")
    assert len(ways.passed) == 1
    assert owing(ways) == [False]


def test_a_call_through_a_register_leads_where_it_is_declared(tmp_path: Path) -> None:
    text = f"{KERNEL}void service(void) {{ lock++; hook(); lock--; }}"
    elf = compiled(tmp_path, text, "service")
    at = {symbol.name: symbol.address for symbol in elf.symbols}
    calls: dict[int, list[int]]
    for calls, refused in (({}, 1), ({at["service"]: [at["give_up"]]}, 0)):
        ways = Unfolded(Code(elf, "ibex"), lock=at["lock"], calls=calls)
        ways.follow(elf.entry, State.at_entry(global_pointer(elf), {at["lock"]: 0}), masked=False)
        assert len(ways.open) == refused
        assert any(node.address == at["give_up"] for node in ways.states) is not bool(refused)
