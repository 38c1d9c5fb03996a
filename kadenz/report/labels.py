# SPDX-License-Identifier: Apache-2.0
"""What runs, points and units are called in the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from kadenz.analysis.results import LaneResult, RecordResult, RunResult
from kadenz.analysis.units import Unit
from kadenz.report.loads import load_of

CLASS_WORDS = {
    "hardware": "hardware",
    "cycle-exact": "cycle-exact",
    "cycle-model": "cycle model",
    "instruction": "instructions",
    "hosted": "hosted",
}


def run_labels(runs: Sequence[RunResult]) -> list[str]:
    """A short name for each run, unique: the target; where two share it, what tells them apart.

    A partial run is called so in every table and plot.
    """
    names = [run.name + (" (partial)" if run.manifest.partial else "") for run in runs]
    manifests = [run.manifest for run in runs]
    for words in (
        [manifest.target.kernel_version for manifest in manifests],
        [f"load {load_of(manifest)}" for manifest in manifests],
        [manifest.conditions.get("tuning") or "not tuned" for manifest in manifests],
        [manifest.target.bus or "no bus" for manifest in manifests],
        [manifest.target.instrument for manifest in manifests],
        [manifest.campaign.name for manifest in manifests],
    ):
        twins = {
            name
            for name in names
            if len({w for n, w in zip(names, words, strict=True) if n == name}) > 1
        }
        names = [
            f"{name} ({word})" if name in twins else name
            for name, word in zip(names, words, strict=True)
        ]
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name} #{seen[name]}" if names.count(name) > 1 else name)
    return unique


def board(run: RunResult) -> str:
    """ "SiFive HiFive1 Rev B", for people; with a fieldbus also what that was."""
    target = run.manifest.target
    name = target.title or target.board
    return f"{name} ({target.bus})" if target.bus else name


def kernel(run: RunResult) -> str:
    """ "FreeRTOS V11.2.0"."""
    target = run.manifest.target
    return f"{target.kernel_name} {target.kernel_version}".strip()


class _Point(Protocol):
    """A benchmark at some parameters: a record, or a comparison of two."""

    @property
    def bench(self) -> str: ...

    @property
    def params(self) -> dict[str, int]: ...


def constants_of(points: Iterable[_Point]) -> dict[str, dict[str, int]]:
    """By benchmark: parameters that are the same at every point, said once and not in each row.

    The message size always stays with its row.
    """
    found: dict[str, list[dict[str, int]]] = {}
    for point in points:
        own = found.setdefault(point.bench, [])
        if point.params:
            own.append(point.params)
    return {
        bench: {
            name: value
            for name, value in (params[0].items() if params else ())
            if name != "size_bytes" and all(other.get(name) == value for other in params)
        }
        for bench, params in found.items()
    }


def constants(bench: str, runs: Sequence[RunResult]) -> dict[str, int]:
    """As `constants_of`, for one benchmark over all runs."""
    records = (r for run in runs for r in run.records if r.bench == bench)
    return constants_of(records).get(bench, {})


def parameters(params: dict[str, int]) -> str:
    """ "every 10 ms, rank a 8"."""
    words = (_parameter(name, value) for name, value in params.items())
    return ", ".join(word for word in words if word)


def point(record: RecordResult, *, hide: Collection[str] = ()) -> str:
    """ "60 bytes, every 10 ms": the parameters of a point in words."""
    words = []
    for name, value in record.params.items():
        if name not in hide:
            words.append(_parameter(name, value))
    return ", ".join(word for word in words if word) or "–"


# Parameters of cyclic/ whose usual value goes without saying, and the words of the others.
_WORDS: dict[str, dict[int, str]] = {
    "threads": {0: ""},
    "core": {255: ""},
    "distance_us": {0: ""},
    "phase_us": {0: ""},
    "policy": {0: "", 1: "round robin", 2: "deadline", 3: "fair"},
    "timer": {0: "", 1: "timer read", 2: "timer signals"},
    "context": {0: "", 1: "cheap context", 2: "full context"},
    "stop_above_us": {0: ""},
    "trace": {0: "", 1: ""},
}


def _parameter(name: str, value: int) -> str:
    """A parameter in words; "" for one that goes without saying."""
    if value in _WORDS.get(name, {}):
        return _WORDS[name][value]
    if name == "size_bytes":
        return f"{value:,} bytes"
    if name == "period_us":
        return f"every {value / 1000:g} ms" if value >= 1000 else f"every {value} µs"
    if name == "iterations":
        return f"{value:,} iterations"
    for suffix, unit in (("_us", "µs"), ("_ms", "ms"), ("_bytes", "bytes"), ("_hz", "Hz")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ')} {value:,} {unit}"
    return f"{name.replace('_', ' ')} {value:,}"


def lane(record: RecordResult, one: LaneResult) -> str:
    """The lane's name, where a record has several."""
    return one.name if len(record.lanes) > 1 else ""


def unit(of: Unit) -> str:
    """ "µs · hosted": a figure's unit never goes without its clock class."""
    return (
        f"{of.label} · {CLASS_WORDS[of.clock_class]}"
        if of.label != CLASS_WORDS[of.clock_class]
        else of.label
    )


def slug(*parts: str) -> str:
    """Words as part of a file's name or an anchor."""
    text = "-".join(parts).lower()
    return "-".join("".join(c if c.isalnum() else " " for c in text).split())
