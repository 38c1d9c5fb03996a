# SPDX-License-Identifier: Apache-2.0
"""Passes of tests that only files decide are remembered until one of these files changes.

A seeded simulation of the statistics, and an emulated or simulated core, give the same answer for
the same code and tools, also to a bench or to a reader who follows a page. Their passes are kept in
the user's cache under a digest of all that they read. A failure is never kept. `make test` leaves
out what passed (`pytest --remembered`); `make test-all`, and pytest without the option, run every
test.
(docs/decisions/0067-remembered-passes.md)
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from kadenz import tools

ROOT = Path(__file__).resolve().parents[1]
# Quicker simulations run every time: the time is spent in few. Tests of cores share a measurement,
# so that a quick one costs as much as all.
WORTH_S = 0.5
_LEFT_OUT = "remembered passes"

# Inputs of a test of tests/stats: its own folder and the statistics.
STATISTICS = ("kadenz/stats", "tests/stats")
# Tests of cores that count: they read no clock of this machine, and no process disturbs them.
CORES = (
    *(f"tests/{one}/" for one in ("kernels", "models", "profile", "rtl", "rtos", "scope")),
    "tests/guest/test_boots.py",
    "tests/e2e/test_measuring.py::test_two_runs_of_the_study_are_byte_identical",
    "tests/analysis/test_between_runs.py",  # seeded
)
# Benches of such cores and of seeded simulations: the others measure this machine.
BENCHES = ("gpd_table", "how_true", "rtl_table", "schedulability", "stats_coverage", "yoo2024_fit")
_BENCH = "tests/benchmarks/test_benches.py::test_a_bench_runs_and_prints_figures[{}.py]"
# What they read beside the inputs of cores.
OF_BENCHES = ("benchmarks", "tests/benchmarks")
# Pages whose commands measure such cores only.
FOLLOWED = tuple(
    f"docs/how-to/{page}.md"
    for page in (
        *("check-deadlines", "measure-in-guests", "measure-your-own-image", "profile"),
        "weigh-an-image",
    )
)
_FOLLOWED = "tests/docs/test_commands.py::test_every_command_of_a_page_works[{}]"
OF_PAGES = ("docs", "tests/docs")
# What tests of cores import of other tests.
HELPERS = (
    *("tests/board/bench.py", "tests/wire/streams.py"),
    *("tests/guest/conftest.py", "tests/e2e/conftest.py"),
)
# Of docs/, the pages whose code or lists these tests read.
PAGES = ("docs/how-to/add-a-benchmark.md", "docs/reference/benchmarks.md")
# What no test of a core reads, at the top of the repository.
NOT_READ = {".ci", ".github", "benchmarks", "ci", "docs", "fieldbus"}


# ---- digests -------------------------------------------------------------------------------------
def statistics_digest(root: Path = ROOT) -> str:
    """Of every input of the simulations, as 16 hexadecimal digits."""
    files = [file for folder in STATISTICS for file in (root / folder).rglob("*.py")]
    versions = (platform.python_version(), version("numpy"), version("scipy"), _processor())
    return _digest(root, files, versions)


def cores_digest(root: Path = ROOT, *, more: tuple[str, ...] = ()) -> str:
    """Of every input of the tests of cores, and of the folders in `more`.

    "" where one of them is not known.
    """
    if os.environ.get("KADENZ_TEST_TREES"):  # kernels outside the repository
        return ""
    try:
        files = [root / name for name in _read_by_cores(root, more)]
        # None: a tree that an enclosing repository ignores.
        return _digest(root, files, _tools()) if files else ""
    except (OSError, subprocess.CalledProcessError):
        return ""


def _read_by_cores(root: Path, more: tuple[str, ...] = ()) -> Iterator[str]:
    """Names of files; those that are new count, too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    mine = tuple(one.partition("::")[0] for one in CORES)
    for name in answer.stdout.splitlines():
        parts = Path(name).parts
        if name.startswith(tuple(f"{folder}/" for folder in more)):
            yield name
        elif parts[0] == "tests":
            shared = len(parts) == 2
            if shared or name in HELPERS or name.startswith(mine):
                yield name
        elif name in PAGES or (parts[0] not in NOT_READ and not name.endswith(".md")):
            yield name


