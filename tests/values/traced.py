# SPDX-License-Identifier: Apache-2.0
"""A counted target under strace: which files its process opened, and what its key was made of."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kadenz.lab.boot import Execution, Outcome, run_plan
from kadenz.lab.plan import Point, plan_text
from kadenz.targets import counted
from kadenz.targets.base import Target
from kadenz.targets.counted import CountedProcess, Process, Start
from kadenz.values.keeper import Keeper
from kadenz.values.key import Command, Key, key_of
from kadenz.values.program import Program
from kadenz.values.store import Store
from kadenz.wire.records import Assembler, NoRecords

PLAN = plan_text([Point(0, "clock/read-cost", 20), Point(1, "itc/queue", 20)])
# open("/etc/x", ...) = 3 and open("/etc/x", ...) = -1 ENOENT; of threads, too.
_OPENED = re.compile(r'(?:open|openat|openat2|execve)\((?:[^,"]+, )?"([^"]*)".*= (-?\d+)')


@dataclass(frozen=True)
class Opened:
    """Files by whether they were there, and the key."""

    present: set[Path]
    missing: set[Path]
    key: Key
    folder: Path


def opened_by(target: Target, log: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Executes a target under strace. Its process must be the traced one."""
    assert isinstance(target, CountedProcess)
    keys: list[Key] = []
    folders: list[Path] = []

    class Watched(Keeper):
        def take(self, command: Command | None) -> bool:
            assert command is not None, "it is known what will be executed"
            keys.append(key_of(command))
            folders.append(command.folder)
            return super().take(command)

    def traced(really: Program, start: Start) -> Process:
        arguments = ["-f", "-qq", "-e", "trace=open,openat,openat2,execve", "-o", str(log), "--"]
        arguments += [str(really.path), *really.arguments, *start.arguments]
        under = Program(Path("/usr/bin/strace"), tuple(arguments), really.environment, ())
        only = replace(start, program=under.path, arguments=())
        return real(under, only)

    real = counted._started
    monkeypatch.setattr(counted, "_started", traced)
    target.keeper = Watched("traced", store=Store(store))
    outcome = execute(target)
    assert outcome.failure is None, outcome.failure
    present, missing = set[Path](), set[Path]()
    for name, result in _OPENED.findall(log.read_text()):
        (present if int(result) >= 0 else missing).add(folders[0] / name)
    return Opened(present, missing, keys[0], folders[0])


def execute(
    target: Target,
    plan: str = PLAN,
    *,
    silence_s: float = 600.0,
    stop: threading.Event | None = None,
) -> Outcome:
    """Executes a target to its end."""
    execution = Execution(target, "traced", plan, lambda: silence_s)
    assembler = Assembler(NoRecords(), expects_samples=False)
    return run_plan(execution, assembler, stop or threading.Event())
