# SPDX-License-Identifier: Apache-2.0
"""A run that was stopped goes on: measured records stay, nothing is lost, nothing is doubled."""

from __future__ import annotations

import dataclasses
import os
import shutil
import threading
from pathlib import Path

import msgspec
import pytest

from kadenz.config.manifest import CampaignEntry, PartEntry, RecordEntry
from kadenz.config.target_name import TargetName
from kadenz.errors import UsageError
from kadenz.lab.job import Job
from kadenz.lab.measure import measure
from kadenz.lab.plan import Point
from kadenz.lab.progress import Progress
from kadenz.lab.resuming import is_earlier, left_of, rest_of
from kadenz.store import Run, read_run
from kadenz.store.salvage import complete
from kadenz.targets.base import Target
from tests.lab.fake import Scripted
from tests.lab.test_measure import job, record, said
from tests.store.crashes import ends_at

SILICON = TargetName("freertos", "stm32f4", "board")
POINTS = 4


class Obedient(Scripted):
    """Measures the records of its plan, one for each read."""

    def __init__(self) -> None:
        super().__init__([])
        self._whole = b""

    def open(self, plan: str) -> None:
        super().open(plan)
        ids = [int(line.split("id=")[1].split()[0]) for line in plan.splitlines()[:-1]]
        self._whole = said(*(record(number) for number in ids))
        size = -(-len(self._whole) // (len(ids) + 1))
        self._pieces = [self._whole[at : at + size] for at in range(0, len(self._whole), size)]


def obedient(folder: Path, name: TargetName | None = None) -> Job:
    """Its points are those of the clock and of a campaign."""
    targets: list[Target] = []

    def make() -> Target:
        targets.append(Obedient())
        return targets[-1]

    points = [Point(0, "itc/queue", 6), *(Point(10 + n, "itc/queue", 6) for n in range(POINTS - 1))]
    obedient_job = dataclasses.replace(job(folder, []), make=make, points=points)
    return obedient_job if name is None else dataclasses.replace(obedient_job, name=name)


def run(job: Job, output: Path) -> Run:
    result = measure(job, output, Progress(), threading.Event())
    assert not result.failures
    return read_run(result.folder)


def completed(folder: Path) -> Run:
    return read_run(complete(folder) if folder.name.endswith(".partial") else folder)


def resumed(job: Job, output: Path) -> Run:
    """Goes on with the run in `output`, or begins one if it had not begun."""
    left = sorted(output.iterdir()) if output.exists() else []
    whole = [folder for folder in left if (folder / "run.json").exists()]
    if not whole:
        shutil.rmtree(output, ignore_errors=True)
        return run(job, output)
    (folder,) = whole
    earlier = completed(folder)
    rest = rest_of(job, earlier)
    return earlier if rest is None else run(dataclasses.replace(job, rest=rest), output)


def contents(run: Run) -> dict[str, bytes]:
    """Every file of samples, each of which a record names."""
    files = {f"samples/{file.name}": file.read_bytes() for file in (run.path / "samples").iterdir()}
    named = [lane.file for entry in run.manifest.records for lane in entry.lanes]
    assert sorted(named) == sorted(files)
    return files


def stopped_after(job: Job, output: Path, records: int) -> Run:
    """A run whose lab was killed when this number of records had ended."""

    class Stops(Progress):
        done = 0

        def closed(self, target: str, record: RecordEntry) -> None:
            self.done += 1
            if self.done == records:
                os._exit(9)

    assert ends_at(10**9, lambda: measure(job, output, Stops(), threading.Event()))
    (folder,) = output.iterdir()
    return completed(folder)


@pytest.mark.parametrize("name", [None, SILICON], ids=["virtual time", "real time"])
def test_a_lab_killed_at_any_step_and_again_while_it_resumes_loses_and_doubles_nothing(
    tmp_path: Path, name: TargetName | None
) -> None:
    job = obedient(tmp_path, name)
    whole = contents(run(job, tmp_path / "whole"))
    killed, twice, number = True, 0, 0
    while killed:
        number += 4
        output = tmp_path / str(number)
        killed = ends_at(number, lambda output=output: run(job, output))  # type: ignore[misc]
        again = ends_at(number // 2, lambda output=output: resumed(job, output))  # type: ignore[misc]
        twice += again
        mended = resumed(job, output)
        assert contents(mended) == whole
        assert [entry.id for entry in mended.manifest.records] == [p.id for p in job.points]
        assert all(entry.status == "ok" for entry in mended.manifest.records)
        assert not mended.manifest.partial and not mended.manifest.partial_reason
        assert [folder.name for folder in output.iterdir()] == [mended.manifest.id]
        assert rest_of(job, mended) is None, "nothing is left"
        shutil.rmtree(output)
    assert number > 60 and twice > 10


def test_virtual_time_repeats_the_execution_and_keeps_what_it_replaces(tmp_path: Path) -> None:
    job = obedient(tmp_path)
    before = stopped_after(job, tmp_path / "runs", 2)
    rest = rest_of(job, before)
    assert rest is not None and not rest.kept
    assert [point.id for point in rest.boots[0]] == [0, 10, 11, 12]
    whole = run(dataclasses.replace(job, rest=rest), tmp_path / "runs")
    aside = read_run(whole.path / "interrupted" / "1")
    assert [entry.id for entry in aside.manifest.records] == [0, 10]
    assert aside.samples(aside.record(10)).tolist() == whole.samples(whole.record(10)).tolist()
    assert "killed" in whole.manifest.resumed[0].reason
    assert not [warning for warning in whole.manifest.warnings if warning.code == "resumed"], (
        "same bytes"
    )


def test_real_time_measures_the_clock_again_and_keeps_the_other_records(tmp_path: Path) -> None:
    job = obedient(tmp_path, SILICON)
    before = stopped_after(job, tmp_path / "runs", 2)
    rest = rest_of(job, before)
    assert rest is not None and [entry.id for entry in rest.kept] == [10]
    assert [[point.id for point in boot] for boot in rest.boots] == [[0, 11, 12]]
    whole = run(dataclasses.replace(job, rest=rest), tmp_path / "runs")
    (warning,) = [warning for warning in whole.manifest.warnings if warning.code == "resumed"]
    assert "1 records were measured before" in warning.message
    assert whole.manifest.id == before.manifest.id
    assert whole.manifest.resumed[0].kept == [10]


def test_a_point_whose_target_died_is_repeated(tmp_path: Path) -> None:
    dies = Scripted([said(record(0), record(10), done=False)])
    broken = dataclasses.replace(
        obedient(tmp_path, SILICON), make=iter([Scripted([]), dies, Scripted([])]).__next__
    )
    result = measure(broken, tmp_path / "runs", Progress(), threading.Event())
    assert result.manifest.partial
    whole = resumed(obedient(tmp_path, SILICON), tmp_path / "runs")
    assert [(entry.id, entry.status) for entry in whole.manifest.records] == [
        (0, "ok"),
        (10, "ok"),
        (11, "ok"),
        (12, "ok"),
    ]
    assert "target-failed" not in [warning.code for warning in whole.manifest.warnings]


def test_another_image_or_campaign_is_refused(tmp_path: Path) -> None:
    job = obedient(tmp_path)
    before = stopped_after(job, tmp_path / "runs", 2)
    entry = dataclasses.replace(job.image).entry
    other = type(entry)(**{**{f: getattr(entry, f) for f in entry.__struct_fields__}})
    other.elf_sha256 = "other"
    rebuilt = dataclasses.replace(job, image=dataclasses.replace(job.image, entry=other))
    with pytest.raises(UsageError, match="the image is not the one"):
        rest_of(rebuilt, before)
    changed = CampaignEntry(name="", file="", sha256="other", quick=False)
    with pytest.raises(UsageError, match="the campaign is not the one"):
        rest_of(
            dataclasses.replace(job, origin=dataclasses.replace(job.origin, campaign=changed)),
            before,
        )
    points = [dataclasses.replace(point, bench="itc/pipe") for point in job.points]
    with pytest.raises(UsageError, match="the plan is not the one"):
        rest_of(dataclasses.replace(job, points=points), before)


def test_a_guest_with_another_kernel_is_refused(tmp_path: Path) -> None:
    """The image is the same: the kernel that boots it is a part of its own."""
    guest = obedient(tmp_path, TargetName("linux-rt", "x86_64", "guest"))
    before = stopped_after(guest, tmp_path / "runs", 2)
    assert rest_of(guest, before) is not None
    fresh = PartEntry(part="kernel", files=1, sha256="other", version="")
    entry = msgspec.structs.replace(guest.image.entry, parts=[fresh])
    image = dataclasses.replace(guest.image, entry=entry)
    with pytest.raises(UsageError, match="the guest is not the one"):
        rest_of(dataclasses.replace(guest, image=image), before)


def test_jobs_are_matched_with_their_runs_and_others_begin(tmp_path: Path) -> None:
    emulated, silicon = obedient(tmp_path), obedient(tmp_path, SILICON)
    before = stopped_after(emulated, tmp_path / "runs", 2)
    assert is_earlier(emulated, before.manifest)
    left = left_of([emulated, silicon], [before])
    assert [job.rest is None for job in left] == [False, True]
    complete = run(left[0], tmp_path / "runs")
    assert [job.name for job in left_of([emulated, silicon], [complete])] == [SILICON]
