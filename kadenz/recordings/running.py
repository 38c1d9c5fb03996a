# SPDX-License-Identifier: Apache-2.0
"""Which thread each processor runs, for formats that do not say it with every event."""

from __future__ import annotations

from typing import NamedTuple

from kadenz.watching.events import Switch


class _Thread(NamedTuple):
    pid: int
    name: str
    priority: int


class Running:
    """The threads of the last switches. None for a processor whose last switch is not known."""

    def __init__(self) -> None:
        self._threads: dict[int, _Thread] = {}

    def on(self, cpu: int) -> int | None:
        """The number of the thread on a processor."""
        known = self._threads.get(cpu)
        return known.pid if known else None

    def switch(self, event: Switch) -> Switch:
        """Takes a switch that names both threads."""
        self._threads[event.cpu] = _Thread(event.next, event.name, event.priority)
        return event

    def to(self, at: int, cpu: int, state: str, thread: tuple[int, str, int]) -> Switch | None:
        """A switch that names only the next thread: number, name, priority. None for the first of
        a processor."""
        before = self._threads.get(cpu)
        self._threads[cpu] = _Thread(*thread)
        return Switch(at, cpu, *before, state, *thread) if before else None

    def lose(self, cpu: int) -> None:
        """Forgets a processor, whose events were lost."""
        self._threads.pop(cpu, None)
