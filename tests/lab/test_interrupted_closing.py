# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at any line of the code that stores a run: every sample that the target held is in it,
once, and its lanes can be read.

A first Ctrl-C only asks the target to stop; a second one raises KeyboardInterrupt wherever the lab
is. It is raised here at each line, while one record ends and the target dies in another.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kadenz.lab import storage
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.session import Session
from kadenz.store import RunWriter, read_run
from kadenz.targets.process import ProcessTarget
from kadenz.wire.records import Ending
from tests.store.crashes import free_storage_below
from tests.store.manifests import manifest
from tests.store.test_killed import NAME, fill, values
from tests.wire.streams import begin, bench

ALL = 20_000  # samples of a record
ENDS, DIES = 10, 20  # records: the target stops in one, and dies in the other
PARTS = {ENDS: (slice(0, 18_000), slice(18_000, ALL)), DIES: (slice(0, 9_000),)}
VERDICTS = {ENDS: Ending("failed", "stopped (Ctrl-C)"), DIES: Ending("failed", "killed")}
ROOT = Path(__file__).resolve().parents[2] / "kadenz"
TRACED = tuple(str(ROOT / part) for part in ("store/", "lab/session.py", "lab/storage.py"))
Line = tuple[str, int]


@pytest.fixture(autouse=True)
def _of_this_test_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("kadenz.store.storage_file._quarter_of_memory", lambda: 1 << 20)
    monkeypatch.setattr(storage, "complete_orphans", lambda: None)
    yield
    free_storage_below(tmp_path)


@dataclass
class Interrupted:
    """A run with a KeyboardInterrupt at the `number`th visit of a line; none if that is 0."""

    parent: Path
    line: Line = ("", 0)
    number: int = 0
    seen: Counter[Line] = field(default_factory=Counter)
    measured: int = 0  # the record whose samples the target holds by now
    held_then: int = 0  # the same, at the interrupt
    error: BaseException | None = None

    def run(self) -> None:
        """Writes the run until its end or the interrupt."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            self._measure()
        except BaseException as error:
            self.error = error
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._step if frame.f_code.co_filename.startswith(TRACED) else None

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            here = frame.f_code.co_filename, frame.f_lineno
            self.seen[here] += 1
            if here == self.line and self.seen[here] == self.number:
                self.held_then = self.measured
                raise KeyboardInterrupt
        return self._step

    def _measure(self) -> None:
        target = ProcessTarget(["true"], suite=True)
        points = [Point(number, "itc/queue", ALL) for number in PARTS]
        with RunWriter(self.parent, manifest(), quiet=True) as writer:
            with storage.with_storage(target, points, 1, writer):
                kept: Any = SimpleNamespace(descriptor=target.storage)
                session = Session(writer, "a", points, [bench()], Progress())
                for number, parts in PARTS.items():
                    begun = begin(number, planned=ALL, lanes=["core0", "core0:cycle"])
                    fill(kept, values(number)[:0], ALL)  # the suite blanks it before BEGIN
                    session.opened(begun)
                    fill(kept, values(number)[:ALL], ALL)
                    self.measured = number
                    for part in parts:
                        for lane in (0, 1):
                            session.values(number, lane, values(number)[part])
                    writer._checkpoint_at -= 1.0  # it is due
                    writer.keep_up()
                    session.closed(begun, None, VERDICTS[number])
                    self.measured = 0
            writer.finish()

    def check(self) -> None:
        """Reads the run as a user does."""
        assert self.error is None or isinstance(self.error, KeyboardInterrupt), self.error
        if not list(self.parent.glob("*/run.json")):
            return  # it had not begun
        run = read_run(self.parent / NAME)
        for record in run.manifest.records:
            for lane in record.lanes:
                samples = run.samples(record, lane)
                np.testing.assert_array_equal(samples, values(record.id)[: samples.size])
                assert lane.planned == lane.taken + lane.missed + lane.not_measured
                assert samples.size == ALL or record.id != self.held_then


def test_no_sample_is_lost_or_doubled(tmp_path: Path) -> None:
    whole = Interrupted(tmp_path / "whole")
    whole.run()
    assert whole.error is None and len(whole.seen) > 200
    whole.check()
    for line, count in sorted(whole.seen.items()):
        for number in sorted({1, (count + 1) // 2, count}):
            interrupted = Interrupted(tmp_path / "one", line, number)
            interrupted.run()
            try:
                interrupted.check()
            except Exception as failure:
                place = f"{Path(line[0]).relative_to(ROOT)}:{line[1]}, visit {number}"
                raise AssertionError(f"Ctrl-C at {place}: {failure}") from failure
            shutil.rmtree(interrupted.parent, ignore_errors=True)
