# SPDX-License-Identifier: Apache-2.0
"""Runs under different conditions are never repetitions, whatever the kind of condition."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.differences import differences
from kadenz.analysis.gating import gate
from kadenz.analysis.systems import system_conditions
from kadenz.analysis.variants import variants_of
from kadenz.archive.adding import add
from kadenz.archive.baseline import baseline_of
from kadenz.archive.history import histories
from kadenz.archive.place import open_archive
from kadenz.config.manifest import ConditionEntry
from kadenz.errors import UsageError
from kadenz.report import labels
from kadenz.store import Run, read_run
from tests.forked import kadenz
from tests.synthetic import HIFIVE1, STM32F4, Point, manifest, under, write_run


@dataclass(frozen=True)
class Kind:
    """Two values of a kind; `label` is in the name of the second. `usual`: the first is."""

    kind: str
    values: tuple[str, str]
    label: str
    usual: bool = False

    def entry(self, which: int) -> ConditionEntry:
        usual = self.values[0] if self.usual else ""
        label = self.label if which else ""
        return ConditionEntry(kind=self.kind, value=self.values[which], label=label, usual=usual)


KINDS = (
    Kind("load", ("none", "disk"), "load disk", usual=True),
    Kind("disturbance", ("none", "period_us=9"), "disturbed", usual=True),
    Kind("tuning", ("none", "latency"), "tuning latency", usual=True),
    Kind("guest kernel", ("linux-image-6.1", "linux-image-6.12"), "kernel 6.12"),
    Kind("rom_wait", ("0", "4"), "rom_wait 4", usual=True),
    Kind("rom_wait", ("4", "10"), "rom_wait 10"),
    Kind("instruction set", ("rv32imac", "rv32im"), "rv32im", usual=True),
    Kind("interface", ("simulated", "eth1"), "interface eth1", usual=True),
    Kind("layout", ("a.toml 01", "a.toml 02"), "layout a.toml 02"),
    Kind("idle states", ("held off", "allowed"), "idle states allowed", usual=True),
    Kind("probe", ("word-1", "word-2"), "probe word-2"),
    Kind("temperature", ("20 °C", "60 °C"), "at 60 °C"),
    Kind("project", ("falcon", "eagle"), "project eagle"),
)
every_kind = pytest.mark.parametrize(
    "kind", KINDS, ids=lambda kind: f"{kind.kind} {kind.values[0]}"
)


def run_of(
    parent: Path, centre: int, *entries: ConditionEntry, version: str = "V11.2.0", seed: int = 1
) -> Run:
    document = manifest(HIFIVE1, id=f"run-{len(list(parent.glob('*')))}")
    document.target.kernel_version = version
    document.conditions = list(entries)
    document.created = f"2026-11-21T10:{len(list(parent.glob('*'))):02}:00+00:00"
    rng = np.random.default_rng([seed, centre])
    values = (centre + rng.integers(0, 20, 400)).astype(np.uint32)
    return read_run(write_run(parent, document, [Point("itc/mutex", {"all": values})]))


@every_kind
def test_sides_of_several_systems_match_value_by_value(tmp_path: Path, kind: Kind) -> None:
    """1,691 and 4,710 are not two measurements of 2,822."""
    sides = [
        [run_of(tmp_path, centre + more, kind.entry(i)) for i, centre in enumerate((1_691, 4_710))]
        for more in (0, 400)
    ]
    points = compare_sides(*sides, statistics=["median"]).points
    assert [round(point.figures[0] or 0, -3) for point in points] == [2_000, 5_000]
    assert kind.label in points[1].target and kind.label not in points[0].target


@every_kind
def test_a_mixed_side_is_refused_and_the_kind_is_named(tmp_path: Path, kind: Kind) -> None:
    mixed = [run_of(tmp_path, 900, kind.entry(i)) for i in (0, 1)]
    other = run_of(tmp_path, 900, ConditionEntry(kind=kind.kind, value="a third"))
    with pytest.raises(UsageError, match=f"2 × {kind.kind}: ") as error:
        compare_sides(mixed, [other])
    assert all(value in error.value.message for value in kind.values)


@every_kind
def test_a_change_of_one_condition_is_compared_and_named(tmp_path: Path, kind: Kind) -> None:
    left, right = (run_of(tmp_path, 900, kind.entry(i)) for i in (0, 1))
    (point,) = compare_sides([left], [right], statistics=["median"]).points
    after = kind.label.removeprefix(f"{kind.kind} ")
    assert point.target.endswith(f"{kind.kind} {kind.values[0]} → {after}")


@every_kind
def test_the_gate_holds_each_value_against_its_own(tmp_path: Path, kind: Kind) -> None:
    """The second system is 9.11 % slower; the first one does not dilute it."""
    base = [run_of(tmp_path, 10_000 * (i + 1), kind.entry(i)) for i in (0, 1)]
    slow = [run_of(tmp_path, c, kind.entry(i)) for i, c in enumerate((10_000, 21_822))]
    verdict = gate(slow, base, statistics=["median"])
    assert [check.outcome for check in verdict.checks] == ["pass", "fail"]
    assert gate(slow, base[:1], statistics=["median"]).outcome == "inconclusive"


@every_kind
def test_the_report_names_the_condition_that_differs(tmp_path: Path, kind: Kind) -> None:
    runs = [analyse(run_of(tmp_path, 900, kind.entry(i))) for i in (0, 1)]
    named = labels.run_labels(runs)
    assert named[1].endswith(f"({kind.label})") and "#" not in "".join(named)


@every_kind
def test_a_report_takes_runs_of_other_targets_that_do_not_state_it(
    tmp_path: Path, kind: Kind
) -> None:
    runs = [run_of(tmp_path, 900, kind.entry(i)) for i in (0, 1)]
    other = manifest(STM32F4, id="other")
    other_run = write_run(tmp_path, other, [Point("itc/mutex", {"all": np.full(20, 7, "<u4")})])
    page = tmp_path / "page.html"
    answer = kadenz(
        "report", *(str(run.path) for run in runs), str(other_run), "--output", str(page)
    )
    assert answer.returncode == 0, answer.stderr
    text = page.read_text()
    assert kind.label in text and STM32F4["name"] in text


@every_kind
def test_rounds_of_two_systems_are_two_variants(tmp_path: Path, kind: Kind) -> None:
    manifests = [run_of(tmp_path, 900, kind.entry(i)).manifest for i in (0, 1)]
    for number, document in enumerate(manifests):
        document.variant, document.round = "of both calls", number + 1
    assert len(variants_of(manifests)) == 2


@every_kind
def test_an_archive_has_a_series_for_each_value(tmp_path: Path, kind: Kind) -> None:
    place = open_archive(str(tmp_path / "archive"), create=True)
    runs = [run_of(tmp_path / "runs", 900 + i, kind.entry(i % 2)) for i in range(4)]
    for run in runs:
        add(place, run, label="main")
    series = histories(place)
    assert sorted(history.conditions[kind.kind] for history in series) == sorted(kind.values)
    assert [len(history.points) for history in series] == [2, 2]
    baseline = baseline_of(place, "main", runs[3].manifest, 10)
    assert list(baseline.runs) == [runs[1].manifest.id]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.usual], ids=lambda kind: kind.kind)
def test_a_run_that_does_not_state_a_kind_had_its_usual_value(tmp_path: Path, kind: Kind) -> None:
    without, usual, other = (
        run_of(tmp_path, 900, *stated) for stated in ((), (kind.entry(0),), (kind.entry(1),))
    )
    runs = [without, usual]
    assert [point.outcome for point in compare_sides([without], [usual]).points] == [
        "equivalent"
    ] * 2
    (point,) = compare_sides(runs, [other], statistics=["median"]).points
    assert f"{kind.kind} {kind.values[0]} → " in point.target
    assert differences([without.manifest, usual.manifest]) == []
    (difference,) = differences([without.manifest, other.manifest])
    assert (difference.key, difference.values) == (kind.kind, kind.values)


def test_without_a_usual_value_stated_and_not_stated_are_two_systems(tmp_path: Path) -> None:
    hot = ConditionEntry(kind="temperature", value="60 °C")
    runs = [run_of(tmp_path, 900), run_of(tmp_path, 900, hot)]
    with pytest.raises(UsageError, match="2 × temperature: 60 °C, –"):
        compare_sides(runs, [run_of(tmp_path, 900, ConditionEntry(kind="temperature", value="9"))])


def test_what_does_not_change_the_system_is_shown_and_tells_nothing_apart(tmp_path: Path) -> None:
    entries = [
        ConditionEntry(kind="operator", value=name, changes_system=False) for name in ("A", "B")
    ]
    runs = [run_of(tmp_path, 900, entry) for entry in entries]
    assert len(compare_sides(runs, runs, statistics=["median"]).points) == 1
    assert system_conditions(runs[0].manifest) == {}
    assert labels.run_labels([analyse(run) for run in runs])[1].endswith("(operator B)")
    (configuration,) = compare_sides(runs[:1], runs[1:]).configurations
    assert [(change.group, change.key, change.values) for change in configuration.differences] == [
        ("condition", "operator", ("A", "B"))
    ]


def test_a_new_kernel_under_two_conditions_is_compared_condition_by_condition(
    tmp_path: Path,
) -> None:
    sides = [
        [run_of(tmp_path, centre, entry, version=version) for entry in map(KINDS[11].entry, (0, 1))]
        for version, centre in (("V10", 900), ("V11", 990))
    ]
    points = compare_sides(*sides, statistics=["median"]).points
    assert [point.target.partition(", ")[2] for point in points] == [
        "temperature 20 °C, FreeRTOS V10 → FreeRTOS V11",
        "at 60 °C, FreeRTOS V10 → FreeRTOS V11",
    ]


OLD = {
    "load": "disk",
    "tuning": "none",
    "instruction set": "rv32im",
    "rom_wait": "4",
    "project": "falcon",
}


def old_run(parent: Path) -> Path:
    """A run folder as kadenz wrote it before conditions were data."""
    folder = run_of(parent, 900).path
    plain = json.loads((folder / "run.json").read_text())
    plain |= {"schema_version": 1, "conditions": OLD}
    plain["target"]["settings"] |= {
        "transport": "interface eth1, checked",
        "layout": "lab/robot.toml",
        "layout_sha256": "0123456789abcdef",
    }
    plain["warnings"] = [{"code": "idle-states-allowed", "message": "", "remedy": ""}]
    (folder / "run.json").write_text(json.dumps(plain))
    return folder


def test_an_old_run_is_read_with_the_conditions_it_states(tmp_path: Path) -> None:
    old = read_run(old_run(tmp_path)).manifest
    assert [
        (condition.kind, condition.value, condition.label, condition.usual)
        for condition in old.conditions
    ] == [
        ("load", "disk", "load disk", "none"),
        ("tuning", "none", "tuning none", "none"),
        ("instruction set", "rv32im", "rv32im", ""),
        ("rom_wait", "4", "rom_wait 4", ""),
        ("project", "falcon", "project falcon", ""),
        ("interface", "eth1", "interface eth1", "simulated"),
        ("layout", "robot.toml 0123456789ab", "layout robot.toml", "built in"),
        ("idle states", "allowed", "idle states allowed", "held off"),
    ]


def test_an_old_and_a_new_run_of_one_system_are_repetitions(tmp_path: Path) -> None:
    old = read_run(old_run(tmp_path))
    new = run_of(tmp_path, 900, *old.manifest.conditions)
    (point,) = compare_sides([old], [new], statistics=["median"]).points
    assert point.target == compare_sides([new], [new], statistics=["median"]).points[0].target
    other = run_of(tmp_path, 900, *under(**{**OLD, "load": "none"}))
    (point,) = compare_sides([old], [other], statistics=["median"]).points
    assert "load disk → none" in point.target


@pytest.mark.parametrize(
    "line",
    [
        "show OLD",
        "runs FOLDER",
        "report OLD --output page.html",
        "export OLD --summary",
        "compare OLD NEW",
        "gate NEW --against OLD",
        "archive add OLD --label main",
        "gate NEW --against archive:main",
        "history",
        "archive export public --public",
    ],
)
def test_every_command_reads_an_old_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    old = old_run(tmp_path / "old")
    place = open_archive("archive", create=True)
    if ("archive" in line and "add" not in line) or line == "history":
        add(place, read_run(old), label="main")
    new = run_of(tmp_path / "old", 900, *read_run(old).manifest.conditions)
    paths = {"OLD": str(old), "NEW": str(new.path), "FOLDER": str(tmp_path / "old")}
    answer = kadenz(*(paths.get(word, word) for word in line.split()))
    assert answer.returncode == 0, answer.stderr
    assert json.loads((old / "run.json").read_text())["schema_version"] == 1  # it stays as it is
