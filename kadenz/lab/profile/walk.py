# SPDX-License-Identifier: Apache-2.0
"""Walks along an executed path: which function each instruction belongs to, and who called it.

Calls and returns are known by the instructions that end a run. A return finds its frame by the
address that the call left. Each thread has frames of its own, by the watched word with the current
thread; each exception begins with none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kadenz.errors import TargetFailed
from kadenz.images.code import Code, Function
from kadenz.images.instructions import Instruction
from kadenz.lab.profile.cores import Core, Step
from kadenz.lab.profile.tree import Node, Slot, discovered
from kadenz.targets.paths import MARK, NAME, RUN, STATE, STORE, Paths

# Interrupts are off; the scheduler is locked; one or the other, or a handler executes, so that no
# thread is preempted.
SectionKind = Literal["masked", "locked", "held"]


class Frame(NamedTuple):
    """A function that was entered, and where it will return to; None if that is unknown."""

    node: Node
    back: int | None


class Context(NamedTuple):
    """The frames of a thread or of an exception."""

    slot: Slot  # of the outermost frame
    frames: tuple[Frame, ...]
    last: Instruction | None  # executed before an exception began
    handler: int  # first address of an exception; 0: a thread


class State(NamedTuple):
    """Everything that decides how a path goes on."""

    contexts: tuple[Context, ...]  # a thread's, then exceptions, innermost last
    parked: tuple[tuple[int, tuple[Context, ...]], ...]  # other threads, each with its exceptions
    running: int | None  # the thread of contexts[0], None: unknown
    thread: int | None  # the current one, says the kernel
    registers: tuple[int, ...]
    before: tuple[int, ...]  # at the end of the last run
    last: Instruction | None
    locked: bool  # the scheduler, says the kernel
    # Sections that have begun, by kind: where, and what passed since.
    sections: tuple[tuple[SectionKind, tuple[Node, int, int]], ...]


_START = State((), (), None, None, (), (), None, False, ())


@dataclass
class Effect:
    """Counts that a stretch of a path adds."""

    instructions: Counter[Node] = field(default_factory=Counter)
    calls: Counter[Node] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)  # exceptions by handler
    returns: int = 0  # of exceptions
    # Kind, function and address of the begin, address of the end, length.
    sections: Counter[tuple[SectionKind, Node, int, int, int]] = field(default_factory=Counter)

    def add(self, other: Effect, times: int) -> None:
        """Adds what another stretch adds, executed N times."""
        for name in ("instructions", "calls", "entries", "sections"):
            mine = getattr(self, name)
            for key, count in getattr(other, name).items():
                mine[key] += count * times
        self.returns += other.returns * times


class Run(NamedTuple):
    """A run of instructions that a path has as one token, decoded."""

    address: int
    length: int  # in the unit of the paths
    functions: tuple[tuple[Function, int], ...]  # in order, with the length of each
    last: Instruction


class Moment(NamedTuple):
    """Who executes a run."""

    thread: int | None  # by the kernel's pointer; None: not known
    handler: int  # first address of the innermost exception; 0: the thread itself
    functions: tuple[Function, ...]  # entered by the thread or handler and not left


class Program:
    """The runs of all paths of a file, decoded on first use."""

    def __init__(self, code: Code, paths: Paths) -> None:
        self.code, self.paths = code, paths
        self._runs: dict[int, Run] = {}

    def run(self, token: int) -> Run:
        """A token of kind RUN. TargetFailed if the image has no code there."""
        if token not in self._runs:
            self._runs[token] = self._decoded(token)
        return self._runs[token]

    def instructions(self, token: int) -> list[Instruction]:
        """The instructions of a token, from its address on."""
        row = self.paths.tokens[token]
        return self._sequence(int(row["value"]), int(row["instructions"]))

    def _sequence(self, address: int, count: int) -> list[Instruction]:
        sequence = []
        for _ in range(count):
            instruction = self.code.instruction(address)
            if instruction is None:
                raise TargetFailed(
                    f"the target executed an instruction at {address:#x}, where its image has none",
                    remedy="Code that is copied or made at run time cannot be profiled",
                )
            sequence.append(instruction)
            address = instruction.follows
        return sequence

    def _decoded(self, token: int) -> Run:
        sequence, length = self.instructions(token), self.paths.spent(token)
        each = length // len(sequence)  # in cycles: all of one instruction
        functions: list[tuple[Function, int]] = []
        for instruction in sequence:
            function = self.code.function_at(instruction.address)
            if functions and functions[-1][0] == function:
                functions[-1] = function, functions[-1][1] + each
            else:
                functions.append((function, each))
        return Run(sequence[0].address, length, tuple(functions), sequence[-1])


class Walker:
    """Walks regions of one paths file."""

    def __init__(self, program: Program, core: Core) -> None:
        self._program, self._core = program, core
        self._tokens = program.paths.tokens

    def walk(self, path: tuple[int, ...]) -> Effect:
        """The sum over a region's pieces; each is walked once from each state."""
        states: dict[State, int] = {}
        known: dict[tuple[int, int], tuple[int, Effect]] = {}
        times: Counter[tuple[int, int]] = Counter()
        held: list[State] = []
        slots = Slot(), Slot(interrupt=True)

        def number(state: State) -> int:
            if state not in states:
                states[state] = len(held)
                held.append(state)
            return states[state]

        at = number(_START)
        for piece in path:
            key = at, piece
            if key not in known:
                step = Steps(held[at], slots, self._core, self._program.code)
                self._piece(step, piece)
                known[key] = number(step.state()), step.effect
            times[key] += 1
            at = known[key][0]
        total = Effect()
        for key, count in times.items():
            total.add(known[key][1], count)
        end = held[at]
        for kind, (node, begin, length) in end.sections:
            assert end.last is not None
            total.sections[kind, node, begin, end.last.address, length] += 1
        return total

    def start(self) -> Steps:
        """Steps that nothing has come before."""
        return Steps(_START, (Slot(), Slot(interrupt=True)), self._core, self._program.code)

    def follow(self, steps: Steps, piece: int) -> Iterator[tuple[int, Moment | None]]:
        """The tokens of the next piece of a region in order; with a run, who executes it."""
        for token in self._program.paths.pieces[piece].tolist():
            ran = self._token(steps, token)
            yield token, steps.moment() if ran else None

    def _piece(self, step: Steps, piece: int) -> None:
        for token in self._program.paths.pieces[piece].tolist():
            self._token(step, token)

    def _token(self, step: Steps, token: int) -> bool:
        """True for a run."""
        row = self._tokens[token]
        kind = int(row["kind"])
        if kind == RUN:
            step.run(self._program.run(token))
            return True
        if kind & 0xF0 == STATE:
            step.set_register(kind - STATE, int(row["value"]))
        elif kind == STORE:
            step.thread = int(row["value"])
        elif kind == STORE + 1:
            step.locked = int(row["value"]) != 0
        else:
            assert kind == MARK or kind & 0xF0 in (STORE, NAME)
        return False


