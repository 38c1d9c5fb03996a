# SPDX-License-Identifier: Apache-2.0
"""Streams of frames for tests, from the Python encoder."""

from __future__ import annotations

import numpy as np

from kadenz.wire.messages import (
    WIRE_VERSION,
    AnyMessage,
    Begin,
    Bench,
    BenchParam,
    Case,
    Clock,
    Conform,
    Done,
    End,
    EndLane,
    Fault,
    Hello,
    Proof,
    Samples,
    Text,
)
from tests.wire.encoder import encode_message


def hello() -> Hello:
    return Hello(
        wire=WIRE_VERSION,
        suite="0.1.0",
        kernel="FreeRTOS",
        kernel_version="V11.2.0",
        board="stm32f4",
        arch="armv7m",
        instrument="counter",
        clock=Clock(name="tim2", hz=168_000_000, bits=32, on_target=True),
        tick_hz=1000,
        timer_hz=168_000_000,
        cores=1,
        storage=4096,
        capabilities=["mutex"],
        settings={"asserts": "off"},
    )


def bench(name: str = "itc/queue") -> Bench:
    return Bench(
        name=name,
        begins="before send",
        ends="after receive",
        source="yoo2024 algorithm 1",
        self_timed=False,
        nature="span",
        available=True,
        reason="",
        params=[BenchParam("size_bytes", 60, 4, 600)],
    )


def begin(record: int = 10, planned: int = 6, lanes: list[str] | None = None) -> Begin:
    return Begin(
        record=record,
        bench="itc/queue",
        planned=planned,
        lanes=lanes or ["all"],
        dtype="u4",
        unit="ticks",
        params={"size_bytes": 60},
        ranks={"rank_a": 8},
    )


def samples(values: list[int], record: int = 10, lane: int = 0, first: int = 0) -> Samples:
    return Samples(record, lane, first, "<u4", np.array(values, dtype="<u4"))


def end(record: int = 10, taken: int = 6, missed: int = 0, checked: int = 6) -> End:
    return End(
        record=record,
        status="ok",
        reason="",
        lanes=[EndLane(taken=taken, missed=missed, overrun=0)],
        proof=Proof(checked=checked, failed=0, reason=""),
        drains=[3],
    )


def whole_run() -> list[AnyMessage]:
    """A record of six samples in two frames, and every other message of a target."""
    said: list[AnyMessage] = [
        hello(),
        bench(),
        Text("a note"),
        begin(),
        samples([1, 2, 256]),
        samples([0, 0xFFFFFFFF, 7], first=3),
        end(),
        Case(case="fifo"),
        Conform(case="fifo", result="pass", reason=""),
        Fault(kind="assert", message="queue.c:1", thread="a", registers={"pc": 0x80001234}),
    ]
    return [*said, Done(records=1, frames=len(said) + 1)]


def on_the_line(messages: list[AnyMessage]) -> bytes:
    """The stream of a target that numbers its frames from 0, with the zero it sends first."""
    return b"\0" + b"".join(encode_message(m, number) for number, m in enumerate(messages))
