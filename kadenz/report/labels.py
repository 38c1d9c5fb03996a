# SPDX-License-Identifier: Apache-2.0
"""Names of runs, points and units in the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.analysis.systems import aligned, conditions_of, names_of
from kadenz.analysis.units import VIRTUAL_NS, Unit
from kadenz.analysis.variants import variants_of
from kadenz.config.manifest import Manifest
from kadenz.config.params import PERIOD, Params, Value, number
from kadenz.config.quantity import Quantity

_COUNTED = ("instructions", "cycles", VIRTUAL_NS, "ticks")
MARK = " †"  # next to a figure that carries a note

CLASS_WORDS = {
    "hardware": "hardware",
    "cycle-exact": "cycle-exact",
    "cycle-model": "cycle model",
    "instruction": "instructions",
    "hosted": "hosted",
}


def run_labels(runs: Sequence[RunResult]) -> list[str]:
    """A short, unique name for each run: its variant's, plus the round if there are several.

    A partial run is labelled as partial in every table and plot.
    """
    named = [""] * len(runs)
    variants = variants_of([run.manifest for run in runs])
    for variant, name in zip(variants, variant_labels(runs), strict=True):
        for place in variant.runs:
            manifest = runs[place].manifest
            round_ = f", round {manifest.round}" if len(variant.runs) > 1 else ""
            partial = " (partial)" if manifest.partial and round_ else ""
            named[place] = f"{name}{round_}{partial}"
    return named


def labelled(runs: Sequence[RunResult]) -> list[tuple[str, RunResult]]:
    """Each run with its label."""
    return list(zip(run_labels(runs), runs, strict=True))


def variant_labels(runs: Sequence[RunResult]) -> list[str]:
    """A short, unique name for each variant of `runs`: the target and its distinguishing words."""
    return [
        " ".join((name, *(word if word[0] == "#" else f"({word})" for word in apart)))
        for name, apart in _apart(runs)
    ]


def variant_names(runs: Sequence[RunResult]) -> list[str]:
    """As `variant_labels`, without the words that all share: "load disk"."""
    apart = _apart(runs)
    if len({name for name, _ in apart}) > 1 or not all(parts for _, parts in apart):
        return variant_labels(runs)
    return [", ".join(parts) for _, parts in apart]


def styles(runs: Sequence[RunResult]) -> list[int]:
    """The variant number of each run, from 0; it fixes the colour and dashes of its lines."""
    numbers = [0] * len(runs)
    for count, variant in enumerate(variants_of([run.manifest for run in runs])):
        for place in variant.runs:
            numbers[place] = count
    return numbers


def styled(runs: Sequence[tuple[str, RunResult]]) -> list[tuple[int, str, RunResult]]:
    """Each (label, run), preceded by its variant number."""
    numbers = styles([run for _, run in runs])
    return [(number, label, run) for number, (label, run) in zip(numbers, runs, strict=True)]


def figure_label(label: str, run: RunResult, bench: str) -> str:
    """A run's label for a figure of `bench`: it names simulated drives and marks a figure that
    carries a note."""
    of_drives = run.manifest.target.bus and any(r.nature != "context" for r in run.find(bench))
    name = f"{label}, {drives(run)}" if of_drives else label
    return name + MARK if note(run, bench) else name


def note(run: RunResult, bench: str) -> str:
    """Why a benchmark's figure does not describe its target; "" if it does."""
    return run.manifest.benchmark_notes.get(bench, "").rstrip(".")


def drives(run: RunResult) -> str:
    """The kind of drives: "simulated drives", or "drives on interface eth1" (may be real)."""
    bus = run.manifest.target.bus
    return f"drives on {bus}" if bus.startswith("interface") else "simulated drives"


def _apart(runs: Sequence[RunResult]) -> list[tuple[str, list[str]]]:
    """The target of each variant, and the words that distinguish it from others there."""
    variants = variants_of([run.manifest for run in runs])
    first = [runs[variant.runs[0]] for variant in variants]
    alone = [len(variant.runs) == 1 for variant in variants]
    names = [
        run.name + (" (partial)" if run.manifest.partial and single else "")
        for run, single in zip(first, alone, strict=True)
    ]
    parts: list[list[str]] = [[] for _ in first]
    manifests = [run.manifest for run in first]
    columns: list[list[str]] = [
        [manifest.target.kernel_version for manifest in manifests],
        *map(names_of, zip(*aligned(manifests, conditions_of), strict=True)),
        [manifest.target.instrument for manifest in manifests],
        [manifest.campaign.name for manifest in manifests],
        [_source(manifest) for manifest in manifests],
    ]
    for column in columns:
        keys = [
            (name, tuple(variant_parts)) for name, variant_parts in zip(names, parts, strict=True)
        ]
        twins = {
            key
            for key in keys
            if len({w for k, w in zip(keys, column, strict=True) if k == key}) > 1
        }
        for key, variant_parts, word in zip(keys, parts, column, strict=True):
            if key in twins and word:
                variant_parts.append(word)
    keys = [(name, tuple(variant_parts)) for name, variant_parts in zip(names, parts, strict=True)]
    seen: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for key, variant_parts in zip(keys, parts, strict=True):
        seen[key] += 1
        if keys.count(key) > 1:
            variant_parts.append(f"#{seen[key]}")
    return list(zip(names, parts, strict=True))


def _source(manifest: Manifest) -> str:
    """The folder of a kernel tree, or the file of an image, if one was named."""
    source = manifest.build.kernel_source if manifest.build is not None else ""
    return f"kernel source {source}" if source and not source.startswith("image ") else source


def board(run: RunResult) -> str:
    """ "SiFive HiFive1 Rev B", with the fieldbus if there is one."""
    target = run.manifest.target
    name = target.title or target.board
    return f"{name} ({target.bus})" if target.bus else name


