# SPDX-License-Identifier: Apache-2.0
"""Small firmwares for `kadenz count`: assembled, counted, their samples read."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from kadenz import tools
from kadenz.cli import cli
from kadenz.store import read_run
from kadenz.targets.base import plan_page

HERE = Path(__file__).parent
_LOAD = 1  # p_type of a program header


@dataclass(frozen=True)
class Machine:
    """How programs of a board are assembled."""

    suffix: str
    board: str
    compiler: str
    flags: tuple[str, ...]
    defines: tuple[str, ...] = ()  # of every program


ARM = Machine(
    "arm",
    "stm32f4",
    "arm-none-eabi-gcc",
    (
        "-mcpu=cortex-m4",
        "-mthumb",
        "-Wl,--section-start=.vectors=0x08000000",
        "-Wl,-Ttext=0x08000100",
        "-Wl,-Tbss=0x20000000",
    ),
)
CORTEX_M0 = Machine(
    "arm",
    "microbit",
    "arm-none-eabi-gcc",
    (
        "-mcpu=cortex-m0",
        "-mthumb",
        "-Wl,--section-start=.vectors=0",
        "-Wl,-Ttext=0x100",
        "-Wl,-Tbss=0x20000000",
    ),
)
RISCV = Machine(
    "riscv",
    "hifive1-revb",
    "riscv64-unknown-elf-gcc",
    (
        "-march=rv32imac_zicsr",
        "-mabi=ilp32",
        "-Wl,-Ttext=0x20010000",
        "-Wl,-Tbss=0x80000000",
        "-Wl,--no-relax",
    ),
)
# One image for both tiers of the board: QEMU begins at the jump in .boot.
IBEX = Machine(
    "riscv",
    "ibex@rtl",
    "riscv64-unknown-elf-gcc",
    (
        "-march=rv32imc_zicsr",
        "-mabi=ilp32",
        "-Wl,--nmagic,--no-relax",
        "-Wl,--section-start=.boot=0x80000000",
        "-Wl,-Ttext=0x80000080",
        "-Wl,--section-start=.vectors=0x80001000",
        "-Wl,-Tbss=0x80040000",
    ),
    ("VECTORED=1", "FINISHER=0x100000", "WAITS=8"),
)
VEXRISCV = Machine(
    "riscv",
    "vexriscv@rtl",
    "riscv64-unknown-elf-gcc",
    (
        "-march=rv32imac_zicsr",
        "-mabi=ilp32",
        "-Wl,--nmagic,--no-relax",
        "-Wl,-Ttext=0x40000080",
        "-Wl,-Tbss=0x40040000",
    ),
    ("MSIP=0xf0010000", "FINISHER=0xf0020000", "WAITS=8"),
)


def assemble(
    machine: Machine, folder: Path, program: str = "calls", defines: Sequence[str] = ()
) -> Path:
    """Assembles a program of this folder, or the file `program`."""
    source = Path(program)
    if not source.is_file():
        source = HERE / "programs" / f"{program}.{machine.suffix}.S"
    elf = folder / "firmware.elf"
    every = (*machine.defines, *defines)
    assembler = [f"-Wa,-I,{HERE / 'programs'}", *(f"-Wa,--defsym,{it}" for it in every)]
    command = [str(tools.require(machine.compiler)), "-nostdlib", *machine.flags, *assembler]
    subprocess.run([*command, str(source), "-o", str(elf)], check=True)
    return elf


def count(elf: Path, machine: Machine, *arguments: str, output: Path | None = None) -> Result:
    """`kadenz count` of a firmware; errors that it raises are in the result."""
    where = output or elf.parent / "runs"
    command = ["count", str(elf), "--board", machine.board, "--output", str(where)]
    return CliRunner(mix_stderr=False).invoke(cli, [*command, *arguments], standalone_mode=False)


def functions(*names: str) -> list[str]:
    """The options for some functions."""
    return [word for name in names for word in ("--function", name)]


def counted(elf: Path, machine: Machine, *arguments: str) -> dict[str, Any]:
    """The JSON of a count, its functions by their names."""
    answer = count(elf, machine, *arguments, "--json")
    data = json.loads(answer.stdout)
    return {row["function"]: row for row in data["functions"]} | {"": data}


def samples(folder: str | Path, function: str) -> dict[str, list[int]]:
    """The lanes of a function in a run folder, by name."""
    run = read_run(Path(folder))
    entry = next(each for each in run.manifest.records if each.bench == f"count/{function}")
    return {lane.name: run.samples(entry, lane).astype(int).tolist() for lane in entry.lanes}


def with_plan(image: Path, elf: Path, address: int, plan: str) -> Path:
    """A copy of an image of the suite that has its plan in flash, as a debugger would write it:
    its ELF file has one segment more."""
    data = bytearray(image.read_bytes())
    (place,) = struct.unpack_from("<I", data, 28)
    size, number = struct.unpack_from("<HH", data, 42)
    headers, page = bytes(data[place : place + size * number]), plan_page(plan, 4096)
    data += bytes(-len(data) % 16)
    begin = len(data)
    data += page + bytes(-len(page) % 16)
    struct.pack_into("<I", data, 28, len(data))
    struct.pack_into("<H", data, 44, number + 1)
    data += headers
    data += struct.pack("<8I", _LOAD, begin, address, address, len(page), len(page), 4, 16)
    elf.write_bytes(data)
    return elf
