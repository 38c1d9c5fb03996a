# SPDX-License-Identifier: Apache-2.0
"""run.json: what was measured, on what, by which clock, and how far to trust it.

The manifest is the only thing the measuring path and the reading path share. Samples stand beside
it as .npy files named by `LaneEntry.file`. Schema: schemas/run-1.json (generated from this file).
"""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA_VERSION = 1

ClockClass = Literal["hardware", "cycle-exact", "cycle-model", "instruction", "hosted"]
Tier = Literal["host", "guest", "emulated", "rtl", "board"]
# Tiers in virtual time: two runs are byte-identical (rule 8 of the method), whatever else the
# machine around them does.
REPEATABLE: tuple[Tier, ...] = ("emulated", "rtl", "guest")
Instrument = Literal["counter", "scope", "capture"]
Status = Literal["ok", "invalid", "n/a", "failed"]


class Model(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=False):
    """Base of every manifest model: keyword only, unknown keys are errors."""


class Warning(Model):
    """Something a reader must know before believing a figure."""

    code: str  # stable, kebab-case: "virtual-machine", "no-sched-fifo"
    message: str
    remedy: str = ""


class TargetEntry(Model):
    """The target of a run, as it introduced itself."""

    name: str  # "freertos/hifive1-revb@emulated"
    kernel: str  # folder name under kernels/
    board: str
    tier: Tier
    instrument: Instrument
    arch: str
    kernel_name: str  # as the target says: "FreeRTOS"
    kernel_version: str
    capabilities: list[str]
    settings: dict[str, str]  # configuration that changes figures, as the target says
    cores: int
    tick_hz: int
    title: str = ""  # board.toml: "SiFive HiFive1 Rev B"

    @property
    def bus(self) -> str:
        """ "simulated ring", or "interface eth1, my-robot.toml"; "" for a target without a bus.

        The built-in layout goes without saying.
        """
        words = [self.settings.get("transport", "").partition(",")[0]]
        if "layout_sha256" in self.settings:  # a file's
            words.append(self.settings.get("layout", ""))
        return ", ".join(word for word in words if word)


class Distribution(Model):
    """A small summary of a clock measurement, in ticks of the clock."""

    n: int
    min: float
    median: float
    max: float


class ClockEntry(Model):
    """The clock of a run, measured before anything else (rule 4 of the method)."""

    clock_class: ClockClass
    name: str  # "mcycle", "tim2", "clock_monotonic", "scope"
    hz: int  # nominal ticks per second; instructions count as 0 Hz: never a time
    bits: int
    unit: str  # what one tick is: "ns", "instruction", "cycle"
    resolution: Distribution | None = None  # smallest steps seen
    read_cost: Distribution | None = None  # two reads back to back: never subtracted silently
    monotonic: bool | None = None
    backward_steps: int = 0
    checked_against: str = ""  # what it was compared with, "" when nothing
    rate_error_ppm: float | None = None
    # Of a counter held against a loop of known length: figures are counts times this.
    instructions_per_count: float | None = None


class PartEntry(Model):
    """One part of an image: the files of it that the compiler or the linker really read."""

    part: str  # "kernel", "port", "board", "arch", "instrument", "suite", "tool chain", a crate
    files: int
    sha256: str  # over the name and the SHA-256 of each file
    version: str = ""  # git describe --always --dirty of its tree; "": no git tree


class BuildEntry(Model):
    """How the image was made. Empty strings where a target was not built by kadenz."""

    compiler: str
    compiler_version: str
    flags: str
    elf_sha256: str
    text_bytes: int
    data_bytes: int
    bss_bytes: int
    kernel_source: str  # "freertos-next 0.12.0 (crates.io)" or "tree DIR, V10.2.0"
    parts: list[PartEntry] = []  # what it was compiled from


