# SPDX-License-Identifier: Apache-2.0
"""The calls of an execution become a run: a record for each function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from kadenz import __version__
from kadenz.config.manifest import (
    SCHEMA_VERSION,
    CampaignEntry,
    LaneEntry,
    Manifest,
    ProofEntry,
    RecordEntry,
    Warning,  # noqa: A004
)
from kadenz.counting.execution import Execution
from kadenz.counting.firmware import Firmware
from kadenz.counting.functions import Function
from kadenz.counting.profiles import Profiles
from kadenz.counting.program import Program
from kadenz.host.facts import read_host
from kadenz.images.provenance import describe
from kadenz.store import RunWriter
from kadenz.targets.calls import CallBlock, Tally, Values

LANE = "call"
_FIRST_RECORD = 10  # the first point of a plan
_MOST_U4 = (1 << 32) - 1


@dataclass
class Counted:
    """A function with its calls in a run. `interrupted` are those with a handler inside."""

    function: Function
    tally: Tally
    interrupted: int = 0
    longest: int = 0  # the largest of all values
    lengths: Counter[int] = field(default_factory=Counter)  # calls by their instructions
    status: str = "ok"
    reason: str = ""
    warnings: list[Warning] = field(default_factory=list)


@dataclass(frozen=True)
class CountedRun:
    """The run folder, and its functions."""

    folder: Path
    functions: list[Counted]


def record(
    image: Firmware | Program,
    functions: Sequence[Function],
    execution: Execution,
    output: Path,
    name: str,
) -> CountedRun:
    """Writes the run folder."""
    counted = [_counted(i, each, execution) for i, each in enumerate(functions)]
    for block in execution.calls.blocks():
        here = counted[block.function]
        here.interrupted += int(np.count_nonzero(block.handlers))
        here.longest = max(here.longest, *(int(values.max()) for values in _values(block)))
        lengths, counts = np.unique(block.instructions, return_counts=True)
        here.lengths.update(dict(zip(lengths.tolist(), counts.tolist(), strict=True)))
    with RunWriter(output, _manifest(image, execution, name)) as writer:
        for i, each in enumerate(counted):
            writer.open_record(_entry(_FIRST_RECORD + i, each, execution, image))
            writer.manifest.warnings += each.warnings
        writer.manifest.warnings += execution.warnings
        for block in execution.calls.blocks():
            for lane, values in enumerate(_values(block)):
                kind = _dtype(counted[block.function])
                writer.append(_FIRST_RECORD + block.function, lane, values.astype(kind))
        for i in range(len(counted)):
            writer.close_record(_FIRST_RECORD + i)
        _keep_profiles(writer, image, counted, execution)
        if execution.console:
            writer.say(execution.console)
        stopped = "interrupted (Ctrl-C)" if execution.stopped else ""
        return CountedRun(writer.finish(stopped), counted)


def _keep_profiles(
    writer: RunWriter, image: Firmware | Program, counted: Sequence[Counted], execution: Execution
) -> None:
    profiles = Profiles(image, execution.flows, writer.manifest.target.name)
    for i, each in enumerate(counted):
        profile = profiles.of(_FIRST_RECORD + i, LANE, i, each.function, each.lengths)
        if profile is not None:
            content = msgspec.json.encode(profile)
            writer.keep_profile(profile.record, profile.bench, content)


def _values(block: CallBlock) -> tuple[Values, ...]:
    return block.instructions, block.handlers, block.threads, *block.more


def _dtype(counted: Counted) -> str:
    return "<u4" if counted.longest <= _MOST_U4 else "<f8"


def _counted(number: int, function: Function, execution: Execution) -> Counted:
    tally = execution.calls.tallies.get(number, Tally())
    counted = Counted(function, tally)
    if execution.problem:
        counted.status, counted.reason = "failed", execution.problem
    elif not tally.began:
        counted.status = "failed" if function.named else "n/a"
        never = "never begun" if function.is_span else "never called"
        counted.reason = f"{never}; ended: {execution.ended}"
    elif not tally.returned:
        counted.status = "failed" if function.named else "n/a"
        none = "no span came to its end" if function.is_span else "no call returned"
        counted.reason = f"{none}, of {tally.began:,}"
    counted.warnings += _remarks(counted)
    return counted


def _remarks(counted: Counted) -> list[Warning]:
    tally, name = counted.tally, counted.function.name
    remarks = []
    if tally.unwound or tally.open:
        kind = "call"
        left = f"{tally.unwound:,} left without a return (longjmp, or the end of a thread)"
        still = f"{tally.open:,} had not returned at the end"
        if counted.function.is_span:
            kind, still = "span", f"{tally.open:,} had not come to their end"
            left = f"{tally.unwound:,} begun again, or left by their thread, before their end"
        parts = [*([left] if tally.unwound else []), *([still] if tally.open else [])]
        remarks.append(
            Warning(
                code="calls-without-return",
                message=f"{name}: of {tally.began:,} {kind}s, {', '.join(parts)}",
                remedy="They are no samples",
            )
        )
    if counted.function.pieces and tally.began:
        pieces = ", ".join(counted.function.pieces)
        remarks.append(
            Warning(
                code="function-pieces",
                message=f"{name}: the compiler moved parts of it to {pieces}",
                remedy="Inside a call they are counted; a piece that a caller jumps to by itself "
                "is no call of the function",
            )
        )
    return remarks


def _entry(
    number: int, counted: Counted, execution: Execution, image: Firmware | Program
) -> RecordEntry:
    function, taken = counted.function, counted.tally.returned
    begins, ends = f"the first instruction of {function.name}", "its return address"
    if function.is_span:
        first, _, last = function.name.partition("..")
        begins, ends = f"{first} is next", f"{last} is next, in the same thread"
    lanes = [LANE, *(f"{LANE}:{kind}" for kind in image.companions)]
    return RecordEntry(
        id=number,
        bench=function.bench,
        params={},
        ranks={},
        begins=begins,
        ends=ends,
        source="",
        status=counted.status,  # type: ignore[arg-type]  # of _counted
        reason=counted.reason,
        unit="ticks",
        cold=0,
        drains=[],
        lanes=[
            LaneEntry(
                name=lane,
                file="",
                dtype=_dtype(counted),
                planned=taken,
                taken=0,
                missed=0,
                overrun=0,
                companion_of=LANE if lane != LANE else "",
                unit="" if lane == LANE else image.clock.unit,
            )
            for lane in lanes
        ]
        if taken
        else [],
        proof=ProofEntry(checked=taken, failed=0),
        declared="span",
        duration_s=None if execution.stored else execution.duration_s,
        value=execution.value,
        code_bytes=function.size or None,
    )


def _manifest(image: Firmware | Program, execution: Execution, name: str) -> Manifest:
    now = datetime.now(UTC)
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version=__version__,
        kadenz_describe=describe(Path(__file__)),
        id=f"{now:%Y%m%d-%H%M%S}-{image.label}-count",
        created=now.isoformat(timespec="seconds"),
        duration_s=execution.duration_s,
        partial=False,
        partial_reason="",
        campaign=CampaignEntry(name="count", file="", sha256="", quick=False),
        target=image.target(execution.ended),
        clock=image.clock,
        build=image.build,
        host=read_host().entry,
        emulator=execution.emulator,
        conditions=image.conditions,
        warnings=[],
        records=[],
        name=name,
    )
