# SPDX-License-Identifier: Apache-2.0
"""A tuning around a run: applied before it, restored after it.

The journal is that of `kadenz tune`. If kadenz is killed in between, `kadenz tune restore` restores
every value; until then a second tuning is refused.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, TargetFailed, UsageError
from kadenz.host import facts
from kadenz.lab.condition import NONE, Active, Running
from kadenz.tuning import lifecycle
from kadenz.tuning.journal import Head, alone, state_folder
from kadenz.tuning.machine import Machine
from kadenz.tuning.plan import Plan, plan_of
from kadenz.tuning.signals import held


def check_tunings(
    wanted: Sequence[tuple[str, str]],
    targets: Sequence[TargetName],
    machine: Machine | None = None,
) -> None:
    """Raises KadenzError if one of `wanted` could not be set around a run.

    Each is a profile, or NONE, and the processors that it sets apart; "": the profile's.
    """
    for name, cpus in wanted:
        if name == NONE and cpus:
            raise UsageError(
                f"--tuning {NONE},cpus={cpus}: nothing is tuned", remedy=f"Write {NONE} alone"
            )
    if not wanted or all(target.tier != "host" for target in targets):
        return
    machine = machine or Machine()
    _refuse_another(machine)
    for name, cpus in wanted:
        if name != NONE:
            with alone(state_folder()):  # the journal can be kept
                pass
            _check_right(machine, plan_of(machine, name, cpus)[0])


@contextmanager
def tuning_applied(profile: str, cpus: str, run: Running) -> Iterator[Active]:
    """A profile, or NONE, in force around `run`, whose host facts are read under it.

    Raises KadenzError if a tuning is in force already, or if none of its values could be set. What
    could not be restored is added to the failures of the run and stays in the journal. Signals
    interrupt the applying and the run, but not what is between and after them.
    """
    machine = Machine()
    _refuse_another(machine)
    if profile == NONE:
        run.host = facts.read_host()
        yield Active()
        return
    plan, digest = plan_of(machine, profile, cpus)
    with _hangup_interrupts(), held() as signals:
        head = lifecycle.apply(machine, plan, digest).head
        try:
            with signals.let_through():
                run.host = facts.read_host()
                yield Active()
        except BaseException:
            for error in _restored(machine, head):
                run.progress.note(run.label, f"{error.message}. {error.remedy}")
            raise
        run.failures += _restored(machine, head)


def _restored(machine: Machine, head: Head) -> list[KadenzError]:
    """Restores every value. Returns an error for values that stay in the journal."""
    try:
        there = lifecycle.in_force(machine)
        if there is None or there.journal.head != head:
            return []  # somebody restored it meanwhile: the run is stamped with that
        restored = lifecycle.restore(machine)
    except KadenzError as error:
        return [error]
    except OSError as error:
        return [
            KadenzError(
                f"the tuning {lifecycle.short_name(head.profile)} is still in force: {error}",
                remedy="Remove the cause, then run `kadenz tune restore`",
            )
        ]
    left = [
        restoration
        for restoration in restored
        if restoration.result in ("changed by others", "failed")
    ]
    if not left:
        return []
    first, more = left[0], f", and {len(left) - 1} more" if len(left) > 1 else ""
    return [
        KadenzError(
            f"the tuning {lifecycle.short_name(head.profile)} is not fully restored: "
            f"{first.change.what}: {first.why or first.result}{more}",
            remedy="Run `kadenz tune restore`: it reports every value. Until then no run is tuned",
        )
    ]


@contextmanager
def _hangup_interrupts() -> Iterator[None]:
    """SIGHUP acts like Ctrl-C twice, so that the tuning is restored. Under nohup it is ignored."""

    def interrupt(number: int, _frame: object) -> NoReturn:
        raise KeyboardInterrupt

    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGHUP, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _refuse_another(machine: Machine) -> None:
    """A tuning applied by hand is somebody's own: it is neither replaced nor called `none`."""
    there = lifecycle.in_force(machine)
    if there is None or there.stale:
        return
    head, journal = there.journal.head, there.journal
    half = "" if journal.complete and not journal.restoring else ", half applied or half restored"
    raise TargetFailed(
        f"--tuning: the tuning {lifecycle.short_name(head.profile)} of {head.applied} is in force "
        f"already{half}",
        remedy="Undo it first: kadenz tune restore. Or measure under it, without --tuning",
    )


def _check_right(machine: Machine, plan: Plan) -> None:
    name, changes = lifecycle.short_name(plan.profile), plan.changes()
    if not changes:
        raise UsageError(
            f"--tuning {name} changes nothing on this machine",
            remedy=f"`kadenz tune plan {name}` shows which values are set already or missing",
        )
    refused = [change for change in changes if not _may(machine, change.path)]
    if len(refused) == len(changes):
        raise TargetFailed(
            f"--tuning {name}: no right to change {refused[0].what}",
            remedy="Run as root on the machine itself: a container shows it read-only",
        )


def _may(machine: Machine, path: str) -> bool:
    """Whether a change may be tried. Threads and groups to be made have no file to ask."""
    file = machine.path(path) if path else None
    return os.access(file, os.W_OK) if file is not None and file.exists() else os.geteuid() == 0
