# SPDX-License-Identifier: Apache-2.0
"""What an image, a core or a guest writes without end fills no disk and no memory."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.target_name import parse_target
from kadenz.errors import TargetFailed
from kadenz.images.cpio import File, archive
from kadenz.images.image import build_image
from kadenz.lab.boot import Execution, run_plan
from kadenz.targets import counted
from kadenz.targets.base import Target
from kadenz.targets.qemu import QemuTarget
from kadenz.targets.rtl import RtlTarget
from kadenz.wire.records import Assembler, NoRecords
from tests.guest.conftest import machine

pytestmark = pytest.mark.counted
PLAN = "list\nend\n"
GUEST = "linux-rt/x86_64@guest"
FLOOD = r"""
#include <string.h>
#include <unistd.h>
int main(void)
{
    char line[4096];

    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (;;) {
        (void)!write(2, line, sizeof line);
    }
}
"""


def end_of(target: Target, name: str, silence_s: Callable[[], float]) -> TargetFailed:
    execution = Execution(target, name, PLAN, silence_s)
    outcome = run_plan(execution, Assembler(NoRecords()), threading.Event())
    assert outcome.failure is not None
    return outcome.failure


def target_of(name: str) -> Target:
    parsed = parse_target(name)
    elf, tier = build_image(parsed, "counter").elf, inventory.board(parsed.board).tier
    if tier.rtl is not None and name.endswith("@rtl"):
        return RtlTarget(tier.rtl, 1, elf, {}, scoped=False)
    assert tier.emulated is not None
    return QemuTarget(tier.emulated, elf)


@pytest.mark.parametrize("name", ["freertos/stm32f4@emulated", "freertos/ibex@rtl"])
def test_frames_beyond_the_bound_of_a_file_end_the_target(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted, "FILE_BYTES", 2000)
    failure = end_of(target_of(name), name, lambda: 60.0)
    assert "reached 2,000 bytes" in failure.message


def test_a_guest_whose_console_never_ends_takes_no_disk_and_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = machine(GUEST)
    bound, shown = 300_000, 50_000
    monkeypatch.setattr(counted, "FILE_BYTES", bound)
    monkeypatch.setattr("kadenz.targets.guest._CONSOLE_BYTES", shown)
    (tmp_path / "flood.c").write_text(FLOOD)
    compiler = inventory.compiler(guest.name.board, inventory.board(guest.name.board).arch)
    command = [compiler, "-static", str(tmp_path / "flood.c"), "-o", str(tmp_path / "flood")]
    subprocess.run(command, check=True)
    flood = File((tmp_path / "flood").read_bytes(), 0o755)
    program = archive({"plan": File(PLAN.encode()), "suite": flood})
    target = guest.target(guest.initrd() + program)

    def size() -> int:
        return (target._folder / "console").stat().st_size

    failure = end_of(target, GUEST, lambda: 0.1 if size() == bound else 600.0)
    assert "silent for" in failure.message and len(failure.detail) < 30_000
    assert shown < len(target.console) < 3 * shown
