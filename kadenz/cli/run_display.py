# SPDX-License-Identifier: Apache-2.0
"""Progress of a measurement: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click
from numpy.typing import NDArray

from kadenz.cli.run_figures import Running, TimeLeft, time_text
from kadenz.config.manifest import ClockEntry, RecordEntry
from kadenz.config.params import PERIOD
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.targets.arrivals import Sweep


class _Titles(Progress):
    """Names records as the plan does: `itc/queue size_bytes=60`."""

    def __init__(self) -> None:
        self._planned_titles: dict[tuple[str, int], str] = {}
        self._left: dict[str, TimeLeft] = {}

    def started(self, target: str, points: Sequence[Point], clock: ClockEntry) -> None:
        """Notes the titles of the planned points."""
        self._left[target] = TimeLeft(points)
        for point in points:
            self._planned_titles[target, point.id] = point.title

    def opened(self, target: str, record: RecordEntry) -> None:
        """A record begins: the time left is reckoned from here."""
        if target in self._left:
            self._left[target].opened(record.id, record.params, time.monotonic())

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""
        if target in self._left:
            self._left[target].closed(record.id, time.monotonic())

    def eta(self, target: str, share: float = 0.0) -> str:
        """ "ETA 1:05" of a target; "" while its image is built."""
        if target not in self._left:
            return ""
        return time_text(self._left[target].seconds(time.monotonic(), share))

    def title(self, target: str, record: RecordEntry) -> str:
        """The title of this record in the plan."""
        return self._planned_titles.get((target, record.id), record.bench)


class LineDisplay(_Titles):
    """Writes one line for each record to standard error, for logs."""

    def __init__(self) -> None:
        super().__init__()
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
        """Does nothing: lines need no end."""

    def building(self, target: str) -> None:
        """The image is being built."""
        self._say(target, "building")

    def started(self, target: str, points: Sequence[Point], clock: ClockEntry) -> None:
        """Measuring begins: says how many points, and how long they take."""
        super().started(target, points, clock)
        self._planned[target], self._done[target] = len(points), 0
        count = "1 point" if len(points) == 1 else f"{len(points)} points"
        self._say(target, f"measuring {count}, {self.eta(target)}")

    def load(self, target: str, text: str, *, lasting: bool = False) -> None:
        """The load starts, or takes effect."""
        self._say(target, text)

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""
        super().closed(target, record)
        self._done[target] = self._done.get(target, 0) + 1
        taken = sum(lane.taken for lane in record.series)
        missed = sum(lane.missed for lane in record.series)
        left = sum(lane.not_measured for lane in record.series)
        end = f"{record.status}: {record.reason}" if record.reason else record.status
        count = f"{self._done[target]}/{self._planned.get(target, 0)}"
        text = f"{count} {self.title(target, record)}: {taken} taken, {missed} missed, "
        text += f"{left} not measured, {end}" if left else end
        if record.value is not None and record.value.stored:
            text += f", from the store, measured {record.value.day}"
        if self._done[target] < self._planned.get(target, 0):
            text += f"; {self.eta(target)}"
        self._say(target, text)

    def note(self, target: str, text: str) -> None:
        """A message from the target."""
        self._say(target, f"message: {text}")

    def finished(self, target: str, folder: Path) -> None:
        """The run is on disk."""
        self._say(target, f"run folder {folder}")

    def _say(self, target: str, text: str) -> None:
        with self._lock:
            click.echo(f"{target}: {text}", err=True)


class LiveDisplay(_Titles):
    """Shows a bar for each target. Redraws four times a second: this Linux may be under test.

    Running figures include samples that a program on this Linux still holds; its storage is read
    once a second.
    """

    live = True

    def __init__(self) -> None:
        super().__init__()
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            ProgressColumn,
            Task,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.text import Text

        from kadenz.cli.console import progress_bars

        class Eta(ProgressColumn):
            """The remaining time, in seconds."""

            def render(column, task: Task) -> Text:  # noqa: N805 (`self` is the display)
                target = str(task.fields["target"])
                return Text("" if task.finished else self.eta(target, self._share(target)))

        self._bars = progress_bars(
            TextColumn("{task.fields[target]}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            Eta(),
            TextColumn("{task.description}", style="dim", markup=False),
            refresh_per_second=4,
        )
        self._tasks: dict[str, Any] = {}
        self._clocks: dict[str, ClockEntry] = {}
        self._swept: dict[str, float] = {}
        self._running: dict[str, tuple[Running, int]] = {}  # with the samples planned

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leaves the final bars on the screen."""
        self._bars.stop()

    def building(self, target: str) -> None:
        """The image is being built."""
        self._tasks[target] = self._bars.add_task("building", target=target, total=None)

    def started(self, target: str, points: Sequence[Point], clock: ClockEntry) -> None:
        """Measuring begins: the bar of the target counts its points."""
        super().started(target, points, clock)
        self._clocks[target] = clock
        self._take_over(target)
        self._bars.update(self._tasks[target], total=len(points), description="starting")

    def load(self, target: str, text: str, *, lasting: bool = False) -> None:
        """The load starts, or takes effect."""
        self._bars.update(self._tasks[target], description=text)
        if lasting:
            self._print(f"{target}: {text}")

    def opened(self, target: str, record: RecordEntry) -> None:
        """A record begins: the bar shows its benchmark."""
        super().opened(target, record)
        planned = sum(lane.planned for lane in record.series)
        self._running[target] = Running(record, self._clocks[target]), planned
        self._bars.update(self._tasks[target], description=self.title(target, record))

    def samples(self, target: str, record: RecordEntry, lane: int, values: NDArray[Any]) -> None:
        """Samples arrived; a periodic benchmark also shows its figures so far."""
        running, planned = self._running[target]
        running.add(lane, values)
        text = f"{self.title(target, record)}: {running.taken:,} of {planned:,} samples"
        if record.params.get(PERIOD) and running.text:
            text += f"; {running.text}"
        self._bars.update(self._tasks[target], description=text)

    def swept(self, target: str, record: RecordEntry, sweep: Sweep) -> None:
        """More arrivals were tried: the time left is reckoned from those of this execution."""
        self._left[target].swept()
        here = sweep.planned - sweep.earlier
        self._swept[target] = (sweep.tried - sweep.earlier) / here if here else 0.0
        text = f"{self.title(target, record)}: {sweep.tried:,} of {sweep.planned:,} arrivals"
        self._bars.update(self._tasks[target], description=text)

    def closed(self, target: str, record: RecordEntry) -> None:
        """A record is complete."""
        super().closed(target, record)
        self._swept.pop(target, None)
        self._bars.advance(self._tasks[target])
        if record.status in ("failed", "invalid"):
            self._print(f"{target}: {self.title(target, record)}: {record.status}: {record.reason}")

    def _share(self, target: str) -> float:
        """The share of the open record's samples that has arrived, or of its arrivals that were
        tried."""
        if target in self._swept:
            return self._swept[target]
        if target not in self._running:
            return 0.0
        running, planned = self._running[target]
        return running.taken / planned if planned else 0.0

    def note(self, target: str, text: str) -> None:
        """A message from the target."""
        self._print(f"{target}: message: {text}")

    def finished(self, target: str, folder: Path) -> None:
        """The run is on disk."""
        self._bars.update(self._tasks[target], description=str(folder))

    def _take_over(self, target: str) -> None:
        """The first run of a target continues the bar of its image; later runs get their own."""
        name = target.partition(",")[0]  # "posix/linux@host, load disk"
        if target not in self._tasks and name in self._tasks:
            self._tasks[target] = self._tasks.pop(name)
            self._bars.update(self._tasks[target], target=target)
        elif target not in self._tasks:
            self.building(target)

    def _print(self, text: str) -> None:
        self._bars.console.print(text)