class HostEntry(Model):
    """The machine that measured (host tier) or that ran the emulator."""

    os: str
    kernel: str
    preempt: str  # "PREEMPT_RT", "PREEMPT_DYNAMIC", ...
    cpu: str
    cpus: int
    virtual: str  # "", or the hypervisor's name, or "yes"
    facts: dict[str, str]  # governor, c-states, rt_runtime_us, smt, isolated, msg_max, ...


class EmulatorEntry(Model):
    """The emulator that executed the image, and how it was started."""

    name: str  # "qemu-system-riscv32"
    version: str
    arguments: list[str]


class LaneEntry(Model):
    """One series of samples, planned = taken + missed + not_measured; or a companion of one.

    A companion holds one value for each sample of its lane, in the same order.
    """

    name: str  # "core0"; of a companion "core0:cycle"
    file: str  # relative to the run folder, "" when there are none
    dtype: str  # numpy: "<u4", "<i4", "<f8"
    planned: int
    taken: int
    missed: int  # asked of the target, and did not happen
    overrun: int
    not_measured: int = 0  # never asked of the target, or lost on the way: nothing is known
    sha256: str = ""  # of the file; "" while it grows, and in older runs
    companion_of: str = ""  # the lane whose samples the values go with; "": these are samples
    unit: str = ""  # of a companion's values: "count" is a difference to the sample before

    def account(self, taken: int, missed: int) -> None:
        """Enters what was taken and what the target missed; the rest was not measured."""
        self.taken = taken
        self.missed = max(0, min(missed, self.planned - taken))
        self.not_measured = max(0, self.planned - self.taken - self.missed)


class ProofEntry(Model):
    """How often the thing that was timed was shown to have happened."""

    checked: int
    failed: int
    reason: str = ""


DeadlineOrigin = Literal["campaign", "command line", "period"]


class DeadlineEntry(Model):
    """The deadline that was in force for a record: a cycle has to end within it."""

    quantity: str  # as it was written: "100us", "900 instructions"
    origin: DeadlineOrigin  # "period" is never written: it is the default that a reader finds


# The reason of a record that is being measured; it keeps it when nothing ends the record.
CUT_OFF = "the run stopped before this record ended"


class RecordEntry(Model):
    """One benchmark point inside a run."""

    id: int
    bench: str  # "itc/queue"
    params: dict[str, int]
    ranks: dict[str, int]  # native priorities, by parameter name
    begins: str
    ends: str
    source: str
    status: Status
    reason: str
    unit: str  # "ticks" (of the run's clock) or a unit of its own, "deg"
    cold: int  # the first `cold` samples of each lane are kept apart
    drains: list[int]  # indices whose sample follows a drain of the storage
    lanes: list[LaneEntry]  # companions included: see `series`
    proof: ProofEntry
    deadline: DeadlineEntry | None = None  # None: none was set; of periodic work the period holds

    @property
    def series(self) -> list[LaneEntry]:
        """The lanes that hold samples: what statistics are computed of."""
        return [lane for lane in self.lanes if not lane.companion_of]

    def companions(self, lane: LaneEntry) -> dict[str, LaneEntry]:
        """What goes with the samples of `lane`, by kind: "cycle", "cpu", …; often nothing."""
        return {
            other.name.partition(":")[2]: other
            for other in self.lanes
            if other.companion_of == lane.name
        }


class EventEntry(Model):
    """What a target saw in single cycles and did about it: all events of one kind.

    `kind` is its words with `{}` for each number; the least and the greatest of each number that
    came stand beside it, as the target wrote them.
    """

    kind: str  # "working counter {}, {} expected"
    reaction: str  # "quick stop"
    count: int
    first_cycle: int  # as the target counts them
    last_cycle: int
    least: list[str]
    greatest: list[str]

    @property
    def text(self) -> str:
        """The kind with its numbers: "working counter 9 to 18, 21 expected"."""
        words = self.kind.split("{}")
        ranges = [
            least if least == greatest else f"{least} to {greatest}"
            for least, greatest in zip(self.least, self.greatest, strict=True)
        ]
        return words[0] + "".join(a + b for a, b in zip(ranges, words[1:], strict=True))