class Steps:
    """Pieces, executed from a state; `effect` is what they add."""

    def __init__(self, state: State, slots: tuple[Slot, Slot], core: Core, code: Code) -> None:
        self.effect = Effect()
        self._core, self._code = core, code
        self._requested, self._interrupts = slots
        self._contexts = list(state.contexts)
        self._parked = dict(state.parked)
        self._running, self.thread = state.running, state.thread
        self._registers, self._before = list(state.registers), state.before
        self._last, self.locked = state.last, state.locked
        self._sections = dict(state.sections)

    def state(self) -> State:
        """The state behind the last token."""
        return State(
            tuple(self._contexts),
            tuple(sorted(self._parked.items(), key=lambda item: item[0])),
            self._running,
            self.thread,
            tuple(self._registers),
            self._before,
            self._last,
            self.locked,
            tuple(self._sections.items()),
        )

    def moment(self) -> Moment:
        """Who executed the last run."""
        top = self._contexts[-1]
        functions = tuple(frame.node.function for frame in top.frames)
        return Moment(self._running, top.handler, functions)

    def set_register(self, index: int, value: int) -> None:
        """A watched register has another value from now on."""
        while len(self._registers) <= index:
            self._registers.append(0)
        self._registers[index] = value

    def run(self, run: Run) -> None:
        """Instructions that follow each other are executed, after a jump or not."""
        entered = self._arrive(run.address)
        masked = self._core.masked(self._named(self._registers))
        self._section("masked", run, goes_on=masked, entered=entered)
        self._section("locked", run, goes_on=self.locked, entered=entered)
        held = masked or self.locked or len(self._contexts) > 1
        self._section("held", run, goes_on=held, entered=entered)
        for place, (function, count) in enumerate(run.functions):
            if place:
                self._become(function)
            self.effect.instructions[self._contexts[-1].frames[-1].node] += count
        self._last = run.last
        self._before = tuple(self._registers)

    def _named(self, values: tuple[int, ...] | list[int]) -> dict[str, int]:
        return {name: v for (name, _), v in zip(self._core.registers, values, strict=False)}

    def _arrive(self, address: int) -> bool:
        """Goes to an address. True if an exception began there."""
        function = self._code.function_at(address)
        now = self._named(self._registers)
        if self._last is None:
            if not self._contexts:
                self._running = self.thread
                self._contexts = [Context(Slot(), (), None, 0)]
                if self._core.within(now):
                    self._begin(address, interrupt=True, counted=False)
            self._enter(function, None)
            return False
        top = self._contexts[-1]
        handlers = tuple(context.handler for context in self._contexts[1:])
        step = Step(self._last, address, self._named(self._before), now)
        change = self._core.change(step, handlers, len(top.frames))
        for _ in range(change.ends if handlers else 0):
            self._end()
        if change.begins:
            self._begin(address, interrupt=change.interrupt, counted=True)
            self._enter(function, None)
            return True
        if change.ends and handlers:
            last = self._contexts[-1].last
            self._contexts[-1] = self._contexts[-1]._replace(last=None)
            if last is None:  # a thread that has not run in this region
                self._enter(function, None)
            else:
                self._transfer(last, address, function)
        elif self.thread == 0 != self._running and len(self._contexts) == 1:
            self._leave_thread(self._last)  # into the kernel's idle loop
            self._enter(function, None)
        else:
            self._transfer(self._last, address, function)
        if self._contexts[-1].frames[-1].node.function != function:
            self._become(function)
        return False

    # ---- exceptions ------------------------------------------------------------------------------
    def _begin(self, address: int, *, interrupt: bool, counted: bool) -> None:
        top = self._contexts[-1]
        # One that interrupts before the other executed anything finds its last word there.
        self._contexts[-1] = top._replace(last=top.last or self._last)
        slot = self._interrupts if interrupt else self._requested
        self._contexts.append(Context(slot, (), None, address))
        if counted:
            self.effect.entries[self._code.function_at(address).name] += 1

    def _end(self) -> None:
        self._contexts.pop()
        self.effect.returns += 1
        if len(self._contexts) == 1 and self.thread != self._running:
            self._switch()
            del self._contexts[1:]  # it goes on outside the exception in which it was parked

    def _switch(self) -> None:
        """The kernel has chosen another thread: its frames, or none if it did not run here."""
        if self._running:  # the idle loop of a kernel without a thread for it begins anew each time
            self._parked[self._running] = tuple(self._contexts)
        self._running = self.thread
        new = (Context(Slot(), (), None, 0),)
        known = new if self.thread is None else self._parked.pop(self.thread, new)
        self._contexts = list(known)

    def _leave_thread(self, last: Instruction) -> None:
        self._contexts[-1] = self._contexts[-1]._replace(last=last)
        self._switch()

    def _switches(self, last: Instruction, address: int) -> bool:
        """Whether the thread that the kernel has chosen goes on at an address of no frame here.

        Zephyr and ASP3 on RISC-V also switch inside an exception: by a plain return into a thread
        that gave the processor up by itself. The exception goes on with the thread it interrupted.
        """
        if self.thread == self._running:
            return False
        if len(self._contexts) == 1:
            return True
        if last.flow != "return" or self._core.within(self._named(self._registers)):
            return False
        known = self._parked.get(self.thread) if self.thread is not None else None
        return known is None or any(frame.back == address for frame in known[-1].frames[1:])

    # ---- calls and returns -----------------------------------------------------------------------
    def _transfer(self, last: Instruction, address: int, function: Function) -> None:
        if not self._contexts[-1].frames:
            self._enter(function, None)
        elif last.flow == "call" and (address != last.follows or address == last.target):
            self._enter(function, last.follows)
        elif address == last.follows:
            return
        elif last.flow in ("return", "jump"):
            self._leave(last, address, function)

    def _leave(self, last: Instruction, address: int, function: Function) -> None:
        """Back to the innermost frame that was called from here, or on to another function."""
        if self._back_to(address):
            return
        if self._switches(last, address):
            self._leave_thread(last)
            if not self._contexts[-1].frames:
                self._enter(function, None)
            else:
                self._contexts[-1] = self._contexts[-1]._replace(last=None)
                self._back_to(address)
            return
        top = self._contexts[-1]
        if last.flow == "return" and len(top.frames) == 1 and top.frames[0].back is None:
            node = discovered(top.slot, function)
            self._contexts[-1] = top._replace(slot=node.slot, frames=(Frame(node, None),))

    def _back_to(self, address: int) -> bool:
        top = self._contexts[-1]
        for depth in range(len(top.frames) - 1, 0, -1):
            if top.frames[depth].back == address:
                self._contexts[-1] = top._replace(frames=top.frames[:depth])
                return True
        return False

    def _enter(self, function: Function, back: int | None) -> None:
        top = self._contexts[-1]
        slot = top.frames[-1].node.below if top.frames else top.slot
        node = slot.node(function)
        self.effect.calls[node] += 1
        self._contexts[-1] = top._replace(frames=(*top.frames, Frame(node, back)))

    def _become(self, function: Function) -> None:
        """The innermost frame goes on in another function, which returns in its place."""
        top = self._contexts[-1]
        frame = top.frames[-1]
        node = frame.node.slot.node(function)
        self.effect.calls[node] += 1
        self._contexts[-1] = top._replace(frames=(*top.frames[:-1], Frame(node, frame.back)))

    def _section(self, kind: SectionKind, run: Run, *, goes_on: bool, entered: bool) -> None:
        """A section lasts, begins or has ended with this run."""
        known = self._sections.pop(kind, None)
        if not goes_on:
            if known is not None and self._last is not None:
                node, begin, length = known
                self.effect.sections[kind, node, begin, self._last.address, length] += 1
            return
        where = run.address if entered or self._last is None else self._last.address
        top = self._contexts[-1].frames[-1].node
        node, begin, length = known or (top, where, 0)
        self._sections[kind] = node, begin, length + run.length
