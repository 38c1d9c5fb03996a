# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM or a closed terminal at any moment does not leave the machine tuned."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from kadenz.cli.measuring import stoppable
from kadenz.host import facts
from kadenz.lab import tuning_around
from kadenz.lab.condition import Running
from kadenz.lab.progress import Progress
from kadenz.lab.tuning_around import tuning_applied
from kadenz.tuning import lifecycle, signals
from kadenz.tuning.signals import held

from . import machine as machines
from .machine import FileMachine
from .test_applying import plan_of
from .test_around_runs import host

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHANGES = ("write", "set_policy", "set_affinity", "make_folder", "remove_folder")
Line = tuple[str, int]


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Those of pytest, after each test too. One that stays in place lets all signals through."""
    before = [(number, signal.getsignal(number)) for number in NUMBERS]
    yield
    for number, handler in before:
        signal.signal(number, handler)


def tuned_machine(root: Path, monkeypatch: pytest.MonkeyPatch) -> FileMachine:
    file_machine = machines.make(root / "m", cgroups=0)
    monkeypatch.setenv("KADENZ_STATE_DIR", str(root / "state"))
    monkeypatch.setattr(tuning_around, "Machine", lambda: file_machine)
    monkeypatch.setattr(facts, "read_host", lambda: host(file_machine))
    return file_machine


def running(machine: FileMachine, folder: Path) -> Running:
    return Running("posix/linux@host", folder, Progress(), threading.Event(), host(machine))


# ---- around a run --------------------------------------------------------------------------------
FILES = (lifecycle.__file__, tuning_around.__file__, signals.__file__, contextlib.__file__)
OF_MACHINE = ("_make", "_make_one", "_take_one", "_leave")  # many times: the tests below


def interrupted_at(line: Line | None, time: int, work: Callable[[], object]) -> Counter[Line]:
    """Does `work` with Ctrl-C as `line` begins for the `time`th time. Counts its lines."""
    seen: Counter[Line] = Counter()

    def each(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            here = (frame.f_code.co_filename, frame.f_lineno)
            seen[here] += 1
            if here == line and seen[here] == time:
                signal.raise_signal(signal.SIGINT)
        return each

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        return each if code.co_filename in FILES and code.co_name not in OF_MACHINE else None

    tracer = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(tracer)
    return seen


def test_ctrl_c_at_any_line_of_a_tuning_leaves_nothing_tuned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(line: Line | None, time: int) -> Counter[Line]:
        shutil.rmtree(tmp_path / "r", ignore_errors=True)
        machine = tuned_machine(tmp_path / "r", monkeypatch)
        before, run = machine.snapshot(), running(machine, tmp_path)

        def work() -> None:
            with tuning_applied("message-queues", "", run):
                assert machine.snapshot() != before

        seen = interrupted_at(line, time, work)
        assert machine.snapshot() == before, f"Ctrl-C at {line}, time {time}"
        assert lifecycle.in_force(machine) is None, f"Ctrl-C at {line}, time {time}"
        return seen

    lines = attempt(None, 0)
    assert {file for file, _ in lines} == set(FILES)
    for line, times in lines.items():
        for time in {1, times // 2, times} - {0}:
            attempt(line, time)


def signal_at_each_change(machine: FileMachine, send: Callable[[], None]) -> None:
    def after(change: Callable[..., None]) -> Callable[..., None]:
        def wrapped(*arguments: Any) -> None:
            change(*arguments)
            send()

        return wrapped

    for name in CHANGES:
        setattr(machine, name, after(getattr(machine, name)))


@pytest.mark.parametrize("number", NUMBERS)
def test_signals_while_it_restores_act_when_all_is_restored(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first stops the run in order. The others come to any thread of the process."""
    machine = tuned_machine(tmp_path, monkeypatch)
    before, run = machine.snapshot(), running(machine, tmp_path)

    def send() -> None:
        other = threading.Thread(target=os.kill, args=(os.getpid(), number))
        other.start()
        other.join()

    with pytest.raises(KeyboardInterrupt), stoppable() as stop:
        with tuning_applied("isolated", "", run):
            if number != signal.SIGHUP:
                signal.raise_signal(number)
                assert stop.is_set()
            signal_at_each_change(machine, send)
        raise AssertionError("the signals are lost")
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def test_signals_while_apply_reverts_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = tuned_machine(tmp_path, monkeypatch)
    before = machine.snapshot()
    changes = 0

    def send() -> None:
        nonlocal changes
        changes += 1
        if changes >= 10:
            signal.raise_signal(signal.SIGINT)

    signal_at_each_change(machine, send)
    with pytest.raises(KeyboardInterrupt):
        lifecycle.apply(machine, plan_of(machine, "isolated"))
    assert changes > 15
    assert machine.snapshot() == before and lifecycle.in_force(machine) is None


def test_the_run_itself_can_be_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = tuned_machine(tmp_path, monkeypatch)
    with pytest.raises(KeyboardInterrupt), tuning_applied("quiet", "", running(machine, tmp_path)):
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the signal waits")


# ---- held ----------------------------------------------------------------------------------------
def test_signals_are_delivered_in_their_order_to_their_own_handlers() -> None:
    got: list[int] = []

    def handler(number: int, frame: object) -> None:
        got.append(number)

    for number in NUMBERS:
        signal.signal(number, handler)
    with held() as outer:
        signal.raise_signal(signal.SIGTERM)
        with held():
            signal.raise_signal(signal.SIGINT)
        assert got == []
        with outer.let_through():
            assert got == [signal.SIGTERM, signal.SIGINT]
            signal.raise_signal(signal.SIGHUP)
            assert len(got) == 3
        signal.raise_signal(signal.SIGINT)
        assert len(got) == 3
    assert got == [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGINT]
    assert {signal.getsignal(number) for number in NUMBERS} == {handler}


def test_ignored_signals_stay_ignored_and_other_threads_hold_none() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with held() as there, there.let_through():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    handler = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def elsewhere() -> None:
        with held() as there, there.let_through():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [handler]


@pytest.mark.parametrize("through", [False, True])
def test_a_signal_without_a_handler_ends_the_process(through: bool) -> None:
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            with held() as there:
                if through:
                    with there.let_through():
                        signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGTERM)
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
