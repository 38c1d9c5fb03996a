# SPDX-License-Identifier: Apache-2.0
"""A kernel call on one of two Ibex, over the moment at which the other one begins to work."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from kadenz.analysis import analyse, analyse_record
from kadenz.analysis.structures.offsets import Offsets
from kadenz.cli.folders import find_runs
from kadenz.config.manifest import OFFSET, RecordEntry
from kadenz.errors import UsageError
from kadenz.report.labels import labelled
from kadenz.report.views.offsets import table_of_offsets
from kadenz.store import Run
from tests.rtl.planted import plant
from tests.rtl.test_cores import IBEX, kadenz, measured
from tests.rtl.test_two_cores import IBEX_2

pytestmark = pytest.mark.counted
BEFORE, BEHIND = 300, 700
KINDS = ("none", "loop", "memory", "own", "same")
WAITING = 40  # cycles: what another core costs the call that waits for its moment
LOOKS = 200  # cycles before that moment in which it looks at the clock, which costs more


def swept(folder: Path, *kinds: str, target: str = IBEX_2) -> Run:
    """A run of the sweep with each offset planned twice."""
    settings = {
        "samples": 2 * (BEFORE + BEHIND + 1),
        "other_core": ",".join(kinds),
        "before": BEFORE,
        "behind": BEHIND,
    }
    options = [f"--set={name}={value}" for name, value in settings.items()]
    (run,) = measured(folder, "smp/offset", "--target", target, "--fresh", *options)
    return run


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The same sweep twice."""
    first, again = (swept(tmp_path_factory.mktemp(name), *KINDS) for name in ("first", "again"))
    return first, again


def record_of(run: Run, kind: str) -> RecordEntry:
    (record,) = [r for r in run.manifest.records if r.params.get("other_core") == kind]
    assert (record.status, record.reason) == ("ok", ""), kind
    return record


def offsets_of(run: Run, record: RecordEntry) -> npt.NDArray[np.int64]:
    beside = record.companions(record.series[0])
    begin, other = (run.samples(record, beside[kind]).astype(np.int64) for kind in OFFSET)
    return other - begin


def latencies(run: Run, record: RecordEntry) -> npt.NDArray[np.int64]:
    return run.samples(record, 0).astype(np.int64)


def test_two_sweeps_have_the_same_bytes(both: tuple[Run, Run]) -> None:
    for kind in KINDS:
        first, again = (record_of(run, kind) for run in both)
        lanes = list(zip(first.lanes, again.lanes, strict=True))
        assert len(lanes) == (1 if kind == "none" else 3)
        for ours, theirs in lanes:
            values, same = both[0].samples(first, ours), both[1].samples(again, theirs)
            assert values.tobytes() == same.tobytes(), (kind, ours.name)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_offsets_go_up_without_a_gap_through_the_whole_window(
    both: tuple[Run, Run], kind: str
) -> None:
    run = both[0]
    record = record_of(run, kind)
    offsets = offsets_of(run, record)
    planned = np.tile(np.arange(-BEFORE, BEHIND + 1), 2)
    # What a core of two on one bus can be off, and few are as much.
    assert np.abs(offsets - planned).max() < 64
    assert np.median(np.abs(offsets - planned)) <= 2
    sweep = analyse_record(run, record).structure(Offsets)
    assert sweep is not None
    assert sweep.apart <= 10
    assert sweep.outside <= 20  # of 2,002, at its ends
    assert sweep.tried > (BEFORE + BEHIND) / 2  # they share a bus, and take turns


def test_worst_has_every_kind_and_where_it_is_worst(tmp_path: Path) -> None:
    """Without a word of the samples or the kinds, in a small window."""
    window = ("--set", "before=60", "--set", "behind=20", "--set", "samples=81")
    call = ("worst", "smp/offset", "--target", IBEX_2, *window, "--output", str(tmp_path))
    answer = kadenz(*call, "--json")
    assert answer.return_value == 0, answer.output
    shown = json.loads(answer.stdout[answer.stdout.index("{\n") :])  # behind the progress
    (rows,) = [run["records"] for run in shown["runs"]]
    worst = {row["params"]["other_core"]: row for row in rows if row["bench"] == "smp/offset"}
    assert [*worst] == [*KINDS] and shown["states"] == []
    assert "offsets" not in worst["none"]
    assert -60 < worst["own"]["offsets"]["worst"] < 0  # the other core takes the lock just before

    (run,) = find_runs([tmp_path])
    table = table_of_offsets(labelled([analyse(run)]))
    assert table is not None and any("No bound for other calls" in note for note in table.notes)
    for kind, cells in zip(KINDS, table.rows, strict=True):
        most = latencies(run, record_of(run, kind)).max()
        assert [cells[2].text, cells[5].text] == [kind, str(most)]


@pytest.mark.parametrize(
    "options",
    ["--with tick", "--why", "--step 2", "--state waking=1", "--instrument scope"],
)
def test_what_asks_for_an_interrupt_has_no_sweep(options: str, tmp_path: Path) -> None:
    answer = kadenz(
        *("worst", "smp/offset", *options.split(), "--target", IBEX_2, "--output", str(tmp_path))
    )
    assert isinstance(answer.exception, UsageError)
    assert f"it has no {options.split()[0]}" in answer.exception.message
    assert not list(tmp_path.iterdir())


def test_on_one_core_it_says_that_it_needs_two(tmp_path: Path) -> None:
    answer = kadenz("worst", "smp/offset", "--target", IBEX, "--output", str(tmp_path))
    assert answer.return_value == 0 and "this point needs two cores" in answer.output


def test_each_kind_of_work_costs_what_it_meets(both: tuple[Run, Run]) -> None:
    run = both[0]
    by_kind = {kind: latencies(run, record_of(run, kind)) for kind in KINDS}
    alone = by_kind["none"]
    assert alone.min() == alone.max()  # no tick of the kernel came into a sample
    for kind in KINDS[1:]:
        record = record_of(run, kind)
        behind = by_kind[kind][offsets_of(run, record) > alone[0] + LOOKS]
        assert alone[0] <= behind.min() and behind.max() <= alone[0] + WAITING
        assert by_kind[kind].max() > alone[0] + 1.5 * WAITING
    # A call of the kernel on any object holds the lock that all have in common.
    for kind in ("own", "same"):
        assert by_kind[kind].max() > 1.3 * by_kind["loop"].max()


def test_the_worst_offset_moves_with_the_call_of_the_other_core(
    tmp_path: Path, both: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = plant("longer_call", "kdz_sem_give", tmp_path, monkeypatch)
    longer = swept(tmp_path / "runs", "own", target=target)
    usual, moved = (
        analyse_record(run, record_of(run, "own")).structure(Offsets) for run in (both[0], longer)
    )
    assert usual is not None and moved is not None
    assert -60 < usual.worst[0] < 0  # the other core takes the lock just before
    assert 180 <= usual.worst[0] - moved.worst[0] <= 300
