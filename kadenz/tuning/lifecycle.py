# SPDX-License-Identifier: Apache-2.0
"""Applies, verifies and restores a tuning of this machine, change by change.

The journal stores all previous values, and `restore` restores them even after an error, Ctrl-C or
kill -9. Values changed by others meanwhile are left unchanged until the user decides.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from kadenz.config.manifest import TuningEntry, TuningItem
from kadenz.config.processors import show_cpus
from kadenz.errors import KadenzError, StoreError
from kadenz.tuning.change import (
    Change,
    Gone,
    between,
    current,
    give_back_masks,
    ours_alone,
    perform,
    same,
    why,
)
from kadenz.tuning.journal import (
    FORMAT,
    Head,
    Journal,
    Outcomes,
    Step,
    Writer,
    alone,
    discard,
    put_away,
    read_journal,
    state_folder,
)
from kadenz.tuning.machine import Machine
from kadenz.tuning.plan import Plan, make_plan
from kadenz.tuning.signals import held

# Later rounds handle threads and tasks created while the profile was being applied.
_ROUNDS = 3
_NEXT_INTERRUPT_S = 0.1
Others = Literal["", "keep", "overwrite"]
State = Literal["holds", "changed", "gone", "failed", "new"]
Told = Callable[[Step], None]


@dataclass(frozen=True)
class Check:
    """The state of one value found by `verify`."""

    change: Change
    state: State
    now: str = ""  # if it changed
    why: str = ""  # if it failed when the profile was applied


@dataclass(frozen=True)
class Taken:
    """One value handled by `restore`."""

    change: Change
    result: Literal["restored", "already so", "gone", "kept", "changed by others", "failed"]
    now: str = ""
    why: str = ""


@dataclass(frozen=True)
class InForce:
    """The journal of this machine. `stale`: written before the last reboot, which undid it."""

    journal: Journal
    stale: bool


def in_force(machine: Machine, folder: Path | None = None) -> InForce | None:
    """The tuning with a journal on this machine, None without one."""
    journal = read_journal(folder or state_folder())
    if journal is None:
        return None
    return InForce(journal, stale=journal.head.boot_id != machine.boot_id())


def apply(
    machine: Machine,
    plan: Plan,
    sha256: str = "",
    folder: Path | None = None,
    told: Told | None = None,
) -> Journal:
    """Makes every change of `plan`. Failed changes are in the journal; the others are in force.

    `told` is called with each step. Raises KadenzError if a tuning is already in force or if no
    change could be made. An interruption or an error reverts all changes and is raised again; no
    signal interrupts the reverting.
    """
    folder = folder or state_folder()
    with held() as signals, alone(folder):
        _refuse_second(machine, folder)
        head = Head(
            format=FORMAT,
            profile=plan.profile,
            title=plan.tuning.title,
            sha256=sha256,
            cpus=show_cpus(plan.realtime),
            housekeeping=show_cpus(plan.housekeeping),
            boot_id=machine.boot_id(),
            applied=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        journal = Journal(head)
        writer = Writer(folder, head)
        try:
            with signals.let_through():
                _make(machine, plan, journal, writer, told)
                writer.complete()
        except BaseException as error:
            writer.close()
            _, unwritten = _take_back(machine, folder, "")
            if unwritten is not None and isinstance(error, KadenzError):
                raise unwritten from error
            raise
        writer.close()
        journal.complete = True
        failed = [step for step in journal.steps if step.outcome == "failed"]
        if not any(step.outcome == "done" for step in journal.steps):
            discard(folder)
            raise KadenzError(
                f"nothing of {plan.profile} could be applied"
                + (f": {failed[0].change.what}: {failed[0].why}" if failed else " to this machine"),
                remedy="See `kadenz tune plan`; most of it needs root on the machine itself",
                detail="\n".join(f"{s.change.key}: {s.change.what}: {s.why}" for s in failed),
            )
        return journal


def _refuse_second(machine: Machine, folder: Path) -> None:
    there = in_force(machine, folder)
    if there is None:
        return
    if there.stale:
        put_away(folder)
        return
    head = there.journal.head
    if there.journal.complete and not there.journal.restoring:
        what = f"the tuning {head.profile} is in force since {head.applied}"
    else:
        what = f"the tuning {head.profile} of {head.applied} was only partly applied or restored"
    raise KadenzError(what, remedy="Restore it first: kadenz tune restore")


def _make(
    machine: Machine, plan: Plan, journal: Journal, writer: Writer, told: Told | None
) -> None:
    tried = set()
    for item in plan.items:
        for change in item.as_wanted:
            tried.add(change.identity)
            journal.steps.append(Step(writer.holds(change), change, "done"))
    wanted: Sequence[Change] = plan.changes()
    for _ in range(_ROUNDS):
        for change in wanted:
            tried.add(change.identity)
            step = _make_one(machine, change, writer)
            journal.steps.append(step)
            if told is not None:
                told(step)
        again = make_plan(machine, plan.profile, plan.tuning, show_cpus(plan.realtime))
        wanted = [change for change in again.changes() if change.identity not in tried]
        if not wanted:
            break


def _make_one(machine: Machine, change: Change, writer: Writer) -> Step:
    step = Step(writer.begin(change), change)
    try:
        perform(machine, change, change.value)
        got = current(machine, change)
        if same(change, got, change.value):
            step.outcome = "done"
        else:
            perform(machine, change, change.was)
            step.outcome, step.why = "failed", f"the kernel changed it to {got}: reverted"
    except Gone:
        # The profile itself may end a thread: without huge pages the kernel stops khugepaged.
        step.outcome, step.why = "gone", "it ended before it could be changed"
    except OSError as error:
        step.outcome, step.why = "failed", why(error, change)
    writer.end(step.number, step.outcome, step.why)
    return step


# ---- verify --------------------------------------------------------------------------------------
def verify(machine: Machine, journal: Journal) -> list[Check]:
    """The current state of every value of the tuning. Reads only."""
    return [_check(machine, step) for step in journal.steps]


def appeared(machine: Machine, plan: Plan, journal: Journal) -> list[Check]:
    """New threads and interrupts that do not match the profile.

    User tasks are excluded: they inherit the confinement of their parents.
    """
    known = {step.change.identity for step in journal.steps}
    return [
        Check(change, "new", change.was)
        for change in plan.changes()
        if change.kind in ("policy", "affinity", "cpus") and change.identity not in known
    ]


def _check(machine: Machine, step: Step) -> Check:
    change = step.change
    if step.outcome in ("failed", "restored"):
        return Check(change, "failed", why=step.why or "it was restored")
    if step.outcome == "gone":
        return Check(change, "gone", why=step.why)
    try:
        now = current(machine, change)
    except (Gone, OSError):
        return Check(change, "gone")
    if same(change, now, change.value):
        return Check(change, "holds")
    return Check(change, "changed", now)


# ---- restore -------------------------------------------------------------------------------------
def restore(machine: Machine, others: Others = "", folder: Path | None = None) -> list[Taken]:
    """Restores a tuning, last change first, and archives the journal once all of it is restored.

    `others` decides about values changed by others meanwhile: "" leaves them and the journal,
    "keep" leaves and forgets them, "overwrite" restores them. Raises KadenzError if there is
    nothing to restore, and StoreError if values are restored but the journal cannot be written. No
    signal interrupts it.
    """
    folder = folder or state_folder()
    with held(), alone(folder):
        there = in_force(machine, folder)
        if there is None:
            raise KadenzError(
                "no tuning is in force", remedy="`kadenz tune list` shows the available profiles"
            )
        if there.stale:
            put_away(folder)
            return []
        taken, unwritten = _take_back(machine, folder, others)
        if unwritten is not None:
            raise unwritten
        return taken


def _take_back(
    machine: Machine, folder: Path, others: Others
) -> tuple[list[Taken], StoreError | None]:
    """Restores every value, even if the journal cannot be written: the error says so."""
    journal = read_journal(folder)
    if journal is None:
        return [], None
    outcomes = Outcomes(folder)
    taken = []
    _send_back(machine, journal)
    for step in reversed(journal.steps):
        if step.outcome == "restored":
            continue
        restoration = _take_one(machine, step.change, others)
        taken.append(restoration)
        if restoration.result not in ("changed by others", "failed"):
            outcomes.restored(step.number)
    left = [
        restoration
        for restoration in taken
        if restoration.result in ("changed by others", "failed")
    ]
    outcomes.close(archived=not left)
    if outcomes.error is None:
        return taken, None
    return taken, _unwritten(journal.head, left, outcomes.error, folder)


def _unwritten(head: Head, left: Sequence[Taken], error: StoreError, folder: Path) -> StoreError:
    some = f", except for {len(left)}," if left else ""
    again = "Make room there, then run `kadenz tune restore` again: it ends the tuning"
    ended = "Nothing is left to restore. Make room there before the next tuning"
    return StoreError(
        f"the values of the tuning {short_name(head.profile)}{some} are restored, but "
        f"{error.message}",
        remedy=again if read_journal(folder) is not None else ended,
        detail="\n".join(
            f"{restoration.change.what}: {restoration.why or restoration.result}"
            for restoration in left
        ),
    )


def _send_back(machine: Machine, journal: Journal) -> None:
    """Moves interrupts to the processor on which they arrived, before their lists are widened.

    The kernel leaves an interrupt on any processor of its list: otherwise all of them would stay
    where the tuning moved them. Many controllers only move an interrupt when it next arrives, which
    may be too late for rare ones.
    """
    sent = False
    for change in (step.change for step in journal.steps if step.outcome != "restored"):
        if change.kind == "cpus" and change.inside and not same(change, change.was, change.value):
            with contextlib.suppress(Gone, OSError):
                if same(change, current(machine, change), change.value):
                    perform(machine, change, change.inside)
                    sent = True
    if sent:
        time.sleep(_NEXT_INTERRUPT_S)


def _take_one(machine: Machine, change: Change, others: Others) -> Taken:
    if same(change, change.was, change.value):
        return Taken(change, "already so")  # it was never changed
    try:
        now = current(machine, change)
        left = _leave(machine, change, now, others)
        if left is not None:
            return left
        perform(machine, change, change.was)
        got = current(machine, change)
    except Gone:
        return Taken(change, "gone")
    except OSError as error:
        return Taken(change, "failed", why=why(error, change))
    if same(change, got, change.was):
        return Taken(change, "restored")
    return Taken(change, "failed", got, f"the kernel changed it to {got}")


def _leave(machine: Machine, change: Change, now: str, others: Others) -> Taken | None:
    """The result for a value that needs no restoring or awaits the user's decision; else None."""
    if same(change, now, change.was):
        give_back_masks(machine, change)
        return Taken(change, "already so")
    ours = same(change, now, change.value) or between(change, now) or ours_alone(change)
    if ours or others == "overwrite":
        return None
    if change.kind == "move" or others == "keep":  # its owner moved the process
        return Taken(change, "kept", now)
    return Taken(change, "changed by others", now)


