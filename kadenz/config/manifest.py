# SPDX-License-Identifier: Apache-2.0
"""run.json: what was measured, on which target, by which clock, and how far to trust it.

The manifest is the only interface between the measuring and the reading path. Samples are .npy
files next to it, named by `LaneEntry.file`. Schema: schemas/run-2.json (generated from this file).
`store.older_runs` reads older versions as this one.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kadenz.config.params import Params, period_us

SCHEMA_VERSION = 2

ClockClass = Literal["hardware", "cycle-exact", "cycle-model", "instruction", "hosted"]
Tier = Literal["host", "guest", "emulated", "rtl", "board"]
# Tiers in virtual time: two runs are byte-identical (rule 8 of the method), regardless of the load
# on the machine.
REPEATABLE: tuple[Tier, ...] = ("emulated", "rtl", "guest")
Instrument = Literal["counter", "scope", "model", "capture", "pins", "records", "ftrace"]
# Companions of samples of a timing model: the least and the most cycles that its parameters allow.
# The sample is the middle.
INTERVAL = ("low", "high")
# Companions that place a sample in a schedule: the number of its release, and ns since then.
SCHEDULE = ("release", "sent")
# Companions that are readings of an instrument of their own: an axis' encoder.
READINGS = ("encoder",)
# Companions of samples that the scope takes where it sees caches: lines that came into them.
MISSES = ("icache-misses", "dcache-misses")
# Companions of a call beside another core: ticks until the call began, and until the other core
# began to work, from when both moments were chosen.
OFFSET = ("begin", "other-begin")
# Lanes of a record with an interrupt in every cycle of a sample: ticks from the request to the
# first statement of the handler, and of the thread that it wakes; companions: what it met.
ARRIVALS = ("handler", "task")
ARRIVAL = ("phase", "pc", "masked", "locked")
# What else may come in every cycle, and its name. Each arrival is the largest over many of them,
# and has two further companions: when that one came, and how many there were.
SECONDS = {
    "tick": "a tick",
    "request": "another request",
    "device": "a request of another device",
}
# Conditions of such a run: that it has arrivals; how many threads more the kernel holds, by what
# they do.
ARRIVING = "arrivals"
STEP = "step"  # of arrivals by a timer of the board, in its ticks
STATES = ("sleepers", "waking", "ready")
# On several cores: what another one does, and how much later it begins, in turns of a loop.
BESIDE, DELAY = "beside", "delay"
Status = Literal["ok", "invalid", "n/a", "failed"]
# Ranges, checked when a run is read; `store.consistency` has relations.
Count = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Factor = Annotated[float, Meta(gt=0)]
Number = Annotated[str, Meta(pattern="^<(u4|i4|f8)$")]  # numpy's name of a type of samples


def companions_of(second: str) -> tuple[str, ...]:
    """Kinds of the companions of arrivals that came with a key of SECONDS; none for ""."""
    return (second, f"{second}s") if second else ()


class Model(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=False):
    """Base of all manifest models: keyword only, unknown keys are errors."""


class Warning(Model):
    """Something that a reader must know before trusting a figure."""

    code: str  # stable, kebab-case: "virtual-machine", "no-sched-fifo"
    message: str
    remedy: str = ""


# Calls of kernel.h by which a thread blocks or gives way. A kernel with threads has one of them.
_BLOCKING = frozenset({"suspend", "yield", "sem-counting", "sem-binary", "mutex"})


class TargetEntry(Model):
    """The target of a run, as reported by itself."""

    name: str  # "freertos/hifive1-revb@emulated"
    kernel: str  # folder name under kernels/
    board: str
    tier: Tier
    instrument: Instrument
    arch: str
    kernel_name: str  # as reported by the target: "FreeRTOS"
    kernel_version: str
    capabilities: list[str]
    settings: dict[str, str]  # configuration that affects figures, as reported by the target
    cores: Some
    tick_hz: Count
    title: str = ""  # board.toml: "SiFive HiFive1 Rev B"

    @property
    def has_executor(self) -> bool:
        """Whether its tasks belong to an executor and await: no call of its kernel blocks a
        thread. Unknown, and so False, for a capture, which names no capability."""
        return bool(self.capabilities) and _BLOCKING.isdisjoint(self.capabilities)

    @property
    def bus(self) -> str:
        """ "simulated ring", or "interface eth1, my-robot.toml"; "" for a target without a bus.

        The built-in layout is not mentioned.
        """
        parts = [self.settings.get("transport", "").partition(",")[0]]
        if "layout_sha256" in self.settings:  # digest of a file
            parts.append(self.settings.get("layout", ""))
        return ", ".join(part for part in parts if part)


class Distribution(Model):
    """A small summary of a clock measurement, in ticks of the clock."""

    n: Count
    min: float
    median: float
    max: float


class ModelEntry(Model):
    """The timing model behind a clock of class `cycle-model`."""

    name: str  # folder under instruments/models/
    title: str
    parameters: dict[str, tuple[int, int]]  # in force, from the least to the most
    checked: str  # against what, with which result


class RateEntry(Model):
    """The rate of a clock as measured against another clock, in Hz."""

    against: str  # "mtime (32768 Hz crystal) over 1.0 s"
    hz: Factor
    low: Factor  # the interval that holds it
    high: Factor
    tolerance_ppm: Amount  # by which the configured rate may be off


class ClockEntry(Model):
    """The clock of a run, measured first (rule 4 of the method)."""

    clock_class: ClockClass
    name: str  # "mcycle", "tim2", "clock_monotonic", "scope"
    hz: Count  # configured ticks a second; 0 for instructions, which are never converted to a time
    bits: Some
    unit: str  # unit of one tick: "ns", "instruction", "cycle"
    resolution: Distribution | None = None  # smallest observed steps
    read_cost: Distribution | None = None  # two consecutive reads; never subtracted silently
    monotonic: bool | None = None
    backward_steps: Count = 0
    checked_against: str = ""  # the reference of a comparison, "" if none
    rate_error_ppm: float | None = None
    # From a loop of known length: instructions per count. Figures are counts times this.
    instructions_per_count: Factor | None = None
    model: ModelEntry | None = None
    rate: RateEntry | None = None  # measured on a board; None: not measured

    @property
    def deviates(self) -> bool:
        """Whether the configured rate is proven wrong: outside the interval and the tolerance."""
        if self.rate is None:
            return False
        allowed = self.hz * self.rate.tolerance_ppm / 1e6
        return not self.rate.low - allowed <= self.hz <= self.rate.high + allowed

    @property
    def seconds_hz(self) -> float:
        """Ticks per second for figures: the configured rate, unless it is proven wrong."""
        return self.rate.hz if self.rate is not None and self.deviates else self.hz


class PartEntry(Model):
    """One part of an image: the files that the compiler or linker actually read."""

    part: str  # "kernel", "port", "board", "arch", "instrument", "suite", "tool chain", a crate
    files: Count
    sha256: str  # over name and SHA-256 of each file
    version: str = ""  # git describe --always --dirty of its tree; "" outside git


class FootprintEntry(Model):
    """Bytes of an image that came from one file. All entries add up to the loaded sections."""

    part: str  # "kernel", "benchmarks", "C library", "padding", ...
    file: str  # source below its part's folder, library, or section of the image
    code: Count = 0
    constants: Count = 0
    data: Count = 0  # with initial values: takes flash and RAM
    zeroed: Count = 0
    compiled: Count = 0  # code and constants of its object before linking; 0: no object of its own
    stored: Count | None = None  # of its load image in flash; None: not known apart (older runs)
    resident: Count | None = None  # of its run image in RAM, code included; None: likewise

    @property
    def flash(self) -> int:
        """Bytes of flash: what its memory keeps while the power is off."""
        return self.code + self.constants + self.data if self.stored is None else self.stored

    @property
    def ram(self) -> int:
        """Bytes of RAM, with code and constants that run there."""
        return self.data + self.zeroed if self.resident is None else self.resident


class ObjectEntry(Model):
    """RAM of one kernel object."""

    kind: str  # "task"
    type: str  # of its control block: "tskTaskControlBlock"
    bytes: Count | None  # sizeof; None: the image has no such object
    plus: str  # what is allocated with it: "its stack"


class BuildEntry(Model):
    """How the image was built. Strings are empty if it was not built by kadenz."""

    compiler: str
    compiler_version: str
    flags: str
    elf_sha256: str
    text_bytes: Count
    data_bytes: Count
    bss_bytes: Count
    kernel_source: str  # "freertos-next 0.12.0 (crates.io)" or "tree DIR, V10.2.0"
    parts: list[PartEntry] = []  # its sources
    footprint: list[FootprintEntry] = []  # empty: not known
    minimal: list[FootprintEntry] = []  # with one periodic thread instead of the suite
    objects: list[ObjectEntry] = []


class HostEntry(Model):
    """The machine that measured (tier host) or ran the emulator."""

    os: str
    kernel: str
    preempt: str  # "PREEMPT_RT", "PREEMPT_DYNAMIC", ...
    cpu: str
    cpus: Count
    virtual: str  # name of the hypervisor, "yes", or ""
    facts: dict[str, str]  # governor, c-states, rt_runtime_us, smt, isolated, msg_max, ...


class EmulatorEntry(Model):
    """The emulator that executed the image, with its arguments."""

    name: str  # "qemu-system-riscv32"
    version: str
    arguments: list[str]


class LaneEntry(Model):
    """A series of samples, planned = taken + missed + not_measured; or a companion of one.

    A companion holds one value per sample of its lane, in the same order.
    """

    name: str  # "core0"; a companion: "core0:cycle"
    file: str  # relative to the run folder, "" without samples
    dtype: Number
    planned: Count
    taken: Count
    missed: Count  # requested, but did not happen
    overrun: Count
    not_measured: Count = 0  # never requested, or lost in transit: outcome unknown
    sha256: str = ""  # of the file; "" while it grows and in older runs
    companion_of: str = ""  # the lane that the values belong to; "": these are samples
    unit: str = ""  # of a companion's values; "count": increase since the previous sample
    # That the target had: whole ticks of its kernel. None: as the parameters ask, or there is none.
    period_us: float | None = None

    def account(self, taken: int, missed: int) -> None:
        """Sets taken and missed; the rest counts as not measured."""
        self.taken = taken
        self.missed = max(0, min(missed, self.planned - taken))
        self.not_measured = max(0, self.planned - self.taken - self.missed)


class ProofEntry(Model):
    """How many timed operations were proven to have happened."""

    checked: Count
    failed: Count
    reason: str = ""


# What a sample is: the time of a span of work; how late a periodic release is, whose period is its
# deadline; the time of an edge that is to repeat; a property of the clock or of the machine, by
# which nothing is judged.
Nature = Literal["span", "periodic", "edges", "context"]
# In runs from before benchmarks declared it.
_NATURE_BY_FAMILY: dict[str, Nature] = {
    "clock": "context",
    "cyclic": "periodic",
    "ethercat": "edges",
}

DeadlineOrigin = Literal["campaign", "command line", "lab", "period"]


class DeadlineEntry(Model):
    """The deadline in force for a record: each cycle has to end within it."""

    quantity: str  # as written: "100us", "900 instructions"
    origin: DeadlineOrigin  # "period" is never stored: it is the default


class ValueEntry(Model):
    """Which value a record is part of: an execution that its files alone decide."""

    key: str  # SHA-256 over all that its process could read
    measured: str  # ISO 8601, UTC: when a process was executed for it
    stored: bool  # whether this run took it from the store

    @property
    def day(self) -> str:
        """When it was measured, to the minute, UTC: "2026-11-26 10:02"."""
        return self.measured[:16].replace("T", " ")


# The reason of a record in progress; it remains if the record is never completed.
CUT_OFF = "the run stopped before this record ended"
# Why a run is partial whose lab could not enter a reason.
KILLED = "the lab was killed while measuring"


class RaisedEntry(Model):
    """Who raised the arrivals of a record: a timer of the board, later each time by `step`."""

    by: str  # the timer: "line", "tim5"
    resolution: Some  # ticks of the run's clock in a tick of the timer
    step: Some  # ticks of the timer
    exact: bool  # each phase was tried, once, and files alone decide the figures


class RecordEntry(Model):
    """One benchmark point inside a run."""

    id: Count
    bench: str  # "itc/queue"
    params: Params
    ranks: dict[str, int]  # native priorities by parameter name
    begins: str
    ends: str
    source: str
    status: Status
    reason: str
    unit: str  # "ticks" (of the run's clock) or a unit of its own, "deg"
    cold: Count  # the first `cold` samples of each lane are excluded
    drains: list[Count]  # indices of samples that follow a drain of the storage
    lanes: list[LaneEntry]  # companions included: see `series`
    proof: ProofEntry
    deadline: DeadlineEntry | None = None  # None: not set; periodic work then uses its period
    # From its beginning to its end, on the measuring machine; None: taken from the store.
    duration_s: Amount | None = None
    value: ValueEntry | None = None  # None: real time takes part, or nothing is kept of it
    # Of all parameters of the benchmark in this image. Empty in runs of version 0.1.
    defaults: Params = {}
    # Names by address, "0x80000458", of functions in which values of the unit "address" lie.
    functions: dict[str, str] = {}
    raised: RaisedEntry | None = None  # None: no arrivals, or raised from outside
    code_bytes: Count | None = None  # of the function that it counts; None: of none, or not known
    # None in a file from before benchmarks declared it.
    declared: Nature | None = msgspec.field(default=None, name="nature")

    @property
    def nature(self) -> Nature:
        """What a sample is."""
        return self.declared or _NATURE_BY_FAMILY.get(self.bench.partition("/")[0], "span")

    @property
    def series(self) -> list[LaneEntry]:
        """The lanes that hold samples; statistics use these."""
        return [lane for lane in self.lanes if not lane.companion_of]

    def period_us(self, lane: int = 0) -> float:
        """The period of a lane, in µs; 0.0 without one."""
        had = self.series[lane].period_us if lane < len(self.series) else None
        return had if had is not None else period_us(self.params, 0, lane)

    def companions(self, lane: LaneEntry) -> dict[str, LaneEntry]:
        """The companions of `lane` by kind: "cycle", "cpu", …; may be empty."""
        return {
            other.name.partition(":")[2]: other
            for other in self.lanes
            if other.companion_of == lane.name
        }


class EventEntry(Model):
    """Events of one kind: observations of a target in single cycles, and its reaction.

    `kind` is the text with `{}` for each number. The least and greatest value of each number are
    stored as the target wrote them.
    """

    kind: str  # "working counter {}, {} expected"
    reaction: str  # "quick stop"
    count: Some
    first_cycle: Count  # as counted by the target
    last_cycle: Count
    least: list[str]
    greatest: list[str]

    @property
    def text(self) -> str:
        """The text with its numbers: "working counter 9 to 18, 21 expected"."""
        pieces = self.kind.split("{}")
        ranges = [
            least if least == greatest else f"{least} to {greatest}"
            for least, greatest in zip(self.least, self.greatest, strict=True)
        ]
        return pieces[0] + "".join(a + b for a, b in zip(ranges, pieces[1:], strict=True))


class LoadEntry(Model, kw_only=True):
    """One load that ran during the run, and the proof that it had an effect.

    The condition `load` is its name as requested; a load of several parts (`all`) has one entry per
    part. Rates come from the kernel's own counters if it has one for this work.
    """

    name: str  # "disk"
    title: str = ""  # its work
    workers: Count
    command: list[str]  # the program and its arguments
    cpus: list[int] = []  # processors it may use; empty: unknown
    settings: dict[str, str] = {}  # sizes, the limit of its memory, how it pages, ...
    counter: str = ""  # source of the rates: "/proc/diskstats, sectors written"
    unit: str  # of all rates: "MB/s written"
    idle_rate: Amount  # of this machine shortly before, without the load
    rate: Amount  # under load, over the whole measurement; until then, before it
    rate_before: Amount = 0.0  # under load, in the last second before the measurement
    least: Amount = 0.0  # minimum of `rate` to count as a load
    record_rates: dict[int, Amount] = {}  # under load, during one record, by its id
    record_cpu_percent: dict[int, Amount] = {}  # its own share of the processors' time, by record
    cpu_percent: Amount = 0.0  # share of the processors' time used by the load's processes
    verified: bool
    reason: str = ""  # why it is not verified, "" if it is


class TuningItem(Model):
    """One key of the tuning in force, for all equal changes."""

    key: str  # "placement.interrupts"
    what: str  # "/proc/sys/kernel/sched_rt_runtime_us", or "19 interrupts"
    count: int
    was: str
    value: str
    state: str  # "applied", or "failed: " and why


class TuningEntry(Model):
    """The tuning of this Linux that was in force during the run."""

    profile: str
    title: str
    sha256: str  # of the profile's file
    cpus: str  # reserved for real-time work, "" if none
    applied: str  # ISO 8601, UTC
    complete: bool  # false if it was only partly applied, or partly restored
    items: list[TuningItem]
    at_start: list[str]  # values not in effect when the run began; empty: verified
    at_end: list[str]  # values not in effect when it ended


class PreflightEntry(Model):
    """One check of this Linux before a run."""

    code: str  # stable, kebab-case; that of the warning if there is one
    verdict: Literal["good", "finding", "unknown"]
    effect: str  # of such a finding on figures of this Linux
    invalidates: list[str]  # claims that a finding invalidates: "medians", "worst-cases"
    message: str = ""  # the finding, or why it is unknown
    remedy: str = ""
    tunings: list[str] = []  # profiles that remove the finding: kadenz tune apply NAME


class ConditionEntry(Model):
    """One thing under which a run was measured. A run without this kind had the usual value."""

    kind: str  # "load", "temperature"
    value: str  # "disk", "60 °C"
    label: str = ""  # in names of runs: "at 60 °C"; by default kind and value
    usual: str = ""  # the value of runs that do not state this kind; "": not known
    changes_system: bool = True  # runs that differ in it are never repetitions of each other

    def __post_init__(self) -> None:
        self.label = self.label or f"{self.kind} {self.value}"


class CampaignEntry(Model):
    """The request behind a run."""

    name: str
    file: str
    sha256: str
    quick: bool


class CallEntry(Model):
    """The call of `kadenz run` that measures; `run --resume` repeats it."""

    arguments: list[str] = msgspec.field(name="words")  # of the command line, after `kadenz run`
    folder: str  # in which it was called
    lab: str = ""  # its folder; "": without a lab, or from before it was written down


class ResumeEntry(Model):
    """A continuation of the run. Records that it replaces are below `interrupted/` in the folder.

    The first entry's are in `interrupted/1`.
    """

    at: str  # ISO 8601, UTC
    reason: str  # why the run had stopped
    kept: list[int]  # records that stay as they were measured before


class Manifest(Model):
    """run.json of a run folder."""

    schema_version: int
    kadenz_version: str
    id: str  # "20261121-103000-freertos-hifive1-revb"
    created: str  # ISO 8601, UTC
    duration_s: Amount
    partial: bool  # stopped before the plan was completed
    partial_reason: str
    campaign: CampaignEntry
    target: TargetEntry
    clock: ClockEntry
    build: BuildEntry | None
    host: HostEntry
    emulator: EmulatorEntry | None
    conditions: list[ConditionEntry]  # in order, each kind once
    warnings: list[Warning]
    records: list[RecordEntry]
    loads: list[LoadEntry] = []
    tuning: TuningEntry | None = None
    preflight: list[PreflightEntry] = []  # tier `host`
    name: str = ""  # of the call of `kadenz run`: its runs share it; "" before runs had names
    variant: str = ""  # `run --rounds`: the condition that distinguishes this run, "load disk"
    round: Count = 0  # round number from 1; 0: not part of rounds
    place: Count = 0  # within its round, from 1
    benchmark_notes: dict[str, str] = {}  # board.toml: notes on single benchmarks' figures
    events: list[EventEntry] = []  # in order of first appearance
    call: CallEntry | None = None  # None: before runs could be resumed, or not made by `run`
    resumed: list[ResumeEntry] = []
    planned: list[Count] = []  # ids of the records of a complete run; empty: not stated
    kadenz_describe: str = ""  # git describe --always --dirty of its checkout; "" outside git

    @property
    def condition_values(self) -> dict[str, str]:
        """The value of each condition by its kind."""
        return {condition.kind: condition.value for condition in self.conditions}

    def enter_condition(self, entry: ConditionEntry) -> None:
        """Adds a condition, or replaces that of its kind."""
        kinds = {condition.kind: condition for condition in self.conditions} | {entry.kind: entry}
        self.conditions = list(kinds.values())
