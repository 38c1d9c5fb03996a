# SPDX-License-Identifier: Apache-2.0
"""Boots a guest if its kernel is in the cache; else the test is skipped with a reason."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import GuestProgram, GuestTier
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.manifest import CampaignEntry
from kadenz.config.target_name import TargetName, parse_target
from kadenz.errors import KadenzError, ToolMissing
from kadenz.lab.conditions import choices
from kadenz.lab.conditions.guest import Guest
from kadenz.lab.guests import default_guest, guest_image
from kadenz.lab.job import Result
from kadenz.lab.preparing import Request, prepare
from kadenz.lab.progress import Progress
from kadenz.lab.schedule import run
from kadenz.targets.guest import GuestTarget, require_program

if TYPE_CHECKING:
    from tests.guest.scripts import Answer

CYCLIC = Benchmark(name="cyclic/wakeup-latency", samples=300, cold=10, params={"period_us": 1000})


@dataclass(frozen=True)
class Machine:
    """A guest that can boot here, and its parts."""

    name: TargetName
    guest: Guest
    tier: GuestTier

    def target(
        self, initrd: bytes, *, parameters: str = "", program: GuestProgram | None = None
    ) -> GuestTarget:
        """A boot with its own archive, without a plan."""
        tier = msgspec.structs.replace(
            self.tier, parameters=f"{self.tier.parameters} {parameters}".strip()
        )
        return GuestTarget(tier, self.guest.kernel, lambda _: initrd, program=program)

    def initrd(self) -> bytes:
        """The stock archive."""
        return guest_image(self.name, self.guest, ()).initrd.read_bytes()


def machine(text: str) -> Machine:
    """The guest of a target; skips if its kernel, emulator or compiler is missing."""
    name = parse_target(text)
    board = inventory.board(name.board)
    assert board.tier.guest is not None
    try:
        guest = default_guest(name)
        tools.require(board.tier.guest.qemu)
        tools.require(inventory.compiler(name.board, board.arch))
    except ToolMissing as error:
        pytest.skip(f"{error.message} (make guest-kernels)")
    return Machine(name, guest, board.tier.guest)


def measured(
    text: str,
    output: Path,
    *,
    kernel: str = "",
    samples: int = 300,
    timer: str = "sleep",
    load: str = "",
    tuning: str = "",
    disturbance: str = "",
    fresh: bool = False,
    benchmark: Benchmark | None = None,
    program: str = "",
    ring: Path | None = None,
) -> Result:
    """One run of cyclic/wakeup-latency, or of `benchmark`, on a guest. Raises the first failure."""
    guest = machine(text)
    if benchmark is None:
        params = {**CYCLIC.params, "timer": timer}
        benchmark = msgspec.structs.replace(CYCLIC, samples=samples, params=params)
    campaign = Campaign(name="t", title="t", targets=[text], benchmark=[benchmark])
    inside = {
        "kernel": (kernel,) if kernel else (),
        "load": (load,) if load else (),
        "tuning": (tuning,) if tuning else (),
        "disturbance": disturbance,
    }
    asked = {"guest": inside, "program": program or None, "ring": ring}
    request = Request(
        campaign=campaign,
        entry=CampaignEntry(name="t", file="", sha256="", quick=False),
        targets=[guest.name],
        choices=choices(campaign, asked),
        fresh=fresh,
    )
    (result,) = run(
        prepare(request, Progress(), threading.Event()), output, Progress(), threading.Event()
    )
    if isinstance(result, KadenzError):
        raise result
    if result.failures:
        raise result.failures[0]
    return result


def compiled_here(text: str) -> None:
    """Skips where the program of a target's board cannot be compiled."""
    name = parse_target(text)
    board = inventory.board(name.board)
    assert board.tier.guest is not None and board.tier.guest.program is not None
    try:
        tools.require("cargo")
        require_program(name, board.tier.guest.program, board.arch)
    except ToolMissing as missing:
        pytest.skip(f"{missing.message} (make guest-kernels)")


@pytest.fixture
def program_runs_here() -> None:
    """Skips where no program of fieldbus/ can be compiled for x86-64 guests."""
    compiled_here("linux-rt/indy7-x86_64@guest")


@pytest.fixture(scope="session")
def booted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Answer]]:
    """The answers to all scripts of this folder, by module. One boot for all processes of -n."""
    from tests.guest import test_paths, test_port, test_wake_ups
    from tests.guest.scripts import run_scripts

    guest = machine("linux-rt/x86_64@guest")
    modules = {"paths": test_paths, "port": test_port, "wake-ups": test_wake_ups}
    every = {
        f"{module}: {name}": script
        for module, test_module in modules.items()
        for name, script in test_module.SCRIPTS.items()
    }
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    answers = run_scripts(guest, every, shared / "one-boot", mutant=test_port.mutant())
    return {
        module: {name: answers[f"{module}: {name}"] for name in test_module.SCRIPTS}
        for module, test_module in modules.items()
    }