# ---- for a run -----------------------------------------------------------------------------------
def describe(machine: Machine, folder: Path | None = None) -> TuningEntry | None:
    """The tuning in force, verified, for a run's manifest; None without one.

    A stale journal does not count: the reboot undid it.
    """
    there = in_force(machine, folder)
    if there is None or there.stale:
        return None
    journal = there.journal
    checks = verify(machine, journal)
    return TuningEntry(
        profile=short_name(journal.head.profile),
        title=journal.head.title,
        sha256=journal.head.sha256,
        cpus=journal.head.cpus,
        applied=journal.head.applied,
        complete=journal.complete and not journal.restoring,
        items=_items(checks),
        at_start=deviations(checks),
        at_end=[],
    )


def short_name(profile: str) -> str:
    """A profile's name; for a user's file without its folder, which is private.

    Runs are published; journals are not.
    """
    return Path(profile).stem if profile.endswith(".toml") else profile


def way_out(machine: Machine, folder: Path | None = None) -> str:
    """The file into which a measured program writes its PID to run on all processors again.

    "" if no tuning in force confines programs to the housekeeping processors.
    """
    there = in_force(machine, folder)
    if there is None or there.stale:
        return ""
    for step in there.journal.steps:
        if step.change.kind == "group" and step.outcome == "done":
            return f"{step.change.path.rpartition('/')[0]}/cgroup.procs"
    return ""


