# SPDX-License-Identifier: Apache-2.0
"""The journal of a tuning: each change is on the disk before it is made.

One JSON object per line. The first names the profile and the boot. Each change has a line with the
values before and after, flushed to disk (fsync) before the change, and a line with its outcome. A
line truncated by a crash belongs to a change that was not started.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from kadenz.errors import KadenzError, StoreError
from kadenz.json_text import read_json
from kadenz.tuning.change import Change

FORMAT = "kadenz tuning journal 1"
_NAME = "journal.jsonl"
_LAST = "last.jsonl"  # the journal of the last restored tuning

Outcome = Literal["begun", "done", "failed", "gone", "restored"]


class Head(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The first line of a journal: the profile, and what identifies this boot."""

    format: str
    profile: str
    title: str
    sha256: str  # digest of the profile's file
    cpus: str  # reserved for real-time work, "" if none
    housekeeping: str
    boot_id: str
    applied: str  # ISO 8601, UTC


class _Line(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    change: Change | None = None  # with `step`: a change about to be made
    step: int = 0
    outcome: Outcome | None = None
    why: str = ""
    complete: bool = False


@dataclass
class Step:
    """One change and its outcome."""

    number: int
    change: Change
    outcome: Outcome = "begun"
    why: str = ""


@dataclass
class Journal:
    """The content of a journal file."""

    head: Head
    steps: list[Step] = field(default_factory=list)
    complete: bool = False  # every change of the profile was attempted

    @property
    def restoring(self) -> bool:
        """True if some changes have already been restored."""
        return any(step.outcome == "restored" for step in self.steps)


def state_folder() -> Path:
    """The folder of this machine's journal: in $KADENZ_STATE_DIR, else in /var/lib/kadenz.

    All users share it, because a tuning applies to the whole machine.
    """
    return Path(os.environ.get("KADENZ_STATE_DIR") or "/var/lib/kadenz") / "tuning"


def read_journal(folder: Path) -> Journal | None:
    """The journal in `folder`, None if no tuning was applied. Raises StoreError if damaged."""
    file = folder / _NAME
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be read: {error.strerror}", remedy="Run as root"
        ) from None
    whole, _, torn = data.rpartition(b"\n")
    lines = whole.split(b"\n") if whole else []
    if not lines:  # the first line is incomplete: nothing was changed yet
        return None
    try:
        journal = Journal(read_json(lines[0], Head))
        for line in lines[1:]:
            _enter(journal, read_json(line, _Line))
    except (msgspec.DecodeError, StopIteration) as error:
        raise StoreError(
            f"{file}: damaged: {error}",
            remedy="Restore the values under `was` by hand and delete the file, or reboot, which "
            "undoes everything",
        ) from None
    return journal


def _enter(journal: Journal, line: _Line) -> None:
    if line.change is not None:
        journal.steps.append(Step(line.step, line.change))
    elif line.complete:
        journal.complete = True
    elif line.outcome is not None:
        step = next(step for step in journal.steps if step.number == line.step)
        step.outcome, step.why = line.outcome, line.why


class Writer:
    """Appends to the journal. Raises StoreError if the file system refuses, e.g. if it is full."""

    def __init__(self, folder: Path, head: Head | None = None) -> None:
        """Starts a new journal with `head`, otherwise opens the existing one."""
        self._file = folder / _NAME
        self._steps = 0
        with _named(self._file):
            if head is None:
                _cut_torn_line(self._file)
            flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_TRUNC if head else 0)
            self._number = os.open(self._file, flags, 0o644)
        if head is not None:
            with _named(self._file):
                self._append(msgspec.json.encode(head))
                _sync_folder(folder)

    def begin(self, change: Change) -> int:
        """Logs a change before it is made; on the disk when it returns. Returns its number."""
        self._steps += 1
        self._append(msgspec.json.encode(_Line(change=change, step=self._steps)))
        return self._steps

    def holds(self, change: Change) -> int:
        """Logs a value that needs no change, so that `verify` checks it."""
        self._steps += 1
        line = _Line(change=change, step=self._steps)
        self._append(msgspec.json.encode(line), sync=False)
        self.end(self._steps, "done")
        return self._steps

    def end(self, step: int, outcome: Outcome, why: str = "") -> None:
        """Logs the outcome of a change, without fsync: only a crash of the machine could lose it,
        and after a reboot there is nothing to restore.
        """
        self._append(msgspec.json.encode(_Line(step=step, outcome=outcome, why=why)), sync=False)

    def complete(self) -> None:
        """Logs that every change was attempted."""
        self._append(msgspec.json.encode(_Line(complete=True)))

    def close(self) -> None:
        """Keeps the journal: the tuning is in force."""
        with contextlib.suppress(OSError):  # all that must not be lost was flushed
            os.close(self._number)

    def _append(self, line: bytes, *, sync: bool = True) -> None:
        data = line + b"\n"
        with _named(self._file):
            while data:
                data = data[os.write(self._number, data) :]
            if sync:
                os.fsync(self._number)


class Outcomes:
    """Logs what is restored and archives the journal. Its errors must not end the restoring.

    A value that was restored may be restored again, so its outcome may be lost.
    """

    def __init__(self, folder: Path) -> None:
        """Opens the journal in `folder`; if that fails, `error` says why."""
        self.error: StoreError | None = None  # the first
        self._folder = folder
        self._writer: Writer | None = None
        try:
            self._writer = Writer(folder)
        except StoreError as error:
            self.error = error

    def restored(self, step: int) -> None:
        """Logs that a value is restored. Nothing follows a line that could not be written."""
        if self._writer is None or self.error is not None:
            return
        try:
            self._writer.end(step, "restored")
        except StoreError as error:
            self.error = error

    def close(self, *, archived: bool) -> None:
        """Keeps the journal, or archives it."""
        if self._writer is not None:
            self._writer.close()
        if not archived:
            return
        try:
            put_away(self._folder)
        except StoreError as error:
            self.error = self.error or error


def put_away(folder: Path) -> None:
    """Archives the journal of a restored tuning until the next one. Raises StoreError."""
    with _named(folder / _NAME):
        (folder / _NAME).replace(folder / _LAST)
        _sync_folder(folder)


def discard(folder: Path) -> None:
    """Deletes the journal: nothing was changed."""
    (folder / _NAME).unlink(missing_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Locks the machine's tuning for one process. Raises KadenzError if another holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(
            f"{folder}: {os.strerror(error.errno or 0)}: cannot store the journal there",
            remedy="Run as root, or set KADENZ_STATE_DIR to another folder",
        ) from None
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KadenzError(
                "another `kadenz tune` is changing this machine", remedy="Wait until it ends"
            ) from None
        yield
    finally:
        os.close(number)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Raises StoreError, which names the file, for OSError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{file}: cannot be written: {error.strerror}",
            remedy="Make room on its file system, or set KADENZ_STATE_DIR to another folder",
        ) from error


def _cut_torn_line(file: Path) -> None:
    """Terminates a line truncated by a crash, so that the next record starts on a new line."""
    data = file.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(file, whole)


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
