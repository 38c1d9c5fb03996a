# SPDX-License-Identifier: Apache-2.0
"""Code whose frames the compiler left out: no instruction is lost, and the callers are named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz import tools
from kadenz.elf import Elf
from kadenz.images.code import Code
from kadenz.lab.profile.cores import core_of
from kadenz.lab.profile.walk import Program, Walker
from kadenz.targets import scope_plugin
from kadenz.targets.paths import read_paths
from tests.scope import emulator
from tests.scope.emulator import RISCV

pytestmark = pytest.mark.counted

SOURCE = Path(emulator.__file__).parent / "programs" / "tail-call.riscv.c"
# `hop` jumps to `leaf`, which returns in its place.
JUMPED = {"measured", "measured;body", "measured;body;hop", "measured;body;leaf"}
CALLED = {"measured", "measured;body", "measured;body;hop", "measured;body;hop;leaf"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("-O0 -g -fno-omit-frame-pointer", CALLED),
        ("-O2 -g -fno-optimize-sibling-calls", CALLED),
        ("-O2 -fomit-frame-pointer", JUMPED),  # without debug information, as all below
        ("-O3 -fomit-frame-pointer", JUMPED),
        ("-Os -flto", JUMPED),
    ],
)
def test_every_instruction_has_its_call_path(
    flags: str, expected: set[str], tmp_path: Path
) -> None:
    elf = tmp_path / "program.elf"
    compiler = str(tools.require(RISCV.compiler))
    command = [compiler, "-nostdlib", "-ffreestanding", *flags.split(), *RISCV.flags]
    subprocess.run([*command, str(SOURCE), "-o", str(elf)], check=True)
    file, trace = tmp_path / "paths", tmp_path / "trace"
    arguments = scope_plugin.arguments(emulator.plugin(RISCV, tmp_path), elf, trace)
    arguments[1] += f",paths={file},register=mstatus:0x8"
    subprocess.run(emulator.command(RISCV, elf, arguments), check=True, timeout=60)

    paths = read_paths(file)
    (region,) = paths.regions
    code = Code(Elf(elf), "hifive1-revb")
    effect = Walker(Program(code, paths), core_of("riscv")).walk(region.path)
    assert sum(effect.instructions.values()) == paths.span(region) > 10
    names = {";".join(frame.name for frame in node.path()) for node in effect.instructions}
    assert names == expected
    starts = [node.function.start for node in effect.instructions]
    assert bool(code.lines(starts)) == ("-g" in flags.split())
