# SPDX-License-Identifier: Apache-2.0
"""Work on large arrays side by side, on the processors that this process may use.

NumPy and SciPy release the interpreter's lock while they sort, transform or sum, so threads suffice
and samples are shared. Results, their order and the error raised are those of a plain loop.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Generic, TypeVar

# Below this number of samples the interpreter itself takes most of the time: no threads.
WORTH = 1 << 18
# At most this number of samples are worked on at once. Each takes up to 16 bytes of memory.
AT_ONCE = 1 << 26

S = TypeVar("S")
T = TypeVar("T")


class _Stopped(BaseException):
    """Work that is no longer needed, because the user pressed Ctrl-C."""


class Task(Generic[T]):
    """A result to come: `result` is there after `run_all`."""

    result: T

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute
        self.error: BaseException | None = None

    def run(self) -> None:
        """Computes the result, or keeps the error."""
        try:
            self.result = self._compute()
        except BaseException as error:
            self.error = error
            raise


class _Helpers:
    """Counts the helping threads of this process: nested work takes only processors left over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def take(self, most: int) -> bool:
        """Whether one more may work, so that with the main thread at most `most` threads do."""
        with self._lock:
            free = self._count < most - 1
            self._count += free
            return free

    def give_back(self) -> None:
        with self._lock:
            self._count -= 1


_helpers = _Helpers()
_here = threading.local()


class _Group:
    """Tasks that are taken in order, by the thread that needs them and by up to `most` - 1 others.

    A processor that gets free in the meantime helps with the next task.
    """

    def __init__(self, tasks: Iterable[Task[Any]], most: int) -> None:
        self._waiting = deque(tasks)
        self._most = most
        self._parent: _Group | None = getattr(_here, "group", None)
        self._threads: list[threading.Thread] = []
        self._failed = False
        self.interrupted = False

    def work(self) -> None:
        """Runs tasks until none is left, or one failed. All before a failed one are completed."""
        outer, _here.group = getattr(_here, "group", None), self
        try:
            while (task := self._next()) is not None:
                self._find_help()
                task.run()
        except BaseException:
            self._failed = True
            raise
        finally:
            _here.group = outer

    def join(self) -> None:
        """Waits for the other threads."""
        for helper in self._threads:  # which may grow meanwhile
            helper.join()

    def _next(self) -> Task[Any] | None:
        group: _Group | None = self
        while group is not None:
            if group.interrupted:
                raise _Stopped
            group = group._parent
        if self._failed:
            return None
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def _find_help(self) -> None:
        if not self._waiting or not _helpers.take(self._most):
            return
        helper = threading.Thread(target=copy_context().run, args=(self._help,))
        try:
            helper.start()
        except RuntimeError:  # a limit on threads: without help, then
            _helpers.give_back()
        else:
            self._threads.append(helper)

    def _help(self) -> None:
        try:
            with suppress(BaseException):  # the task keeps the error
                self.work()
        finally:
            _helpers.give_back()


def processors() -> int:
    """The number of processors that this process may use (taskset, a container's set)."""
    return len(os.sched_getaffinity(0))


def run_all(tasks: Sequence[Task[Any]], size: int) -> None:
    """Runs tasks on about `size` samples each, at once where that pays.

    Raises the error of the first task that fails, as a loop would; later ones may not have run.
    Ctrl-C ends all work as soon as the NumPy calls at that moment return.
    """
    most = min(processors(), AT_ONCE // size) if size >= WORTH else 1
    group = _Group(tasks, most)
    try:
        with suppress(Exception):  # an earlier task may fail, too
            group.work()
        group.join()
    except BaseException:
        group.interrupted = True
        group.join()
        raise
    for task in tasks:
        if task.error is not None:
            raise task.error


def side_by_side(work: Callable[[S], T], items: Iterable[S], size: int) -> list[T]:
    """`work` of every item, in their order. As `run_all`."""
    tasks = [Task(lambda item=item: work(item)) for item in items]  # type: ignore[misc]
    run_all(tasks, size)
    return [task.result for task in tasks]
