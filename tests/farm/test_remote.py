# SPDX-License-Identifier: Apache-2.0
"""An order whose worker, scheduler or emulator is not what it was: rules that need no network."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest

from kadenz.config.farm import DaskTable
from kadenz.config.manifest import EmulatorEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import TargetFailed, UsageError
from kadenz.farm.order import Order, Played, execute
from kadenz.farm.pool import Pool, Remote

ORDER = Order(TargetName("freertos", "stm32f4", "emulated"), "counter", b"", "end\n", {}, (), 1.0)
EMULATOR = EmulatorEntry(name="qemu", version="10.0", arguments=[])
PLAYED = Played(b"frames", None, "", {}, EMULATOR)


@dataclass
class Future:
    """What a scheduler hands back for an order."""

    status: str = "finished"
    value: Played | Exception = PLAYED

    def done(self) -> bool:
        return self.status == "finished"

    def result(self) -> Played:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@dataclass
class Placed:
    """A pool that hands out futures."""

    futures: list[Future]
    reconnected: list[int] = field(default_factory=list)

    def place(self, order: Order) -> tuple[int, Future]:
        assert order is ORDER
        return len(self.reconnected), self.futures.pop(0)

    def reconnect(self, times: int) -> None:
        self.reconnected.append(times)


def remote(*futures: Future) -> tuple[Remote, Placed]:
    pool = Placed(list(futures))
    return Remote(pool, ORDER, EMULATOR), pool  # type: ignore[arg-type]


@pytest.mark.parametrize("status", ["lost", "cancelled"])
def test_an_order_that_the_scheduler_lost_is_placed_again_and_read_once(status: str) -> None:
    far, pool = remote(Future(status), Future())
    assert [far.read(0.0), far.read(0.0)] == [b"frames", None]
    assert pool.reconnected == [0] and not pool.futures


def test_an_order_whose_workers_all_died_is_named_with_the_reason() -> None:
    far, _ = remote(Future(value=RuntimeError("tried on 3 workers, all of them died")))
    with pytest.raises(TargetFailed, match=r"no worker could execute it: tried on 3") as caught:
        far.read(0.0)
    assert str(ORDER.target) in caught.value.message
    assert "kadenz run --resume" in caught.value.remedy


def test_a_worker_with_another_emulator_is_refused_with_both() -> None:
    other = replace(PLAYED, emulator=EmulatorEntry(name="qemu", version="7.2", arguments=[]))
    far, _ = remote(Future(value=other))
    with pytest.raises(TargetFailed, match="has another emulator than this machine") as caught:
        far.read(0.0)
    assert "7.2" in caught.value.detail and "10.0" in caught.value.detail
    assert far.failure() is None


def test_a_worker_with_another_kadenz_is_refused_with_both() -> None:
    with pytest.raises(UsageError, match=r"this worker has kadenz .*, the order is of 0\.0\.1"):
        execute(replace(ORDER, kadenz="0.0.1"))


def pool_of(monkeypatch: pytest.MonkeyPatch, connect: Callable[[], object]) -> Pool:
    """A pool whose client `connect` makes."""
    module = SimpleNamespace(Client=lambda *_, **__: connect())
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr("kadenz.farm.pool._CONNECT_S", 0.0)
    return Pool(DaskTable(scheduler="tcp://127.0.0.1:8786", patience_s=0.01))


@dataclass
class Client:
    workers: tuple[str, ...] = ("tcp://rack-1:4000",)
    closed: threading.Event = field(default_factory=threading.Event)

    def scheduler_info(self) -> dict[str, tuple[str, ...]]:
        return {"workers": self.workers}

    def close(self, timeout: float) -> None:
        self.closed.set()


def test_a_scheduler_without_a_worker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = Client(workers=())
    with pytest.raises(UsageError, match="tcp://127.0.0.1:8786 has no worker") as caught:
        pool_of(monkeypatch, lambda: idle)
    assert "kadenz farm worker tcp://127.0.0.1:8786" in caught.value.remedy and idle.closed.is_set()


def test_a_scheduler_that_stays_away_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    times = itertools.count()

    def once() -> Client:
        if next(times):
            raise OSError("refused")
        return Client()

    pool = pool_of(monkeypatch, once)
    pool.reconnect(0)  # of an older connection: another thread has connected again since
    assert next(times) == 1
    with pytest.raises(TargetFailed, match="it disconnected during the campaign") as caught:
        pool.reconnect(1)
    assert "kadenz run --resume" in caught.value.remedy
