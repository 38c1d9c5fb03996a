# SPDX-License-Identifier: Apache-2.0
"""A program of Linux in a guest, executed until it ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import Board, GuestTier
from kadenz.config.manifest import BuildEntry, ClockEntry, ConditionEntry, TargetEntry
from kadenz.config.manifest import Warning as RunWarning
from kadenz.config.profile import FunctionEntry
from kadenz.config.target_name import TargetName
from kadenz.counting.execution import Execution
from kadenz.counting.functions import Function, Functions
from kadenz.counting.runner_names import RunnerOutput
from kadenz.elf import Library
from kadenz.errors import UsageError
from kadenz.images.guest import plan_archive
from kadenz.images.linux_program import LinuxProgram, linux_program
from kadenz.targets.calls import Calls, ProgramFacts, Why
from kadenz.targets.flows import Symbol, symbols
from kadenz.targets.guest_kernel import GuestKernel, is_file_name
from kadenz.targets.guest_kernels import kernels_of
from kadenz.targets.kernel_image import read_image
from kadenz.targets.launched import ProgramEnd
from kadenz.targets.program import Counting, ProgramTarget
from kadenz.values.keeper import Keeper

FLAVOURS = {"plain": "linux", "rt": "linux-rt"}  # folders of kernels/
_READ_S = 0.1
_STOP_S = 3.0  # of real time in which the plugin does not see that it is to end


@dataclass(frozen=True)
class Program:
    """A program, and the guest that is to execute it."""

    linux: LinuxProgram
    kernel_name: str  # folder of kernels/
    kernel: GuestKernel
    board: Board
    tier: GuestTier

    companions = ("interrupts", "others", "kernel", "signals")
    part = "program"  # in a profile, if it is of no library

    @property
    def build(self) -> BuildEntry:
        """The build, as far as the file states it."""
        return self.linux.build

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The functions of the program and of its libraries."""
        of_libraries = [symbols(Library(file), str(file)) for file in self.linux.libraries]
        return [*symbols(self.linux.elf), *chain.from_iterable(of_libraries)]

    def function_entry(self, symbol: Symbol) -> FunctionEntry:
        """A function as a profile has it: its part is the program, or the library."""
        return FunctionEntry(symbol.name, Path(symbol.library).name or self.part, "")

    @property
    def label(self) -> str:
        """For the number of a run: "x86_64"."""
        return self.linux.isa

    @property
    def clock(self) -> ClockEntry:
        """What its samples count."""
        return ClockEntry(
            clock_class="instruction", name="scope", hz=0, bits=64, unit="instruction"
        )

    @property
    def conditions(self) -> list[ConditionEntry]:
        """The kernel, and how the program was called."""
        text = " ".join(self.linux.arguments)
        kernel = ConditionEntry(
            kind="guest kernel", value=self.kernel.value, label=self.kernel.label
        )
        called = ConditionEntry(kind="arguments", value=text, changes_system=False)
        return [kernel, *([called] if text else [])]

    def target(self, ended: str) -> TargetEntry:
        """The entry of a run."""
        return TargetEntry(
            name=f"{self.kernel_name}/{self.linux.isa}@guest",
            kernel=self.kernel_name,
            board=self.linux.isa,
            tier="guest",
            instrument="scope",
            arch=self.board.arch,
            kernel_name="Linux",
            kernel_version=self.kernel.release,
            capabilities=[],
            settings={"ended": ended},
            cores=1,
            tick_hz=0,
            title=self.board.title,
        )


