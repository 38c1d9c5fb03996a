# SPDX-License-Identifier: Apache-2.0
"""A running load: started, verified, checked for each record, stopped."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from kadenz.config.manifest import LoadEntry
from kadenz.errors import LoadFailed
from kadenz.load import counters, supervisor
from kadenz.load.control_groups import PREFIX, memory_groups
from kadenz.load.counters import COUNTERS, Place, Reading
from kadenz.load.definitions import Options, Part, chosen_cpus, parts
from kadenz.owner import mark, name_space, started, user_without_rights

FOLDER = ".kadenz-load-"  # scratch folders of running loads, below the chosen folder
_WINDOW_S = 1.0  # window for measuring a rate before the run
_WINDOWS = 20  # time for a load to take effect
_RECORD_S = 1.0  # the rate of a shorter record is noise, and is not judged
_START_S = 30.0
_STOP_S = 120.0  # a process waiting for a slow disk only ends once the disk responds
_MIB = 1 << 20


@dataclass(frozen=True)
class Effect:
    """The effect of one part: `reason` is "" if it has enough, else why not."""

    part: Part
    rate: float
    cpu_percent: float
    reason: str


class RunningLoad:
    """A load during a measurement. Use as a context manager; call `start`, then `began`.

    Everything it starts belongs to a supervisor process, which cleans up even if this process dies.
    """

    def __init__(
        self, name: str, options: Options, scratch: Path, say: Callable[[str], None]
    ) -> None:
        self.name = name
        self.options = options
        self.cpus = chosen_cpus(options)
        self.ended = ""  # why it no longer runs as started, "" while it does
        self.entries: list[LoadEntry] = []
        self._say = say
        parent = (options.scratch or scratch).resolve()
        identity = f"{mark()}-{time.monotonic_ns()}"
        self.folder = parent / f"{FOLDER}{identity}"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            sweep(parent)
            self._parts = parts(name, options, self.folder)
            self._place = Place(self.cpus, self.folder, counters.device_of(parent)[0])
        except OSError as error:
            raise LoadFailed(
                f"load `{name}`: {parent}: {error.strerror}",
                remedy=f"Name a folder that this user may write to: --load {name},scratch=DIR",
            ) from None
        self._names = {part.kind.counter for part in self._parts}
        self._spec = self._specification(identity)
        self._process: subprocess.Popen[bytes] | None = None
        self._heard = b""
        self._sessions: dict[str, list[int]] = {}
        self._idle: dict[str, float] = {}
        self._began: Reading | None = None
        self._record: Reading | None = None
        self._known: list[int] = []  # its processes when the measurement began

    def start(self, stop: threading.Event) -> None:
        """Measures the idle machine, starts the load and waits until it takes effect.

        Raises LoadFailed if it does not start, ends, has too little effect within 20 s (unless weak
        loads are allowed), or if `stop` is set meanwhile.
        """
        self._say("measuring the machine without the load")
        before = counters.read(self._names, self._place)
        self._wait(stop)
        after = counters.read(self._names, self._place)
        self._idle = {n: counters.rate(n, self._place, before, after) for n in self._names}
        self._launch()
        effects = self._until_it_bites(stop)
        weak = [effect for effect in effects if effect.reason]
        if weak and not self.options.allow_weak:
            raise LoadFailed(
                f"load `{self.name}` is too weak: {weak[0].part.name}: {weak[0].reason}",
                remedy="Stop other work and retry, name more workers "
                f"(--load {self.name},workers=N), or accept it with --allow weak-load",
            )
        self.entries = [self._entry(effect) for effect in effects]

    def began(self) -> None:
        """Notes the rates at the beginning of the measurement, and whose processes these are."""
        self._began = self._read()
        sessions = [pid for pids in self._sessions.values() for pid in pids]
        self._known = supervisor.of_sessions(sessions)

    def record_began(self) -> None:
        """Notes the rates at the beginning of a record."""
        self._record = self._read(self._known)

    def record_ended(self, id: int) -> str:
        """A record has ended: stores the load's rate. Returns why it was not under load, or ""."""
        if self.alive() and self._record is not None:
            now = self._read(self._known)
            if now.at_s - self._record.at_s >= _RECORD_S:
                return self._judge_record(id, self._record, now)
            return ""
        return self.ended

    def finished(self) -> str:
        """The measurement has ended: stores the overall rates. Returns why it was too weak, or
        ""."""
        if not self.alive():
            for entry in self.entries:
                entry.verified, entry.reason = False, self.ended
            return self.ended
        assert self._began is not None
        now = self._read()
        if now.at_s - self._began.at_s < _RECORD_S:
            return ""
        weak = ""
        for part, entry in zip(self._parts, self.entries, strict=True):
            effect = self._judge(part, self._began, now)
            entry.rate = _rounded(effect.rate)
            entry.cpu_percent = _rounded(effect.cpu_percent)
            if effect.reason and entry.verified:
                entry.verified, entry.reason = False, f"while measuring: {effect.reason}"
                weak = weak or f"load `{part.name}` was weak {entry.reason}"
        return weak

    def alive(self) -> bool:
        """Checks that everything started still runs; never waits."""
        while not self.ended and self._process is not None:
            answer = self._hear(0.0)
            if answer is None:
                break
            self._take(answer)
        return not self.ended

    def close(self) -> None:
        """Ends the load and waits until all of it is gone. May be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._say(
                f"load {self.name} still waits for the disk after {_STOP_S:.0f} s; process "
                f"{process.pid} ends it as soon as the disk answers"
            )
            return
        finally:
            process.stdout.close()
        if process.returncode != 0:  # the supervisor was killed: clean up here
            self._clean_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- the supervisor --------------------------------------------------------------------------

    def _specification(self, identity: str) -> supervisor.Spec:
        limit = sum(p.workers * p.kind.limit_mb * _MIB for p in self._parts)
        return {
            "folder": str(self.folder),
            "groups": memory_groups(f"{PREFIX}{identity}", limit) if limit else [],
            "cpus": self.cpus,
            "user": user_without_rights(),
            "programs": [
                {
                    "part": part.name,
                    "argv": argv,
                    "grouped": bool(part.kind.limit_mb),
                    "reads": part.kind.reads,
                }
                for part in self._parts
                for argv in part.programs
            ],
        }

    def _launch(self) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # the lab handles Ctrl-C and ends the load
            )
        except OSError as error:
            raise LoadFailed(
                f"load `{self.name}`: {sys.executable} does not start: {error.strerror}",
                remedy="The load's supervisor is a Python program: make sure that this user may "
                "execute it",
            ) from None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(self._spec).encode() + b"\n")
        answer = self._hear(_START_S)
        if answer is None or answer["event"] != "started":
            reason = answer.get("message", answer["event"]) if answer else "no answer"
            raise LoadFailed(
                f"load `{self.name}` does not start: {reason}",
                remedy="Make sure that its folder is writable (`scratch=DIR` of --load)",
            )
        self._sessions = answer["pids"]
        if answer["refused"]:
            self._say(f"load {self.name} does not give up all rights: {answer['refused']}")
        for part in self._parts:
            if answer["refused"]:
                part.settings["rights"] = f"not all given up: {answer['refused']}"
            if part.kind.limit_mb:
                part.settings["limit"] = (
                    "memory control group" if answer["group"] else "the load itself, page by page"
                )

    def _hear(self, timeout_s: float) -> dict[str, Any] | None:
        """The next line of the supervisor; {"event": "gone"} if it has ended."""
        assert self._process is not None and self._process.stdout is not None
        pipe: IO[bytes] = self._process.stdout
        until = time.monotonic() + timeout_s
        while b"\n" not in self._heard:
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            data = os.read(pipe.fileno(), 1 << 16)
            if not data:
                return {"event": "gone"}
            self._heard += data
        line, _, self._heard = self._heard.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _take(self, answer: dict[str, Any]) -> None:
        if answer["event"] == "ended":
            code = answer["code"]
            how = f"by signal {-code}" if code < 0 else f"with status {code}"
            last = answer["output"].splitlines()[-1:]
            last_line = f": {last[0]}" if last else ""
            self.ended = f"load `{answer['part']}` ended unexpectedly, {how}{last_line}"
        else:
            self.ended = f"load `{self.name}` has ended: its supervisor was killed"

    def _clean_up(self) -> None:
        """Cleans up in place of the supervisor."""
        sessions = [pid for pids in self._sessions.values() for pid in pids]
        until = time.monotonic() + _START_S
        while (left := supervisor.of_sessions(sessions)) and time.monotonic() < until:
            supervisor.kill(left)
            time.sleep(0.01)
        supervisor.remove(self._spec)

    # ---- verification ----------------------------------------------------------------------------

    def _until_it_bites(self, stop: threading.Event) -> list[Effect]:
        """Checks windows of a second until all parts are effective; returns the last effects."""
        effects: list[Effect] = []
        self._say("load started, waiting for it to take effect")
        for _ in range(_WINDOWS):
            before = self._read()
            self._wait(stop)
            after = self._read()
            if not self.alive():
                raise LoadFailed(
                    self.ended, remedy="Try its command by hand; `kadenz list` describes the loads"
                )
            effects = [self._judge(part, before, after) for part in self._parts]
            if not any(effect.reason for effect in effects):
                break
        return effects

    def _judge(self, part: Part, before: Reading, after: Reading) -> Effect:
        name, unit = part.kind.counter, COUNTERS[part.kind.counter].unit
        rate = counters.rate(name, self._place, before, after)
        used = counters.cpu_percent(part.name, self._place, before, after)
        idle, least = self._idle[name], part.least(len(self.cpus))
        reason = ""
        if rate < least:
            reason = f"{number(rate)} {unit}, required: at least {number(least)}"
        elif rate < part.kind.times_idle * idle:
            reason = (
                f"{number(rate)} {unit}, and the idle machine does {number(idle)}; required: at "
                f"least {part.kind.times_idle:g} times that rate"
            )
        else:
            reason = _share(part, used)
        return Effect(part, rate, used, reason)

    def _judge_record(self, id: int, before: Reading, after: Reading) -> str:
        """Stores a record's rates. Only `at_least` applies: a record may fall into a quiet moment.

        If the counter includes the work of others, the load's own processes need their share, too.
        """
        problem = ""
        for part, entry in zip(self._parts, self.entries, strict=True):
            rate = counters.rate(part.kind.counter, self._place, before, after)
            entry.record_rates[id] = _rounded(rate)
            if rate < entry.least and not problem:
                problem = (
                    f"load `{part.name}` did {number(rate)} {entry.unit} during this record; "
                    f"required: at least {number(entry.least)}"
                )
            used = counters.cpu_percent(part.name, self._place, before, after)
            entry.record_cpu_percent[id] = _rounded(used)
            if COUNTERS[part.kind.counter].per_cpu_time and not problem:
                share = _share(part, used)
                problem = f"load `{part.name}`: during this record {share}" if share else ""
        return problem

    def _read(self, pids: list[int] | None = None) -> Reading:
        """Reads the counters, with the processor time of all its processes or only of `pids`."""
        return counters.read(self._names, self._place, self._sessions, pids)

    def _entry(self, effect: Effect) -> LoadEntry:
        part, counter = effect.part, COUNTERS[effect.part.kind.counter]
        limited = "group" if part.settings.get("limit", "").startswith("memory") else "own"
        return LoadEntry(
            name=part.name,
            title=part.kind.title,
            workers=part.workers,
            command=[word.replace("{limited}", limited) for word in part.programs[0]],
            cpus=self.cpus,
            settings=dict(part.settings),
            counter=counter.source,
            unit=counter.unit,
            idle_rate=_rounded(self._idle[part.kind.counter]),
            rate=_rounded(effect.rate),
            rate_before=_rounded(effect.rate),
            least=part.least(len(self.cpus)),
            cpu_percent=_rounded(effect.cpu_percent),
            verified=not effect.reason,
            reason=effect.reason,
        )

    def _wait(self, stop: threading.Event) -> None:
        if stop.wait(_WINDOW_S):
            raise LoadFailed(
                f"stopped while load `{self.name}` was starting", remedy="Nothing was measured yet"
            )


def sweep(parent: Path) -> None:
    """Removes scratch folders whose kadenz and supervisor were both killed."""
    for folder in parent.glob(f"{FOLDER}*"):
        identity = folder.name.removeprefix(FOLDER)
        where, _, rest = identity.partition("-")
        pid, _, rest = rest.partition("-")
        if where != name_space() or not pid.isdigit():
            continue
        alive = started(int(pid)) == rest.partition("-")[0]
        if not alive and not _in_use(folder):
            groups = memory_groups(f"{PREFIX}{identity}", 0)
            supervisor.remove({"folder": str(folder), "groups": groups})


def _in_use(folder: Path) -> bool:
    """True if a process has the folder as its working directory, as a load's processes do."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink() == folder:
                return True
        except OSError:
            continue
    return False


def _share(part: Part, used: float) -> str:
    """Why the load's own processes had too little processor time, "" if they had enough."""
    if used >= part.kind.cpu_at_least:
        return ""
    return (
        f"its processes got {used:.1f} % of the processors' time, at least "
        f"{part.kind.cpu_at_least:g} % are needed: other work takes the rest"
    )


def load_summary(entry: LoadEntry) -> str:
    """A load's rate for people: "disk: 312 MB/s written (idle 0.1)"."""
    text = f"{entry.name}: {number(entry.rate)} {entry.unit} (idle {number(entry.idle_rate)})"
    return text if entry.verified else f"{text}; weak: {entry.reason}"


def number(value: float) -> str:
    """A number with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
