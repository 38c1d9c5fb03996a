# SPDX-License-Identifier: Apache-2.0
"""A sweep of arrivals that is stopped goes on later, and ends as one that nobody stopped."""

from __future__ import annotations

import fcntl
import signal
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from kadenz.errors import EXIT_FAILED
from kadenz.targets.arrivals import Asked, Sweep, read_sweep
from kadenz.values.store import BEGUN
from tests.rtl.test_arrivals import (
    GIVE,
    SAMPLES,
    WAITER,
    Bench,
    curve,
    kill_bench,
    record_of,
    worst,
)
from tests.rtl.test_cores import IBEX, kadenz
from tests.waiting import wait_for

pytestmark = pytest.mark.counted


def stopped_sweep(bench: Bench, asked: Asked, *, by: signal.Signals, share: float = 0.3) -> bytes:
    """Ends a sweep when a share of its arrivals is tried. Returns its file of arrivals."""
    file, tried = bench.folder / "arrivals", bench.folder / "tried"
    process = bench.run(*asked.arguments(str(file), str(tried)))
    while (sweep := read_sweep(tried)) is None or sweep.tried < share * sweep.planned:
        assert process.poll() is None
    process.send_signal(by)
    process.communicate(timeout=60)
    return file.read_bytes()


def finished_sweep(bench: Bench, asked: Asked) -> tuple[bytes, Sweep]:
    """Of a bench that goes on with its file of tried arrivals: the rows, and how far it came."""
    file, tried = bench.folder / "arrivals", bench.folder / "tried"
    bench.marks(*asked.arguments(str(file), str(tried)))
    sweep = read_sweep(tried)
    assert sweep is not None and sweep.tried == sweep.planned
    return file.read_bytes(), sweep


SWEEPS = [Asked(SAMPLES - 1), Asked(SAMPLES - 1, step=16, second="tick")]


@pytest.mark.parametrize("asked", SWEEPS, ids=["arrivals", "pairs"])
def test_a_sweep_that_was_stopped_twice_ends_as_one_that_was_not(
    asked: Asked, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, IBEX, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    bench.marks(*asked.arguments(str(tmp_path / "whole")))
    whole = (tmp_path / "whole").read_bytes()
    cut = stopped_sweep(bench, asked, by=signal.SIGTERM)
    assert 0 < len(cut) < len(whole) or asked.second
    stopped_sweep(bench, asked, by=signal.SIGKILL, share=0.6)
    rows, sweep = finished_sweep(bench, asked)
    assert rows == whole and sweep.earlier >= 0.6 * sweep.planned
    rows, sweep = finished_sweep(bench, asked)  # nothing is left
    assert rows == whole and sweep.earlier == sweep.planned


# Places in the file, instruments/rtl/bench/tried.hpp: of the head's fields, of the arrivals' owners
# and of the rows of the first process.
ROW_BYTES, BOOT, ENTERS, OWNERS = 12, 112, 184, 4096
MOST_ROWS = 1 << 20
ROWS = OWNERS + MOST_ROWS


def process_with_rows(file: Path) -> tuple[int, int]:
    """Of the process that tried the first of the tried arrivals: the places of its mark that it
    enters rows, and of that arrival's row. Which process that is, the machine decides."""
    with file.open("rb") as stream:
        data = stream.read(ROWS)
    index, owner = next(of for of in enumerate(data[OWNERS:]) if of[1])
    (row_bytes,) = struct.unpack_from("=I", data, ROW_BYTES)
    number = owner - 1
    return ENTERS + 4 * number, ROWS + (number * MOST_ROWS + index) * row_bytes


def changed(file: Path, place: int, data: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(place)
        stream.write(data)


def test_rows_of_a_process_that_was_killed_while_it_entered_them_are_dropped(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, IBEX, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    asked = replace(SWEEPS[1], step=64)
    whole, _ = finished_sweep(bench, asked)
    tried = tmp_path / "tried"
    tried.unlink()
    stopped_sweep(bench, asked, by=signal.SIGKILL, share=0.5)
    before = read_sweep(tried)
    enters, row = process_with_rows(tried)
    changed(tried, enters, b"\1")
    changed(tried, row + 6 * 4, b"\xff\xff")  # its ticks
    rows, sweep = finished_sweep(bench, asked)
    assert before is not None and sweep.earlier < before.tried and rows == whole


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_rows_that_a_crash_of_this_machine_may_have_torn_are_tried_once_more(
    by: signal.Signals, tmp_path: Path
) -> None:
    """SIGTERM: it was put away with a digest, which a changed row does not have."""
    bench = Bench(tmp_path, IBEX, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    asked = replace(SWEEPS[0], step=4)
    whole, _ = finished_sweep(bench, asked)
    tried = tmp_path / "tried"
    tried.unlink()
    stopped_sweep(bench, asked, by=by)
    changed(tried, BOOT, b"another boot")
    if by == signal.SIGTERM:
        kept = tried.read_bytes()
        rows, sweep = finished_sweep(bench, asked)
        assert sweep.earlier > 0 and rows == whole
        tried.write_bytes(kept)
        changed(tried, ROWS, b"\xff\xff")
    rows, sweep = finished_sweep(bench, asked)
    assert sweep.earlier == 0 and rows == whole


def test_of_two_benches_with_a_file_one_has_memory_of_its_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path, IBEX, f"{GIVE} id=10 samples={SAMPLES} arrivals=1 waiter=1")
    asked = replace(SWEEPS[0], step=4)
    whole, _ = finished_sweep(bench, asked)
    tried = tmp_path / "tried"
    other = tried.rename(tmp_path / "other")
    before = other.read_bytes()
    tried.symlink_to(other)
    with other.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        rows, sweep = finished_sweep(bench, asked)
    assert rows == whole and sweep.earlier == 0
    assert not tried.is_symlink() and other.read_bytes() == before


def test_the_same_call_goes_on_behind_the_tried_arrivals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bench is killed; what it tried is in the store, and the record of the next call has the
    samples of an execution that nobody stopped."""
    call = (GIVE, *WAITER, "--target", IBEX, "--with", "tick", "--step", "16")
    monkeypatch.setenv("KADENZ_STORE", str(tmp_path / "another store"))
    (whole,) = worst(tmp_path / "whole", *call)
    store = tmp_path / "store"
    monkeypatch.setenv("KADENZ_STORE", str(store))
    ended = threading.Event()

    def kill() -> bool:
        sweeps = map(read_sweep, store.glob(f"*/*{BEGUN}"))
        return any(each is not None and each.tried > 10 for each in sweeps) and kill_bench()

    killer = threading.Thread(target=wait_for, args=[lambda: ended.is_set() or kill()])
    killer.start()
    answer = kadenz("worst", *call, "--output", str(tmp_path / "cut"))
    ended.set()
    killer.join()
    assert answer.return_value == EXIT_FAILED, answer.output
    (file,) = store.glob(f"*/*{BEGUN}")
    sweep = read_sweep(file)
    assert sweep is not None and 10 < sweep.tried < sweep.planned
    head = file.read_bytes()[:40]
    assert struct.unpack("=Q", head[32:])[0] == 0  # earlier
    (rest,) = worst(tmp_path / "rest", *call)
    expected, values = curve(whole, GIVE), curve(rest, GIVE)
    assert [of.tobytes() for of in values.values()] == [of.tobytes() for of in expected.values()]
    assert record_of(rest, GIVE).status == "ok"
    assert not [*store.glob(f"*/*{BEGUN}")]  # it is whole, and a value
