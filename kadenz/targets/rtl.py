# SPDX-License-Identifier: Apache-2.0
"""Tier `rtl`: the image runs on a core compiled from its Verilog, cycle by cycle.

The bench writes frames to a file that is read while it grows. It ends by itself: the image ends it,
or a limit of cycles, so a slow simulation is never mistaken for a hung target.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO

from kadenz.config.board import RtlTier
from kadenz.config.manifest import EmulatorEntry
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.targets import arrivals, rtl_core, scope
from kadenz.targets.base import plan_page
from kadenz.targets.counted import SELF_END_S, CountedProcess, Process, Start, filled, times_of
from kadenz.targets.paths import Paths, read_paths
from kadenz.targets.processor import ThreadTimes
from kadenz.targets.scope_plugin import Watched, marker_address
from kadenz.targets.scratch import new_folder, read_growing
from kadenz.targets.seen import Seen
from kadenz.values import program
from kadenz.values.program import Program

_ARRIVALS, _TRIED = "arrivals", "tried"
_GRACE_S = 2.0
_LOOK_S = 0.2
_PC = re.compile(r"^core (\d+) pc (0x[0-9a-f]+)(.*)$", re.MULTILINE)


def check_map(tier: RtlTier, elf: Elf) -> None:
    """UsageError for an image that was linked for other addresses."""
    for section in elf.sections:
        inside = not section.size or any(
            memory.start <= section.address
            and section.address + section.size <= memory.start + memory.bytes
            for memory in tier.memory
        )
        if not inside:
            known = ", ".join(
                f"{m.name} {m.start:#x} to {m.start + m.bytes:#x}" for m in tier.memory
            )
            raise UsageError(
                f"{elf.path}: section {section.name}, {section.size:,} bytes at "
                f"{section.address:#x}, is outside the memory of this machine: {known}",
                remedy="Link it for this map, or correct [[tier.rtl.memory]] in board.toml",
            )


def machine_arguments(tier: RtlTier, wait_states: Mapping[str, int]) -> list[str]:
    """The map of a machine as arguments of its program."""
    arguments = ["--uart", hex(tier.uart), "--clint", hex(tier.clint)]
    arguments += ["--locks", hex(tier.locks)] if tier.locks else []
    arguments += ["--finisher", hex(tier.finisher), "--timer-divider", str(tier.timer_divider)]
    for memory in tier.memory:
        wait = wait_states.get(memory.name, memory.wait)
        port = ":shared" if memory.shared else ""
        place = f"{memory.name}:{memory.start:#x}:{memory.bytes:#x}:{wait}{port}"
        arguments += ["--memory", place]
    return arguments


class RtlTarget(CountedProcess):
    """One run of an image on equal cores. `wait_states` replace those of the board, by memory."""

    def __init__(
        self,
        tier: RtlTier,
        cores: int,
        elf: Elf,
        wait_states: Mapping[str, int],
        *,
        scoped: bool,
        watched: Watched | None = None,
        flushed: Sequence[str] = (),
        arriving: arrivals.Asked | None = None,
    ) -> None:
        """`watched`: record paths too, and its words along them. `flushed`: caches that are emptied
        whenever the scope's marks say that a sample begins: "instructions" or "data". `arriving`:
        an interrupt in every cycle of a sample, where the plan lets one arrive; or in one, whose
        path is followed.
        """
        self._tier, self._cores, self._elf, self._wait = tier, cores, elf, wait_states
        rtl_core.check_cores(tier.core, cores)
        rtl_core.check_image(tier.core, elf)
        check_map(tier, elf)
        self._core = rtl_core.build(tier.core)
        self._scoped, self.watched, self._flushed = scoped, watched, tuple(flushed)
        self._arriving = arriving
        self._process: Process | None = None
        self._frames: IO[bytes] | None = None
        self.records: dict[int, scope.RecordSpans] = {}
        self.paths: Paths | None = None
        self.arrivals: arrivals.Arrivals | None = None

    @cached_property
    def _folder(self) -> Path:
        return new_folder()

    def open(self, plan: str) -> None:
        """Starts the core with the plan in its page, unless it has begun."""
        if self._process is None:
            self.begin(plan)

    def running(self) -> bool:
        """Whether the core runs."""
        return self._process is not None and self._process.poll() is None

    def thread_times(self) -> ThreadTimes:
        """Seconds that each of its threads ran, and that it was ready and had no processor."""
        return times_of(self._process)

    def begin(self, plan: str) -> None:
        """Starts the core with the plan in its page."""
        (self._folder / "plan").write_bytes(plan_page(plan, self._tier.plan_bytes))
        asked = self._arrivals(plan)
        start = Start(
            program=self._core.program,
            arguments=[*self._arguments(), *self._files(), *asked],
            folder=self._folder,
            inputs={"image": self._elf.path, "plan": None},
            output="frames",
            errors="words",
            begun=_TRIED if _TRIED in asked else "",
        )
        self._process = self._begin(start)
        self._frames = (self._folder / "frames").open("rb")

    @property
    def sweep(self) -> arrivals.Sweep | None:
        """How far it has tried the arrivals of its sample; None while it does not know."""
        if self._arriving is None or "_folder" not in self.__dict__:
            return None
        return arrivals.read_sweep(self._folder / _TRIED)

    def read(self, timeout_s: float) -> bytes | None:
        """New frames since the last call."""
        assert self._frames is not None and self._process is not None
        process = self._process
        return read_growing(self._frames, lambda: process.poll() is not None, timeout_s)

    def stop(self) -> bool:
        """The target cannot be asked to end early."""
        return False

    def why_it_ended(self) -> str:
        """Message of the bench about an end that the image did not request."""
        lines = [line for line in self._output().splitlines() if not line.startswith("cycles:")]
        return self._with_symbols("\n".join(lines)) or filled(self._folder)

    def post_mortem(self) -> Seen:
        """Where each core is now. The bench itself ends a silent image, by its own cycles."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGUSR1)
            time.sleep(_LOOK_S)
        return Seen(self._with_symbols(self._output()))

    def close(self) -> str:
        """Ends the bench and reads the scope's trace. Returns the bench's words."""
        process, self._process = self._process, None
        by_itself = process
        if process is not None and self._is_kept:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SELF_END_S)
        if process is not None and process.poll() is None:
            by_itself = None
            process.terminate()
            try:
                process.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._frames is not None:
            self._frames.close()
            self._frames = None
        if "_folder" not in self.__dict__:
            return ""
        output, trace = self._with_symbols(self._output()), self._folder / "trace"
        try:
            if self._scoped and trace.is_file() and trace.stat().st_size:
                if self._arriving is None or not self._arriving.only:
                    self.records = scope.split_records(scope.read_trace(trace))
                if self.watched is not None:
                    self.paths = read_paths(self._folder / "paths", unit="cycle")
                seen = self._folder / _ARRIVALS
                # An empty one is of a bench that died before.
                if self._arriving is not None and seen.is_file() and seen.stat().st_size:
                    self.arrivals = arrivals.read_arrivals(seen, self._arriving.second)
            self._settle(self._folder, by_itself, _TRIED if self._arriving is not None else "")
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        return output

    def emulator(self) -> EmulatorEntry | None:
        """The core, what it was made from, and its machine."""
        return EmulatorEntry(
            name=self._core.file.title, version=self._core.version, arguments=self._arguments()
        )

    def _arguments(self) -> list[str]:
        arguments = ["--cores", str(self._cores), *machine_arguments(self._tier, self._wait)]
        arguments += [word for cache in self._flushed for word in ("--flush", cache)]
        arguments += ["--cycle-limit", str(self._tier.cycle_limit)]
        return [*arguments, "--silence-limit", str(self._tier.silence_limit)]

    def _files(self) -> list[str]:
        arguments = ["--elf", "image"]
        arguments += ["--plan", f"plan@{self._tier.plan_address:#x}"]
        if self._scoped:
            address = marker_address(self._elf.path)
            arguments += ["--watch", hex(address), "--trace", "trace"]
        if self.watched is not None:
            arguments += ["--paths", "paths"]
            arguments += [
                word for address in self.watched.addresses for word in ("--word", hex(address))
            ]
        return arguments

    def _arrivals(self, plan: str) -> list[str]:
        """Records of the clock let none arrive."""
        if self._arriving is None or arrivals.ARRIVE not in plan.split():
            return []
        return self._arriving.arguments(_ARRIVALS, _TRIED)

    def _really(self, program_file: Path, environment: Mapping[str, str]) -> Program | None:
        return program.core(program_file, environment)

    def _output(self) -> str:
        with contextlib.suppress(OSError):
            return (self._folder / "words").read_text(errors="replace").strip()
        return ""

    def _with_symbols(self, text: str) -> str:
        """Program counters with the names of their functions."""

        def named(match: re.Match[str]) -> str:
            symbol = self._elf.symbol_at(int(match[2], 16))
            place = f", in {symbol}" if symbol else ""
            return f"core {match[1]} pc {match[2]}{place}{match[3]}"

        return _PC.sub(named, text)