class LoadEntry(Model, kw_only=True):
    """One load that ran while the run was measured, and the proof that it did something.

    `conditions["load"]` is its name as it was asked for; a load of several parts (`all`) has one
    entry for each part. Rates are of the kernel's own counters wherever it counts such a thing.
    """

    name: str  # "disk"
    title: str = ""  # what it does, in words
    workers: int
    command: list[str]  # the program and its arguments
    cpus: list[int] = []  # processors it may use; empty: not said
    settings: dict[str, str] = {}  # sizes, the limit of its memory, how it pages, ...
    counter: str = ""  # where the rates come from: "/proc/diskstats, sectors written"
    unit: str  # of every rate: "MB/s written"
    idle_rate: float  # of this machine just before, without the load
    rate: float  # under load: over the whole of the measurement; before it, until it began
    rate_before: float = 0.0  # under load, in the last second before the measurement
    least: float = 0.0  # what `rate` must reach to count as a load
    record_rates: dict[int, float] = {}  # under load, while one record was measured, by its id
    record_cpu_percent: dict[int, float] = {}  # of the processors' time, its own, by record
    cpu_percent: float = 0.0  # of the processors' time, what the load's own processes used
    verified: bool
    reason: str = ""  # why it is not verified


class TuningItem(Model):
    """One key of the tuning in force, for all things it changed alike."""

    key: str  # "placement.interrupts"
    what: str  # "/proc/sys/kernel/sched_rt_runtime_us", or "19 interrupts"
    count: int
    was: str
    value: str
    state: str  # "applied", or "failed: " and why


class TuningEntry(Model):
    """The tuning of this Linux that was in force while the run was measured."""

    profile: str
    title: str
    sha256: str  # of the profile's file
    cpus: str  # kept apart for real time, "" when none
    applied: str  # ISO 8601, UTC
    complete: bool  # false when it was only half applied, or partly taken back
    items: list[TuningItem]
    at_start: list[str]  # what was not as applied when the run began; empty: verified
    at_end: list[str]  # the same when it ended


class PreflightEntry(Model):
    """One thing that was looked at on this Linux before a run."""

    code: str  # stable, kebab-case; that of the warning where there is one
    verdict: Literal["good", "finding", "unknown"]
    effect: str  # of such a finding on the figures of this Linux, in words
    invalidates: list[str]  # claims a finding makes worthless: "medians", "worst-cases"
    message: str = ""  # what was found, or why it is not known
    remedy: str = ""
    tunings: list[str] = []  # profiles that take the finding away: kadenz tune apply NAME


class CampaignEntry(Model):
    """What was asked for."""

    name: str
    file: str
    sha256: str
    quick: bool


class Manifest(Model):
    """run.json of a run folder."""

    schema_version: int
    kadenz_version: str
    id: str  # "20261121-103000-freertos-hifive1-revb"
    created: str  # ISO 8601, UTC
    duration_s: float
    partial: bool  # stopped before the plan was done
    partial_reason: str
    campaign: CampaignEntry
    target: TargetEntry
    clock: ClockEntry
    build: BuildEntry | None
    host: HostEntry
    emulator: EmulatorEntry | None
    conditions: dict[str, str]
    warnings: list[Warning]
    records: list[RecordEntry]
    loads: list[LoadEntry] = []
    tuning: TuningEntry | None = None
    preflight: list[PreflightEntry] = []  # tier `host`
    variant: str = ""  # `run --rounds`: what sets this run apart from the others, "load disk"
    round: int = 0  # of the rounds, from 1; 0: the run is part of none
    place: int = 0  # within its round, from 1
    benchmark_notes: dict[str, str] = {}  # board.toml: why a benchmark's figure is not its target's
    events: list[EventEntry] = []  # in the order in which each kind was first seen
    kadenz_describe: str = ""  # git describe --always --dirty of its checkout; "": not in git
