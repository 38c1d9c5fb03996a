# SPDX-License-Identifier: Apache-2.0
"""Executions on the workers of a Dask scheduler.

Rules: an order whose worker dies goes to another worker, at most `retries` times. If the scheduler
disconnects, orders without a result are placed again when it returns. A target that fails has been
measured: its failure is a result, and is not tried again. An order has one result, which is taken
once, by one reader, so no sample is lost or duplicated.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadenz.config.farm import DaskTable
from kadenz.config.manifest import EmulatorEntry, ValueEntry
from kadenz.errors import KadenzError, TargetFailed, UsageError
from kadenz.farm.extra import require
from kadenz.farm.keys import security
from kadenz.farm.order import Order, Played, execute
from kadenz.images.given_image import GivenImage
from kadenz.lab.graph import silence_s
from kadenz.lab.job import Job
from kadenz.lab.plan import Point, plan_text
from kadenz.targets.base import Target
from kadenz.targets.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Callable

PROCESSOR = "processor"  # resource of a worker: one for each execution that it runs at once
_CONNECT_S = 5.0
_POLL_S = 0.05
_PIECE = 1 << 16  # bytes that a reader gets at a time


class Pool:
    """A connection to a scheduler. UsageError if it cannot be reached or has no worker."""

    def __init__(self, table: DaskTable) -> None:
        self._distributed = require("distributed")
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors here have a remedy
        self._table = table
        keys = Path(table.keys) if table.keys else None
        self._security = security(table.scheduler, keys)
        self._lock = threading.Lock()
        self._times = 0  # number of connections so far
        self._connect(_CONNECT_S)
        if not self._client.scheduler_info()["workers"]:
            self.close()
            raise UsageError(
                f"the scheduler {table.scheduler} has no worker",
                remedy=f"Start one on each machine: kadenz farm worker {table.scheduler}"
                + (" --keys FOLDER" if table.keys else ""),
            )

    def executions(self, job: Job, boots: Sequence[list[Point]]) -> Executions:
        """Places an order for each execution of a job."""
        return Executions(self, job, boots)

    def place(self, order: Order) -> tuple[int, Any]:
        """Places an order; returns the number of the connection, and the future."""
        with self._lock:
            future = self._client.submit(
                execute,
                order,
                pure=False,
                retries=self._table.retries,
                resources={PROCESSOR: 1},
            )
            return self._times, future

    def reconnect(self, times: int) -> None:
        """Connects again, unless another thread has since connection `times`.

        TargetFailed if the scheduler does not come back in time.
        """
        with self._lock:
            if self._times != times:
                return
            self._drop()
            try:
                self._connect(self._table.patience_s)
            except UsageError as error:
                raise TargetFailed(
                    f"{error.message}: it disconnected during the campaign",
                    remedy="The results so far are kept: start the farm, then resume the run with "
                    "`kadenz run --resume`",
                ) from None

    def close(self) -> None:
        """Ends the connection; orders without a reader are dropped."""
        self._drop()

    def _drop(self) -> None:
        with contextlib.suppress(TimeoutError, OSError):  # the scheduler may be gone
            self._client.close(timeout=1)

    def _connect(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            try:
                self._client = self._distributed.Client(
                    self._table.scheduler,
                    timeout=_CONNECT_S,
                    set_as_default=False,
                    security=self._security,
                )
            except (OSError, ValueError) as error:
                if time.monotonic() > until or isinstance(error, ValueError):
                    raise UsageError(
                        f"the scheduler {self._table.scheduler} cannot be reached",
                        remedy="Start it with `kadenz farm scheduler`, or correct [dask] scheduler",
                        detail=str(error),
                    ) from None
                time.sleep(_POLL_S)
            else:
                self._times += 1
                return


class Executions:
    """The executions of one job, on workers."""

    def __init__(self, pool: Pool, job: Job, boots: Sequence[list[Point]]) -> None:
        self._pool, self._job = pool, job
        self._elf = job.image.elf.path.read_bytes()
        self._emulator = job.make().emulator()
        self._placed = {plan_text(points): self._remote(points) for points in boots}

    def order(self, boots: Sequence[list[Point]], stopped: Callable[[], bool]) -> Iterator[Any]:
        """The executions as they end, so that each result is on disk as early as possible."""
        waiting = list(boots)
        while waiting:
            ended = [points for points in waiting if self._ended(points)]
            if stopped():
                ended = waiting[:1]
            for points in ended:
                waiting.remove(points)
                yield points
            if not ended:
                time.sleep(_POLL_S)

    def take(self, points: Sequence[Point]) -> Target:
        """The execution of these points; a new one if it was not placed."""
        plan = plan_text(points)
        return self._placed.pop(plan) if plan in self._placed else self._remote(points)

    def keep_up(self) -> None:
        """Does nothing: the scheduler gives work to its workers by itself."""

    def close(self) -> None:
        """Cancels the executions that were not taken."""
        for remote in self._placed.values():
            remote.close()
        self._placed.clear()

    def _ended(self, points: Sequence[Point]) -> bool:
        remote = self._placed.get(plan_text(points))
        return remote is None or not remote.running()

    def _remote(self, points: Sequence[Point]) -> Remote:
        job = self._job
        order = Order(
            target=job.name,
            instrument=job.instrument,
            elf=self._elf,
            plan=plan_text(points),
            wait_states=job.setup.wait_states,
            flushed_caches=job.setup.flushed_caches,
            silence_s=max(silence_s(job, point) for point in points),
            fresh=job.setup.fresh,
            given=isinstance(job.image, GivenImage),
        )
        return Remote(self._pool, order, self._emulator)


class Remote:
    """An execution on a worker, read like a target. Its silence means nothing: it may wait."""

    def __init__(self, pool: Pool, order: Order, emulator: EmulatorEntry | None) -> None:
        self._pool, self._order, self._emulator = pool, order, emulator
        self._times, self._future = pool.place(order)
        self._played: Played | None = None
        self._at = 0
        self.records: Any = {}

    def open(self, plan: str) -> None:
        """It was opened when its order was placed."""

    def begin(self, plan: str) -> None:
        """It was begun when its order was placed."""

    def running(self) -> bool:
        """Whether it has no result yet. Places the order again if the scheduler was lost."""
        if self._played is not None:
            return False
        if self._future.status in ("cancelled", "lost"):
            self._pool.reconnect(self._times)
            self._times, self._future = self._pool.place(self._order)
        return not self._future.done()

    def read(self, timeout_s: float) -> bytes | None:
        """The next bytes of the result; b"" while there is none, None at its end."""
        until = time.monotonic() + timeout_s
        while self.running():
            if time.monotonic() > until:
                return b""
            time.sleep(_POLL_S)
        played = self._result()
        piece = played.frames[self._at : self._at + _PIECE]
        self._at += len(piece)
        return piece or None

    def stop(self) -> bool:
        """An execution elsewhere cannot be asked to end early."""
        return False

    def failure(self) -> TargetFailed | None:
        """How it failed where it was executed."""
        parts = self._played.failure if self._played is not None else None
        return None if parts is None else TargetFailed(parts[0], remedy=parts[1], detail=parts[2])

    @property
    def value(self) -> ValueEntry | None:
        """Which value it is, by the store of the worker; None while there is no result."""
        return self._played.value if self._played is not None else None

    @property
    def difference(self) -> TargetFailed | None:
        """It is part of `failure`."""
        return None

    def vouch(self) -> None:
        """The worker has done this."""

    def withdraw(self) -> None:
        """The worker sees it, too."""

    def post_mortem(self) -> Seen:
        """The worker has done this: see `failure`."""
        return Seen("")

    def close(self) -> str:
        """Drops it. Returns its output outside the frames."""
        if self._played is None:
            self._future.cancel()
            return ""
        self.records = self._played.records
        self._future.release()
        return self._played.output

    def emulator(self) -> EmulatorEntry | None:
        """The emulator of this machine; that of the worker is equal."""
        return self._emulator

    def _result(self) -> Played:
        if self._played is None:
            try:
                played: Played = self._future.result()
            except KadenzError:
                raise
            except Exception as error:
                raise TargetFailed(
                    f"{self._order.target}: no worker could execute it: {error}",
                    remedy="Look at the output of the workers; what was measured is kept for "
                    "`kadenz run --resume`",
                ) from None
            if played.emulator != self._emulator:
                raise TargetFailed(
                    f"{self._order.target}: a worker has another emulator than this machine",
                    remedy="Install the same versions on every machine of the farm",
                    detail=f"there: {played.emulator}\nhere: {self._emulator}",
                )
            self._played = played
        return self._played
