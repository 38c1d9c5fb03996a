# SPDX-License-Identifier: Apache-2.0
"""A parameter that one image lacks has its default, wherever records of two runs are matched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kadenz.analysis import analyse
from kadenz.analysis.comparing import compare_sides
from kadenz.analysis.history import Histories
from kadenz.analysis.matching import SameRuns
from kadenz.analysis.shared import shared_points
from kadenz.archive.adding import add
from kadenz.archive.baseline import baseline_of
from kadenz.archive.history import histories
from kadenz.archive.place import Place, open_archive
from kadenz.config.manifest import Manifest
from kadenz.report.views import how_true
from kadenz.store import Run, read_run
from kadenz.store.manifest_file import read_manifest, write_manifest
from tests.analysis.test_matching import TWINS, twins


def changed(run: Run, change: Callable[[Manifest], None]) -> Run:
    document = read_manifest(run.path)
    change(document)
    write_manifest(run.path, document, sync=False)
    return read_run(run.path)


def compared(left: Run, right: Run) -> bool:
    return bool(compare_sides([left], [right], statistics=["median"]).points)


def with_history(left: Run, right: Run) -> bool:
    """Two further runs of the right side's image are beside the left one."""
    copy = right.path.with_name("again")
    copy.mkdir()
    for file in right.path.rglob("*"):
        if file.is_file():
            target = copy / file.relative_to(right.path)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    return bool(Histories([left]).series(SameRuns([(left, left.manifest.records[0])]), "all"))


def dated(created: str) -> Callable[[Manifest], None]:
    return lambda document: setattr(document, "created", created)


def archived(left: Run, right: Run) -> Place:
    place = open_archive(str(left.path.parent.parent / "archive"), create=True)
    for day, run in enumerate((left, right), start=1):
        add(place, changed(run, dated(f"2026-11-2{day}T10:30:00Z")), label="main")
    return place


def one_series(left: Run, right: Run) -> bool:
    series = histories(archived(left, right))
    assert sum(len(history.points) for history in series) == 2
    return len(series) == 1


def a_baseline(left: Run, right: Run) -> bool:
    records = baseline_of(archived(left, right), "main", right.manifest, 10).runs
    return records == {left.manifest.id: {left.manifest.records[0].id}}


def one_axis(left: Run, right: Run) -> bool:
    return [len(point.records) for point in shared_points([analyse(left), analyse(right)])] == [2]


def how_true_it_is(left: Run, right: Run) -> bool:
    def exact(document: Manifest) -> None:
        document.clock = msgspec.structs.replace(
            document.clock, clock_class="cycle-exact", unit="cycle"
        )

    runs = [("left", analyse(left)), ("right", analyse(changed(right, exact)))]
    return how_true.class_table([], runs) is not None


READERS = (compared, with_history, one_series, a_baseline, one_axis, how_true_it_is)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", TWINS)
def test_every_reader_matches_a_missing_parameter_with_its_default(
    tmp_path: Path, reader: Callable[[Run, Run], bool], case: str
) -> None:
    assert reader(*twins(tmp_path / "runs", case)) == TWINS[case][-1]
