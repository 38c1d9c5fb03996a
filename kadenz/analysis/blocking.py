# SPDX-License-Identifier: Apache-2.0
"""How much later a task starts because a less urgent one is in a service of the kernel.

For its sleep, a sweep measures it. For other services it comes from `kadenz bound`, `kadenz worst`
or a profile; docs/explanation/schedulability.md derives the term from each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kadenz.analysis.overheads import CRITICAL, FAMILY, WAKE, Measurements, Overhead, step_of
from kadenz.analysis.profiles import view
from kadenz.analysis.runs import refusal
from kadenz.analysis.structures.population import TASK, Population
from kadenz.config.bounds import RunBounds, ServiceBound
from kadenz.config.manifest import ARRIVING, STATES, Manifest
from kadenz.errors import StoreError, UsageError
from kadenz.store import Run
from kadenz.store.bounds import read_bounds
from kadenz.store.profiles import read_profiles

# From where the blocking by services other than a sleep comes, the best evidence first.
Basis = Literal["bound", "tried", "section"]
# The command that measures it, and what it leaves in a run.
_COMMANDS: Mapping[Basis, tuple[str, str]] = {
    "bound": ("bound", "bounds of services"),
    "tried": ("worst", "arrivals in services"),
    "section": ("profile", "profiles of services"),
}

# Threads that sleep: a state, and where a kernel declares it, a quantity that bounds loops.
SLEEPERS = STATES[0]

# Why blocking by services has no bound (docs/explanation/critical.md, docs/explanation/worst.md).
SECTIONS = "an interrupt in a section of a kernel service makes the section longer"
STATES_NOT_TRIED = "a service may take longer in a state that was not tried"
CALLS = "tasks call no service of the kernel but their sleep"


def has_arrivals(manifest: Manifest) -> bool:
    """Whether a run raised interrupts in its services, as those of `kadenz worst` and `bound`."""
    return any(condition.kind == ARRIVING for condition in manifest.conditions)


@dataclass(frozen=True)
class Bounded:
    """The bound of a service by one run, with the premises of that run."""

    run: RunBounds
    service: ServiceBound


@dataclass(frozen=True)
class Service:
    """The latency of the thread that an interrupt wakes during a service, in ticks of the clock:
    the least and the most of all states that were tried, and what bounds it."""

    bench: str
    least: int
    most: int
    bounds: tuple[Bounded, ...] = ()
    doubt: str = ""  # why not every arrival has a latency

    @property
    def bound(self) -> int | None:
        """The largest bound; None if a run has none."""
        known = [each.service.task.bound for each in self.bounds]
        return (
            None if None in known else max((end for end in known if end is not None), default=None)
        )

    def why_not(self, tasks: int) -> str:
        """Why there is no bound for a set of `tasks` tasks; "" if there is one."""
        if self.doubt:
            return f"{self.bench}: {self.doubt}"
        if not self.bounds:
            return f"{self.bench} was tried, and has no bound: `kadenz bound` gives one"
        refused = [each.service.task.why_not for each in self.bounds if each.service.task.why_not]
        if refused:
            return f"no bound of {self.bench}: {refused[0]}"
        asleep = tasks - 1
        allowed = [each.run.at_most.get(SLEEPERS, asleep) for each in self.bounds]
        if min(allowed) < asleep:
            return (
                f"the bound of {self.bench} allows {min(allowed)} {SLEEPERS}, and {tasks} tasks "
                f"may have {asleep}: give `kadenz bound` --at-most {SLEEPERS}={asleep}"
            )
        return ""


@dataclass(frozen=True)
class Evidence:
    """What RUNs say of services other than a sleep: their arrivals, or their longest section."""

    basis: Basis
    services: tuple[Service, ...] = ()
    section: Overhead | None = None
    failed: tuple[str, ...] = ()  # services without figures, and why

    def overhead(self, tasks: int) -> Overhead:
        """The blocking by these services, for a set of `tasks` tasks."""
        if self.section is not None:
            return self.section
        least = min(service.least for service in self.services)
        most, bench, basis = max(map(self._end, self.services))
        doubts = list(self.failed)
        if self.basis == "bound":
            doubts += filter(None, (service.why_not(tasks) for service in self.services))
        else:
            doubts.insert(0, STATES_NOT_TRIED)
        return Overhead(
            most - least,
            f"{bench}, {basis} {most:,}, less {least:,}",
            too_small="; ".join(doubts),
            basis=basis,
            premises=self._premises(),
        )

    def _end(self, service: Service) -> tuple[int, str, Basis]:
        """The latency at most, of which service, and what it is: the largest arrival of one without
        a bound."""
        bound = service.bound if self.basis == "bound" else None
        if bound is None:
            return service.most, service.bench, "tried"
        return bound, service.bench, "bound"

    def _premises(self) -> tuple[str, ...]:
        names = ", ".join(sorted(service.bench for service in self.services))
        called = f"{CALLS} and {names}"
        bounds = [each for service in self.services for each in service.bounds]
        if self.basis != "bound":
            return called, "no state of the kernel makes a service longer than those tried"
        ticks = sorted({each.service.bench for each in bounds if each.service.tick})
        loops = {
            ", ".join(f"{name} {most:,}" for name, most in sorted(each.run.at_most.items()))
            for each in bounds
        }
        return (
            called,
            "one interrupt comes in a service"
            + (f", and a tick in {', '.join(ticks)}" if ticks else ""),
            *(f"loops of the kernel stay within {each}" for each in sorted(loops)),
            *_exclusions([each.service for each in bounds]),
        )


def _exclusions(services: Sequence[ServiceBound]) -> list[str]:
    """Which functions are on no way, a sentence for all services that exclude the same."""
    by_functions: dict[tuple[str, ...], set[str]] = {}
    for service in services:
        if service.never:
            by_functions.setdefault(tuple(sorted(service.never)), set()).add(service.bench)
    return [
        f"no way of {', '.join(sorted(benches))} leads through {', '.join(functions)}"
        for functions, benches in sorted(by_functions.items())
    ]


def evidence_of(
    plain: Sequence[Run], tried: Sequence[Run], target: str, asked: Basis | None
) -> Evidence | None:
    """The evidence of the kind `asked`, or the best that the runs have. None: there is none.

    `tried` are the runs with arrivals. UsageError if they have nothing of the kind that is asked
    for, StoreError for a damaged file.
    """
    services, failed = _services(tried), _failed(tried)
    for run in tried if not services else ():
        raise UsageError(
            f"{run.path}: no service in it has arrivals" + (f": {failed[0]}" if failed else ""),
            remedy=f"kadenz bound critical --target {target}, and name that run",
        )
    bounded = any(service.bounds for service in services)
    profiled = asked == "section" or (asked is None and not services)
    section = longest_section([*plain, *tried]) if profiled else None
    known: dict[Basis, bool] = {
        "bound": bounded,
        "tried": bool(services),
        "section": section is not None,
    }
    basis = asked or next((basis for basis, has in known.items() if has), None)
    if basis is None:
        return None
    if not known[basis]:
        command, content = _COMMANDS[basis]
        raise UsageError(
            f"--blocking {basis}: no RUN has {content}",
            remedy=f"kadenz {command} critical --target {target}, and name that run too",
        )
    if basis == "section":
        return Evidence(basis, section=section)
    return Evidence(basis, tuple(services), failed=failed)


# ---- arrivals ------------------------------------------------------------------------------------
def _services(runs: Sequence[Run]) -> list[Service]:
    """Each service that has arrivals, over all runs."""
    known: dict[str, Service] = {}
    for run in runs:
        bounds = read_bounds(run)
        bounded = {service.bench: service for service in bounds.services} if bounds else {}
        for tried in _of_run(run):
            service = tried
            if bounds is not None and tried.bench in bounded:
                entry = bounded[tried.bench]
                if entry.task.tried != tried.most:
                    raise StoreError(
                        f"{run.path}: the bounds of {tried.bench} are of other arrivals",
                        remedy="Copy the folder again from its origin, or repeat `kadenz bound`",
                    )
                service = replace(tried, bounds=(Bounded(bounds, entry),))
            known[tried.bench] = _both(known.get(tried.bench, service), service)
    for service in known.values():
        if service.bound is not None and service.most > service.bound:
            raise UsageError(
                f"{service.bench}: an arrival took {service.most:,}, and its bound is "
                f"{service.bound:,}",
                remedy="A premise of the bound is wrong: raise --at-most of `kadenz bound`",
            )
    return list(known.values())


def _of_run(run: Run) -> list[Service]:
    """Each service of a run with arrivals, in all of its states."""
    known: dict[str, Service] = {}
    for entry in run.manifest.records:
        for lane in entry.series if not refusal(entry) else ():
            if lane.name == TASK and lane.taken and Population.is_population(entry, lane):
                if second := Population.second_of(entry, lane):
                    raise UsageError(
                        f"{run.path}: each of its arrivals came with a second {second}, and the "
                        "response times count every tick and interrupt themselves",
                        remedy="Name a run of `kadenz worst` without --with, or of `kadenz bound`",
                    )
                values = run.samples(entry, lane)
                doubt = Population.unjudged(entry)
                service = Service(entry.bench, int(values.min()), int(values.max()), doubt=doubt)
                known[entry.bench] = _both(known.get(entry.bench, service), service)
    return list(known.values())


def _both(left: Service, right: Service) -> Service:
    if left is right:
        return right
    return replace(
        left,
        least=min(left.least, right.least),
        most=max(left.most, right.most),
        bounds=(*left.bounds, *right.bounds),
        doubt=left.doubt or right.doubt,
    )


def _failed(runs: Sequence[Run]) -> tuple[str, ...]:
    """Services that were asked for and gave no figures. One that does not apply is none."""
    return tuple(
        f"{entry.bench} is {entry.status}: {refusal(entry)}"
        for run in runs
        for entry in run.manifest.records
        if entry.status in ("failed", "invalid") and entry.nature != "context"
    )


# ---- the term ------------------------------------------------------------------------------------
def blocking_of(measured: Measurements, tasks: int, evidence: Evidence | None) -> Overhead:
    """The longer one of a sleep and of the services that the runs have."""
    swept = _by_sleep(measured, tasks)
    if evidence is None:
        return swept
    called = evidence.overhead(tasks)
    if called.ticks >= swept.ticks:
        return called
    return replace(called, ticks=swept.ticks, source=swept.source)


def _by_sleep(measured: Measurements, tasks: int) -> Overhead:
    blocked = measured.record(FAMILY + "blocking", tasks)
    free = measured.record(WAKE)
    least = int(free.samples.min())
    late = int(blocked.samples.max()) - least + step_of(blocked)
    return Overhead(max(0, late), blocked.name, basis="sleep", premises=(CALLS,))


def longest_section(runs: Sequence[Run]) -> Overhead | None:
    """The longest section that nothing preempts, of all services profiled in `critical/*`.

    UsageError if one may be longer, because it is unknown when the kernel locks its scheduler.
    """
    profiles = [
        (run, profile)
        for run in runs
        for profile in read_profiles(run)
        if profile.bench.startswith(CRITICAL)
    ]
    for run, profile in profiles:
        if not profile.lock.known:
            kernel = run.manifest.target.kernel or "its kernel"
            raise UsageError(
                f"{run.path}: does not know when {kernel} locks its scheduler, so its sections may "
                "be too short",
                remedy=f"Name the lock in the kernel.toml of {kernel} (`scheduler_lock`, or "
                "`no_scheduler_lock`) and profile again; or give `blocking` by hand",
            )
    sections = [
        (view(lane, "all").held[0].instructions, profile.bench)
        for _, profile in profiles
        for lane in profile.lanes
        if lane.is_of_samples and view(lane, "all").held
    ]
    if not sections:
        return None
    names = ", ".join(sorted({profile.bench for _, profile in profiles}))
    premises = (f"{CALLS} and {names}",)
    return Overhead(*max(sections), too_small=SECTIONS, basis="section", premises=premises)
