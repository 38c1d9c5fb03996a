# SPDX-License-Identifier: Apache-2.0
"""Holds signals back while an interruption would leave the machine tuned.

Python calls its handlers in the main thread, whichever thread the kernel gave the signal to. A
signal mask of the main thread would not hold them back: the handlers are replaced instead.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any] | int
_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """The signals of the program: held back, or let through to its own handlers."""

    def __init__(self) -> None:
        """They are let through at first."""
        self.through = True
        self._handlers: dict[int, Handler] = {}
        self._late: list[int] = []

    def let_through(self) -> Switch:
        """Lets them through in a `with` statement, those that were held back first."""
        return Switch(self, through=True)

    def take_over(self, replaced: dict[int, Handler]) -> None:
        """Replaces the program's handlers and enters them. Ignored signals stay ignored."""
        for number in _NUMBERS if _in_main_thread() else ():
            handler = signal.getsignal(number)
            if handler not in (None, signal.SIG_IGN, self._on_signal):
                assert handler is not None
                self._handlers[number] = replaced[number] = handler
                signal.signal(number, self._on_signal)

    def deliver(self) -> None:
        """Delivers what was held back, in its order; all of it, even if a handler raises."""
        with ExitStack() as last_first:
            while self._late:
                last_first.callback(signal.raise_signal, self._late.pop())

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.through:
            self._late.append(number)
            return
        handler = self._handlers[number]
        if callable(handler):
            handler(number, frame)
        else:  # it ends the process
            signal.signal(number, handler)
            signal.raise_signal(number)


class Switch:
    """Holds signals back, or lets them through, in a `with` statement.

    A class, because a generator has steps before and after its own at which a signal could arrive.
    """

    def __init__(self, signals: Signals, *, through: bool) -> None:
        """`through`: signals that were held back are delivered inside the block."""
        self._signals, self._through = signals, through
        self._replaced: dict[int, Handler] = {}

    def __enter__(self) -> Signals:
        """Delivers what was held back, if it lets signals through."""
        self._before = self._signals.through
        try:
            self._signals.through = self._through
            if self._through:
                self._signals.deliver()
            else:
                self._signals.take_over(self._replaced)
        except BaseException:
            self.__exit__()
            raise
        return self._signals

    def __exit__(self, *_: object) -> None:
        """Delivers what was held back, unless an outer statement holds it back."""
        self._signals.through = self._before
        try:
            if self._before:
                self._signals.deliver()
        finally:
            self._give_back()

    def _give_back(self) -> None:
        """A signal may end it early: a handler that stays in place lets all signals through."""
        try:
            for number, handler in [*self._replaced.items()]:
                signal.signal(number, handler)
                del self._replaced[number]
        finally:
            if self._replaced:  # a signal that was given back raised
                self._give_back()


_SIGNALS = Signals()


def held() -> Switch:
    """Holds SIGINT, SIGTERM and SIGHUP back in a `with` statement, then delivers them.

    It may be nested. Nothing interrupts other threads than the main one: there it does nothing.
    """
    return Switch(_SIGNALS if _in_main_thread() else Signals(), through=False)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
