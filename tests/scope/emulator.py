# SPDX-License-Identifier: Apache-2.0
"""Small bare-metal programs under the scope: assembled, run in QEMU, their trace read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadenz import tools
from kadenz.targets import scope_plugin

HERE = Path(__file__).parent
SCOPE_SOURCE = HERE.parents[1] / "instruments" / "scope"


@dataclass(frozen=True)
class Machine:
    """How programs of one architecture are assembled and run."""

    suffix: str
    compiler: str
    flags: tuple[str, ...]
    emulator: str
    arguments: tuple[str, ...]


RISCV = Machine(
    "riscv",
    "riscv64-unknown-elf-gcc",
    (
        "-march=rv32ima_zicsr",
        "-mabi=ilp32",
        "-Wl,-Ttext=0x80000000",
        "-Wl,-Tbss=0x80100000",
    ),
    "qemu-system-riscv32",
    ("-M", "virt", "-bios", "none"),
)
ARM = Machine(
    "arm",
    "arm-none-eabi-gcc",
    (
        "-mcpu=cortex-m4",
        "-mthumb",
        "-Wl,--section-start=.vectors=0x08000000",
        "-Wl,-Ttext=0x08000100",
        "-Wl,-Tbss=0x20000000",
    ),
    "qemu-system-arm",
    ("-M", "netduinoplus2", "-semihosting"),
)


def assemble(machine: Machine, program: str, folder: Path) -> Path:
    """Assemble and link programs/<program>.<suffix>.S."""
    elf = folder / f"{program}.elf"
    subprocess.run(
        [
            str(tools.require(machine.compiler)),
            "-nostdlib",
            *machine.flags,
            str(HERE / "programs" / f"{program}.{machine.suffix}.S"),
            "-o",
            str(elf),
        ],
        check=True,
    )
    return elf


def plugin(machine: Machine, folder: Path) -> Path:
    """Build the plugin for this machine's emulator."""
    return scope_plugin.build(SCOPE_SOURCE, folder, tools.version(machine.emulator))


def command(machine: Machine, elf: Path, plugin_arguments: list[str]) -> list[str]:
    """QEMU's command line for a program, quiet and with counted time."""
    return [
        str(tools.require(machine.emulator)),
        *machine.arguments,
        "-kernel",
        str(elf),
        "-display",
        "none",
        "-serial",
        "none",
        "-monitor",
        "none",
        "-icount",
        "shift=0",
        *plugin_arguments,
    ]


def run(
    machine: Machine,
    program: str,
    folder: Path,
    *,
    extra: Sequence[str] = (),
    before: Callable[[], None] | None = None,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run a program that ends by itself under the scope; returns the process and the trace."""
    elf = assemble(machine, program, folder)
    trace = folder / f"{program}.trace"
    arguments = scope_plugin.arguments(plugin(machine, folder), elf, trace)
    answer = subprocess.run(
        [*command(machine, elf, arguments), *extra],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=before,
    )
    return answer, trace
