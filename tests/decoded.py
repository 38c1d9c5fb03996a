# SPDX-License-Identifier: Apache-2.0
"""The messages in the frames of one run of the suite's program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kadenz.wire.decoder import Decoder, Finding
from kadenz.wire.messages import Begin, Conform, Done, End, Fault, Hello, Samples, Text


@dataclass
class Decoded:
    """`code` is the exit code, `errors` the standard error."""

    code: int
    errors: str
    messages: list[Any]

    def only(self, kind: type) -> Any:
        """The one message of a kind."""
        (message,) = [m for m in self.messages if isinstance(m, kind)]
        return message

    @property
    def hello(self) -> Hello:
        """The first message."""
        hello = self.only(Hello)
        assert isinstance(hello, Hello)
        return hello

    @property
    def fault(self) -> Fault:
        """Why the program ended early."""
        fault = self.only(Fault)
        assert isinstance(fault, Fault)
        return fault

    @property
    def ends(self) -> list[End]:
        """The ends of all records."""
        return [m for m in self.messages if isinstance(m, End)]

    @property
    def begins(self) -> list[Begin]:
        """The beginnings of all records."""
        return [m for m in self.messages if isinstance(m, Begin)]

    @property
    def cases(self) -> list[Conform]:
        """Cases of the conformance test."""
        return [m for m in self.messages if isinstance(m, Conform)]

    @property
    def notes(self) -> str:
        """All texts for the user."""
        return "\n".join(m.text for m in self.messages if isinstance(m, Text))

    @property
    def done(self) -> bool:
        """Whether the last message says so."""
        return isinstance(self.messages[-1], Done)

    def end(self, record: int) -> End:
        """The end of a record."""
        (end,) = [candidate for candidate in self.ends if candidate.record == record]
        return end

    def values(self, record: int, lane: int = 0) -> NDArray[np.uint32]:
        """The samples of a lane."""
        pieces = [
            m.values
            for m in self.messages
            if isinstance(m, Samples) and (m.record, m.lane) == (record, lane)
        ]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.uint32)

    def lane(self, record: int, name: str) -> NDArray[np.uint32]:
        """The same by the lane's name; a name that begins with `:` is that of a companion."""
        (begin,) = [candidate for candidate in self.begins if candidate.record == record]
        (number,) = [
            i
            for i, lane in enumerate(begin.lanes)
            if lane == name or (name.startswith(":") and lane.endswith(name))
        ]
        return self.values(record, number)


def decode(stream: bytes, code: int = 0, errors: str = "") -> Decoded:
    """Decodes a stream; a damaged one fails the test."""
    decoder = Decoder()
    received = [*decoder.feed(stream), *decoder.finish()]
    findings = [item for item in received if isinstance(item, Finding)]
    assert not findings
    return Decoded(code, errors, [r.message for r in received if not isinstance(r, Finding)])


def plan(*points: str) -> str:
    """A plan of points `family/name key=value …`; the place of a point is its record's number."""
    lines = (
        f"{line.partition(' ')[0]} id={i} {line.partition(' ')[2]}\n"
        for i, line in enumerate(points)
    )
    return "".join(lines) + "end\n"
