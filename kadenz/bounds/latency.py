# SPDX-License-Identifier: Apache-2.0
"""How late an interrupt's handler, and the thread that it wakes, can be during a service, at most.

The handler waits for a section with interrupts off. Such a section may end in another thread: a
thread that gives the processor up with interrupts off does so by an exception, whose handler
returns into any thread that did the same. The woken thread also waits for the end of a section in
which the scheduler is locked; the interrupt is served in it, and the switch comes at its end.

docs/explanation/bound.md has the argument, and what it rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from kadenz.bounds.costs import Costs
from kadenz.bounds.layout import Layout
from kadenz.bounds.premises import Premises
from kadenz.bounds.sections import SOFTWARE, TIMER, Refused, Section, Sections, plain
from kadenz.bounds.unfolding import LIBRARIES, Node, Unfolded
from kadenz.elf import Elf
from kadenz.images.code import Code, Function

# Parts of an image that switch neither interrupts nor threads.
_OPEN = ("suite", "benchmarks", *LIBRARIES)


@dataclass(frozen=True)
class Bounds:
    """Of one service: a bound from the request each, or why there is none; whether a tick of the
    kernel is part of the service."""

    handler: Section | str
    task: Section | str
    tick: bool


class Latencies:
    """Bounds of the services of one image."""

    def __init__(self, image: Path, premises: Premises) -> None:
        elf = Elf(image)
        self.premises, self.code = premises, Code(elf, premises.target.board)
        layout = Layout.of(elf, self.code, premises)
        costs = Costs(premises.model.name, layout.vectors)
        self._sections = Sections(self.code, layout, costs, premises)
        self._unserved_by_tick: dict[bool, Sections] = {}

    def within(self, at_most: Mapping[str, int]) -> Latencies:
        """The bounds of the same image with other values of quantities, by name."""
        other = copy(self)
        quantities = {**self.premises.at_most, **at_most}
        other.premises = replace(self.premises, at_most=quantities)
        other._sections = self._sections.within(other.premises)
        other._unserved_by_tick = {}
        return other

    def of(self, service: str, met: Collection[int], *, tick: bool = False) -> Bounds:
        """Of a benchmark. `met`: an address in each function that its sample executed. `tick`: a
        tick of the kernel may come in it; it is part of the bound if the sample had one, too."""
        functions = {self.code.function_at(address) for address in met}
        try:
            tick = tick or bool(functions & self._only_in_ticks())
            self._check(service, functions)
            never = self._never(service, tick=tick)
            roots = self._roots(functions, never)
            unserved = self._unserved(roots, never, tick=tick)
            each = _Service(self._sections, roots, unserved, self._ready(service))
            request = self.request(met)
            handler = each.handler(request, tick=tick)
        except Refused as refused:
            return Bounds(str(refused), str(refused), tick)
        urgent = sorted({function.name for function in functions} & set(self.premises.facts.urgent))
        if urgent:
            return Bounds(handler, f"{urgent[0]} has the rank of the woken thread", tick)
        try:
            return Bounds(handler, each.task(request, tick=tick), tick)
        except Refused as refused:
            return Bounds(handler, str(refused), tick)

    def _check(self, service: str, functions: Collection[Function]) -> None:
        """Refuses a service that executed what its kernel declares as never reached."""
        declared = self.excluded(service)
        for function in functions:
            if plain(function.name) in declared:
                raise Refused(f"{function.name} was executed, and [bound] says that it never is")

    def excluded(self, service: str) -> set[str]:
        """Functions on no way of a service, as its kernel declares."""
        facts = self.premises.facts.never
        return {n.function for n in facts if any(fnmatch(service, glob) for glob in n.services)}

    def _until_served(self, *, tick: bool) -> Sections:
        if tick not in self._unserved_by_tick:
            self._unserved_by_tick[tick] = self._sections.unserved(tick=tick)
        return self._unserved_by_tick[tick]

    def _ready(self, service: str) -> dict[str, bool]:
        """The functions that switch while such a thread is ready, and whether only with interrupts
        off."""
        facts = self.premises.facts.ready
        return {r.function: r.masked for r in facts if any(fnmatch(service, s) for s in r.services)}

    def request(self, met: Collection[int]) -> int:
        """Cycles from the request to the vector with interrupts on, at most."""
        functions = {self.code.function_at(address) for address in met}
        return self.premises.model.file.entry + self._sections.reaction(functions)

    @property
    def to_handler(self) -> int:
        """Cycles from the vector to the first statement of the handler, at most."""
        return self._sections.to_handler

    def _never(self, service: str, *, tick: bool) -> set[str]:
        """Names of functions that are on no way."""
        ticks = set() if tick else self._only_in_ticks()
        return self.excluded(service) | {plain(function.name) for function in ticks}

    def _only_in_ticks(self) -> set[Function]:
        sections = self._sections
        others = (sections.switch, sections.trap(SOFTWARE))
        return sections.functions(sections.trap(TIMER)).difference(*map(sections.functions, others))

    def _around_handler(self, entry: Unfolded) -> set[Function]:
        """The functions of an exception or a switch that the handler of the suite does not call."""
        handler = self._sections.layout.handler
        return {
            self.code.function_at(node.address)
            for node in entry.states
            if not any(handler.start <= back < handler.end for back in node.context)
        }

    def _unserved(
        self, roots: Sequence[Unfolded], never: Collection[str], *, tick: bool
    ) -> tuple[Sections, list[Unfolded]]:
        """The same functions until an interrupt is served."""
        sections = self._until_served(tick=tick)
        followed = [sections.unfolded(root.begins[0].address, never) for root in roots]
        for root in followed:
            sections.check_root(root)
        return sections, followed

    def _roots(self, functions: Collection[Function], never: Collection[str]) -> list[Unfolded]:
        """The functions of a sample that none of the others calls; the port's come first."""
        sections, roots = self._sections, []
        entries = (sections.switch, sections.trap(SOFTWARE), sections.trap(TIMER))
        covered: set[Function] = set().union(*map(sections.functions, entries))
        around = set().union(*map(self._around_handler, entries))
        for function in sorted(functions, key=lambda each: (each.part != "port", each.start)):
            if function.part in _OPEN or function in around:
                continue
            if function in covered and function.part != "port":
                continue
            root = sections.unfolded(function.start, never)
            sections.check_root(root)
            covered |= sections.functions(root)
            roots.append(root)
        return roots


