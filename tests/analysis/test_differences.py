# SPDX-License-Identifier: Apache-2.0
"""Every value of a manifest counts as configuration, unless a reason says why it cannot matter."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from kadenz.analysis.differences import CANNOT_MATTER, differences
from kadenz.analysis.history import Histories
from kadenz.analysis.matching import SameRuns
from kadenz.config import manifest as m
from kadenz.config.manifest import Manifest
from kadenz.store import Run, read_run
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, LINUX, Point, manifest, under, write_run


def full() -> Manifest:
    """A manifest in which every field has a value."""
    document = manifest(LINUX)
    spread = m.Distribution(n=1, min=1.0, median=1.0, max=1.0)
    document.clock = msgspec.structs.replace(
        document.clock,
        instructions_per_count=2.0,
        resolution=spread,
        read_cost=spread,
        model=m.ModelEntry(name="m", title="t", parameters={"refill": (1, 3)}, checked="by hand"),
        rate=m.RateEntry(against="x", hz=1.0, low=0.9, high=1.1, tolerance_ppm=20.0),
    )
    assert document.build is not None
    document.build.parts = [m.PartEntry(part="kernel", files=3, sha256="a" * 64, version="v1")]
    document.build.footprint = [
        m.FootprintEntry(part="kernel", file="list.c", code=4, stored=4, resident=0)
    ]
    document.build.objects = [m.ObjectEntry(kind="task", type="tcb", bytes=80, plus="its stack")]
    document.emulator = m.EmulatorEntry(name="qemu", version="10", arguments=["-icount", "shift=0"])
    document.conditions = under(load="disk", temperature="20 °C")
    document.warnings = [m.Warning(code="smt", message="m", remedy="r")]
    document.loads = [
        m.LoadEntry(
            name="disk", title="t", workers=2, command=["fio"], cpus=[1], settings={"size": "1"},
            counter="c", unit="MB/s", idle_rate=0.0, rate=9.0, rate_before=9.0, least=1.0,
            record_rates={10: 9.0}, record_cpu_percent={10: 3.0}, cpu_percent=3.0, verified=True,
            reason="r",
        )
    ]  # fmt: skip
    item = m.TuningItem(key="k", what="w", count=1, was="0", value="1", state="applied")
    document.tuning = m.TuningEntry(
        profile="latency", title="t", sha256="b" * 64, cpus="1", applied="now", complete=True,
        items=[item], at_start=["x"], at_end=["y"],
    )  # fmt: skip
    document.preflight = [
        m.PreflightEntry(code="smt", verdict="good", effect="e", invalidates=["medians"])
    ]
    document.benchmark_notes = {"itc/mutex": "a note"}
    document.events = [
        m.EventEntry(
            kind="k", reaction="r", count=1, first_cycle=1, last_cycle=1, least=[], greatest=[]
        )
    ]
    document.call = m.CallEntry(arguments=["x"], folder="/")
    document.resumed = [m.ResumeEntry(at="now", reason="r", kept=[10])]
    document.records = [record()]
    return document


def record() -> m.RecordEntry:
    return m.RecordEntry(
        id=10, bench="itc/mutex", params={"size_bytes": 4}, ranks={"rank_a": 8}, begins="b",
        ends="e", source="s", status="ok", reason="r", unit="ticks", cold=3, drains=[1],
        lanes=[
            m.LaneEntry(
                name="core0", file="f", dtype="<u4", planned=9, taken=9, missed=0, overrun=0,
                sha256="c" * 64, companion_of="x", unit="u", period_us=1e3,
            )
        ],
        proof=m.ProofEntry(checked=9, failed=0, reason="r"),
        deadline=m.DeadlineEntry(quantity="1ms", origin="campaign"), duration_s=1.0,
        value=m.ValueEntry(key="k", measured="now", stored=False), declared="span",
        raised=m.RaisedEntry(by="t", resolution=2, step=1, exact=True),
        code_bytes=96,
    )  # fmt: skip


def mutated(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return "x" + value
    if isinstance(value, dict):
        return {key: mutated(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return (*value[:-1], mutated(value[-1]))
    return [*value, "x"]


def places(struct: Any, path: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every field: its path, the object that has it, its name."""
    for field in msgspec.structs.fields(struct):
        value, below = getattr(struct, field.name), f"{path}.{field.name}".lstrip(".")
        entries = value if isinstance(value, list) else [value]
        if any(isinstance(entry, msgspec.Struct) for entry in entries):
            for entry in entries:
                yield from places(entry, below)
        else:
            yield below, struct, field.name


