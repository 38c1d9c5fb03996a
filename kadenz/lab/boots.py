# SPDX-License-Identifier: Apache-2.0
"""The boots of one run: the target is started until every point was measured or lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kadenz.config.board import GuestProgram
from kadenz.config.manifest import REPEATABLE, RecordEntry
from kadenz.errors import KadenzError, TargetFailed, WireDamaged
from kadenz.host.tracefs import traced
from kadenz.lab.ahead import Ahead, Executions
from kadenz.lab.arrivals import functions_of
from kadenz.lab.boot import Execution, Outcome, run_plan
from kadenz.lab.condition import INTERRUPTED, Running
from kadenz.lab.execution import scope_kinds
from kadenz.lab.graph import boots_of, is_split, is_traced, may_stop, silence_s
from kadenz.lab.guests import BOOT_S, program_of
from kadenz.lab.job import Job
from kadenz.lab.plan import LATENESS, RATE_BENCH, Point, plan_text
from kadenz.lab.profile.arriving import enter_arrivals
from kadenz.lab.profile.entering import enter_profiles, enter_timelines
from kadenz.lab.pulses import Pulses, Uneven, cycles, trains
from kadenz.lab.session import ANY_ADDRESS, Session
from kadenz.lab.storage import with_storage
from kadenz.lab.target_notes import TargetNotes, enter_warning
from kadenz.store import RunWriter
from kadenz.targets.base import Counted, Target
from kadenz.targets.guest import GuestTarget
from kadenz.targets.scope import ScopeDamaged
from kadenz.targets.tap import Departures
from kadenz.wire.records import Assembler

_NOT_LEFT = "no frame with process data left the card behind the first `skip`"


class Boots:
    """Executions of the image of one job, one after another, into one run folder."""

    def __init__(
        self, job: Job, run: Running, writer: RunWriter, failures: list[KadenzError]
    ) -> None:
        """`failures` receives what went wrong without ending the run."""
        self._job, self._run, self._writer, self._failures = job, run, writer, failures
        self._session = Session(writer, run.label, job.points, job.catalog.benches, run.progress)
        self._records: int | None = None  # that the target counted in its last execution
        self._session.tick_hz = job.catalog.hello.tick_hz
        self._session.scoped = job.instrument in ("scope", "model")
        # The rate of a board's clock is measured by the time at which frames are read here.
        self._session.quiet_until = RATE_BENCH if job.name.tier == "board" else ""
        self._program = _program_of(job)
        self._is_given = job.setup.program is not None
        has_output = self._program is not None and self._program.output is not None
        self._session.tapped = has_output or self._is_given
        self._session.scope_kinds = scope_kinds(job.name, job.instrument)
        arriving = job.setup.arriving
        self._session.in_pairs = arriving is not None and bool(arriving.second)
        if arriving is not None and arriving.by_timer:
            self._session.timed = arriving
            self._session.counted = job.name.tier in REPEATABLE
        self._session.functions = lambda arrivals: functions_of(arrivals, job.image.elf)

    def measure(self) -> str:
        """Measures every point. Returns "" or why the run is partial.

        A target that dies is started again with the points it has not reached, so that one bad
        benchmark does not cost the rest.
        """
        job = self._job
        boots = boots_of(job) if job.rest is None else job.rest.boots
        self._ahead: Executions = (
            job.where.elsewhere(job, boots)
            if job.where.elsewhere is not None
            else Ahead(job.make, boots if is_split(job) else [])
        )
        try:
            for points in self._ahead.order(boots, self._run.stop.is_set):
                why = self._until_measured(points)
                if why:
                    return why
        finally:
            self._ahead.close()
        return ""

    def _until_measured(self, points: Sequence[Point]) -> str:
        session, left = self._session, list(points)
        while left:
            if self._run.stop.is_set():
                return INTERRUPTED
            try:
                outcome = self._boot(left)
            except TargetFailed as failure:  # it cannot be started, or what it left is damaged
                if not session.seen:
                    raise
                self._failures.append(failure)
                self._warn("target-failed", failure.message, failure.detail)
                session.take_trace({})
                if left[0].id not in session.seen:
                    session.lost(left[0], failure.message)
                return failure.message
            if outcome.stopped:
                return INTERRUPTED
            before, left = left, [point for point in left if point.id not in session.seen]
            if outcome.failure is not None:
                self._failures.append(outcome.failure)
                self._warn("target-failed", outcome.failure.message, outcome.failure.detail)
                if len(left) == len(before):  # it died before it measured anything
                    session.lost(left[0], outcome.failure.message)
                    return outcome.failure.message
            elif left and self._records is not None and self._records < len(before):
                return f"the target ended the run: {session.last_reason}"
            else:
                for point in left:
                    session.lost(point, "every frame of this record was lost")
                left = []
        return ""

    def _boot(self, points: Sequence[Point]) -> Outcome:
        """One execution of the image with these points."""
        job, writer, session = self._job, self._writer, self._session
        document = writer.manifest
        target = self._ahead.take(points)
        session.value = lambda: target.value if isinstance(target, Counted) else None
        session.sweep = lambda: getattr(target, "sweep", None)
        complaints = len(document.warnings) + len(self._failures)
        is_seen_outside = session.scoped or self._is_given
        assembler = Assembler(session, expects_samples=not is_seen_outside)

        notes = TargetNotes(self._run, writer, assembler, job.settings())

        def keep_up() -> None:
            notes.enter()
            writer.keep_up()
            session.look()
            self._ahead.keep_up()

        session.closing = notes.enter
        whole = is_traced(job, points)
        with (
            traced(may_stop(job, points) or whole, program=whole) as trace,
            with_storage(target, points, job.catalog.hello.cores, writer) as paced,
        ):
            session.stored = paced.go_on if paced is not None else lambda: None
            execution = Execution(
                target,
                self._run.label,
                plan_text(points),
                self._silence_s(points, assembler),
                job.image.elf.symbol_at,
                keep_up,
                lambda text: self._run.progress.note(self._run.label, text),
            )
            outcome = run_plan(execution, assembler, self._run.stop)
            self._records = assembler.done.records if assembler.done else None
            if trace is not None:
                trace.keep(writer.folder / f"trace-{points[0].id:05d}.txt")
                if whole:
                    writer.keep_trace(points[0].id, points[0].bench, trace.stop().encode())
        notes.enter()
        if outcome.output:
            writer.say(outcome.output)
        if isinstance(target, GuestTarget) and not outcome.stopped:
            self._enter_guest_loads(target)
        outcome = self._traced(target, outcome)
        self._tapped(target)
        if job.setup.profiled and job.setup.arriving is not None:
            stop = self._run.stop
            enter_arrivals(job, points, self._session, writer, self._failures, stop)
        elif job.setup.profiled:
            enter_profiles(target, job, self._session, writer, self._failures)
        if job.setup.traced:
            enter_timelines(target, job, self._session, writer, self._failures)
        self._report_findings(assembler, outcome)
        if len(document.warnings) + len(self._failures) > complaints and isinstance(
            target, Counted
        ):
            target.withdraw()
        return outcome

    def _silence_s(self, points: Sequence[Point], assembler: Assembler) -> Callable[[], float]:
        """How long the target may be silent now: the time-out, plus twice the time that the
        current record needs if it is periodic."""
        planned = {point.id: point for point in points}
        job = self._job
        boot_s = BOOT_S if job.setup.guest is not None else 0.0
        if self._program is not None:
            # A program sends nothing before it has ended.
            boot_s += sum(silence_s(job, point) for point in points)

        def silent_s() -> float:
            begin = assembler.current
            point = planned.get(begin.record) if begin else None
            if begin is None or point is None:
                return job.timeout_s + boot_s
            return silence_s(job, point)

        return silent_s

    def _traced(self, target: Target, outcome: Outcome) -> Outcome:
        """Takes the samples of the scope, where it is the instrument."""
        if not self._session.scoped:
            return outcome
        self._session.arrivals = getattr(target, "arrivals", None)
        self._report_lost()
        try:
            self._session.take_trace(getattr(target, "records", {}))
        except ScopeDamaged as damage:
            self._session.take_trace({})
            return Outcome(outcome.failure or damage, outcome.stopped, outcome.output)
        return outcome

    def _report_lost(self) -> None:
        """Warns of arrivals after which handler, thread or the sample's end did not come."""
        arrivals = self._session.arrivals
        if arrivals is None or not arrivals.lost:
            return
        symbol_at = self._job.image.elf.symbol_at
        each = [
            f"at {lost.phase} {lost.why} {symbol_at(lost.pc) or hex(lost.pc)}"
            for lost in arrivals.lost
        ]
        further = f"; {arrivals.untried:,} further ones were not tried" if arrivals.untried else ""
        self._warn("arrivals-lost", f"the arrival {', '.join(each)}{further}")

    def _tapped(self, target: Target) -> None:
        """Takes the frames that left a guest's card, where edges are ordered by them."""
        if self._session.tapped:
            assert isinstance(target, GuestTarget) and self._program is not None
            departures, output = target.departures, self._program.output
            if departures is None:
                self._session.take_trains([], target.damage.message)
            elif self._is_given:
                self._session.take_trains(*_cycles_of(self._session.waiting, departures))
            elif output is not None:
                self._session.take_trains(trains(departures, output), bit=output)

    def _enter_guest_loads(self, target: GuestTarget) -> None:
        """Enters the rates that loads inside the guest reported; warns if rates are missing."""
        document = self._writer.manifest
        if not document.loads:
            document.loads = target.loads
        for warning in target.warnings():
            self._warn(warning.code, warning.message)

    def _report_findings(self, assembler: Assembler, outcome: Outcome) -> None:
        """Damage on the line: a warning, and an error if something was lost."""
        lost = [f for f in assembler.findings if f.lost and f.kind != "restarted"]
        for finding in assembler.findings:
            self._writer.say(f"{finding.kind}: {finding.message}")
        # A target of another wire version has failed; its line is sound.
        if outcome.stopped or not assembler.findings or assembler.foreign:
            return
        kinds = ", ".join(sorted({f.kind for f in assembler.findings}))
        first = assembler.findings[0].message
        self._warn("line-damaged", f"line errors: {len(assembler.findings)} ({kinds}): {first}")
        if lost:
            self._failures.append(
                WireDamaged(
                    f"{self._run.label}: frames were damaged or lost: {lost[0].kind}: "
                    f"{lost[0].message}",
                    remedy="The affected records are marked; check the line and measure them again",
                    detail="\n".join(f"{f.kind}: {f.message}" for f in lost[:20]),
                )
            )

    def _warn(self, code: str, message: str, detail: str = "") -> None:
        if detail:
            self._writer.say(detail)
        enter_warning(self._writer, code, message)


def _cycles_of(
    waiting: Sequence[RecordEntry], departures: Departures
) -> tuple[list[dict[int, Pulses]], str]:
    """The cycles of the program that was given, for its one record; or why there are none."""
    counted = [entry.params for entry in waiting if entry.bench == LATENESS]
    try:
        seen = [
            cycles(departures, *(int(params[name]) for name in ("skip", "frames", "period_us")))
            for params in counted
        ]
    except Uneven as uneven:
        return [], str(uneven)
    left = [{ANY_ADDRESS: train} for train in seen if train.ns.size]
    return left, "" if left else _NOT_LEFT


def _program_of(job: Job) -> GuestProgram | None:
    """The program that a guest runs instead of the suite."""
    return program_of(job.name, job.setup.program) if job.setup.guest is not None else None
