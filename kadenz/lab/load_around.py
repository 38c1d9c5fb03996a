# SPDX-License-Identifier: Apache-2.0
"""A load around one run, and what its end means for the records."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from kadenz.config.manifest import ClockEntry, Manifest, RecordEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.errors import KadenzError, LoadFailed
from kadenz.lab.condition import INTERRUPTED, Active, Running
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.load.definitions import Options
from kadenz.load.running import RunningLoad, load_summary


class LoadAround(Active):
    """A load in force next to one run.

    The run's progress then sees records begin and end; its stop is also set if the load ends.
    """

    def __init__(self, name: str, options: Options, run: Running) -> None:
        label, progress = run.label, run.progress
        self._label = label
        self._progress = progress
        self._stop = run.stop
        self._load = RunningLoad(name, options, run.output, lambda text: progress.load(label, text))
        run.progress = _Watch(progress, self._load)
        run.stop = _StopOrEnd(run.stop, self._load)

    def begin(self, document: Manifest) -> None:
        """Enters its rates; the measurement begins."""
        document.loads = self._load.entries
        for entry in document.loads:
            if not entry.verified:
                document.warnings.append(_weak(f"load `{entry.name}` is weak: {entry.reason}"))
        self._load.began()

    def end(self, document: Manifest, why: str, failures: list[KadenzError]) -> str:
        """The measurement has ended; an end of the load may be why it is partial."""
        problem = self._load.finished()
        if self._load.ended and not self._stop.is_set():
            failures.append(
                LoadFailed(
                    f"{document.target.name}: {problem}, while something was measured",
                    remedy="Records measured before are kept; records measured without the load "
                    "are marked invalid. Try the load's command (run.json, `loads`) by hand",
                )
            )
            document.warnings.append(Stamp(code="load-ended", message=problem))
            return problem if why == INTERRUPTED else why
        if problem:
            document.warnings.append(_weak(problem))
            self._refuse_the_rest(document)
        return why

    def _refuse_the_rest(self, document: Manifest) -> None:
        """Records too short for a rate of their own share the verdict on the whole run."""
        for entry in document.loads:
            if entry.rate >= entry.least or self._load.options.allow_weak:
                continue
            for record in document.records:
                if record.status == "ok" and record.id not in entry.record_rates:
                    record.status, record.reason = "invalid", f"load `{entry.name}`: {entry.reason}"

    def __enter__(self) -> Self:
        try:
            self._load.start(self._stop)
            for entry in self._load.entries:
                summary = load_summary(entry)
                text = f"load effective: {summary}" if entry.verified else summary
                self._progress.load(self._label, text, lasting=True)
        except BaseException:
            self._load.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._load.close()


def _weak(message: str) -> Stamp:
    return Stamp(
        code="weak-load",
        message=message,
        remedy="Stop other work and measure again: the load was not what the condition says",
    )


class _StopOrEnd(threading.Event):
    """Set when the user stops the run, or when the load has ended."""

    def __init__(self, stop: threading.Event, load: RunningLoad) -> None:
        super().__init__()
        self._stop = stop
        self._load = load

    def is_set(self) -> bool:
        """Asked ten times a second while a target is listened to."""
        return self._stop.is_set() or not self._load.alive()


class _Watch(Progress):
    """Passes everything on; a record that was not measured under its load is made invalid."""

    def __init__(self, progress: Progress, load: RunningLoad) -> None:
        self._progress = progress
        self._load = load
        self._open: int | None = None
        self.live = progress.live

    def building(self, target: str) -> None:
        self._progress.building(target)

    def started(self, target: str, points: Sequence[Point], clock: ClockEntry) -> None:
        self._progress.started(target, points, clock)

    def load(self, target: str, text: str, *, lasting: bool = False) -> None:
        self._progress.load(target, text, lasting=lasting)

    def opened(self, target: str, record: RecordEntry) -> None:
        self._open = record.id
        self._load.record_began()
        self._progress.opened(target, record)

    def samples(self, target: str, record: RecordEntry, lane: int, values: NDArray[Any]) -> None:
        self._progress.samples(target, record, lane, values)

    def ended(self, target: str, record: RecordEntry) -> None:
        if self._open == record.id:
            problem = self._load.record_ended(record.id)
            if problem and record.status == "failed" and self._load.ended:
                record.reason = problem
            elif problem and record.status == "ok" and self._counts(problem):
                record.status, record.reason = "invalid", problem
        self._open = None
        self._progress.ended(target, record)

    def closed(self, target: str, record: RecordEntry) -> None:
        self._progress.closed(target, record)

    def _counts(self, problem: str) -> bool:
        """A weak load may be allowed; one that is not there may not."""
        return problem == self._load.ended or not self._load.options.allow_weak

    def note(self, target: str, text: str) -> None:
        self._progress.note(target, text)

    def finished(self, target: str, folder: Path) -> None:
        self._progress.finished(target, folder)
