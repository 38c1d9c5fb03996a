# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while an image is asked before a measurement ends the call, and nothing is measured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kadenz.cli import measuring
from kadenz.config.campaign import Benchmark, Campaign
from kadenz.config.manifest import CampaignEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import EXIT_FAILED, Interrupted
from kadenz.images.image import Image
from kadenz.lab import catalog, conformance, counter, preparing
from kadenz.lab.boot import Execution, run_plan
from kadenz.lab.condition import Setup
from kadenz.lab.conditions.guest import Guest
from kadenz.lab.job import Job
from kadenz.lab.preparing import Request, prepare
from kadenz.lab.progress import Progress
from kadenz.targets.guest_kernel import GuestKernel
from kadenz.wire.messages import Conform, Done
from kadenz.wire.records import Assembler, NoRecords
from tests.lab.fake import Scripted
from tests.lab.test_measure import job
from tests.wire.streams import hello, on_the_line

NAME = TargetName("freertos", "stm32f4", "emulated")
GUEST = TargetName("linux-rt", "x86_64", "guest")


class Silent(Scripted):
    """A target that never answers; somebody stops the call once it was started."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__([None])
        self._stop = stop

    def open(self, plan: str) -> None:
        super().open(plan)
        self._stop.set()


@pytest.fixture
def image(tmp_path: Path) -> Image:
    (tmp_path / "x.elf").touch()
    return job(tmp_path, []).image


Asked = Callable[[Silent, Image, threading.Event], object]


def catalogue(target: Silent, image: Image, stop: threading.Event) -> object:
    return catalog.ask(target, str(GUEST), image, silence_s=600.0, stop=stop)


def clock(target: Silent, image: Image, stop: threading.Event) -> object:
    return counter.check_counter(NAME, "counter", image, None, stop)


def port(target: Silent, image: Image, stop: threading.Event) -> object:
    return conformance.port_warnings(NAME, image, Setup(image=Path("app.elf")), stop)


@pytest.mark.parametrize(
    ("ask", "asked"),
    [
        (catalogue, f"{GUEST} was asked for its benchmarks"),
        (clock, f"the counter of {NAME} was checked"),
        (port, f"the port of {NAME} was tested"),
    ],
    ids=["catalogue", "clock", "port"],
)
def test_a_target_that_never_answers_is_left_and_no_answer_is_kept(
    ask: Asked, asked: str, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()
    target = Silent(stop)
    for module in (conformance, counter):
        monkeypatch.setattr(module, "make_target", lambda *_: target)
    with pytest.raises(Interrupted) as caught:
        ask(target, image, stop)
    assert caught.value.message == f"stopped while {asked}: nothing was measured"
    assert caught.value.exit_code == EXIT_FAILED
    assert target.closed == 1 and not list(image.folder.glob("*.json"))


def test_preparing_ends_with_the_image_that_is_asked(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()
    target = Silent(stop)
    monkeypatch.setattr(preparing, "check", lambda request: None)
    monkeypatch.setattr(preparing, "image_of", lambda *_: image)
    monkeypatch.setattr(preparing, "make_target", lambda *_: target)
    single = Campaign(
        name="s", title="", targets=[], benchmark=[Benchmark(name="itc/queue", samples=1)]
    )
    entry = CampaignEntry(name="s", file="", sha256="", quick=True)
    with pytest.raises(Interrupted):
        prepare(Request(single, entry, [NAME]), Progress(), stop)
    assert target.closed == 1


def test_an_interrupt_without_a_handler_ends_the_guests_that_are_asked(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, opened = threading.Event(), threading.Event()
    target = Silent(opened)

    class Pool(ThreadPoolExecutor):
        def map(self, *work: Any, **how: Any) -> Iterator[Any]:
            super().map(*work, **how)
            opened.wait()
            raise KeyboardInterrupt

    guest = Guest(GuestKernel("6.12", "", "", Path(), Path(), Path()))
    variant = preparing._Variant(GUEST, "counter", (), Setup(guest=guest), image)
    monkeypatch.setattr(preparing, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(preparing, "make_target", lambda *_: target)
    with pytest.raises(KeyboardInterrupt):
        preparing._ask_guests([variant], stop)
    assert stop.is_set() and target.closed == 1


def test_conformance_that_is_stopped_at_the_clock_says_so(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()
    passed = Conform(case="yield passes to an equal", result="pass", reason="")
    said = on_the_line([hello(), passed, Done(records=0, frames=3)])
    monkeypatch.setattr(conformance, "image_of", lambda *_: image)
    monkeypatch.setattr(conformance, "check_hello", lambda *_: None)
    monkeypatch.setattr(conformance, "make_target", lambda *_: Scripted([said]))
    monkeypatch.setattr(counter, "make_target", lambda *_: Silent(stop))
    answer = conformance.conformance(NAME, stop=stop)
    assert answer.cases == (passed,) and not answer.conforms
    assert isinstance(answer.failure, Interrupted)


def test_what_was_measured_before_the_next_is_prepared_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = object()
    monkeypatch.setattr("kadenz.lab.schedule.run", lambda *_: [kept])

    def groups(before: int) -> Iterator[list[Job]]:
        for _ in range(before):
            yield []
        raise Interrupted("stopped")

    stop = threading.Event()
    assert measuring._measured(groups(2), tmp_path, Progress(), stop) == [kept, kept]
    with pytest.raises(Interrupted):
        measuring._measured(groups(0), tmp_path, Progress(), stop)


def test_a_target_is_not_waited_for_after_an_interrupt_without_a_handler() -> None:
    class Interrupting(Scripted):
        def read(self, timeout_s: float) -> bytes | None:
            raise KeyboardInterrupt

    target = Interrupting([None])
    execution = Execution(target, "t", "list\nend\n", lambda: 600.0)
    with pytest.raises(KeyboardInterrupt):
        run_plan(execution, Assembler(NoRecords()), threading.Event())
    assert target.asked_to_stop and target.closed == 1
