# SPDX-License-Identifier: Apache-2.0
"""Threads that a kernel switches inside a handler, without a return from the exception."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from kadenz.elf import Elf
from kadenz.images.code import Code
from kadenz.lab.profile.cores import core_of
from kadenz.lab.profile.walk import Program, Walker
from kadenz.targets import scope_plugin
from kadenz.targets.paths import RUN, read_paths
from tests.scope import emulator
from tests.scope.emulator import RISCV

pytestmark = pytest.mark.counted


def test_a_handler_that_switches_by_a_plain_return_goes_on_with_its_thread(tmp_path: Path) -> None:
    elf = emulator.assemble(RISCV, "switch-in-handler", tmp_path)
    file = tmp_path / "paths"
    arguments = scope_plugin.arguments(emulator.plugin(RISCV, tmp_path), elf, tmp_path / "trace")
    symbols = {symbol.name: symbol.address for symbol in Elf(elf).symbols}
    arguments[1] += f",paths={file},register=mstatus:0x8,word={symbols['current']:#x}"
    subprocess.run(emulator.command(RISCV, elf, arguments), check=True, timeout=60)

    paths = read_paths(file)
    (region,) = paths.regions
    walker = Walker(Program(Code(Elf(elf), "hifive1-revb"), paths), core_of("riscv"))
    effect = walker.walk(region.path)
    assert sum(effect.instructions.values()) == paths.span(region)

    counts: Counter[tuple[str, bool]] = Counter()
    for node, count in effect.instructions.items():
        path = ";".join(frame.name for frame in node.path())
        counts[path, node.slot.interrupt] += count
    assert {path for path, _ in counts} == {
        "first",
        "first;give_up",
        "first;give_up;switch_to",
        "first;work",
        "second",
        "second;raise",
        "second;rest",
        "idle",
        "handler",
        "handler;switch_to",
    }
    assert {path for path, interrupt in counts if interrupt} == {"handler", "handler;switch_to"}
    assert counts["first;work", False] == 2 * (1 + 2 * 20 + 1)
    assert counts["second;rest", False] == 1 + 2 * 10 + 1
    # The first exception ended with its thread; the idle loop's is left without a return.
    assert (effect.entries, effect.returns) == ({"handler": 2}, 1)

    steps = walker.start()
    ran = [
        moment.thread
        for piece in region.path
        for token, moment in walker.follow(steps, piece)
        if moment is not None and paths.tokens[token]["kind"] == RUN
    ]
    turns = [thread for thread, before in zip(ran, [None, *ran], strict=False) if thread != before]
    first, second = symbols["thread_1"], symbols["thread_2"]
    assert turns == [first, second, first, second, 0, first]
