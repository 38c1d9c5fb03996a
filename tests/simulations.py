# SPDX-License-Identifier: Apache-2.0
"""Seeded simulations that passed are remembered until something they read changes.

A simulation gives the same answer for the same code, seed and libraries. Its pass is kept in the
user's cache under a digest of everything below the folders named here, the versions of Python,
NumPy and SciPy, and the processor's model. A failure is never kept. `pytest --afresh` and
`make test-all` run every simulation.
"""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from kadenz import tools

ROOT = Path(__file__).resolve().parents[1]
# Inputs of a test of tests/stats: its own folder, the statistics, and this rule.
FOLDERS = ("kadenz/stats", "tests/stats")
FILES = ("tests/simulations.py",)
# Quicker tests run every time: the time is spent in few.
WORTH_S = 0.5
_KNOWN = "simulations left out"


def digest(root: Path = ROOT) -> str:
    """Of every input of the simulations, as 16 hexadecimal digits."""
    summed = hashlib.sha256()
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*.py"))]
    for file in [*files, *(root / name for name in FILES)]:
        summed.update(f"{file.relative_to(root)}\0".encode())
        summed.update(hashlib.sha256(file.read_bytes()).digest())
    versions = (platform.python_version(), version("numpy"), version("scipy"), _processor())
    summed.update("\0".join(versions).encode())
    return summed.hexdigest()[:16]


def _processor() -> str:
    """Its model: the instructions it has decide how libraries round."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line for line in lines if line.startswith(("model name", "CPU part"))), "")


def file_of(key: str) -> Path:
    """Where the passes of one digest are."""
    return tools.cache_dir() / "simulations" / f"{key}.txt"


class Simulations:
    """The plugin: takes out what passed before, keeps what passes now."""

    def __init__(self, folder: str, *, afresh: bool) -> None:
        self.folder = folder
        self.key = digest()
        self.file = file_of(self.key)
        self.afresh = afresh
        self.known = 0
        self._simulations: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselects simulations that passed under this digest."""
        mine = [item for item in items if item.nodeid.startswith(self.folder)]
        # Properties are tried with other values in every run.
        self._simulations = {
            item.nodeid
            for item in mine
            if not getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        }
        passed = set() if self.afresh else _read(self.file)
        before = [item for item in mine if item.nodeid in passed & self._simulations]
        self.known = len(before)
        if before:
            config.hook.pytest_deselected(items=before)
            items[:] = [item for item in items if item not in set(before)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps a pass that was worth the time."""
        worth = report.when == "call" and report.passed and report.duration >= WORTH_S
        if worth and report.nodeid in self._simulations:
            _keep(self.file, report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A process of -n: its number goes to the one that prints the summary."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_KNOWN] = self.known

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """With -n: every process has left out the same simulations."""
        self.known = max(self.known, getattr(node, "workeroutput", {}).get(_KNOWN, 0))

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Says what was not run, and why."""
        if self.known:
            terminalreporter.write_line(
                f"simulations: {self.known} not run, they passed with the same inputs "
                f"({self.key}); make test-all runs them"
            )


def _read(file: Path) -> set[str]:
    try:
        return set(file.read_text().splitlines())
    except OSError:
        return set()


def _keep(file: Path, nodeid: str) -> None:
    """One line, written at once: parallel runs share the file."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab", buffering=0) as out:
            out.write(f"{nodeid}\n".encode())
    except OSError:
        return  # a cache that cannot be written costs time, nothing else
