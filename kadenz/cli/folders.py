# SPDX-License-Identifier: Apache-2.0
"""Run folders named on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from kadenz.errors import EXIT_PASS, NothingThere, StoreError, UsageError

if TYPE_CHECKING:
    from kadenz.store import Run

_LISTED = "Name a run folder: `kadenz runs` lists them"
S = TypeVar("S")
T = TypeVar("T")


def find_runs(paths: Iterable[Path]) -> list[Run]:
    """Reads all runs at `paths`: run folders, or folders of runs and calls in the order of names.

    UsageError if a path does not exist or holds no run, StoreError if a run is damaged.
    """
    from kadenz.store import read_run

    return [read_run(folder) for path in paths for folder in _folders(path)]


class NamedRuns:
    """The runs on a command line, less damaged ones and empty folders. Their error if none is left.

    A command works with the intact runs, then calls `conclude`.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        from kadenz.store import read_run

        self.runs: list[Run] = []
        self._damaged: list[StoreError | UsageError] = []
        for path in paths:
            try:
                folders = _folders(path)
            except UsageError as error:
                self._damaged.append(error)
                continue
            self._keep(folders, lambda folder: self.runs.append(read_run(folder)))
        self._check()

    def each(self, work: Callable[[Run], T]) -> list[T]:
        """Results of `work` for every run; a run with damaged samples is left out, too."""
        done: list[tuple[Run, T]] = []
        self._keep(self.runs, lambda run: done.append((run, work(run))))
        self.runs = [run for run, _ in done]
        self._check()
        return [result for _, result in done]

    def conclude(self) -> int:
        """Reports the runs left out. Returns the exit code."""
        return conclude(self._damaged)

    def _check(self) -> None:
        if self._damaged and not self.runs:
            raise self._damaged[0]

    def _keep(self, things: Iterable[S], work: Callable[[S], None]) -> None:
        for thing in things:
            try:
                work(thing)
            except StoreError as error:
                self._damaged.append(error)


def conclude(left_out: Sequence[StoreError | UsageError]) -> int:
    """Reports the errors of runs that a command left out. Returns its exit code."""
    from kadenz.cli import show_error

    for error in left_out:
        error.message = f"left out: {error.message}"
        show_error(error)
    return max((error.exit_code for error in left_out), default=EXIT_PASS)


def _is_run(path: Path) -> bool:
    from kadenz.store.layout import MANIFEST

    return (path / MANIFEST).exists() or (path.name == MANIFEST and path.exists())


def _folders(path: Path) -> list[Path]:
    """The run folder `path`, or the run folders in it, or the runs of that name.

    UsageError for a folder without runs, and for a file.
    """
    from kadenz.store.layout import MANIFEST

    if not path.exists():
        return _named(str(path)) or [path]
    if _is_run(path):
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: a file, not a run folder", remedy=_of_file(path))
    # A call with several runs has a folder of its own, as `run --rounds 3`.
    inside = [file.parent for of in ("*", "*/*") for file in path.glob(f"{of}/{MANIFEST}")]
    if not inside:
        raise NothingThere(f"{path}: contains no run", remedy=_LISTED)
    return sorted(inside)


def _of_file(path: Path) -> str:
    """The command that takes a file of this kind."""
    commands = {
        (".vcd", ".sr", ".csv"): "Make a run of a capture: kadenz import",
        (".npy", ".txt"): "Analyse a time series: kadenz jitter",
        (".dat",): "Draw a recording of trace-cmd: kadenz trace",
        (".elf",): "Measure an image: kadenz run --image",
    }
    known = (what for ends, what in commands.items() if path.suffix.lower() in ends)
    return next((f"{what} {path}" for what in known), _LISTED)


def _named(text: str) -> list[Path]:
    from kadenz.config.lab_file import output_folder
    from kadenz.store.names import named

    return named(output_folder(), text, note=partial(click.echo, err=True))
