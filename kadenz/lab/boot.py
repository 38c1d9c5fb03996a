# SPDX-License-Identifier: Apache-2.0
"""One execution of an image: started with a plan, read until it is done, hung or dead."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from kadenz.errors import TargetFailed
from kadenz.lab.waits import Waits
from kadenz.targets.base import Counted, KnowsItsEnd, KnowsItsFailure, RunsAhead, Target
from kadenz.targets.guest import GuestTarget
from kadenz.wire.decoder import Decoder
from kadenz.wire.frame import ENCODED_MAX
from kadenz.wire.messages import Fault
from kadenz.wire.records import Assembler

_POLL_S = 0.1
_LAST_WORDS_S = 0.5  # after a fault frame, for the target's last texts
_STOP_S = 5.0  # after Ctrl-C, for a target that can still send its samples
_TEXT_LINES = 20
_UNFRAMED_BYTES = 1000  # kept of a target that sends no frame
_NOT_STARTED = (
    "The suite did not start. The start-up has to reach kdz_kernel_start, the kernel has to call "
    "kdz_suite_main, and the console has to be the board's"
)

_LONG = "If the work takes long, pass a larger --timeout"
# By whether its processor moves.
_SILENT = {
    None: f"The place is above. {_LONG}",
    True: f"{_LONG}. Otherwise it loops there without end, or asks a device again and again that "
    "does not answer; in the idle thread: every other thread waits",
    False: "It stays at one place: it waits for what never comes, or jumps to itself; in the idle "
    f"thread: every other thread waits. {_LONG}",
}
_GARBLED = (
    "Check the baud rate in [tier.board], that the line is this board's, and its power: a supply "
    "that breaks down resets it again and again"
)


@dataclass(frozen=True)
class Outcome:
    """How an execution ended."""

    failure: TargetFailed | None  # None: it said DONE, or was stopped
    stopped: bool
    output: str  # outside the frames


@dataclass(frozen=True)
class Execution:
    """A target with a plan, and how to treat it while it runs."""

    target: Target
    name: str
    plan: str
    silence_s: Callable[[], float]  # how long the target may be silent now
    symbol_at: Callable[[int], str] = lambda address: ""  # the function at an address, "" if none
    keep_up: Callable[[], None] = lambda: None  # called at least twice a second
    tell: Callable[[str], None] = lambda text: None  # whoever waits for it


def run_plan(execution: Execution, assembler: Assembler, stop: threading.Event) -> Outcome:
    """Runs the plan and feeds `assembler`, until the target is done, dead, hung or stopped.

    Samples received before a failure are in the assembler's sink; records still open are closed
    with the reason.
    """
    listener = _Listener(execution, assembler, stop)
    end = _End()
    try:
        execution.target.open(execution.plan)
        end = listener.listen()
        if not end.stopped:
            for finding in listener.decoder.finish():
                assembler.take(finding)
        if _is_whole(end, assembler) and isinstance(execution.target, Counted):
            execution.target.vouch()
    except KeyboardInterrupt:
        execution.target.stop()  # whoever interrupts does not wait for its end
        raise
    finally:
        output = execution.target.close()
    if isinstance(execution.target, Counted) and execution.target.difference is not None:
        end = _End(execution.target.difference)
    if end.failure is not None:
        if output and output not in end.failure.detail:
            end.failure.detail = f"{end.failure.detail}\n{output}".strip()
        assembler.finish(end.failure.message)
    else:
        assembler.finish("stopped (Ctrl-C)" if end.stopped else "its end was lost")
    return Outcome(end.failure, end.stopped, output)


def _is_whole(end: _End, assembler: Assembler) -> bool:
    """Whether a target said that it is done, nothing of what it said was lost or wrong, and it
    warned of nothing."""
    done = end.failure is None and not end.stopped and assembler.done is not None
    lost = bool(assembler.findings or assembler.texts) or assembler.current is not None
    failed = assembler.unusable or any(case.result == "fail" for case in assembler.conforms)
    return done and not lost and not failed


@dataclass(frozen=True)
class _End:
    """Why reading a target ends: it failed, or somebody stopped it."""

    failure: TargetFailed | None = None
    stopped: bool = False


class _Listener:
    """Reads a target until there is a reason to end."""

    def __init__(self, execution: Execution, assembler: Assembler, stop: threading.Event) -> None:
        self.decoder = Decoder()
        self._execution = execution
        self._target, self._name = execution.target, execution.name
        self._assembler = assembler
        self._stop = stop
        self._waits = Waits(execution.target, execution.tell)
        self._stop_until: float | None = None  # set once the target was asked to stop
        self._unframed = b""  # before the first frame
        self._noise = 0  # bytes since the last frame that are none

    def listen(self) -> _End:
        """Reads until the target is done, dead or silent, or the user stops the run."""
        self._waits.heard()  # loading a board's flash is no silence
        while True:
            data = self._target.read(_POLL_S)
            if data is None:
                return self._ended()
            end = self._heard(data) if data else None
            self._execution.keep_up()
            end = end or self._waited()
            if end is not None:
                return end

    def _ended(self) -> _End:
        if self._assembler.fault:
            return _End(_fault(self._name, self._assembler, self._execution.symbol_at))
        if self._stop_until is not None:
            return _End(stopped=True)
        failure = self._target.failure() if isinstance(self._target, KnowsItsFailure) else None
        if failure is not None:
            return _End(failure)
        return self._silent(_died(self._name, self._target, self._assembler))

    def _heard(self, data: bytes) -> _End | None:
        before, self._noise = self.decoder.frames, self._noise + len(data)
        self._feed(data)
        if self.decoder.frames > before or self._within_a_frame():
            # Storing data may wait for a busy disk: that is not silence of the target.
            self._waits.heard()
        if self.decoder.frames > before:
            self._noise = 0
        if self._assembler.fault:
            self._hear_out()
            return _End(_fault(self._name, self._assembler, self._execution.symbol_at))
        if self._assembler.foreign:
            return _End(_foreign(self._name, self._assembler))
        if self._assembler.restarted:
            return _End(_restarted(self._name, self._assembler))
        if self._assembler.done:
            return _End(stopped=self._stop_until is not None)
        return None

    def _waited(self) -> _End | None:
        now = time.monotonic()
        if self._stop.is_set() and self._stop_until is None:
            if not self._target.stop():
                return _End(stopped=True)
            self._stop_until = now + _STOP_S
        if self._stop_until is not None and now > self._stop_until:
            return _End(stopped=True)
        silent_s = self._waits.silent_s()
        bounded = isinstance(self._target, RunsAhead)
        if not bounded and silent_s > self._execution.silence_s():
            hung = _hung(self._name, self._target, self._assembler, silent_s)
            if not self._within_a_frame():
                hung = _noisy(self._name, self._assembler, self._noise, silent_s)
            return self._silent(hung)
        return None

    def _within_a_frame(self) -> bool:
        """Whether all bytes since the last frame may be the beginning of one."""
        return self._noise <= ENCODED_MAX

    def _silent(self, failure: TargetFailed) -> _End:
        """A target that never sent a frame: what it sent instead, and why that may be."""
        if self._assembler.hello is None and not self._assembler.foreign:
            unreadable = sum(byte > 126 or byte < 9 for byte in self._unframed)
            garbled = unreadable * 4 > len(self._unframed)
            if not isinstance(self._target, GuestTarget):  # of Linux, whose start-up works
                failure.remedy = _GARBLED if self._unframed and garbled else _NOT_STARTED
            text = self._unframed.decode("ascii", errors="backslashreplace").strip()
            shown = "".join(c if c.isprintable() or c == "\n" else "." for c in text)
            output = f"Its last output, without any frame:\n{shown}" if shown else "It sent nothing"
            failure.detail = f"{failure.detail}\n{output}".strip()
        return _End(failure)

    def _hear_out(self) -> None:
        """Reads the texts of a dying target after its fault frame."""
        until = time.monotonic() + _LAST_WORDS_S
        while time.monotonic() < until:
            data = self._target.read(_POLL_S)
            if data is None:
                return
            self._feed(data)

    def _feed(self, data: bytes) -> None:
        if self._assembler.hello is None:
            self._unframed = (self._unframed + data)[-_UNFRAMED_BYTES:]
        for item in self.decoder.feed(data):
            self._assembler.take(item)


def _where(assembler: Assembler) -> str:
    current = assembler.current
    if current is not None:
        return f"in record {current.record}, {current.bench}"
    if assembler.case:
        return f"in the conformance case `{assembler.case}`"
    if assembler.conforms:
        return f"after the conformance case `{assembler.conforms[-1].case}`"
    return "between two records" if assembler.hello else "before its first message"


def _isolate(assembler: Assembler) -> str:
    """How to find out what a target died of."""
    if assembler.case or assembler.conforms:
        return "Read that case in kernels/conformance, and the calls of the port that it makes"
    return "Run that benchmark alone"


def _died(name: str, target: Target, assembler: Assembler) -> TargetFailed:
    why = target.why_it_ended() if isinstance(target, KnowsItsEnd) else ""
    if why:
        return TargetFailed(
            f"{name} ended {_where(assembler)}: {why}",
            remedy="Its last messages are above",
            detail=_last_texts(assembler),
        )
    return TargetFailed(
        f"{name} ended {_where(assembler)} before it was done",
        remedy=f"{_isolate(assembler)}; an end without a message is often a destroyed stack",
        detail=_last_texts(assembler),
    )


def _restarted(name: str, assembler: Assembler) -> TargetFailed:
    return TargetFailed(
        f"{name} restarted {_where(assembler)}",
        remedy="A watchdog or a fault resets it: check its power supply and its fault handler",
        detail=_last_texts(assembler),
    )


def _foreign(name: str, assembler: Assembler) -> TargetFailed:
    return TargetFailed(
        f"{name} cannot be read: {assembler.foreign}",
        remedy="Build and flash its image with this kadenz, or use the kadenz that built it",
    )


def _hung(name: str, target: Target, assembler: Assembler, silent_s: float) -> TargetFailed:
    seen = target.post_mortem()
    state = f"runs {_where(assembler)}, but is" if seen.moves else f"hangs {_where(assembler)}:"
    place = f", {seen.place}" if seen.place else ""
    notes = [seen.report, _last_texts(assembler)]
    return TargetFailed(
        f"{name} {state} silent for {silent_s:.0f} s{place}",
        remedy=_SILENT[seen.moves],
        detail="\n".join(note for note in notes if note),
    )


def _noisy(name: str, assembler: Assembler, noise: int, silent_s: float) -> TargetFailed:
    """A line that is never silent and never has a frame: noise, or a board in a loop of resets."""
    return TargetFailed(
        f"{name} sent no frame {_where(assembler)} for {silent_s:.0f} s, but {noise} bytes",
        remedy=_GARBLED,
        detail=_last_texts(assembler),
    )


def _fault(name: str, assembler: Assembler, symbol_at: Callable[[int], str]) -> TargetFailed:
    fault = assembler.fault
    assert fault is not None
    thread = f" in thread {fault.thread}" if fault.thread else ""
    return TargetFailed(
        f"{name} died {_where(assembler)}: {fault.kind}{thread}: {fault.message}",
        remedy=_FAULT_REMEDIES.get(fault.kind, _isolate(assembler)),
        detail="\n".join(
            part for part in (_registers(fault, symbol_at), _last_texts(assembler)) if part
        ),
    )


def _registers(fault: Fault, symbol_at: Callable[[int], str]) -> str:
    """All registers, four on a line, then the functions that they point into."""
    values = {name: value & 0xFFFFFFFFFFFFFFFF for name, value in fault.registers.items()}
    fields = [f"{name} {value:08x}" for name, value in values.items()]
    lines = ["  ".join(fields[i : i + 4]) for i in range(0, len(fields), 4)]
    symbols = {name: symbol_at(value) for name, value in values.items()}
    return "\n".join(lines + [f"{name} is in {place}" for name, place in symbols.items() if place])


def _last_texts(assembler: Assembler) -> str:
    return "\n".join(assembler.texts[-_TEXT_LINES:])


_FAULT_REMEDIES = {
    "assert": "A check inside the kernel or the suite failed: the message names its place",
    "stack-overflow": "The thread needs a larger stack: raise stack_bytes in its benchmark, or "
    "the port's default",
    "out-of-memory": "The image needs more memory than the board has: fewer or smaller objects",
    "denied": "The message names the right; with --allow NAME the figures carry a warning instead",
    "exception": "Registers and their functions are above; addr2line -e gives the lines",
}
