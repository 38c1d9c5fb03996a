# SPDX-License-Identifier: Apache-2.0
"""The two long-running programs of a farm: its scheduler, and a worker on each machine.

Both run until a signal ends them. A worker that loses its scheduler tries to reach it again; the
lab places the orders that the worker was executing again. Both listen where their peers are: on
this machine alone, or with keys on the address that leads to the scheduler. The page of health that
distributed serves by HTTP is for this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kadenz.farm.extra import require
from kadenz.farm.keys import ENCRYPTED, PLAIN, host_of, security
from kadenz.farm.pool import PROCESSOR

_AGAIN_S = 1.0
_HEALTH = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}


def serve_scheduler(host: str, port: int, keys: Path | None, tell: Callable[[str], None]) -> None:
    """Runs a scheduler until SIGINT or SIGTERM. Raises OSError if the address is taken, UsageError
    if others reach it and there are no keys."""
    distributed = require("distributed")
    protocol = PLAIN if keys is None else ENCRYPTED
    place = f"[{host}]" if ":" in host else host
    safe = security(f"{protocol}://{place}:{port}", keys)

    async def serve() -> None:
        async with distributed.Scheduler(
            host=host, port=port, protocol=protocol, security=safe, **_HEALTH
        ) as scheduler:
            tell(f"scheduler at {scheduler.address}")
            await _signal()

    _quietly(serve())


def serve_worker(
    address: str, processors: int, keys: Path | None, tell: Callable[[str], None]
) -> None:
    """Runs a worker that executes `processors` orders at once, until SIGINT or SIGTERM.

    UsageError if the scheduler is on another machine and there are no keys.
    """
    distributed = require("distributed")
    safe = security(address, keys)

    async def once() -> None:
        worker = await distributed.Worker(
            address,
            nthreads=processors,
            resources={PROCESSOR: processors},
            host=_leading_to(host_of(address)),
            security=safe,
            **_HEALTH,
        )
        tell(f"worker at {worker.address}, {processors} at once, for {address}")
        try:
            await worker.finished()
        finally:
            with contextlib.suppress(Exception):
                await worker.close(timeout=1)

    async def serve() -> None:
        ended = asyncio.ensure_future(_signal())
        while not ended.done():
            work = asyncio.ensure_future(once())
            await asyncio.wait({work, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
            with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await work
            if not ended.done():
                tell(f"no scheduler at {address}: trying again")
                await asyncio.wait({ended}, timeout=_AGAIN_S)

    _quietly(serve())


def _leading_to(host: str) -> str:
    """The address of this machine from which it reaches `host`. Raises OSError without a way."""
    family, _, _, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as way:
        way.connect(address)  # sends nothing
        return str(way.getsockname()[0])


async def _signal() -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    await ended.wait()


def _quietly(program: Awaitable[Any]) -> None:
    logging.getLogger("distributed").setLevel(logging.ERROR)
    asyncio.run(program)  # type: ignore[arg-type]