PATHS = [path for path, _, _ in places(full())]


def cannot_matter(path: str) -> bool:
    parts = path.split(".")
    return any(".".join(parts[:n]) in CANNOT_MATTER for n in range(1, len(parts) + 1))


@pytest.mark.parametrize("path", PATHS)
def test_a_changed_field_is_a_difference_unless_a_reason_excludes_it(path: str) -> None:
    left, right = full(), full()
    changed, name = next((entry, name) for at, entry, name in places(right) if at == path)
    assert getattr(changed, name) is not None, f"{path}: `full` gives it no value"
    setattr(changed, name, mutated(getattr(changed, name)))
    assert (differences([left, right]) == []) == cannot_matter(path)
    assert differences([left, copy.deepcopy(left)]) == []


def test_each_reason_is_of_a_field_that_exists() -> None:
    known = {".".join(path.split(".")[:n]) for path in PATHS for n in range(1, 5)}
    assert set(CANNOT_MATTER) <= known
    assert all(CANNOT_MATTER.values())


def test_an_emulated_run_does_not_depend_on_the_machine_of_the_emulator() -> None:
    left, right = manifest(HIFIVE1), manifest(HIFIVE1)
    right.host.kernel, right.host.facts = "7.0", {"governor": "performance"}
    assert differences([left, right]) == []


def test_only_arguments_that_are_not_shared_are_shown_unless_their_order_differs() -> None:
    left, right = manifest(HIFIVE1), manifest(HIFIVE1)
    assert left.emulator and right.emulator and left.build and right.build
    right.emulator.arguments = ["-icount", "shift=3"]
    (difference,) = differences([left, right])
    assert (difference.group, difference.key, difference.values) == (
        *("emulator", "arguments"),
        ("shift=0", "shift=3"),
    )
    right.emulator.arguments = left.emulator.arguments
    left.build.flags, right.build.flags = "-O2 -O0", "-O0 -O2"
    (difference,) = differences([left, right])
    assert difference.values == ("-O2 -O0", "-O0 -O2")


def changed_run(folder: Path, change: str) -> Run:
    """A run of a model with one thing changed."""
    document = manifest({**HIFIVE1, "name": "freertos/stm32f4@emulated"})
    parameters = {"flash_wait": (5, 5) if change == "model" else (0, 5)}
    document.clock.model = m.ModelEntry(name="m4", title="M4", parameters=parameters, checked="no")
    assert document.emulator is not None
    if change == "arguments":
        document.emulator.arguments = ["-icount", "shift=3"]
    values = np.arange(900, 1100, dtype=np.uint32)
    points = [
        Point(bench, {"all": values}, {"size_bytes": 60}, cold=40 if change == "cold" else 1)
        for bench in ("itc/queue", "itc/mutex")
    ]
    return read_run(write_run(folder, document, points))


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ("model", "model: flash_wait"),
        ("arguments", "emulator: arguments"),
        ("cold", "record: cold, every point"),
        ("", "the configurations are the same"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "gate"])
def test_a_model_its_emulator_and_cold_samples_are_configuration(
    tmp_path: Path, change: str, row: str, command: str
) -> None:
    left, right = changed_run(tmp_path / "a", ""), changed_run(tmp_path / "b", change)
    arguments: dict[str, list[str | Path]] = {
        "compare": [left.path, right.path],
        "gate": [right.path, "--against", left.path],
    }
    answer = kadenz(command, *arguments[command])
    assert row in " ".join(answer.stdout.split())
    assert ("the configurations are the same" in answer.stdout) == (not change)


def test_a_history_is_of_records_that_were_measured_alike(tmp_path: Path) -> None:
    """Earlier runs show the spread between runs only if their `cold` is the same."""
    asked, *others = (changed_run(tmp_path, change) for change in ("", "", "", "cold", "cold"))
    entry = asked.manifest.records[0]
    series = Histories([asked]).series(SameRuns([(asked, entry)]), "all")
    assert len(others) == 4 and len(series) == 2
