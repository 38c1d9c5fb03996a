# SPDX-License-Identifier: Apache-2.0
"""Places of a rack, held through labgrid's coordinator.

labgrid's own client session speaks to the coordinator, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from kadenz.config.farm import LabgridTable
from kadenz.config.toml import did_you_mean
from kadenz.errors import UsageError
from kadenz.farm.extra import require
from kadenz.farm.owner import Owner, is_dead
from kadenz.farm.power import PlaceSwitch

T = TypeVar("T")

_DEFAULT_PORT = 20408  # of labgrid's coordinator
_ANSWER_S = 15.0
_POLL_S = 0.5
_ADDRESS = re.compile(r"[\w.-]{1,253}:[0-9]{1,5}|\[[0-9a-fA-F:.]{2,45}\]:[0-9]{1,5}")
_LINE, _POWER = "NetworkSerialPort", "NetworkPowerPort"


class Coordinator:
    """A session with a coordinator, as `owner`. UsageError if it cannot be reached, or is gone.

    A session that was lost stays lost: labgrid's has no way back to its coordinator.
    """

    def __init__(self, table: LabgridTable, owner: Owner) -> None:
        # Its thread forks nothing: children of kadenz are new programs, which need no handlers.
        os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
        self._client = require("labgrid.remote.client")
        self._requests = require("labgrid.remote.generated.labgrid_coordinator_pb2")
        self._grpc = require("grpc")
        logging.getLogger().setLevel(logging.CRITICAL + 1)  # labgrid logs what is an error here
        self.owner, self._table = owner, table
        self._reservations: dict[str, str] = {}  # token by place
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self._session = self._run(asyncio.wait_for(self._start(), _ANSWER_S))
        except (self._client.Error, TimeoutError, OSError):
            self._end_loop()
            raise UsageError(
                f"the coordinator {table.coordinator} cannot be reached",
                remedy="Start labgrid-coordinator there, or correct [labgrid] coordinator",
            ) from None

    def acquire(self, name: str) -> None:
        """Acquires a place; waits for it as long as the farm's file says.

        What a killed kadenz of this user and machine left acquired is released first. UsageError,
        with the owner, if somebody else has the place; also if there is no such place.
        """
        until = time.monotonic() + self._table.wait_s
        while True:
            place = self._place(name)
            if place.acquired and is_dead(place.acquired):
                self.release_of(name, place.acquired)
                continue
            refusal = f"is acquired by {place.acquired}" if place.acquired else self._try(name)
            if not refusal:
                return
            if time.monotonic() >= until:
                self._cancel(name)
                raise UsageError(
                    f"place {name} {refusal}",
                    remedy="Wait with `wait_s` in [labgrid], or ask the owner to release it",
                )
            self._reserve(name)
            time.sleep(_POLL_S)

    def line(self, name: str) -> str:
        """The URL of a place's serial line. UsageError if no exporter offers one."""
        for exporter, resource in self._matched(name, _LINE):
            scheme = "socket" if resource.get("protocol") == "raw" else "rfc2217"
            address = f"{resource.get('host') or exporter}:{resource.get('port')}"
            if not _ADDRESS.fullmatch(address):
                raise UsageError(
                    f"place {name}: exporter {exporter} offers no address of a line: {address!r}",
                    remedy=f"Correct the {_LINE} in the exporter's file",
                )
            return f"{scheme}://{address}"
        raise UsageError(
            f"place {name} has no serial line",
            remedy=f"Start its labgrid-exporter, and match a {_LINE} of it with the place",
        )

    def power(self, name: str) -> PlaceSwitch | None:
        """The switch of a place's board; None if no exporter offers one."""
        for _, resource in self._matched(name, _POWER):
            return PlaceSwitch(name, resource, self.holds)
        return None

    def holds(self, name: str) -> bool:
        """Whether this owner has a place now. UsageError if the coordinator is gone."""
        return bool(self._place(name).acquired == str(self.owner))

    def release(self, name: str) -> None:
        """Releases a place of this owner; nothing if it has another owner, or none.

        UsageError if the coordinator is gone: whether the place is released is not known.
        """
        self._cancel(name)
        self.release_of(name, str(self.owner))

    def release_of(self, name: str, owner: str) -> None:
        """Releases a place if `owner` has it: the coordinator compares and releases in one step."""
        request = self._requests.ReleasePlaceRequest(placename=name, fromuser=owner)
        self._ask("ReleasePlace", request)
        self._synchronise()

    def close(self) -> None:
        """Ends the session. Places stay with their owners."""

        async def stop() -> None:
            self._session.stopping.set()
            await self._session.stop()
            await self._session.close()

        with contextlib.suppress(TimeoutError):  # it is gone
            self._run(asyncio.wait_for(stop(), _ANSWER_S))
        self._end_loop()

    async def _start(self) -> Any:
        owner = self.owner

        class Session(self._client.ClientSession):  # type: ignore[name-defined, misc]
            """labgrid's session, under the owner's name."""

            def gethostname(self) -> str:
                return owner.host

            def getuser(self) -> str:
                return owner.user

        address = self._table.coordinator
        address += "" if ":" in address else f":{_DEFAULT_PORT}"
        session = Session(address, self._loop)
        await session.start()
        return session

    def _place(self, name: str) -> Any:
        """A place as it is now."""
        self._synchronise()
        if name not in self._session.places:
            raise UsageError(
                f"the coordinator {self._table.coordinator} has no place `{name}`",
                remedy=did_you_mean(name, sorted(self._session.places)),
            )
        return self._session.places[name]

    def _matched(self, name: str, cls: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Resources of a class that a place has now: exporter, and what it says of each."""
        place = self._place(name)
        for exporter, groups in sorted(self._session.resources.items()):
            for group, resources in sorted(groups.items()):
                for resource, entry in sorted(resources.items()):
                    path = (exporter, group, entry.cls, resource)
                    if entry.cls == cls and entry.avail and place.hasmatch(path):
                        yield exporter, entry.args

    def _try(self, name: str) -> str:
        """Acquires a place. Returns why that is refused, or ""."""
        return self._ask("AcquirePlace", self._requests.AcquirePlaceRequest(placename=name))

    def _reserve(self, name: str) -> None:
        """Queues for a place, or says that this is still wanted."""
        if name in self._reservations:
            request = self._requests.PollReservationRequest(token=self._reservations[name])
            if not self._ask("PollReservation", request):
                return
        filters = {"main": self._requests.Reservation.Filter(filter={"name": name})}
        request = self._requests.CreateReservationRequest(filters=filters, prio=0.0)

        async def create() -> str:
            answer = await self._session.stub.CreateReservation(request)
            return str(answer.reservation.token)

        self._reservations[name] = self._reached(create())

    def _cancel(self, name: str) -> None:
        token = self._reservations.pop(name, None)
        if token is not None:
            self._ask("CancelReservation", self._requests.CancelReservationRequest(token=token))

    def _ask(self, call: str, request: Any) -> str:
        """Calls the coordinator. Returns why it refuses, or ""."""

        async def ask() -> None:
            await getattr(self._session.stub, call)(request)

        try:
            self._reached(ask())
        except self._grpc.aio.AioRpcError as error:
            return str(error.details())
        return ""

    def _synchronise(self) -> None:
        """Waits until the coordinator has processed every call, and its answers are here."""

        async def synchronise() -> None:
            await self._session.sync_with_coordinator()

        self._reached(synchronise())

    def _reached(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`. UsageError if the coordinator is gone: at once from then on."""
        session = self._session

        async def answered() -> T:
            if session.stopping.is_set():  # labgrid's session would wait forever
                work.close()
                raise self._gone()
            try:
                answer = await asyncio.wait_for(work, _ANSWER_S)
            except TimeoutError:
                session.stopping.set()
            except self._grpc.aio.AioRpcError as error:
                if error.code() != self._grpc.StatusCode.UNAVAILABLE:
                    raise
                session.stopping.set()
            if session.stopping.is_set():
                raise self._gone()
            return answer

        return self._run(answered())

    def _gone(self) -> UsageError:
        return UsageError(
            f"the coordinator {self._table.coordinator} is gone",
            remedy="Start it again, or repair the network",
        )

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` in the session's thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ANSWER_S)
