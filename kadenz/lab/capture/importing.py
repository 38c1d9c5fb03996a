# SPDX-License-Identifier: Apache-2.0
"""A capture becomes a run: one record, with the samples between the marks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from kadenz import __version__
from kadenz.config import inventory, manifest
from kadenz.config.manifest import (
    SCHEMA_VERSION,
    CampaignEntry,
    ClockEntry,
    Distribution,
    LaneEntry,
    Manifest,
    ProofEntry,
    RecordEntry,
    TargetEntry,
)
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.host.facts import read_host
from kadenz.images.provenance import describe
from kadenz.lab.capture.pairing import Mark, Pairing
from kadenz.lab.capture.vcd import Vcd, edges, read_header
from kadenz.store import RunWriter

_RECORD = 10  # the first point of a plan
_BLOCK = 1 << 14  # samples
_EDGES = {"": None, "rise": True, "fall": False}


@dataclass(frozen=True)
class Imported:
    """The run of a capture; `problem` is "" or why it is partial or invalid."""

    folder: Path
    samples: int
    problem: str


@dataclass(frozen=True)
class Capture:
    """What the user says about a capture."""

    file: Path
    begin: str  # CHANNEL, CHANNEL:rise or CHANNEL:fall
    end: str
    bench: str
    target: TargetName
    glitch_ns: float = 0.0
    cold: int = 1
    run_name: str = ""


def import_capture(
    asked: Capture, output: Path, progress: Callable[[int], None] = lambda _: None
) -> Imported:
    """Writes the run folder. UsageError before that for what cannot be read at all.

    Unpaired marks make the record invalid, a capture that ends inside a sample makes the run
    partial: the samples that are paired are kept.
    """
    vcd = read_header(asked.file)
    counted = asked.target.tier in ("emulated", "guest")
    unit_ns = 1.0 if counted else vcd.tick_ns
    pairing = Pairing(*_marks(vcd, asked), shortest=asked.glitch_ns / vcd.tick_ns)
    record = _record(asked)
    begun = time.monotonic()
    problem = ""
    with RunWriter(output, _manifest(asked, counted=counted)) as writer:
        writer.open_record(record)
        channels = tuple(dict.fromkeys((pairing.begin.channel, pairing.end.channel)))
        block: list[int] = []
        taken = 0

        def keep() -> int:
            writer.append(_RECORD, 0, np.array(block, dtype="<f8") * unit_ns)
            count = len(block)
            block.clear()
            return count

        try:
            for span in pairing.pair(edges(vcd, channels, progress)):
                block.append(span)
                if len(block) == _BLOCK:
                    taken += keep()
        except UsageError as damage:
            problem = damage.message.removeprefix(f"{asked.file}: ")
            record.reason = problem
        if block:
            taken += keep()
        lane = record.lanes[0]
        lane.planned = taken + (pairing.open_at is not None)
        lane.not_measured = lane.planned - taken
        writer.close_record(_RECORD)
        problem = problem or _judge(record, pairing, taken)
        _remark(writer.manifest, pairing, unit_ns)
        writer.manifest.duration_s = round(time.monotonic() - begun, 3)
        return Imported(writer.finish(problem), taken, problem)


def _marks(vcd: Vcd, asked: Capture) -> tuple[Mark, Mark]:
    (begin, rising), (end, falling) = _mark(vcd, asked.begin), _mark(vcd, asked.end)
    both = begin == end  # high from BEGIN to END
    found = (
        Mark(begin, True if rising is None else rising),
        Mark(end, not both if falling is None else falling),
    )
    if found[0] == found[1]:
        raise UsageError(
            f"--begin {asked.begin} and --end {asked.end} are the same edge",
            remedy=f"For example --begin {begin}:rise --end {begin}:fall",
        )
    return found


def _mark(vcd: Vcd, text: str) -> tuple[str, bool | None]:
    name, _, edge = text.partition(":")
    if edge not in _EDGES:
        raise UsageError(f"{text}: no edge `{edge}`", remedy=f"{name}:rise or {name}:fall")
    return vcd.channel(name), _EDGES[edge]


def _judge(record: RecordEntry, pairing: Pairing, taken: int) -> str:
    record.status, record.reason = "ok", ""
    record.proof = ProofEntry(checked=taken + pairing.unpaired, failed=pairing.unpaired)
    if pairing.unpaired:
        record.status = "invalid"
        record.reason = f"{pairing.unpaired} unpaired marks: {pairing.first_unpaired}"
        record.proof.reason = record.reason
        return record.reason
    if not taken:
        record.status, record.reason = "failed", "no pair of marks in the capture"
        return record.reason
    if pairing.open_at is not None:
        return f"the capture ends inside a sample, whose BEGIN is at {pairing.open_at}"
    return ""


def _remark(document: Manifest, pairing: Pairing, unit_ns: float) -> None:
    """The analyser's step, and glitches."""
    if pairing.step:
        step = pairing.step * unit_ns
        document.clock.resolution = Distribution(n=1, min=step, median=step, max=step)
    if pairing.glitches:
        text = f"{pairing.glitches} pulses shorter than the limit were left out as glitches"
        document.warnings.append(manifest.Warning(code="capture-glitches", message=text))


def _record(asked: Capture) -> RecordEntry:
    return RecordEntry(
        id=_RECORD,
        bench=asked.bench,
        params={},
        ranks={},
        begins=f"edge {asked.begin}",
        ends=f"edge {asked.end}",
        source="",
        status="failed",
        reason="the capture was not read to its end",
        unit="ticks",
        cold=asked.cold,
        drains=[],
        lanes=[
            LaneEntry(name="all", file="", dtype="<f8", planned=0, taken=0, missed=0, overrun=0)
        ],
        proof=ProofEntry(checked=0, failed=0),
    )


def _manifest(asked: Capture, *, counted: bool) -> Manifest:
    now = datetime.now(UTC)
    name = asked.target
    board = inventory.board(name.board)
    return Manifest(
        schema_version=SCHEMA_VERSION,
        kadenz_version=__version__,
        kadenz_describe=describe(Path(__file__)),
        id=f"{now:%Y%m%d-%H%M%S}-{name.kernel}-{name.board}-capture",
        created=now.isoformat(timespec="seconds"),
        duration_s=0.0,
        partial=False,
        partial_reason="",
        campaign=CampaignEntry(name="import", file=asked.file.name, sha256="", quick=False),
        target=TargetEntry(
            name=str(name),
            kernel=name.kernel,
            board=name.board,
            tier=name.tier,  # type: ignore[arg-type]  # checked by parse_target
            instrument="capture",
            arch=board.arch,
            kernel_name=inventory.kernel(name.kernel).title if name.kernel else "",
            kernel_version="",
            capabilities=[],
            settings={"capture": asked.file.name, "glitch_ns": f"{asked.glitch_ns:g}"},
            cores=1,
            tick_hz=0,
            title=board.title,
        ),
        clock=ClockEntry(
            clock_class="instruction" if counted else "hardware",
            name="capture",
            hz=0 if counted else 1_000_000_000,
            bits=64,
            unit="instruction" if counted else "ns",
        ),
        build=None,
        host=read_host().entry,
        emulator=None,
        conditions={},
        warnings=[],
        records=[],
        name=asked.run_name,
    )
