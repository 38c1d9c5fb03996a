# SPDX-License-Identifier: Apache-2.0
"""The ways through compiled functions: a switch by a table, and what nothing decides."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kadenz import tools
from kadenz.bounds.machine import State
from kadenz.bounds.unfolding import Unfolded
from kadenz.config import inventory
from kadenz.elf import Elf
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


def unfolded(folder: Path, otherwise: str) -> Unfolded:
    cases = "\n".join(f"    case {n}: written = {n * n + 3}; break;" for n in range(CASES))
    source, image = folder / "chosen.c", folder / "chosen.elf"
    source.write_text(SWITCH.format(cases=cases, otherwise=otherwise))
    compiler = tools.require(inventory.compiler("ibex", inventory.board("ibex").arch))
    flags = [*FLAGS, "-fno-tree-switch-conversion", "-Wl,-Ttext=0x80000000", "-Wl,-echosen"]
    subprocess.run([str(compiler), *flags, str(source), "-o", str(image)], check=True)
    elf = Elf(image)
    ways = Unfolded(Code(elf, "ibex"))
    ways.follow(elf.entry, State.at_entry(0, {}), masked=False)
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