def kernel(run: RunResult) -> str:
    """The kernel with its version: "FreeRTOS V11.2.0"."""
    target = run.manifest.target
    return f"{target.kernel_name} {target.kernel_version}".strip()


def kernels(runs: Iterable[RunResult]) -> str:
    """The kernels of several runs, without their versions: "FreeRTOS, ThreadX and Linux"."""
    return listed(list(dict.fromkeys(run.manifest.target.kernel_name for run in runs)))


def listed(names: Sequence[str]) -> str:
    """ "A, B and C"."""
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), *names[-1:]])


def quantity(of: Quantity) -> str:
    """ "1 ms", "250 µs", "900 instructions"."""
    if of.is_time and of.microseconds >= 1000.0:
        return f"{of.microseconds / 1000.0:,g} ms"
    return str(of)


class _Point(Protocol):
    """A benchmark at some parameters: a record, or a comparison of two."""

    @property
    def bench(self) -> str: ...

    @property
    def params(self) -> Params: ...


def constants_of(points: Iterable[_Point]) -> dict[str, Params]:
    """Parameters that are the same at every point, by benchmark; shown once, not in each row.

    The message size always stays in its row.
    """
    by_bench: dict[str, list[Params]] = {}
    for point in points:
        bench_params = by_bench.setdefault(point.bench, [])
        if point.params:
            bench_params.append(point.params)
    return {
        bench: {
            name: value
            for name, value in (params[0].items() if params else ())
            if name != "size_bytes" and all(other.get(name) == value for other in params)
        }
        for bench, params in by_bench.items()
    }


def constants(bench: str, runs: Sequence[RunResult]) -> Params:
    """As `constants_of`, for one benchmark over all runs."""
    records = (r for run in runs for r in run.records if r.bench == bench)
    return constants_of(records).get(bench, {})


def parameters(params: Params) -> str:
    """ "every 10 ms, rank a 8"."""
    parts = (_parameter(name, value) for name, value in params.items())
    return ", ".join(word for word in parts if word)


def point(record: RecordResult, *, hide: Collection[str] = ()) -> str:
    """ "60 bytes, every 10 ms": the parameters of a point in words."""
    parts = []
    for name, value in record.params.items():
        if name not in hide:
            parts.append(_period(record) if name == PERIOD else _parameter(name, value))
    return ", ".join(word for word in parts if word) or "–"


def _period(record: RecordResult) -> str:
    """ "every 2 ms (1.5 ms asked)": the period that the kernel gave."""
    asked, had = number(record.params, PERIOD), record.entry.period_us()
    if asked == had:
        return _number(PERIOD, asked)
    return f"every {_time(had, 4)} ({_time(asked)} asked)"


def _time(us: float, digits: int = 6) -> str:
    return f"{us / 1000:.{digits}g} ms" if us >= 1000 else f"{us:.{digits}g} µs"


# Parameters of cyclic/: usual values are not shown, the others get these words.
_VALUE_LABELS: dict[str, dict[Value, str]] = {
    "threads": {0: ""},
    "core": {255: ""},
    "distance_us": {0: ""},
    "phase_us": {0: ""},
    "policy": {"fifo": "", "round-robin": "round robin"},
    "timer": {"sleep": ""},
    "soft_timer": {0: "", 1: "paced by timerfd"},
    "acquisition": {"same": "", "second": "second acquisition"},
    "context": {"none": "", "cheap": "cheap context", "full": "full context"},
    "stop_above_us": {0: ""},
    "trace": {0: "", 1: ""},
    "migrate": {"none": "", "watch": "cores watched", "move": "moved", "load": "driven by loads"},
}


# The words that runs of version 0.1 have as numbers.
_NUMBERED: dict[str, tuple[str, ...]] = {
    "policy": ("fifo", "round-robin", "deadline", "fair"),
    "timer": ("sleep", "timerfd", "posix-timer"),
    "context": ("none", "cheap", "full"),
}


def _parameter(name: str, value: Value) -> str:
    """A parameter in words; "" for a usual value."""
    if name in _NUMBERED and isinstance(value, int):
        value = _NUMBERED[name][value]
    if value in _VALUE_LABELS.get(name, {}):
        return _VALUE_LABELS[name][value]
    if isinstance(value, str):
        return f"{name.replace('_', ' ')} {value}"
    return _number(name, value)


def _number(name: str, value: int) -> str:
    if name == "size_bytes":
        return f"{value:,} bytes"
    if name == "period_us":
        return f"every {_time(value)}"
    if name == "iterations":
        return f"{value:,} iterations"
    for suffix, unit in (("_us", "µs"), ("_ms", "ms"), ("_bytes", "bytes"), ("_hz", "Hz")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ')} {value:,} {unit}"
    return f"{name.replace('_', ' ')} {value:,}"


def lane(record: RecordResult, lane: LaneResult) -> str:
    """The lane's name if the record has several."""
    return lane.name if len(record.lanes) > 1 else ""


def unit(of: Unit) -> str:
    """ "µs · hosted": a unit is always shown with its clock class."""
    return (
        f"{of.label} · {CLASS_WORDS[of.clock_class]}"
        if of.label != CLASS_WORDS[of.clock_class]
        else of.label
    )


def comparative(of: Unit) -> tuple[str, str]:
    """ "is faster", "takes fewer instructions": only times are faster, a shorter path is not."""
    if of.is_time:
        return "is", "faster"
    return ("takes", f"fewer {of.label}") if of.label in _COUNTED else ("is", "lower")


def slug(*parts: str) -> str:
    """Words in a form for file names and anchors."""
    text = "-".join(parts).lower()
    return "-".join("".join(c if c.isalnum() else " " for c in text).split())
