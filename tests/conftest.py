# SPDX-License-Identifier: Apache-2.0
"""A pause of this machine does not fail a real-time test.

In a test marked `linux`, an assertion on timing (`tests.pauses.timing`) is retried up to twice if
the machine itself paused while the test ran. The whole run has a budget of retries; its end reports
them. Every other failure counts, pause or not: an occasional defect is a defect.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

from .pauses import LateError, Watch
from .remembered import Remembered, kinds
from .spread import ByFile

# A property holds or does not; how long an example takes depends on what runs beside it.
settings.register_profile("no-clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no-clock")

RETRIES = 2
BUDGET = 12


@dataclass
class Pauses:
    """The watch of this run, and what was retried."""

    watch: Watch = field(default_factory=Watch)
    retried: list[str] = field(default_factory=list)


pauses_key = pytest.StashKey[Pauses]()


class MachinePausedError(Exception):
    """An assertion on timing failed, and the machine had paused while its test ran."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Additions of a run of all tests."""
    parser.addoption(
        "--remembered", action="store_true", help="leave out tests whose passes are remembered"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Passes of tests that only files decide are remembered."""
    if hasattr(config, "workerinput"):  # of -n: a process that starts with the width of a terminal
        os.environ.pop("COLUMNS", None)
    config.pluginmanager.register(
        Remembered(kinds(), leave_out=config.getoption("--remembered")), "remembered"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """With -n N: who runs which test."""
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in real time may be retried, for this reason alone."""
    again = pytest.mark.flaky(reruns=RETRIES, only_rerun=[MachinePausedError.__name__])
    for item in items:
        if item.get_closest_marker("linux"):
            item.add_marker(again)


@contextmanager
def excuses_pauses(item: pytest.Item) -> Iterator[None]:
    """Marks an assertion on timing after a pause for a retry, within the budget."""
    try:
        yield
    except LateError as failure:
        if not item.get_closest_marker("linux"):
            raise
        pauses = item.config.stash[pauses_key]
        longest_s = pauses.watch.longest_s()
        # The last of the tries is reported as it is: it will not be retried.
        if not longest_s or getattr(item, "execution_count", 1) > RETRIES:
            raise
        if len(pauses.retried) >= BUDGET:
            failure.add_note(f"The budget of {BUDGET} retries of this run is spent.")
            raise
        text = f"the machine paused for {longest_s * 1e3:.1f} ms"
        pauses.retried.append(f"{item.nodeid}: {text}: {str(failure).splitlines()[0]}")
        raise MachinePausedError(text) from failure


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Real time begins with the fixtures."""
    if item.get_closest_marker("linux"):
        if pauses_key not in item.config.stash:
            item.config.stash[pauses_key] = Pauses()
        item.config.stash[pauses_key].watch.begin()
    with excuses_pauses(item):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """And ends with the test."""
    with excuses_pauses(item):
        yield


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Retried tests, and the limit of their number."""
    if pauses_key not in config.stash:
        return
    retried = config.stash[pauses_key].retried
    if retried:
        terminalreporter.section(f"assertions on timing retried: {len(retried)} of {BUDGET}")
        for line in retried:
            terminalreporter.line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is left running."""
    if pauses_key in config.stash:
        config.stash[pauses_key].watch.close()