class _Service:
    """The bounds of a service, of the functions that its threads call."""

    def __init__(
        self,
        sections: Sections,
        roots: Sequence[Unfolded],
        unserved: tuple[Sections, Sequence[Unfolded]],
        ready: Mapping[str, bool],
    ) -> None:
        """`unserved`: the same until an interrupt is served. `ready`: functions that switch while
        the running thread or a more urgent one is ready, and whether only with interrupts off."""
        self._sections, self._roots, self._unserved = sections, roots, unserved
        self._ready = ready

    def handler(self, request: int, *, tick: bool) -> Section:
        """`request`: from the request to the vector with interrupts on."""
        waits = self._masked(request, tick=tick).then("the request", request)
        return waits.then("the handler", self._sections.to_handler)

    def task(self, request: int, *, tick: bool) -> Section:
        """The interrupt is served behind a section, or in one in which the scheduler is locked."""
        sections = self._sections.ready  # the woken thread is, and it is the most urgent one
        served = self._masked(request, tick=tick).then(
            "the interrupt", sections.exception(SOFTWARE)
        )
        locked = max((self._locked(root, tick=tick) for root in self._roots), default=Section())
        if locked.cycles:
            locked = locked.then("the interrupt", sections.exception(SOFTWARE, locked=True))
            locked = locked.then("the switch", sections.switched)
        waits = max(served, locked).then("the request", request)
        if tick:
            ticks = [sections.exception(TIMER, locked=locked) for locked in (False, True)]
            waits = waits.then("the tick", request + max(ticks))
        return waits.then("the thread", sections.to_statement)

    def _masked(self, request: int, *, tick: bool) -> Section:
        """The longest section with interrupts off, until the interrupt is served."""
        kernel, roots = self._unserved
        sections = [
            kernel.through(root, lambda node: node.masked, ready=self._is_ready) for root in roots
        ]
        for ready in {self._is_ready(node) for root in roots for node in root.traps}:
            switching = (kernel.ready if ready else kernel).switching
            sections.append(switching.then("the switch", kernel.behind_switch))
        if tick:
            timer = request + kernel.ready.exception(TIMER) + kernel.behind_switch
            sections.append(Section().then("the tick", timer))
        return max(sections, default=Section())

    def _is_ready(self, node: Node) -> bool:
        """Whether the thread that switches at a node, or a more urgent one, is ready."""
        only_masked = self._ready.get(self._sections.name(node))
        return only_masked is not None and (node.masked or not only_masked)

    def _locked(self, root: Unfolded, *, tick: bool) -> Section:
        """The longest section in which no thread is preempted, to the switch at its end. It is
        interrupted by the arrival, and by a tick."""
        return self._sections.through(
            root,
            lambda node: node.masked or node.locked or node.owed,
            to_switch=True,
            interruptions=1 + tick,
        )
