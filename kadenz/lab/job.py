# SPDX-License-Identifier: Apache-2.0
"""A job: a target under conditions, with the points to measure; and its result."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.manifest import (
    CallEntry,
    CampaignEntry,
    ClockEntry,
    ConditionEntry,
    Instrument,
    Manifest,
    RecordEntry,
    Tier,
)
from kadenz.config.manifest import Warning as Stamp
from kadenz.config.target_name import TargetName
from kadenz.errors import KadenzError
from kadenz.host.facts import Host
from kadenz.images.image import Image
from kadenz.lab.ahead import Executions
from kadenz.lab.catalog import Catalog
from kadenz.lab.clock import INSTRUCTION, clock_class, clock_entry
from kadenz.lab.condition import Condition, Setup
from kadenz.lab.counter import Counter
from kadenz.lab.execution import board_server, clock_unit, timing_model
from kadenz.lab.plan import Point
from kadenz.targets.base import Target
from kadenz.targets.board import usb


@dataclass(frozen=True)
class Turn:
    """The place of a run in interleaved rounds."""

    variant: str  # what sets it apart from the other runs of a round
    round: int
    place: int


@dataclass(frozen=True)
class Rest:
    """Points that an earlier, partial run of a job did not measure."""

    folder: Path
    manifest: Manifest  # of the earlier run
    kept: list[RecordEntry]
    boots: list[list[Point]]  # executions that are left, with their points


@dataclass(frozen=True)
class Origin:
    """The call or the campaign behind the measurement, as the manifest of the run states it."""

    campaign: CampaignEntry
    stated: Mapping[str, str]  # conditions that the campaign states in words
    run_name: str = ""  # of all runs of this call
    call: CallEntry | None = None  # that a later call can resume
    turn: Turn | None = None


@dataclass(frozen=True)
class Where:
    """The machines that measure it."""

    place: str = ""  # of a rack: its jobs follow each other
    # Executes it on other machines; None: on this one.
    elsewhere: Callable[[Job, Sequence[list[Point]]], Executions] | None = None


HERE = Where()


@dataclass
class Job:
    """A measurement of one target."""

    name: TargetName
    instrument: Instrument
    image: Image
    catalog: Catalog
    points: list[Point]
    make: Callable[[], Target]  # a fresh execution
    host: Host
    origin: Origin
    timeout_s: float
    setup: Setup = field(default_factory=Setup)
    conditions: tuple[Condition, ...] = ()
    counter: Counter | None = None  # of an emulated target: checked before anything is measured
    warnings: Sequence[Stamp] = ()  # of its port
    where: Where = HERE
    rest: Rest | None = None  # None: everything is measured, into a new folder

    @property
    def suffix(self) -> str:
        """The end of the run folder's name: instrument, conditions, round."""
        instrument = "" if self.instrument == "counter" else f"-{self.instrument}"
        conditions = "".join(condition.suffix for condition in self.conditions)
        turn = self.origin.turn
        return instrument + conditions + (f"-round-{turn.round}" if turn else "")

    @property
    def label(self) -> str:
        """The target, its conditions and the round."""
        turn = self.origin.turn
        rounds = [f"round {turn.round}"] if turn else []
        return ", ".join([*self.labels, *rounds])

    @property
    def labels(self) -> list[str]:
        """The target, the instrument unless it is the counter, and the labels of its conditions."""
        instrument = [self.instrument] if self.instrument != "counter" else []
        labels = (label for condition in self.conditions for label in condition.labels)
        return [str(self.name), *instrument, *labels]

    def entries(self) -> list[ConditionEntry]:
        """The conditions as the manifest lists them: the campaign's own, then those of the run.

        Of two equal boards without names in the lab file, the named probe tells which one it is.
        """
        entries = [
            ConditionEntry(kind=kind, value=text) for kind, text in self.origin.stated.items()
        ]
        entries += [entry for condition in self.conditions for entry in condition.entries]
        if self.name.tier == "board" and not self.name.lab_name and self.setup.link.probe:
            probe = probe_word(self.setup.link.probe)
            entries.append(ConditionEntry(kind="probe", value=probe))
        return list({entry.kind: entry for entry in entries}.values())

    def settings(self) -> dict[str, str]:
        """Settings that the conditions add to those the target reports."""
        settings: dict[str, str] = {}
        for condition in self.conditions:
            settings |= condition.settings()
        server = board_server(self.name, self.setup.link)
        if server is not None:
            settings |= {"debug_server": server.title}
        return settings

    def clock(self) -> ClockEntry:
        """Its clock, before anything is measured."""
        tier: Tier = self.name.tier  # type: ignore[assignment]  # checked by parse_target
        unit = clock_unit(self.name, inventory.board(self.name.board))
        model = timing_model(self.name) if self.instrument == "model" else None
        server = board_server(self.name, self.setup.link)
        on = server.clock if server is not None else "hardware"
        kind = clock_class(tier, self.host.entry.virtual, on)
        unit = kind if tier == "board" and kind == INSTRUCTION else unit  # of an emulator
        return clock_entry(self.catalog.hello, kind, unit, model)


def probe_word(probe: str) -> str:
    """A word for a probe that does not tell its serial number: eight hexadecimal digits."""
    return hashlib.sha256(usb.parse_probe(probe).serial.encode()).hexdigest()[:8]


@dataclass
class Result:
    """A run on the disk, and everything that went wrong while it was measured."""

    target: str
    folder: Path
    manifest: Manifest
    image: Path  # the ELF file
    failures: list[KadenzError] = field(default_factory=list)
