"""What a user sees while it measures: moving bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from kadenz.config.manifest import RecordEntry
from kadenz.lab.progress import Progress


def record_title(record: RecordEntry) -> str:
    """`itc/queue size_bytes=60`."""
    return " ".join([record.bench, *(f"{k}={v}" for k, v in record.params.items())])


class LineDisplay(Progress):
    """One line a record to standard error, for logs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: dict[str, int] = {}
        self._done: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is held."""

    def building(self, target: str) -> None:
        """The image is being made."""
        self._say(target, "building")

    def started(self, target: str, points: int) -> None:
        """Measuring begins."""
        self._planned[target], self._done[target] = points, 0
        self._say(target, f"measuring {points} points")

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""
        self._done[target] = self._done.get(target, 0) + 1
        taken = sum(lane.taken for lane in record.lanes)
        missed = sum(lane.missed for lane in record.lanes)
        end = f"{record.status}: {record.reason}" if record.reason else record.status
        count = f"{self._done[target]}/{self._planned.get(target, 0)}"
        text = f"{count} {record_title(record)}: {taken} taken, {missed} missed, {end}"
        self._say(target, text)

    def note(self, target: str, text: str) -> None:
        """The target's own words."""
        self._say(target, f"says: {text}")

    def finished(self, target: str, folder: Path) -> None:
        """The run is on the disk."""
        self._say(target, f"run folder {folder}")

    def _say(self, target: str, text: str) -> None:
        with self._lock:
            click.echo(f"{target}: {text}", err=True)


class LiveDisplay(Progress):
    """A bar for each target. Redrawn four times a second: this Linux may be what is measured."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self._console = Console(stderr=True)
        self._bars = Bars(
            TextColumn("{task.fields[target]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", style="dim"),
            console=self._console,
            refresh_per_second=4,
        )
        self._tasks: dict[str, Any] = {}
        self._samples: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leaves the last state of the bars on the screen."""
        self._bars.stop()

    def building(self, target: str) -> None:
        """The image is being made."""
        self._tasks[target] = self._bars.add_task("building", target=target, total=None)

    def started(self, target: str, points: int) -> None:
        """Measuring begins."""
        if target not in self._tasks:
            self.building(target)
        self._bars.update(self._tasks[target], total=points, description="starting")

    def opened(self, target: str, record: RecordEntry) -> None:
        """A record begins."""
        self._samples[target] = 0
        self._bars.update(self._tasks[target], description=record_title(record))

    def samples(self, target: str, record: RecordEntry, received: int) -> None:
        """Samples arrived."""
        count = self._samples[target] = self._samples.get(target, 0) + received
        planned = sum(lane.planned for lane in record.lanes)
        text = f"{record_title(record)}: {count} of {planned} samples"
        self._bars.update(self._tasks[target], description=text)

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""
        self._bars.advance(self._tasks[target])
        if record.status in ("failed", "invalid"):
            self._print(f"{target}: {record_title(record)}: {record.status}: {record.reason}")

    def note(self, target: str, text: str) -> None:
        """The target's own words."""
        self._print(f"{target} says: {text}")

    def finished(self, target: str, folder: Path) -> None:
        """The run is on the disk."""
        self._bars.update(self._tasks[target], description=str(folder))

    def _print(self, text: str) -> None:
        from rich.markup import escape

        self._console.print(escape(text), highlight=False)
