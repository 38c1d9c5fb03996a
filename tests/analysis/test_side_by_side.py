# SPDX-License-Identifier: Apache-2.0
"""Any number of processors gives the results, the errors and the end of one."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kadenz import side_by_side as module
from kadenz.analysis import analyse
from kadenz.errors import StoreError
from kadenz.report import write_page
from kadenz.report.page import Page, build
from kadenz.report.views import Detail
from kadenz.side_by_side import WORTH, Task, run_all, side_by_side
from kadenz.store import read_run
from tests.synthetic import LINUX, Point, linux_points, manifest, nanoseconds, write_run

EVERY = (1, 2, 5)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Short series are worth a thread, too."""
    monkeypatch.setattr(module, "WORTH", 1)
    return monkeypatch


def on(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "processors", lambda: processors)


def a_run(folder: Path) -> Path:
    rng = np.random.default_rng(7)
    lanes = {f"cpu{i}": nanoseconds(20_000.0, 12_000, rng) for i in range(3)}
    wakeups = Point("cyclic/wakeup-latency", lanes, {"period_us": 1000}, unit="ns", cold=8)
    return write_run(
        folder,
        manifest(LINUX),
        [*linux_points(rng, 600), wakeups],
    )


def page(run: Path, file: Path) -> bytes:
    results = [analyse(read_run(run))]

    def page_of(detail: Detail) -> Page:
        return build(results, [], title="t", created="2026-01-01T00:00", version="", detail=detail)

    write_page(page_of, file)
    return file.read_bytes()


def test_a_report_has_the_same_bytes_on_any_number_of_processors(
    tmp_path: Path, threads: pytest.MonkeyPatch
) -> None:
    run = a_run(tmp_path)
    pages = []
    for processors in EVERY:
        on(processors, threads)
        pages.append(page(run, tmp_path / f"{processors}.html"))
    assert len(pages[0]) > 10_000
    assert pages[1:] == [pages[0]] * (len(EVERY) - 1)


def test_an_error_in_one_record_reaches_the_user_unchanged(
    tmp_path: Path, threads: pytest.MonkeyPatch
) -> None:
    run = a_run(tmp_path)
    files = [
        run / lane.file for record in read_run(run).manifest.records[2:4] for lane in record.series
    ]
    for file in files:
        file.write_bytes(file.read_bytes()[:-1] + b"\x7f")
    said = []
    for processors in EVERY:
        on(processors, threads)
        with pytest.raises(StoreError) as error:
            analyse(read_run(run))
        said.append((str(error.value), error.value.remedy))
    assert files[0].name in said[0][0]
    assert said[1:] == [said[0]] * (len(EVERY) - 1)


def test_the_error_of_the_first_task_wins_even_if_a_later_one_fails_before(
    threads: pytest.MonkeyPatch,
) -> None:
    on(2, threads)
    second_failed = threading.Event()
    third = Task(lambda: 3)

    def first() -> None:
        second_failed.wait()
        raise ValueError("first")

    def second() -> None:
        second_failed.set()
        raise ValueError("second")

    with pytest.raises(ValueError, match="first"):
        run_all([Task(first), Task(second), third], 1)
    assert not hasattr(third, "result")


def test_results_keep_the_order_of_the_items(threads: pytest.MonkeyPatch) -> None:
    on(5, threads)
    assert side_by_side(lambda item: item * item, range(200), 1) == [i * i for i in range(200)]
    assert side_by_side(lambda item: item, [], 1) == []


def test_nested_work_takes_no_more_threads_than_processors(threads: pytest.MonkeyPatch) -> None:
    on(3, threads)
    seen: set[int] = set()
    at_work, most, lock = 0, 0, threading.Lock()

    def inner(_: int) -> None:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
            seen.add(threading.get_ident())
        np.sort(np.arange(50_000)[::-1])
        with lock:
            at_work -= 1

    side_by_side(lambda _: side_by_side(inner, range(20), 1), range(6), 1)
    assert most <= 3
    assert threading.active_count() <= 1 + len(seen)
    # Every helper was given back: the next work has its own.
    barrier = threading.Barrier(3)
    side_by_side(lambda _: barrier.wait(), range(3), 1)


def test_short_series_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    on(8, monkeypatch)
    idents = side_by_side(lambda _: threading.get_ident(), range(20), WORTH - 1)
    assert set(idents) == {threading.get_ident()}


def test_large_series_are_few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded: of series as long as all that may be worked on, one."""
    on(8, monkeypatch)
    idents = side_by_side(lambda _: threading.get_ident(), range(20), module.AT_ONCE)
    assert set(idents) == {threading.get_ident()}


def test_a_thread_that_cannot_start_is_done_without(threads: pytest.MonkeyPatch) -> None:
    on(4, threads)

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads.setattr(threading.Thread, "start", refuse)
    assert side_by_side(lambda item: item + 1, range(10), 1) == list(range(1, 11))
    threads.undo()


# One task of each kind: the main thread's, and a helper's, whose nested work never ends by itself.
ENDLESS = """
import threading
from kadenz import side_by_side as module
module.processors = lambda: 2
both = threading.Barrier(2, action=lambda: print("both work", flush=True))

def endless(_):
    both.wait()
    while True:
        module.side_by_side(lambda item: sum(range(100)), range(3), module.WORTH)

try:
    module.side_by_side(endless, range(2), module.WORTH)
except KeyboardInterrupt:
    print("threads left:", threading.active_count() - 1)
"""


def test_ctrl_c_ends_the_work_of_every_thread() -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"both work\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    assert (process.returncode, out) == (0, b"threads left: 0\n")
