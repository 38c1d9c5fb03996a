# SPDX-License-Identifier: Apache-2.0
"""Real `kadenz` processes, forked or started (tests/forked.py), with real targets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kadenz.store import Run, read_run
from tests import forked
from tests.waiting import PATIENCE_S

KADENZ = str(Path(sys.executable).parent / "kadenz")
BOARDS = ("freertos/hifive1-revb@emulated", "freertos/stm32f4@emulated")
LINUX = "posix/linux@host"
FAULTS = Path(__file__).parent / "targets" / "faults.c"

Kadenz = Callable[..., "subprocess.CompletedProcess[str]"]


def kadenz(
    *arguments: str | Path, env: dict[str, str] | None = None, before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs the command; `before` is a prefix (setpriv …), which starts the installed program."""
    if not before:
        return forked.kadenz(*arguments, env=env)
    return subprocess.run(
        [*before, KADENZ, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env={**os.environ, **(env or {})},
    )


def all_runs(folder: Path) -> list[Run]:
    return [read_run(file.parent) for file in sorted(folder.glob("*/run.json"))]


def runs_in(folder: Path) -> dict[str, Run]:
    """All runs below a folder, by target: one of each, or a run would hide another."""
    runs = all_runs(folder)
    by_target = {run.manifest.target.name: run for run in runs}
    assert len(by_target) == len(runs), [run.path.name for run in runs]
    return by_target


def begun(output: Path, bench: str) -> bool:
    """Whether a run below `output` is measuring this benchmark, as its manifest says."""
    for file in output.glob("*.partial/run.json"):
        try:
            records = json.loads(file.read_text())["records"]
        except (OSError, ValueError):
            continue
        if records and records[-1]["bench"] == bench:
            return True
    return False


def campaign(folder: Path, benchmarks: dict[str, int], targets: Sequence[str]) -> Path:
    """A campaign file with these benchmarks and samples."""
    tables = [f'[[benchmark]]\nname = "{n}"\nsamples = {count}' for n, count in benchmarks.items()]
    names = ", ".join(f'"{target}"' for target in targets)
    file = folder / "test.toml"
    head = f'name = "test"\ntitle = "a test"\ntargets = [{names}]'
    file.write_text("\n".join([head, *tables]) + "\n")
    return file


@pytest.fixture(scope="session")
def built() -> None:
    """Builds the images of most tests, so that later times only include measuring."""
    answer = kadenz(
        "list", "--build", *(w for name in (LINUX, *BOARDS) for w in ("--target", name))
    )
    assert answer.returncode == 0, answer.stderr
