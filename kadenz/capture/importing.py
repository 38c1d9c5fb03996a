# SPDX-License-Identifier: Apache-2.0
"""A capture becomes a run: one record, with the samples between the marks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kadenz import __version__
from kadenz.capture.measured import Measured, measured
from kadenz.capture.opening import open_waveform
from kadenz.capture.pairing import Mark, Pairing
from kadenz.capture.waveform import Progress, Waveform, channel_of, channels_named
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
from kadenz.config.params import Value
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.host.facts import read_host
from kadenz.images.provenance import describe
from kadenz.store import RunWriter

_RECORD = 10  # the first point of a plan
_EDGES = {"rise": True, "fall": False}


@dataclass(frozen=True)
class Imported:
    """The run of a capture; `problem` is "" or why it is partial or invalid."""

    folder: Path
    samples: int
    problem: str
    warnings: list[manifest.Warning]


@dataclass(frozen=True)
class Capture:
    """Facts about a capture that the user gives."""

    file: Path
    begin: str  # CHANNEL, CHANNEL:rise or CHANNEL:fall
    end: str
    bench: str
    target: TargetName
    glitch_ns: float = 0.0
    cold: int = 1
    run_name: str = ""
    rate_hz: float = 0.0  # of a CSV without times
    unit: str = ""  # of times in a CSV that does not state it
    params: Mapping[str, Value] = field(default_factory=dict)  # of the benchmark, where not initial


def import_capture(asked: Capture, output: Path, progress: Progress = lambda _: None) -> Imported:
    """Writes the run folder. UsageError before that for what cannot be read at all.

    Unpaired marks make the record invalid, a capture that ends inside a sample makes the run
    partial: the samples that are paired are kept.
    """
    waveform = open_waveform(asked.file, asked.rate_hz, asked.unit)
    counted = asked.target.tier in ("emulated", "guest")
    unit = _Unit(1.0, "instructions") if counted else _Unit(waveform.tick_ns, "ns")
    channels, marks = _marks(waveform, asked)
    pairing = Pairing(*marks, shortest=asked.glitch_ns / waveform.tick_ns)
    point = measured(asked.bench, asked.target, asked.params)
    record = _record(asked, point)
    begun = time.monotonic()
    problem = ""
    taken = 0
    with RunWriter(output, _manifest(asked, counted=counted)) as writer:
        writer.manifest.warnings += point.warnings
        writer.open_record(record)

        def keep(spans: npt.NDArray[np.int64]) -> int:
            if spans.size:
                writer.append(_RECORD, 0, spans * np.float64(unit.size))
            return int(spans.size)

        try:
            for edges in waveform.edges(channels, progress):
                taken += keep(pairing.pair(edges))
        except UsageError as damage:
            problem = damage.message.removeprefix(f"{asked.file}: ")
            record.reason = problem
        taken += keep(pairing.finish())
        lane = record.lanes[0]
        lane.planned = taken + pairing.cut + (pairing.open_at is not None)
        lane.not_measured = lane.planned - taken
        writer.close_record(_RECORD)
        problem = problem or _judge(record, pairing, taken, unit)
        step = waveform.step or max(pairing.step, waveform.printed_step)
        _remark(writer.manifest, pairing, step * unit.size)
        writer.manifest.duration_s = round(time.monotonic() - begun, 3)
        return Imported(writer.finish(problem), taken, problem, writer.manifest.warnings)


@dataclass(frozen=True)
class _Unit:
    """Unit of a tick."""

    size: float
    name: str

    def at(self, ticks: int) -> str:
        """A moment in the unit of the file: "4000 ns"."""
        return f"{ticks * self.size:.15g} {self.name}"


def _marks(waveform: Waveform, asked: Capture) -> tuple[tuple[str, ...], tuple[Mark, Mark]]:
    """The channels to read, and the edges that mark BEGIN and END."""
    (begin, rising), (end, falling) = _mark(waveform, asked.begin), _mark(waveform, asked.end)
    channels = tuple(dict.fromkeys((begin, end)))
    both = begin == end  # high from BEGIN to END
    marks = (
        Mark(0, True if rising is None else rising),
        Mark(len(channels) - 1, not both if falling is None else falling),
    )
    if marks[0] == marks[1]:
        raise UsageError(
            f"--begin {asked.begin} and --end {asked.end} are the same edge",
            remedy=f"For example --begin {begin}:rise --end {begin}:fall",
        )
    return channels, marks


def _mark(waveform: Waveform, text: str) -> tuple[str, bool | None]:
    """The channel of a mark, and its edge if the text names one; names may contain colons."""
    name, colon, edge = text.rpartition(":")
    if colon and edge in _EDGES:
        return channel_of(waveform, name), _EDGES[edge]
    if colon and channels_named(waveform, name) and not channels_named(waveform, text):
        raise UsageError(f"{text}: no edge `{edge}`", remedy=f"{name}:rise or {name}:fall")
    return channel_of(waveform, text), None


def _judge(record: RecordEntry, pairing: Pairing, taken: int, unit: _Unit) -> str:
    record.status, record.reason = "ok", ""
    record.proof = ProofEntry(checked=taken + pairing.unpaired, failed=pairing.unpaired)
    if pairing.first_unpaired is not None:
        what, when = pairing.first_unpaired
        record.status = "invalid"
        record.reason = f"{pairing.unpaired} unpaired marks: {what} at {unit.at(when)}"
        record.proof.reason = record.reason
        return record.reason
    if not taken:
        record.status, record.reason = "failed", "no pair of marks in the capture"
        return record.reason
    if pairing.open_at is not None:
        return f"the capture ends inside a sample, whose BEGIN is at {unit.at(pairing.open_at)}"
    return ""


def _remark(document: Manifest, pairing: Pairing, step: float) -> None:
    """The analyser's step, glitches, and gaps."""
    if step:
        document.clock.resolution = Distribution(n=1, min=step, median=step, max=step)
    if pairing.gaps:
        text = f"nothing was recorded in {pairing.gaps} gaps ($dumpoff)"
        text += f"; {pairing.cut} samples that they cut are left out"
        document.warnings.append(manifest.Warning(code="capture-gaps", message=text))
    if pairing.glitches:
        text = f"{pairing.glitches} pulses shorter than the limit were left out as glitches"
        document.warnings.append(manifest.Warning(code="capture-glitches", message=text))


def _record(asked: Capture, point: Measured) -> RecordEntry:
    return RecordEntry(
        id=_RECORD,
        bench=point.bench,
        params=point.params,
        ranks={},
        begins=f"{point.begins} (edge {asked.begin})" if point.begins else f"edge {asked.begin}",
        ends=f"{point.ends} (edge {asked.end})" if point.ends else f"edge {asked.end}",
        source=point.source,
        status="failed",
        reason="the capture was not read to its end",
        unit="ticks",
        cold=asked.cold,
        drains=[],
        lanes=[
            LaneEntry(name="all", file="", dtype="<f8", planned=0, taken=0, missed=0, overrun=0)
        ],
        proof=ProofEntry(checked=0, failed=0),
        defaults=point.defaults,
        declared=point.nature,
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
        conditions=[],
        warnings=[],
        records=[],
        name=asked.run_name,
    )