def _tools() -> Iterator[str]:
    """What compiles, emulates and analyses: packages of Debian and Python, Rust, settings."""
    yield platform.python_version()
    yield from sorted(f"{one.name} {one.version}" for one in distributions())
    packages = Path("/var/lib/dpkg/status")
    yield hashlib.sha256(packages.read_bytes()).hexdigest() if packages.exists() else ""
    answer = subprocess.run(
        ["rustc", "--version", "--verbose"], capture_output=True, text=True, check=True
    )
    yield answer.stdout
    of_the_setup = ("qemu/*/*", "rust/*/*", "guests/*/*/*")  # in the user's cache
    for pattern in of_the_setup:
        for file in sorted(tools.cache_dir().glob(pattern)):
            yield f"{file.relative_to(tools.cache_dir())} {file.stat().st_mtime_ns}"
    # Named by what they are generated from.
    yield from sorted(file.name for file in (tools.cache_dir() / "rtl").glob("*"))
    named = ("KADENZ_", "KDZ_", "QEMU_", "CFLAGS", "RUSTFLAGS", "VERILATOR")
    yield from sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith(named))


def _digest(root: Path, files: Iterable[Path], versions: Iterable[str]) -> str:
    summed = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted(files):
        if file.is_file():
            summed.update(f"{file.relative_to(root)}\0".encode())
            summed.update(hashlib.sha256(file.read_bytes()).digest())
    summed.update("\0".join(versions).encode())
    return summed.hexdigest()[:16]


def _processor() -> str:
    """Its model: the instructions it has decide how libraries round."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line for line in lines if line.startswith(("model name", "CPU part"))), "")


# ---- kinds of tests ------------------------------------------------------------------------------
@dataclass
class Kind:
    """Tests that read the same inputs."""

    name: str  # "simulations"
    begins: tuple[str, ...]  # the names of its tests
    digest: Callable[[], str]
    worth_s: float = 0.0  # the time of a test that is remembered
    known: int = 0  # left out in this run
    tests: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)  # in this run

    def __post_init__(self) -> None:
        self.key = self.digest()

    @property
    def file(self) -> Path:
        """Where the passes of this digest are."""
        return tools.cache_dir() / "passed" / f"{self.name}-{self.key}.txt"

    def has(self, item: pytest.Item) -> bool:
        """Properties are tried with other values in every run."""
        tried = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        inside = item.nodeid.startswith(self.begins)
        return inside and not tried and item.get_closest_marker("linux") is None

    def before(self) -> set[str]:
        """The tests that passed under this digest."""
        try:
            return set(self.file.read_text().splitlines()) if self.key else set()
        except OSError:
            return set()

    def keep(self) -> None:
        """In one write: parallel runs share the file. Not if a file changed during the run."""
        if not self.passed or not self.key or self.digest() != self.key:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab", buffering=0) as out:
                out.write("".join(f"{name}\n" for name in sorted(self.passed)).encode())
        except OSError:
            return  # a cache that cannot be written costs time, nothing else


def kinds() -> list[Kind]:
    """Those of kadenz."""
    return [
        Kind("simulations", ("tests/stats/",), statistics_digest, WORTH_S),
        Kind("cores", CORES, cores_digest),
        Kind("benches", tuple(map(_BENCH.format, BENCHES)), partial(cores_digest, more=OF_BENCHES)),
        Kind("pages", tuple(map(_FOLLOWED.format, FOLLOWED)), partial(cores_digest, more=OF_PAGES)),
    ]


class Remembered:
    """The plugin: takes out what passed before, keeps what passes now."""

    def __init__(self, of: list[Kind], *, leave_out: bool) -> None:
        self.kinds = of
        self.leave_out = leave_out

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselects what passed with the same inputs."""
        out: set[pytest.Item] = set()
        for kind in self.kinds:
            mine = [item for item in items if kind.has(item)]
            kind.tests = {item.nodeid for item in mine}
            passed = kind.before() if self.leave_out else set()
            before = [item for item in mine if item.nodeid in passed]
            kind.known = len(before)
            out.update(before)
        if out:
            config.hook.pytest_deselected(items=[item for item in items if item in out])
            items[:] = [item for item in items if item not in out]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes a pass that was worth the time, and takes it back if its end fails."""
        passed = report.when == "call" and report.passed
        for kind in self.kinds:
            if passed and report.nodeid in kind.tests and report.duration >= kind.worth_s:
                kind.passed.add(report.nodeid)
            if report.failed:
                kind.passed.discard(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keeps the passes. Of -n, a process tells its numbers to the one with the summary."""
        for kind in self.kinds:
            kind.keep()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[_LEFT_OUT] = [kind.known for kind in self.kinds]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """With -n: every process has left out the same tests."""
        told = getattr(node, "workeroutput", {}).get(_LEFT_OUT, [])
        for kind, known in zip(self.kinds, told, strict=False):
            kind.known = max(kind.known, known)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Says what was not run, and why."""
        for kind in self.kinds:
            if kind.known:
                terminalreporter.write_line(
                    f"{kind.name}: {kind.known} not run, they passed with the same inputs "
                    f"({kind.key}); make test-all runs them"
                )
