# SPDX-License-Identifier: Apache-2.0
"""Every port compiles, also where its kernel cannot be had.

Each is compiled against declarations of just the calls it makes, written here from the kernel's
published interface. A call that the interface does not have, or with other types, is an error.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.tools import require

pytestmark = pytest.mark.counted  # needs the cross compiler

HERE = Path(__file__).parent
FLAGS = (
    *("--specs=picolibc.specs", "-std=c11", "-O2", "-c", "-Wall", "-Wextra", "-Wconversion"),
    *("-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"),
)


@dataclass(frozen=True)
class Core:
    """A compiler, and the board whose values a port gets."""

    compiler: str
    flags: Sequence[str]
    board: str


ARMV7M = Core(
    "arm-none-eabi-gcc",
    ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "stm32f4",
)
RISCV = Core(
    "riscv64-unknown-elf-gcc",
    ("-march=rv32imac", "-misa-spec=2.2", "-mabi=ilp32", "-mcmodel=medany"),
    "hifive1-revb",
)


@dataclass(frozen=True)
class Port:
    """The C files of a port, and where the declarations of its kernel are."""

    kernel: str
    core: Core
    folders: Sequence[str]  # below kernels/<kernel>, with the C files
    declarations: Sequence[str]  # below tests/kernels
    values: Sequence[str] = ()  # definitions that the port's build adds
    shared: str = ""  # another port, whose files kernel.cmake lists as ${<its name>}/…


PORTS = (
    Port(
        "cmsis-rtos2",
        ARMV7M,
        (".", "../shared", "rtx5"),
        ("cmsis-rtos2/include", "cmsis-rtos2/rtx5"),
    ),
    Port("itron", ARMV7M, (".", "target", "armv7m"), ("itron", "itron/armv7m")),
    Port(
        "itron",
        RISCV,
        (".", "target", "riscv"),
        ("itron", "itron/riscv"),
        ("-DKDZ_ITRON_CLINT=0x02000000",),
    ),
    Port("threadx", ARMV7M, (".", "armv7m"), ("threadx/include",)),
    Port(
        "threadx",
        RISCV,
        (".", "riscv", "../../arch/riscv/include"),
        ("threadx/include",),
        ("-DKDZ_THREADX_CLINT=0x02000000",),
    ),
    Port(
        "freertos-esp-idf",
        RISCV,
        (".", "../freertos/esp-idf", "../freertos/esp-idf/include"),
        ("freertos-esp-idf",),
        ('-DKDZ_FREERTOS_PORT="esp-idf"', '-DKDZ_FREERTOS_HEAP="heap_caps"'),
        "freertos",
    ),
    Port("zephyr", RISCV, (".", "riscv"), ("zephyr",)),
    Port(
        "nuttx",
        ARMV7M,
        (".", "armv7m", "include", "armv7m/include"),
        ("nuttx",),
        ('-DKDZ_NUTTX_VERSION="declared"',),
    ),
)


def board_values(board: str) -> list[str]:
    """The definitions of a board, from its own build file and those of its family."""
    text, files = "", [f"boards/{board}/board.cmake"]
    while files:
        read = (inventory.root() / files.pop()).read_text()
        files += re.findall(r"^include\(\$\{kdz_root\}/(\S+)\)", read, flags=re.MULTILINE)
        text += read
    return [f"-D{name}={value}" for name, value in re.findall(r"(KDZ_\w+)=([\w]+)", text)]


def made_by_the_configurator(folder: Path) -> None:
    """kernel_cfg.h as ITRON's configurator makes it: numbers in the order of objects.cfg."""
    text = (inventory.root() / "kernels/itron/objects.cfg").read_text()
    numbers: dict[str, int] = {}
    lines = []
    for kind, name in re.findall(r"^CRE_(\w+)\((\w+),", text, flags=re.MULTILINE):
        numbers[kind] = numbers.get(kind, 0) + 1
        lines.append(f"#define {name} {numbers[kind]}\n")
    assert set(numbers) == {"TSK", "SEM", "MTX", "FLG", "DTQ", "MPF", "ALM", "CYC"}
    (folder / "kernel_cfg.h").write_text("".join(lines))


def compiled(port: Port, folder: Path, *more: str) -> list[str]:
    """The compiler's message for each file of the port that it refuses."""
    root = inventory.root()
    made_by_the_configurator(folder)
    include = [root / "kernels" / port.kernel / sub for sub in port.folders]
    include += [HERE / sub for sub in port.declarations]
    shared: list[Path] = []
    if port.shared:
        include.append(root / "kernels" / port.shared)
        text = (include[0] / "kernel.cmake").read_text()
        names = re.findall(rf"\$\{{{port.shared}\}}/(\w+\.c)", text)
        shared = [include[-1] / name for name in names]
        assert shared
    include += [root / "suite/include", root / "instruments/scope", folder]
    said = []
    files = [file for sub in port.folders for file in sorted(include[0].joinpath(sub).glob("*.c"))]
    assert files
    files += shared
    for file in files:
        command = [str(require(port.core.compiler)), *port.core.flags, *FLAGS]
        command += [*board_values(port.core.board), *port.values, *more]
        command += [f"-I{path}" for path in include]
        answer = subprocess.run(
            [*command, str(file), "-o", str(folder / "object.o")],
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode != 0:
            said.append(answer.stderr)
    return said


@pytest.mark.parametrize("port", PORTS, ids=lambda port: f"{port.kernel}-{port.core.board}")
def test_a_port_compiles_against_the_published_interface(port: Port, tmp_path: Path) -> None:
    assert compiled(port, tmp_path) == []


def test_a_call_that_the_interface_does_not_have_is_found(tmp_path: Path) -> None:
    header = tmp_path / "renamed.h"
    header.write_text("#include <kernel.h>\n#define rsm_tsk rsm_task\n")
    (said,) = compiled(PORTS[1], tmp_path, "-include", str(header))
    assert "rsm_task" in said
