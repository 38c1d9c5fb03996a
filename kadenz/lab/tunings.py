# SPDX-License-Identifier: Apache-2.0
"""Tunings around runs: each is applied before its run and taken back after it, as `run` was asked.

The journal is that of `kadenz tune`: whatever ends kadenz in between, `kadenz tune restore` gives
every value back, and until then a second tuning is refused.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn

from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError, TargetFailed, UsageError
from kadenz.host.facts import Host
from kadenz.lab.measure import Job, Result
from kadenz.lab.progress import Progress
from kadenz.tuning import lifecycle
from kadenz.tuning.journal import Head, alone, state_folder
from kadenz.tuning.machine import Machine
from kadenz.tuning.plan import Plan, plan_of

NONE = "none"


@dataclass(kw_only=True)
class TunedJob(Job):
    """A job for which this Linux is tuned, or is shown not to be."""

    read_host: Callable[[], Host]  # again, once the tuning is in force
    tuning: str  # a profile of tunings/ or its file, or NONE
    tuning_cpus: str = ""  # kept apart, instead of the profile's

    @property
    def label(self) -> str:
        """With the tuning behind the target's name."""
        name = str(self.name)
        return super().label.replace(name, f"{name}, tuning {lifecycle.short_name(self.tuning)}", 1)

    @property
    def suffix(self) -> str:
        """With the tuning in front."""
        return f"-tuning-{lifecycle.short_name(self.tuning)}{super().suffix}"


def tunings_of(target: TargetName, wanted: Sequence[str]) -> list[str]:
    """Tunings to measure `target` under, [""] where nobody asked for any.

    They are of this Linux: any other target is measured once, without, where `none` is among
    them; else UsageError.
    """
    if not wanted:
        return [""]
    if target.tier == "host":
        return list(dict.fromkeys(wanted))
    if NONE in wanted:
        return [""]
    raise UsageError(
        f"--tuning {wanted[0]} tunes this Linux: {target} does not feel it (tier {target.tier})",
        remedy="Kernel threads of a guest are tuned with --guest-tuning"
        if target.tier == "guest"
        else "Name a target of tier host with --target, or measure the others with --tuning none",
    )


def check_tunings(
    wanted: Sequence[str], cpus: str, targets: Sequence[TargetName], machine: Machine | None = None
) -> None:
    """Raises before anything is built where a tuning asked for could not be set around a run."""
    if cpus and all(name == NONE for name in wanted):
        raise UsageError(
            "--tuning-cpus without a profile", remedy="Name one with --tuning, or leave it out"
        )
    if not wanted or all(target.tier != "host" for target in targets):
        return
    machine = machine or Machine()
    _refuse_another(machine)
    for name in wanted:
        if name != NONE:
            with alone(state_folder()):  # the journal can be kept
                pass
            _check_right(machine, plan_of(machine, name, cpus)[0])


def tuned_job(job: Job, tuning: str, cpus: str, read_host: Callable[[], Host]) -> Job:
    """The job under a tuning; as it is where nobody asked for any."""
    if not tuning:
        return job
    fields = {name: getattr(job, name) for name in job.__dataclass_fields__}
    fields["conditions"] = {**job.conditions, "tuning": NONE}  # of a profile the run's own words
    return TunedJob(**fields, tuning=tuning, tuning_cpus=cpus, read_host=read_host)


def measured_tuned(
    job: Job,
    measure: Callable[[Job], Result],
    progress: Progress,
    machine: Machine | None = None,
) -> Result:
    """Measures a job with its tuning in force, and takes that back whatever happens.

    Raises KadenzError when a tuning is in force already, or when nothing of it could be set. What
    could not be given back is among the result's failures, and stays in the journal.
    """
    if not isinstance(job, TunedJob):
        return measure(job)
    machine = machine or Machine()
    _refuse_another(machine)
    if job.tuning == NONE:
        return measure(_seen_anew(job))
    plan, digest = plan_of(machine, job.tuning, job.tuning_cpus)
    with _a_closed_terminal_interrupts():
        head = lifecycle.apply(machine, plan, digest).head
        try:
            result = measure(_seen_anew(job))
        except BaseException:
            for error in _taken_back(machine, head):
                progress.note(job.label, f"{error.message}. {error.remedy}")
            raise
        result.failures += _taken_back(machine, head)
    return result


def _taken_back(machine: Machine, head: Head) -> list[KadenzError]:
    """Gives every value back as it was; what could not be stays in the journal."""
    try:
        there = lifecycle.in_force(machine)
        if there is None or there.journal.head != head:
            return []  # somebody took it back meanwhile: the run is stamped with it
        taken = lifecycle.restore(machine)
    except KadenzError as error:
        return [error]
    left = [one for one in taken if one.result in ("changed by others", "failed")]
    if not left:
        return []
    first, more = left[0], f", and {len(left) - 1} more" if len(left) > 1 else ""
    return [
        KadenzError(
            f"the tuning {lifecycle.short_name(head.profile)} is not wholly taken back: "
            f"{first.change.what}: {first.why or first.result}{more}",
            remedy="kadenz tune restore tells every value; nothing more is tuned until then",
        )
    ]


@contextmanager
def _a_closed_terminal_interrupts() -> Iterator[None]:
    """SIGHUP ends it as Ctrl-C twice does, so that the tuning is taken back; nohup stays nohup."""

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
    half = "" if journal.complete and not journal.restoring else ", half applied or half taken back"
    raise TargetFailed(
        f"--tuning: the tuning {lifecycle.short_name(head.profile)} of {head.applied} is in force "
        f"already{half}",
        remedy="Take it back first: kadenz tune restore. Or measure under it, without --tuning",
    )


def _check_right(machine: Machine, plan: Plan) -> None:
    name, changes = lifecycle.short_name(plan.profile), plan.changes()
    if not changes:
        raise UsageError(
            f"--tuning {name} changes nothing on this machine",
            remedy=f"`kadenz tune plan {name}` shows what it is already and what is not there",
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


def _seen_anew(job: TunedJob) -> TunedJob:
    """With the facts and findings of this machine as it is now: `prepare` saw it untuned."""
    host = job.read_host()
    return replace(job, host=host.entry, warnings=host.warnings, preflight=host.preflight)