def program(
    file: Path,
    arguments: Sequence[str] = (),
    files: Sequence[str] = (),
    standard_input: Path | None = None,
    *,
    flavour: str = "",
    asked_kernel: str = "",
) -> Program:
    """The program with its inputs, and the kernel that boots it, a version or a file; without one
    the newest. Without a `flavour` it has PREEMPT_RT if the file has.

    UsageError for what no guest can run and for a kernel that nobody has or that does not fit,
    ToolMissing for a version that is not in the cache.
    """
    linux = linux_program(file, arguments, files, standard_input)
    if not flavour:
        is_rt = is_file_name(asked_kernel) and read_image(Path(asked_kernel)).preempt_rt
        flavour = "rt" if is_rt else "plain"
    target = TargetName(FLAVOURS[flavour], linux.isa, "guest")
    kernels = kernels_of(target, [asked_kernel] if asked_kernel else [], [])
    if len(kernels) > 1:
        raise UsageError(
            f"--guest kernel={asked_kernel}: {len(kernels)} kernels",
            remedy="A program is counted under one: name its file",
        )
    board = inventory.board(linux.isa)
    assert board.tier.guest is not None  # a target of this tier
    return Program(linux, target.kernel, kernels[0], board, board.tier.guest)


def timed_of(linux: LinuxProgram, output: RunnerOutput) -> tuple[list[Function], list[str]]:
    """The program's functions that a runner timed, and the names that stand for none."""
    return Functions(linux.elf).timed(output, linux.isa)


def functions_of(
    linux: LinuxProgram, patterns: Sequence[str], begins: Sequence[str], ends: Sequence[str]
) -> list[Function]:
    """The functions that the patterns name, of the program or, as `libc.so.6:qsort`, of a library;
    and spans of the program. UsageError with a remedy for a name that nothing has."""
    ours = [pattern for pattern in patterns if ":" not in pattern]
    known = Functions(linux.elf)
    try:
        chosen = [*known.chosen(ours), *known.spans(begins, ends)]
    except UsageError as error:
        raise _with_library(linux, ours, error) from None
    by_library: dict[str, list[str]] = {}
    for pattern in patterns:
        name, colon, symbol = pattern.partition(":")
        if colon:
            by_library.setdefault(name, []).append(symbol)
    for name, names in by_library.items():
        file = _library(linux, name)
        chosen += [
            replace(each, name=f"{file.name}:{each.name}", library=str(file))
            for each in Functions(Library(file)).chosen(names)
        ]
    return chosen


def _library(linux: LinuxProgram, name: str) -> Path:
    for file in linux.libraries:
        if name == file.name:
            return file
    names = ", ".join(file.name for file in linux.libraries)
    raise UsageError(
        f"--function {name}:…: {linux.elf.path} is not linked with {name}",
        remedy=f"Its libraries: {names}" if names else "It is static: its functions have no prefix",
    )


def _with_library(linux: LinuxProgram, patterns: Sequence[str], error: UsageError) -> UsageError:
    """The same error, with the library that has the function."""
    for file in linux.libraries:
        exported = {name for _, _, name in Library(file).functions}
        for pattern in patterns:
            if any(fnmatchcase(name, pattern) for name in exported) and pattern in error.message:
                remedy = f"A library has it: --function '{file.name}:{pattern}'"
                return UsageError(error.message, remedy=remedy)
    return error


@contextmanager
def executed(
    subject: Program,
    functions: Sequence[Function],
    limit_s: float,
    expected: Path | None,
    stop: threading.Event,
    progress: Callable[[int], None] = lambda _: None,
    *,
    fresh: bool = False,
) -> Iterator[Execution]:
    """Executes it to its end, or takes an equal execution from the store unless `fresh`. The calls
    can be read inside. `progress` gets the calls so far.

    `expected` is a file with the standard output that it has to write. Raises TargetFailed if the
    guest does not even start, or differs from an equal one that is stored.
    """
    begun = time.monotonic()
    linux = subject.linux
    counting = Counting(
        [(each.address, each.size, each.end, each.library) for each in functions],
        str(linux.path),
        linux.elf.entry,
        limit_s,
        linux.settings(),
        subject.symbols,
    )
    archive = linux.archive()
    target = ProgramTarget(
        subject.tier, subject.kernel, lambda plan: archive + plan_archive(plan), counting
    )
    target.keeper = Keeper(f"{subject.kernel_name}/{linux.isa}@guest", fresh=fresh)
    try:
        target.boot()
        calls, flows, end = target.end(_followed(target, stop, progress))
        how = _How(linux, limit_s, calls, end, expected, stop.is_set())
        if not (how.problem or stop.is_set()):
            target.vouch()
        yield Execution(
            calls=calls,
            flows=flows,
            ended=how.sentence,
            problem=how.problem,
            remedy=how.remedy,
            stopped=stop.is_set(),
            console=target.last_lines() if end is None else how.console,
            duration_s=round(time.monotonic() - begun, 3),
            emulator=target.emulator(),
            value=target.value,
            warnings=[*_kernel_notes(subject.kernel), *_warnings(linux, calls.program)],
        )
    finally:
        target.close()
    if target.difference is not None:
        raise target.difference


