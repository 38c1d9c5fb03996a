# SPDX-License-Identifier: Apache-2.0
"""Spans of code on the Verilog of VexRiscv, beside the longest way through them by kadenz.bounds.

The caches are as the span before left them. Besides what tests/models/random_code.py has, code
jumps and calls into lines that displace its own, and loads what displaces other data.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

from kadenz import tools
from kadenz.bounds.costs import Costs
from kadenz.bounds.layout import Layout
from kadenz.bounds.premises import Premises
from kadenz.bounds.sections import _END, _START, Sections
from kadenz.bounds.unfolding import Node, Unfolded
from kadenz.config.target_name import parse_target
from kadenz.elf import Elf
from kadenz.images.code import Code, Function
from kadenz.targets import rtl_core, scope_plugin
from kadenz.targets.scope import read_trace, split_records
from tests.models import random_code

WAY = 4096  # bytes of a cache
ROM, RAM, FINISHER = 0x40000000, 0x40040000, 0xF0020000
_REGISTERS = ("t0", "t1", "t2", "a0", "a1", "a2", "a3")
_AWAY = 24  # pieces of code in each other part of the memory


def _far_load(random: Random) -> str:
    """Of one of three pieces of memory that displace each other."""
    loads = []
    base = random.choice(("s5", "s6", "s7"))
    for _ in range(random.randint(1, 6)):
        offset = 4 * random.randrange(-64, 64)
        loads.append(f"lw {random.choice(_REGISTERS)}, {offset}({base})")
    return "\n    ".join(loads)


def _run_of_loads(random: Random) -> str:
    """As a compiler restores registers."""
    first = 4 * random.randrange(-64, 48)
    base = random.choice(("s5", "s6", "s7"))
    return "\n    ".join(
        f"lw {random.choice(_REGISTERS)}, {first + 4 * i}({base})"
        for i in range(random.randint(3, 12))
    )


def _call(random: Random) -> str:
    return f"call away{random.randrange(2)}_{random.randrange(_AWAY)}"


def _back(random: Random) -> str:
    """A branch back that is not taken: decode follows it, and the memory stage corrects that."""
    target = f"away{random.randrange(2)}_{random.randrange(_AWAY)}"
    near = "\n    ".join(random_code._compute(random) for _ in range(random.randint(0, 3)))
    return f"{near}\n    la t6, {target}\n5:  beq t6, zero, 5b"


def _far_back(random: Random) -> str:
    """The same behind a load, into a line far behind."""
    return f"{_far_load(random)}\n    li t6, 1\n    beqz t6, before_{random.randrange(4)}"


def _csr(random: Random) -> str:
    return random.choice(("csrr t0, mstatus", "csrw mscratch, t1", "csrsi mscratch, 8"))


def span(random: Random) -> str:
    """Random code, without its marks."""
    kinds = (
        *(random_code._compute, random_code._access, random_code._multiply, random_code._divide),
        *(random_code._ahead, _far_load, _run_of_loads, _call, _back, _far_back, _csr),
    )
    weights = (10, 5, 2, 0.5, 4, 3, 1, 2, 1, 1, 1)
    pieces = random.choices(kinds, weights=weights, k=random.randint(3, 24))
    return "\n    ".join(piece(random) for piece in pieces)


def _away(random: Random, part: int) -> str:
    """Functions in a part of the memory."""
    functions = []
    for i in range(_AWAY):
        code = "\n    ".join(random_code._compute(random) for _ in range(random.randint(0, 20)))
        functions.append(
            f"    .option {'rvc' if i % 2 else 'norvc'}\naway{part}_{i}:\n    {code}\n    ret"
        )
    return "\n".join(functions)


def program(codes: list[str], random: Random) -> str:
    """An assembler file with all spans, each of them executed once."""
    text = random_code.program(codes)
    before = "\n".join(f"before_{i}:\n    .skip {28 + 8 * i}, 0x13" for i in range(4))
    start = text.index("    .balign 128")
    text = f"{text[:start]}    .balign 4\n{before}\n{text[start:]}"
    bases = "".join(
        f"    la {name}, words + {512 + WAY * i}\n" for i, name in enumerate(("s5", "s6", "s7"))
    )
    text = text.replace("    li   s1, 1\n", f"{bases}    li   s1, 1\n", 1)
    text = text.replace("0x00100000", hex(FINISHER)).replace(
        "li   s5, 0x5555\n    sw   s5", "li   t0, 0x5555\n    sw   t0"
    )
    parts = (f"    .balign {WAY}\n    .skip {512 * i}\n{_away(random, i)}\n" for i in range(2))
    away = "".join(parts)
    text = text.replace("2:  j    2b\n", f"2:  j    2b\n{away}", 1)
    return text.replace(f"    .space {4 * 16}\n", f"    .space {4 * WAY}\n")


def assembled(source: str, folder: Path) -> Path:
    """The ELF file of a program, for the core's own map."""
    file, elf = folder / "spans.S", folder / "spans.elf"
    file.write_text(source)
    flags = ["-march=rv32imac_zicsr_zifencei", "-mabi=ilp32", "-nostdlib", "-Wl,-N"]
    flags += ["-Wl,--no-warn-rwx-segments", f"-Wl,-Ttext={ROM:#x}", f"-Wl,-Tbss={RAM:#x}"]
    compiler = str(tools.require("riscv64-unknown-elf-gcc"))
    subprocess.run([compiler, *flags, str(file), "-o", str(elf)], check=True)
    return elf


def measured(elf: Path, folder: Path) -> list[int]:
    """Cycles of each span on the Verilog."""
    trace = folder / "spans.trace"
    options = ["--elf", str(elf), "--trace", str(trace), "--cycle-limit", "3000000"]
    options += ["--watch", hex(scope_plugin.marker_address(elf))]
    options += ["--uart", "0xf0000000", "--clint", "0xf0010000", "--finisher", hex(FINISHER)]
    for memory in (f"rom:{ROM:#x}:0x40000:0", f"ram:{RAM:#x}:0x40000:0"):
        options += ["--memory", memory]
    program = str(rtl_core.build("vexriscv-imac").program)
    subprocess.run([program, *options], check=True, timeout=60)
    return [int(span) for span in split_records(read_trace(trace))[7].spans]


def bounded(elf: Path) -> list[int]:
    """The longest way of each span in cycles, from its first mark to its second."""
    premises = Premises.of(parse_target("freertos/vexriscv@rtl"), ())
    code = Code(Elf(elf), "vexriscv")
    nowhere = Function("", 0, 0, "", "")
    layout = Layout(0, False, 0, 0, 0, (), (), (), (), (), nowhere, nowhere)
    sections = Sections(code, layout, Costs(premises.model.name, 0), premises)
    start = next(start for start, _, name in Elf(elf).functions if name == "_start")
    whole = sections.unfolded(start)
    assert not whole.open
    begins, ends = (
        sorted(
            (node for node in whole.states if whole.instruction(node).text == f"sw s{mark},0(s0)"),
            key=lambda node: node.address,
        )
        for mark in (1, 2)
    )
    return [_longest(sections, whole, *marks) for marks in zip(begins, ends, strict=True)]


def _longest(sections: Sections, whole: Unfolded, begin: Node, end: Node) -> int:
    inside = [
        (a, b)
        for a, following in whole.ways.items()
        for b in following
        if begin.address <= (a.context[0] - 1 if a.context else a.address) < end.address
    ]
    costs = sections._priced(whole, inside)
    costs |= {(_START, begin): 0, (end, _END): 0}
    return sections._longest(costs, "no way").cycles
