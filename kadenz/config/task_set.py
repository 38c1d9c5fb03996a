# SPDX-License-Identifier: Apache-2.0
"""A task set with deadlines, as `kadenz budget` reads it (docs/reference/task-set.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from kadenz.config.model import FileModel
from kadenz.config.quantity import parse_quantity
from kadenz.errors import UsageError

KERNEL_TICKS = ("kernel tick", "kernel ticks")

Priorities = Literal["rate-monotonic", "deadline-monotonic", "given"]
Locks = Literal["inherit", "ceiling"]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Section(FileModel, kw_only=True, frozen=True):
    """One [[task.section]] table: a task holds a resource."""

    resource: Text
    length: Text  # "20 us": the longest time, without preemption

    def __post_init__(self) -> None:
        """Raises ValueError for a text without number and unit."""
        _check(self.length, "length")


class Measured(FileModel, kw_only=True, frozen=True):
    """The [task.measured] table: execution time from the records of a run."""

    bench: Text  # "itc/queue size_bytes=60": the longest of its samples counts
    times: Annotated[int, msgspec.Meta(ge=1)] = 1  # how often a job does this


class TaskEntry(FileModel, kw_only=True, frozen=True):
    """One [[task]] table. Its execution time is `execution` and `measured` together."""

    name: Text
    period: Text
    deadline: str = ""  # from the release; "": the period
    execution: str = ""
    measured: Measured | None = None
    priority: int | None = None  # with priorities = "given": a larger one is more urgent
    section: tuple[Section, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for a text without number and unit, and for a task without work."""
        _check(self.period, "period")
        for key, text in (("deadline", self.deadline), ("execution", self.execution)):
            if text:
                _check(text, key)
        if not self.execution and self.measured is None:
            raise ValueError("no execution time: set `execution` or a table `measured`")


class OverheadsEntry(FileModel, kw_only=True, frozen=True):
    """The [overheads] table: by hand, instead of measured. "": from the runs."""

    tick: str = ""
    release: str = ""
    start: str = ""
    job: str = ""
    blocking: str = ""
    jitter: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError for a text without number and unit."""
        for key, text in self.given.items():
            _check(text, key, zero=True)

    @property
    def given(self) -> dict[str, str]:
        """The keys that are set."""
        texts = {key: getattr(self, key) for key in self.__struct_fields__}
        return {key: text for key, text in texts.items() if text}


class TaskSet(FileModel, kw_only=True, frozen=True):
    """A file with a task set."""

    name: Text
    priorities: Priorities = "deadline-monotonic"
    locks: Locks = "inherit"
    overheads: OverheadsEntry = OverheadsEntry()
    task: Annotated[tuple[TaskEntry, ...], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Raises ValueError for names that are taken, and for missing or useless priorities."""
        names = [task.name for task in self.task]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two tasks are named `{name}`")
        for task in self.task:
            if self.priorities == "given" and task.priority is None:
                raise ValueError(f'task `{task.name}`: `priorities` is "given", set `priority`')
            if self.priorities != "given" and task.priority is not None:
                raise ValueError(
                    f'task `{task.name}`: `priority` is allowed only with `priorities` = "given"'
                )


def is_zero(text: str) -> bool:
    """Whether an overhead is stated to be nothing."""
    return text.strip() == "0"


def _check(text: str, key: str, *, zero: bool = False) -> None:
    if zero and is_zero(text):
        return
    try:
        parse_quantity(text, key)
    except UsageError as error:
        raise ValueError(str(error)) from None