def deviations(checks: Sequence[Check]) -> list[str]:
    """Describes values that are no longer in effect; failed changes never were."""
    return [
        f"{check.change.key}: {check.change.what} is {check.now}, not {check.change.value}"
        for check in checks
        if check.state == "changed"
    ]


def verified_at_end(machine: Machine, entry: TuningEntry, folder: Path | None = None) -> list[str]:
    """Describes values that changed since the run began."""
    there = in_force(machine, folder)
    head = there.journal.head if there is not None and not there.stale else None
    if there is None or head is None or head.applied != entry.applied:
        return ["the tuning was restored or replaced during the run"]
    if there.journal.restoring and entry.complete:
        return ["the tuning was partly restored during the run"]
    return deviations(verify(machine, there.journal))


def _items(checks: Sequence[Check]) -> list[TuningItem]:
    """One line per key and pair of values: two hundred tasks moved alike are one line."""
    groups: dict[tuple[str, str, str, str], list[Check]] = {}
    for check in checks:
        value = check.change.value
        state = f"failed: {check.why}" if check.state == "failed" else "applied"
        groups.setdefault((check.change.key, check.change.was, value, state), []).append(check)
    return [
        TuningItem(key=key, what=what(group), count=len(group), was=was, value=value, state=state)
        for (key, was, value, state), group in groups.items()
    ]


def what(checks: Sequence[Check]) -> str:
    """The objects of one line: the only one, or the kinds with their counts, without program
    names."""
    if len(checks) == 1 and checks[0].change.kind != "move":
        return checks[0].change.what
    return counted([check.change for check in checks])


def counted(changes: Sequence[Change]) -> str:
    """ "19 interrupts", "1 file, 12 threads"."""
    nouns = {"policy": "thread", "affinity": "thread", "move": "process", "group": "group"}
    kinds = Counter(
        "interrupt"
        if change.kind == "cpus" and change.path.startswith("/proc/irq/")
        else nouns.get(change.kind, "file")
        for change in changes
    )
    plural = {"process": "processes"}
    return ", ".join(
        f"{count} {word if count == 1 else plural.get(word, word + 's')}"
        for word, count in kinds.items()
    )
