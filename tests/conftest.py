# SPDX-License-Identifier: Apache-2.0
"""What this machine takes from a test in real time is no failure of what it tests.

Such a test, marked `linux`, is made again if it failed and the machine itself had paused meanwhile
(`tests/pauses.py`). Without a pause, or when it fails every time, a failure is a failure.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

from .pauses import Watch

AGAIN = 8

watch_key = pytest.StashKey[Watch]()


class MachinePausedError(Exception):
    """A test in real time failed, and the machine had paused while it ran."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in real time have some more tries, for this reason alone."""
    again = pytest.mark.flaky(reruns=AGAIN, only_rerun=[MachinePausedError.__name__])
    for item in items:
        if item.get_closest_marker("linux"):
            item.add_marker(again)


@contextmanager
def says_pauses(item: pytest.Item) -> Iterator[None]:
    """A failure after a pause names the pause, and what failed as its cause."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as failure:
        if item.get_closest_marker("linux") and not isinstance(failure, pytest.skip.Exception):
            longest_s = item.config.stash[watch_key].longest_s()
            if longest_s:
                text = f"the machine paused for {longest_s * 1e3:.1f} ms"
                raise MachinePausedError(text) from failure
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Real time begins with the fixtures."""
    if item.get_closest_marker("linux"):
        if watch_key not in item.config.stash:
            item.config.stash[watch_key] = Watch()
        item.config.stash[watch_key].begin()
    with says_pauses(item):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """And ends with the test."""
    with says_pauses(item):
        yield


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is left running."""
    if watch_key in config.stash:
        config.stash[watch_key].close()