def _followed(
    target: ProgramTarget, stop: threading.Event, progress: Callable[[int], None]
) -> bytes:
    """What came from the guest when it has ended, or does not end although it was asked to."""
    stream = bytearray()
    asked = 0.0
    while (data := target.read(_READ_S)) is not None:
        stream += data
        progress(target.calls_so_far // 2)  # two rows each
        if stop.is_set():
            asked = asked or time.monotonic()
            target.ask_to_end()
            if time.monotonic() - asked > _STOP_S:
                break
    return bytes(stream)


def _kernel_notes(kernel: GuestKernel) -> list[RunWarning]:
    return [RunWarning(code="guest-kernel", message=note) for note in kernel.notes]


def _warnings(linux: LinuxProgram, facts: ProgramFacts | None) -> list[RunWarning]:
    name, warnings = linux.elf.path.name, []
    if facts is not None and facts.forked:
        warnings.append(
            RunWarning(
                code="other-processes",
                message=f"{name} started other processes: {facts.forked:,} (fork, vfork)",
                remedy="What they execute is in no sample, but among `others`",
            )
        )
    if facts is not None and facts.replaced:
        warnings.append(
            RunWarning(
                code="other-program",
                message=f"{name} asked for other programs: {facts.replaced:,} (execve)",
                remedy="What that one executes is in no sample: count it by itself",
            )
        )
    return warnings


@dataclass(frozen=True)
class _How:
    """Judges how a program ended."""

    linux: LinuxProgram
    limit_s: float
    calls: Calls
    end: ProgramEnd | None
    expected: Path | None
    stopped: bool

    @property
    def console(self) -> str:
        """What the program wrote."""
        if self.end is None:
            return ""
        return (self.end.output + self.end.errors).decode(errors="replace")

    @property
    def sentence(self) -> str:
        """How it ended, for the run."""
        if self.stopped:
            return "interrupted (Ctrl-C)"
        if self.end is None:
            late = self.calls.end is not None and self.calls.end.why is Why.LIMIT
            return "the guest did not end" if late else "the guest ended before its program"
        if self.end.kind == "exit":
            return f"by itself, with exit status {self.end.number}"
        if self.end.kind == "limit":
            return f"the limit of {self.limit_s:g} s of the guest's time"
        return f"by signal {self.end.number} ({_signal(self.end.number)})"

    @property
    def problem(self) -> str:
        """What was wrong; "" if nothing."""
        name, end = self.linux.elf.path.name, self.end
        if self.stopped:
            return ""
        if end is None or self.calls.program is None:
            return f"{name} did not begin: {self.sentence}"
        if end.kind == "limit":
            return f"{name} was ended at {self.sentence}"
        if end.kind != "exit" or end.number:
            return f"{name} ended {self.sentence}"
        return self._difference(end.output)

    @property
    def remedy(self) -> str:
        """What would mend the problem; "" if only the program can."""
        late = self.end is not None and self.end.kind == "limit"
        return "--limit gives the program more time" if late else ""

    def _difference(self, output: bytes) -> str:
        """Where the output is not the expected one; "" if it is, or none is expected."""
        if self.expected is None:
            return ""
        wanted = self.expected.read_bytes()
        if wanted == output:
            return ""
        lines, expected = output.splitlines(), wanted.splitlines()
        same = 0
        while same < min(len(lines), len(expected)) and lines[same] == expected[same]:
            same += 1
        return (
            f"the output of {self.linux.elf.path.name} differs from {self.expected} in line "
            f"{same + 1}, or in how it ends"
        )


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "of the kernel"
