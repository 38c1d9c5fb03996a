# SPDX-License-Identifier: Apache-2.0
"""The longest ways through parts of an image: sections, exceptions, a woken thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from kadenz.bounds.costs import Costs
from kadenz.bounds.layout import Layout
from kadenz.bounds.lines import Fetched, Lines, kept
from kadenz.bounds.loads import Loads
from kadenz.bounds.longest import Limit, Loop, Shared, Unbounded, longest, loops, together
from kadenz.bounds.machine import parts_of
from kadenz.bounds.premises import Premises
from kadenz.bounds.unfolding import Node, Unfolded
from kadenz.config.kernel import ALL
from kadenz.images.code import Code, Function
from kadenz.images.instructions import Instruction
from kadenz.targets.scope import HANDLED, RESPONDED

# mcause, RISC-V privileged architecture, table of machine cause values.
_INTERRUPT = 1 << 31
CALL, SOFTWARE, TIMER = 11, _INTERRUPT | 3, _INTERRUPT | 7
_START, _END = Node((), -1, False, False), Node((), -2, False, False)

_FAULTS = ("kdz_fault", "kdz_riscv_exception")  # after them nothing is measured
_ECALL = 0x73
_STORED = {"sb": 1, "sh": 2, "sw": 4}
_FAR = 1 << 40  # cycles, longer than any way
_INTERRUPTIONS = 2  # of a way with interrupts on, at most: the arrival, and a tick

Way = tuple[Node, Node]


class Refused(Exception):
    """There is no bound, with the place and the reason."""


@dataclass(frozen=True)
class Section:
    """The longest way through some nodes: its cycles, where it begins, and its cycles by function
    or by a later part."""

    cycles: int = 0
    begin: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)

    def then(self, name: str, cycles: int) -> Section:
        """With a part behind it."""
        return Section(
            self.cycles + cycles, self.begin, Counter(self.parts) + Counter({name: cycles})
        )

    def __lt__(self, other: Section) -> bool:
        return self.cycles < other.cycles


class Sections:
    """The longest ways of one image."""

    def __init__(self, code: Code, layout: Layout, costs: Costs, premises: Premises) -> None:
        self.code, self.layout = code, layout
        self._costs, self._facts, self._at_most = costs, premises.facts, premises.at_most
        self._premises, self._in_flight = premises, premises.model.file.in_flight
        self._lines = None if costs.cache is None else Lines(code, costs.cache)
        self._after: Sections | None = None  # the same, also behind an interrupt; None: these
        self._resting: tuple[int, ...] = ()  # words that are 0 until then
        # No way depends on a quantity, until an interrupt is served on none that is 0.
        self._traps: dict[tuple[int, bool], Unfolded] = {}
        self._functions: dict[tuple[int, frozenset[int], tuple[int, ...]], Unfolded] = {}

    def within(self, premises: Premises) -> Sections:
        """The ways of the same image with other quantities; what was unfolded is shared."""
        other = Sections(self.code, self.layout, self._costs, premises)
        other._after, other._resting = self._after, self._resting
        other._traps, other._functions = self._traps, self._functions
        return other

    def unserved(self, *, tick: bool) -> Sections:
        """Until an interrupt is served: what interrupts alone leave behind is not there. `tick`:
        a tick may have come, so that words are not known to be 0."""
        other = self._without(self._facts.by_interrupts)
        other._after, other._resting = self, () if tick else self.layout.resting
        return other

    @cached_property
    def ready(self) -> Sections:
        """Of switches in which a thread is ready that is as urgent as the running one, or more."""
        return self._without(self._facts.search)

    def _without(self, quantities: Collection[str]) -> Sections:
        zero = dict.fromkeys(quantities, 0)
        return self.within(replace(self._premises, at_most={**self._at_most, **zero}))

    # ---- code ------------------------------------------------------------------------------------
    def unfolded(self, start: int, never: Collection[str] = ()) -> Unfolded:
        """A function that a thread calls, with interrupts on. `never`: functions on no way."""
        ends = frozenset(self._starts({*_FAULTS, *never}))
        whole = self._followed_from(start, ends)
        empty = self._empty_loops(whole) if self._after else set()
        if not empty:
            return whole
        unfolded = self._followed_from(start, ends | empty)
        if whole.ends and not unfolded.ends:
            place = self.place(whole.begins[0])
            raise Refused(f"{place}: no way to its return without a loop that has no round")
        return unfolded

    def _followed_from(self, start: int, ends: frozenset[int]) -> Unfolded:
        key = start, ends, self._resting
        if key not in self._functions:
            layout = self.layout
            unfolded = Unfolded(
                self.code,
                lock=layout.lock,
                calls=self._calls,
                never=ends,
                switches=layout.switches,
                owes=layout.owes,
                resting=self._resting,
            )
            unfolded.follow(start, layout.entry_state(resting=self._resting), masked=False)
            self._functions[key] = unfolded
        return self._functions[key]

    def _empty_loops(self, unfolded: Unfolded) -> set[int]:
        """Where the loops of sections begin that have no round, wherever they are called."""
        held = [(a, b) for a, b in self._ways(unfolded) if _is_held(a) and _is_held(b)]
        try:
            rounds = [(loop.header.address, self._rounds(loop)) for loop in loops(held)]
        except Unbounded:
            return set()  # refused where a section has such a loop
        return {at for at, most in rounds if most == 0} - {at for at, most in rounds if most != 0}

    def trap(self, cause: int, *, locked: bool = False) -> Unfolded:
        """What handles an exception or interrupt, by mcause. In the interrupt that arrives, a call
        through a register that nothing else decides leads to the handler of arrivals."""
        if (cause, locked) not in self._traps:
            unfolded = self._followed(cause, locked, {})
            if cause == SOFTWARE:
                to_handler = dict.fromkeys(
                    (n.address for n in unfolded.by_register), (self.layout.handler.start,)
                )
                unfolded = self._followed(cause, locked, to_handler)
            self._refuse_open(unfolded)
            self._traps[cause, locked] = unfolded
        return self._traps[cause, locked]

    @cached_property
    def switch(self) -> Unfolded:
        """What gives the processor to another thread."""
        if not self.layout.switches:
            return self.trap(CALL)
        unfolded = Unfolded(self.code, lock=self.layout.lock, never=self._starts(_FAULTS))
        for start in self.layout.switches:
            unfolded.follow(start, self.layout.entry_state(), masked=False)
        self._refuse_open(unfolded)
        return unfolded

    def _refuse_open(self, unfolded: Unfolded) -> None:
        for node, why in unfolded.open.items():
            raise Refused(f"{self.place(node)}: {why}")

    def _followed(self, cause: int, locked: bool, calls: Mapping[int, Collection[int]]) -> Unfolded:
        ends = self._starts(_FAULTS)
        unfolded = Unfolded(
            self.code, lock=self.layout.lock, calls={**self._calls, **calls}, never=ends
        )
        state = self.layout.entry_state(locked=locked, kept=None)._replace(cause=cause)
        unfolded.follow(self.layout.vector(cause), state, masked=True)
        return unfolded

    def check_root(self, root: Unfolded) -> None:
        """Refuses a function that cannot be followed, or whose sections do not end in it."""
        self._refuse_open(root)
        for node in root.ends:
            if node.masked or node.locked:
                raise Refused(
                    f"{self.place(node)}: a return with interrupts off, or the scheduler locked"
                )
            if node.owed and node not in root.traps:
                raise Refused(f"{self.place(node)}: a return that may owe a switch")
        for node in root.traps:
            lock = self.layout.lock
            if self.layout.switches and (node.masked or node.locked):
                raise Refused(
                    f"{self.place(node)}: a switch with interrupts off, or the scheduler locked"
                )
            if lock and root.states[node].memory.get(lock) is None:
                raise Refused(f"{self.place(node)}: the depth of the scheduler's lock is unknown")

    def functions(self, unfolded: Unfolded) -> set[Function]:
        """All that are on a way."""
        return {self.code.function_at(address) for address in {n.address for n in unfolded.states}}

    # ---- ways ------------------------------------------------------------------------------------
    def through(
        self,
        unfolded: Unfolded,
        holds: Callable[[Node], bool],
        *,
        to_switch: bool = False,
        interruptions: int = _INTERRUPTIONS,
        ready: Callable[[Node], bool] = lambda _: False,
    ) -> Section:
        """The longest way through the nodes for which a condition holds, to the end of it.

        A switch of threads also ends it; the exception and what the other thread had left of such a
        section are part of it. `to_switch`: the switch is the only end, and its exception is not
        part of it. While the scheduler is locked, an exception comes back to the thread. Refused
        for a way over a call that was passed. `interruptions`: how many come while interrupts are
        on. `ready`: whether a thread that switches at a node, or a more urgent one, is ready.
        """
        ways = self._ways(unfolded)
        switches = {node for node in unfolded.traps if holds(node) and not node.locked}
        costs = self._priced(
            unfolded, [(a, b) for a, b in ways if holds(a) and holds(b) and a not in switches]
        )
        for a, b in costs:
            if a in unfolded.traps:
                costs[a, b] = self.raised + self.exception(CALL, locked=True)
        costs |= {(_START, b): 0 for a, b in ways if holds(b) and not holds(a)}
        if not to_switch:
            leaving = [(a, b) for a, b in ways if holds(a) and not holds(b) and a not in switches]
            _end(costs, self._priced(unfolded, leaving))
        for node in switches:
            switched = (self.ready if ready(node) else self).switched
            behind = 0 if to_switch else switched + self.behind_switch
            costs[node, _END] = self.raised + behind
        for a, b in costs:
            if a in unfolded.passed and holds(a):
                costs[a, b] = _FAR
        section = self._longest(costs, interruptions=interruptions)
        if section.cycles >= _FAR:
            raise Refused(f"{section.begin}: a call that cannot be followed, before an owed switch")
        return section

    @cached_property
    def raised(self) -> int:
        """Cycles of an `ecall`, wherever it is, and of the way to its vector; 0 where a function
        switches."""
        if self.layout.switches:
            return 0
        vector = self.code.instruction(self.layout.vector(CALL))
        if vector is None:
            raise Refused("the image has no code at its trap vector")
        call = Instruction(0, 4, "ecall", "other", "trap", None, _ECALL)
        return self._costs.of([(call, vector)])[0] + self._costs.line

    def exception(self, cause: int, *, locked: bool = False) -> int:
        """From the vector to the return, in cycles."""
        trap = self.trap(cause, locked=locked)
        # What it returns to may load a line again.
        whole = self._whole(trap, "the handler of an exception has no end")
        return whole + self._costs.load

    @cached_property
    def switched(self) -> int:
        """From the vector, or from where a function that switches begins, to another thread."""
        return self._whole(self.switch, "a switch has no end")

    @cached_property
    def switching(self) -> Section:
        """The longest section of a switch with interrupts off."""
        if not self.layout.switches:
            return Section().then("the switch", self.raised + self.switched)
        switch = self.switch
        ways = [(a, b) for a, b in self._ways(switch) if a.masked]
        costs = self._priced(switch, [(a, b) for a, b in ways if b.masked])
        _end(costs, self._priced(switch, [(a, b) for a, b in ways if not b.masked]))
        _end(costs, self._ending(switch))
        costs |= {(_START, b): 0 for a, b in self._ways(switch) if b.masked and not a.masked}
        return self._longest(costs)

    def _whole(self, unfolded: Unfolded, none: str) -> int:
        """The longest way from an unfolded beginning to a return."""
        costs = self._priced(unfolded, self._ways(unfolded))
        costs |= {(_START, node): 0 for node in unfolded.begins}
        _end(costs, self._ending(unfolded))
        return self._longest(costs, none).cycles

    def _ending(self, unfolded: Unfolded) -> dict[Way, int]:
        """The ways that leave the ends."""
        ends = list(unfolded.ends)
        each = self._costs.most([unfolded.instruction(node) for node in ends])
        return {(node, _END): cycles for node, cycles in zip(ends, each, strict=True)}

    @cached_property
    def to_handler(self) -> int:
        """From the vector to the first statement of the handler."""
        trap = self.trap(SOFTWARE)
        marks = self.layout.marked(trap, HANDLED)
        costs = self._priced(trap, [(a, b) for a, b in self._ways(trap) if a not in marks])
        costs[_START, _first(trap)] = 0
        costs |= {(mark, _END): 0 for mark in marks}
        return self._longest(costs, "no way leads to the handler").cycles

    @cached_property
    def to_statement(self) -> int:
        """Of the woken thread: from the switch to its first statement."""
        thread = self.unfolded(self.layout.responder.start, self._facts.woken_skips)
        self._refuse_open(thread)
        marks = self.layout.marked(thread, RESPONDED)
        left = thread.traps | marks
        costs = self._priced(thread, [(a, b) for a, b in self._ways(thread) if a not in left])
        costs |= {(_START, b): 0 for node in thread.traps for b in thread.ways[node]}
        costs |= {(mark, _END): 0 for mark in marks}
        return self._longest(costs, "no way leads to the thread's first statement").cycles

    @cached_property
    def behind_switch(self) -> int:
        """What a thread that switched with interrupts off has left of that section, at most: of all
        functions of the port."""
        if self._after:
            return self._after.behind_switch
        never = {each.function for each in self._facts.never if each.services == ALL}
        port = [function.start for function in self.code.functions if function.part == "port"]
        return max((self._behind(self.unfolded(start, never)) for start in port), default=0)

    def _behind(self, thread: Unfolded) -> int:
        switches = {node for node in thread.traps if node.masked}
        if not switches:
            return 0
        for node, why in thread.open.items():
            if node.masked:
                raise Refused(f"{self.place(node)}: {why}")
        ways = [(a, b) for a, b in self._ways(thread) if a.masked and a not in switches]
        costs = self._priced(thread, [(a, b) for a, b in ways if b.masked])
        _end(costs, self._priced(thread, [(a, b) for a, b in ways if not b.masked]))
        for node in switches:
            costs |= {(_START, b): 0 for b in thread.ways[node]}
        again = [(switch, _END) for switch in switches]
        if self._longest({**costs, **dict.fromkeys(again, _FAR)}).cycles >= _FAR:
            raise Refused("a section with interrupts off switches threads twice")
        return self._longest(costs).cycles

    def reaction(self, functions: Collection[Function]) -> int:
        """The longest instruction of functions, with the way from it, behind as many others as the
        core executes at once."""
        addresses = (a for function in functions for a in range(function.start, function.end, 2))
        known = [self.code.instruction(address) for address in addresses]
        each = [instruction for instruction in known if instruction is not None]
        before = (self._in_flight - 1) * max(self._costs.alone(each), default=0)
        return before + max(self._costs.most(each), default=0)

    @cached_property
    def _calls(self) -> dict[int, list[int]]:
        """Where calls through a register lead, by the function that calls."""
        return {
            caller: sorted(self._starts(called))
            for name, called in self._facts.calls.items()
            for caller in self._starts({name})
        }

    def _starts(self, names: Collection[str]) -> set[int]:
        """Where functions begin, with the parts that the compiler made of them."""
        return {start for name in names for start in self._begins.get(name, ())}

    @cached_property
    def _begins(self) -> dict[str, list[int]]:
        begins: dict[str, list[int]] = {}
        for each in self.code.functions:
            begins.setdefault(plain(each.name), []).append(each.start)
        return begins

    @staticmethod
    def _ways(unfolded: Unfolded) -> list[Way]:
        return [
            (a, b)
            for a, following in unfolded.ways.items()
            for b in following
            if b not in unfolded.open
        ]

    def _priced(self, unfolded: Unfolded, ways: Sequence[Way]) -> dict[Way, int]:
        steps = [(unfolded.instruction(a), unfolded.instruction(b)) for a, b in ways]
        return dict(zip(ways, self._costs.of(steps), strict=True))

    def _longest(
        self, costs: Mapping[Way, int], none: str = "", *, interruptions: int = _INTERRUPTIONS
    ) -> Section:
        """`none`: why there is no bound where there is no way; \"\": it is 0 there."""
        costs, shared = self._with_caches(costs, interruptions)
        try:
            way = longest(costs, _START, _END, self._rounds, shared, self._limits(costs))
        except Unbounded as unbounded:
            assert isinstance(unbounded.node, Node)
            raise Refused(f"{self.place(unbounded.node)}: {unbounded.why}") from None
        if way is None and none:
            raise Refused(none)
        parts: Counter[str] = Counter()
        begin = ""
        for (a, b), times in (way.edges if way else {}).items():
            if a == _START:
                begin = self.place(b)
                parts[self.name(b)] += costs[a, b] * times
            else:
                parts[self.name(a)] += costs[a, b] * times
        if way and way.shared:
            parts["lines of code"] += way.shared
        return Section(way.cost if way else 0, begin, parts)

    def _with_caches(
        self, costs: Mapping[Way, int], interruptions: int
    ) -> tuple[dict[Way, int], list[Shared[Node]]]:
        """With the lines of code that ways fetch: each time, or once for those that nothing
        displaces but an interruption. An exception on a way may displace all. Loads whose line is
        there take less."""
        if self._lines is None:
            return dict(costs), []
        cache, shared, costs = self._lines.cache, [], dict(costs)
        for ways in together(costs, (_START, _END)):
            fetched = {way: self._fetched(*way) for way in ways if way[1] != _END}
            inside = [(a, b) for a, b in fetched if a != _START]
            trapped = any(self._traps_at(a) for a, _ in inside)
            stay = set() if trapped else kept(fetched, cache)
            edges: dict[int, list[Way]] = {}
            for way, lines in fetched.items():
                late = len(lines.entered - stay) + bool(lines.ahead - stay)
                costs[way] += late * cache.line_late
                for line in lines.all & stay:
                    edges.setdefault(line, []).append(way)
            masked = all(a.masked and b.masked for a, b in inside)
            most = 1 if masked else 1 + interruptions
            shared += [Shared(cache.line_late, most, lines) for lines in edges.values()]
            loads = Loads(fetched, self._code_at, cache)
            for way in ways:
                if loads.hits(way[0]):
                    costs[way] -= cache.load_late
        return costs, shared

    def _code_at(self, node: Node) -> Instruction | None:
        return self.code.instruction(node.address)

    def _traps_at(self, node: Node) -> bool:
        code = self._code_at(node)
        return code is not None and code.flow == "trap"

    def _fetched(self, a: Node, b: Node) -> Fetched:
        """The lines of a way; of the first instruction at its begin."""
        assert self._lines is not None
        second = self._instruction(b)
        if a == _START:
            return Fetched(self._lines.of(second), frozenset())
        return self._lines.step(self._instruction(a), second)

    def _instruction(self, node: Node) -> Instruction:
        instruction = self.code.instruction(node.address)
        if instruction is None:
            raise Refused(f"{self.place(node)}: the image has no code there")
        return instruction

    def _rounds(self, loop: Loop[Node]) -> int | None:
        """How often a loop begins a round. An entry for the loop that calls a function is before
        the entry for all loops."""
        function = self.name(loop.header)
        inside = sorted({self.name(node) for node in loop.nodes} - {function})
        keys = [*(f"{function}/{name}" for name in inside), function]
        given = next((self._facts.loops[key] for key in keys if key in self._facts.loops), None)
        return self._value(given)

    def _value(self, given: str | int | None) -> int | None:
        """Of a number, or of a quantity that may have one more: "threads+1"."""
        if not isinstance(given, str):
            return given
        name, _, more = given.partition("+")
        value = self._at_most.get(name)
        return None if value is None else value + int(more or 0)

    def _limits(self, ways: Collection[Way]) -> list[Limit[Node]]:
        """The bytes that functions write, in each place where they are called."""
        most = {name: self._value(given) for name, given in self._facts.writes.items()}
        amounts: dict[tuple[object, str], dict[Way, int]] = {}
        entries: dict[tuple[object, str], list[Way]] = {}
        for a, b in ways:
            if a != _START and (name := self.name(a)) in most:
                written = _written(self._instruction(a))
                amounts.setdefault((a.context, name), {})[a, b] = written
            if b != _END and (name := self.name(b)) in most and not self._is_inside(a, b):
                entries.setdefault((b.context, name), []).append((a, b))
        return [
            Limit(each, bytes_, entries.get(place, []))
            for place, each in amounts.items()
            if (bytes_ := most[place[1]]) is not None
        ]

    def _is_inside(self, a: Node, b: Node) -> bool:
        """Whether a way to a node comes from its own function, or from one that this called."""
        if a == _START or a.context[: len(b.context)] != b.context:
            return False
        return len(a.context) > len(b.context) or self.name(a) == self.name(b)

    def name(self, node: Node) -> str:
        """The name of its function, as the compiler's parts share it."""
        return plain(self.code.function_at(node.address).name)

    def place(self, node: Node) -> str:
        """Function and offset of a node: `xQueueGenericSend+0x1a`."""
        function = self.code.function_at(node.address)
        return f"{function.name}+{node.address - function.start:#x}"


def plain(name: str) -> str:
    """A function's name without what the compiler appends to a part of one: ".part.0"."""
    return name.partition(".")[0]


def _written(instruction: Instruction) -> int:
    """The bytes that a store writes; 0 for another instruction, and for one on the stack."""
    name, operands = parts_of(instruction)
    on_stack = operands and operands[-1].endswith("(sp)")
    return 0 if instruction.kind != "store" or on_stack else _STORED.get(name, 0)


def _is_held(node: Node) -> bool:
    return node.masked or node.locked or node.owed


def _first(unfolded: Unfolded) -> Node:
    return next(iter(unfolded.states))


def _end(costs: dict[Way, int], leaving: Mapping[Way, int]) -> None:
    """Adds ways that leave a section: the longest of each node."""
    for (node, _), cycles in leaving.items():
        costs[node, _END] = max(cycles, costs.get((node, _END), 0))
