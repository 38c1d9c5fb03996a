# SPDX-License-Identifier: Apache-2.0
"""The value of one execution: taken from the store before it starts, or kept after it ended.

One use in fifty is executed all the same, and compared with its entry. The key and the day
decide which: a test or a campaign that is repeated on the same day behaves the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from kadenz import __version__
from kadenz.config.manifest import ValueEntry
from kadenz.errors import TargetFailed
from kadenz.values.entry import DamagedError, Entry, ForeignError, Head, inputs_of, output_of
from kadenz.values.key import Command, Key, key_of
from kadenz.values.store import Store, the_store

SPOT_CHECKS = 50  # one use in 50 is executed again
_told: set[str] = set()


def is_checked(key: str, day: str) -> bool:
    """Whether uses of this key are executed again on this day, "2026-11-26"."""
    return int(hashlib.sha256(f"{key} {day}".encode()).hexdigest(), 16) % SPOT_CHECKS == 0


class Keeper:
    """Takes or keeps one execution of a target."""

    def __init__(self, target: str, *, fresh: bool = False, store: Store | None = None) -> None:
        """`fresh`: it is executed in any case."""
        self._target, self._fresh = target, fresh
        self._store = store if store is not None else the_store()
        self._key: Key | None = None
        self.vouched = False  # the lab read its output to the end, and nothing was wrong with it
        self.value: ValueEntry | None = None  # once it began; None: it is no value
        self.difference: TargetFailed | None = None  # to the kept one, once it ended

    def take(self, command: Command | None) -> bool:
        """Fills the command's folder with the output of an equal execution; False if it has to be
        executed. None: what would be executed is not known."""
        self.vouched, self.value = False, None
        if self._store is None or command is None:
            return False
        try:
            self._key = key_of(command)
        except OSError:
            return False  # a file that cannot be read: the process will say so
        now = datetime.now(UTC)
        self.value = ValueEntry(
            key=self._key.digest, measured=now.isoformat(timespec="seconds"), stored=False
        )
        if self._fresh or is_checked(self._key.digest, f"{now:%Y-%m-%d}"):
            return False
        try:
            return self._fill(command.folder)
        except (DamagedError, OSError):
            for name, _ in output_of(command.folder, set(command.inputs)):
                (command.folder / name).unlink()
            return False

    def go_on(self, name: Path) -> None:
        """Makes `name` a link to what an equal execution had done when it was stopped, or to where
        this one is to keep it. Nothing without a store, or one that cannot be written."""
        if self._store is None or self._key is None:
            return
        if self._fresh:
            self._store.forget_begun(self._key.digest)
        with contextlib.suppress(OSError):
            name.symlink_to(self._store.begun(self._key.digest))

    def complete(self) -> None:
        """It was done to its end: nothing is left to go on with."""
        if self._store is not None and self._key is not None:
            self._store.forget_begun(self._key.digest)

    def vouch(self) -> None:
        """The lab read its output to the end, and nothing was wrong with it."""
        self.vouched = True

    def refuse(self) -> None:
        """Something was wrong with it after all: it is not kept."""
        self.vouched = False

    def withdraw(self) -> None:
        """The same, found when it was kept already."""
        self.refuse()
        if self._store is None or self._key is None or self.value is None:
            return
        if not self.value.stored:
            self._store.forget(self._key.digest)

    def settle(self, folder: Path) -> None:
        """Keeps the output of a process that ended by itself, with success, in `folder`; or
        compares it with its entry."""
        if not self.vouched or self._store is None or self._key is None or self.value is None:
            return
        if self.value.stored or not self._key.unchanged():
            return
        inputs = inputs_of(self._key.document)
        head = Head(
            key=self._key.digest,
            target=self._target,
            measured=self.value.measured,
            machine=os.uname().nodename,
            kadenz=__version__,
            inputs=inputs,
            files=output_of(folder, set(inputs)),
        )
        try:
            if not self._differs(head, folder):
                self._store.put(head, folder)
        except OSError as error:
            why = error.strerror or str(error)
            _tell(f"nothing new is kept in {self._store.folder}: {why}. {_REMEDY}")

    def _fill(self, folder: Path) -> bool:
        entry = self._entry()
        if entry is None:
            return False
        assert self._store is not None and self.value is not None
        with entry:
            try:
                entry.fill(folder)
            except DamagedError as damage:
                _tell(f"{damage}: it is not used, and measured again")
                raise
            self._store.used(entry)
        self.value.measured, self.value.stored = entry.head.measured, True
        return True

    def _entry(self) -> Entry | None:
        """The entry of the key; None without one that can be believed."""
        assert self._store is not None and self._key is not None
        try:
            return self._store.find(self._key.digest)
        except ForeignError:
            _tell(f"{self._store.folder} has entries of another user: they are not used. {_REMEDY}")
        except DamagedError as damage:
            _tell(f"{damage}: it is not used, and measured again")
        except OSError as error:
            _tell(f"{self._store.folder} cannot be read: {error.strerror}. {_REMEDY}")
        return None

    def _differs(self, head: Head, folder: Path) -> bool:
        """Whether the kept execution differs from this one: then both are kept, and an error."""
        entry = self._entry()
        if entry is None:
            return False
        assert self._store is not None
        with entry:
            try:
                name = entry.differs(folder)
            except DamagedError:
                return False  # it is replaced
        if not name:
            return False
        other = self._store.put(head, folder, differing=True)
        before = entry.head
        self.difference = TargetFailed(
            f"{self._target}: two executions with the same inputs differ in `{name}`: one of "
            f"{before.measured} on {before.machine} by kadenz {before.kadenz}, one of "
            f"{head.measured} on {head.machine} by kadenz {head.kadenz}",
            remedy="Run `kadenz cache verify`: it names both files. Something that decides the "
            "execution is not in its key; measure with --fresh until it is found",
            detail=f"first execution: {entry.path}\nsecond execution: {other}",
        )
        return True


_REMEDY = "Set KADENZ_STORE to a folder of your own, or to `off`"


def _tell(text: str) -> None:
    """Says it once in a process, on standard error: a run goes on without the store."""
    if text not in _told:
        _told.add(text)
        print(f"store: {text}", file=sys.stderr, flush=True)
