# SPDX-License-Identifier: Apache-2.0
"""How late an interrupt's handler, and the thread that it wakes, can be during a service, at most.

The handler waits for a section with interrupts off. Such a section may end in another thread: a
thread that gives the processor up with interrupts off does so by an exception, whose handler
returns into any thread that did the same. The woken thread also waits for the end of a section in
which the scheduler is locked; the interrupt is served in it, and the switch comes at its end.

docs/explanation/bound.md has the argument, and what it rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from kadenz.bounds.costs import Costs
from kadenz.bounds.layout import Layout
from kadenz.bounds.premises import Premises
from kadenz.bounds.sections import CALL, SOFTWARE, TIMER, Refused, Section, Sections, plain
from kadenz.bounds.unfolding import LIBRARIES, Unfolded
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

    def of(self, service: str, met: Collection[int]) -> Bounds:
        """Of a benchmark. `met`: an address in each function that its sample executed."""
        functions = {self.code.function_at(address) for address in met}
        tick = bool(functions & self._only_in_ticks())
        try:
            each = _Service(self._sections, self._roots(functions, self._never(service, tick=tick)))
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
        never = {
            each.function
            for each in self.premises.facts.never
            if any(fnmatch(service, glob) for glob in each.services)
        }
        ticks = set() if tick else self._only_in_ticks()
        return never | {plain(function.name) for function in ticks}

    def _only_in_ticks(self) -> set[Function]:
        sections = self._sections
        tick, *others = (sections.functions(sections.trap(c)) for c in (TIMER, CALL, SOFTWARE))
        return tick.difference(*others)

    def _roots(self, functions: Collection[Function], never: Collection[str]) -> list[Unfolded]:
        """The functions of a sample that none of the others calls; the port's come first."""
        sections, roots = self._sections, []
        covered: set[Function] = set()
        for cause in (CALL, SOFTWARE, TIMER):
            covered |= sections.functions(sections.trap(cause))
        for function in sorted(functions, key=lambda each: (each.part != "port", each.start)):
            if function in covered or function.part in _OPEN:
                continue
            root = sections.unfolded(function.start, never)
            for node, why in root.open.items():
                raise Refused(f"{sections.place(node)}: {why}")
            covered |= sections.functions(root)
            roots.append(root)
        return roots


class _Service:
    """The bounds of a service, of the functions that its threads call."""

    def __init__(self, sections: Sections, roots: Sequence[Unfolded]) -> None:
        self._sections, self._roots = sections, roots

    def handler(self, request: int, *, tick: bool) -> Section:
        """`request`: from the request to the vector with interrupts on."""
        waits = self._masked(tick=tick).then("the request", request)
        return waits.then("the handler", self._sections.to_handler)

    def task(self, request: int, *, tick: bool) -> Section:
        """The interrupt is served behind a section, or in one in which the scheduler is locked."""
        sections = self._sections
        served = self._masked(tick=tick).then("the interrupt", sections.exception(SOFTWARE))
        locked = max(map(self._locked, self._roots), default=Section())
        if locked.cycles:
            locked = locked.then("the interrupt", sections.exception(SOFTWARE, locked=True))
            locked = locked.then("the switch", sections.exception(CALL))
        waits = max(served, locked).then("the request", request)
        if tick:
            ticks = [sections.exception(TIMER, locked=locked) for locked in (False, True)]
            waits = waits.then("the tick", max(ticks))
        return waits.then("the thread", sections.to_statement)

    def _masked(self, *, tick: bool) -> Section:
        """The longest section with interrupts off."""
        sections = [self._sections.through(root, lambda node: node.masked) for root in self._roots]
        causes = [CALL] * any(root.traps for root in self._roots) + [TIMER] * tick
        behind = self._sections.behind_switch if causes else 0
        sections += [
            Section().then("an exception", self._sections.exception(cause) + behind)
            for cause in causes
        ]
        return max(sections, default=Section())

    def _locked(self, root: Unfolded) -> Section:
        """The longest section in which no thread is preempted, to the switch at its end."""
        return self._sections.through(root, lambda node: node.masked or node.locked, to_switch=True)
