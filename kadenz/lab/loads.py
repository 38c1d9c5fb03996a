# SPDX-License-Identifier: Apache-2.0
"""Loads beside a run: which targets take one, and what a load's end means for the records."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from kadenz.config.manifest import ClockEntry, Manifest, RecordEntry
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, LoadFailed, UsageError
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.load.definitions import NONE, Options, check_programs, chosen_cpus, parts_of
from kadenz.load.running import RunningLoad, told

NOT_HERE = "load-not-applicable"
_INTERRUPTED = "interrupted (Ctrl-C)"


def loads_of(target: TargetName, wanted: Sequence[str]) -> list[str]:
    """Loads to measure `target` under, [""] where nobody asked for any.

    Only what runs on this Linux feels them. Any other target is measured once, without, where
    `none` is among the loads; else UsageError.
    """
    if not wanted:
        return [""]
    loads = list(dict.fromkeys(wanted))
    if target.tier == "host":
        return loads
    inside = target.tier == "guest"  # it has loads of its own, and conditions that name them
    if NONE in loads:
        return [""] if inside else [NONE]
    raise UsageError(
        f"load `{loads[0]}` runs on this Linux: {target} does not feel it (tier {target.tier})",
        remedy="Loads inside a guest are named with --guest-load"
        if inside
        else "Name a target of tier host with --target, or measure the others with --load none",
    )


def check_loads(wanted: Sequence[str], options: Options, where: str) -> None:
    """Unknown names, processors and missing programs, before anything is built."""
    for load in wanted:
        try:
            parts_of(load)
            check_programs(load)
        except UsageError as error:
            raise UsageError(f"{where}: {error.message}", remedy=error.remedy) from None
    if any(load != NONE for load in wanted):
        chosen_cpus(options)


def stamps(target: TargetName, wanted: Sequence[str]) -> list[Stamp]:
    """The warning of a run that was to be measured under loads its target does not feel."""
    others = [load for load in wanted if load != NONE]
    if target.tier == "host" or not others:
        return []
    return [
        Stamp(
            code=NOT_HERE,
            message=f"measured without {', '.join(others)}: loads run on this Linux, and a target "
            f"of tier {target.tier} does not feel them",
        )
    ]


class Beside:
    """The load beside one run. Where there is none it is silent and does nothing.

    `progress` and `stop` are what the measurement is to use: the first sees records begin and end,
    the second is also set when the load has ended.
    """

    def __init__(
        self,
        load: str,
        options: Options,
        scratch: Path,
        target: str,
        progress: Progress,
        stop: threading.Event,
    ) -> None:
        self.progress = progress
        self.stop = stop
        self._user = stop
        self._target = target
        self._load: RunningLoad | None = None
        if load not in ("", NONE):
            self._load = RunningLoad(
                load, options, scratch, lambda text: progress.load(target, text)
            )
            self.progress = _Watch(progress, self._load)
            self.stop = _StopOrEnd(stop, self._load)

    def begin(self, document: Manifest) -> None:
        """Its rates go into the manifest; the measurement begins."""
        if self._load is None:
            return
        document.loads = self._load.entries
        for entry in document.loads:
            if not entry.verified:
                document.warnings.append(_weak(f"load `{entry.name}` is weak: {entry.reason}"))
        self._load.began()

    def end(self, document: Manifest, why: str, failures: list[KadenzError]) -> str:
        """The measurement has ended; `why` it is partial, which may be the load's end."""
        if self._load is None:
            return why
        said = self._load.finished()
        if self._load.ended and not self._user.is_set():
            failures.append(
                LoadFailed(
                    f"{document.target.name}: {said}, while something was measured",
                    remedy="What it measured before is kept; what was measured without the load is "
                    "marked invalid. Try the load's command (run.json, `loads`) by hand",
                )
            )
            document.warnings.append(Stamp(code="load-ended", message=said))
            return said if why == _INTERRUPTED else why
        if said:
            document.warnings.append(_weak(said))
            self._refuse_the_rest(document)
        return why

    def _refuse_the_rest(self, document: Manifest) -> None:
        """Records too short for a rate of their own share the verdict on the whole run."""
        assert self._load is not None
        for entry in document.loads:
            if entry.rate >= entry.least or self._load.options.allow_weak:
                continue
            for record in document.records:
                if record.status == "ok" and record.id not in entry.record_rates:
                    record.status, record.reason = "invalid", f"load `{entry.name}`: {entry.reason}"

    def __enter__(self) -> Self:
        if self._load is not None:
            try:
                self._load.start(self._user)
                for entry in self._load.entries:
                    text = f"the load bites: {told(entry)}" if entry.verified else told(entry)
                    self.progress.load(self._target, text, lasting=True)
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
        if self._load is not None:
            self._load.close()


def _weak(message: str) -> Stamp:
    return Stamp(
        code="weak-load",
        message=message,
        remedy="Stop other work and measure again: the condition does not say what was there",
    )


class _StopOrEnd(threading.Event):
    """Set when the user wants no more, or when the load has ended."""

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

    def closed(self, target: str, record: RecordEntry) -> None:
        if self._open == record.id:
            problem = self._load.record_ended(record.id)
            if problem and record.status == "failed" and self._load.ended:
                record.reason = problem
            elif problem and record.status == "ok" and self._counts(problem):
                record.status, record.reason = "invalid", problem
        self._open = None
        self._progress.closed(target, record)

    def _counts(self, problem: str) -> bool:
        """A weak load may be allowed; one that is not there may not."""
        return problem == self._load.ended or not self._load.options.allow_weak

    def note(self, target: str, text: str) -> None:
        self._progress.note(target, text)

    def finished(self, target: str, folder: Path) -> None:
        self._progress.finished(target, folder)
