# SPDX-License-Identifier: Apache-2.0
"""A kernel that is named by its file boots, is a value and a condition, and may fail by name."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from kadenz.config.campaign import Campaign
from kadenz.config.manifest import CampaignEntry, Manifest
from kadenz.config.target_name import parse_target
from kadenz.errors import TargetFailed, UsageError
from kadenz.lab.conditions import choices
from kadenz.lab.job import Job, Result
from kadenz.lab.preparing import Request, prepare
from kadenz.lab.progress import Progress
from kadenz.lab.resuming import left_of
from kadenz.store import read_run
from tests.guest.conftest import CYCLIC, machine, measured
from tests.guest.test_boots import bytes_of
from tests.guest.test_kernel_files import write

pytestmark = pytest.mark.counted

RT = "linux-rt/x86_64@guest"


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    """A copy of the kernel of the cache, with what the archive of a guest takes of it."""
    kernel = machine(RT).guest.kernel
    assert kernel.disturbance is not None
    folder = tmp_path / "own"
    (folder / "modules").mkdir(parents=True)
    shutil.copy(kernel.disturbance, folder / "modules")
    shutil.copy(kernel.image, folder / "bzImage")
    shutil.copy(kernel.image.parent / "config", folder / "config")
    return folder / "bzImage"


def job_of(kernel: Path) -> Job:
    campaign = Campaign(name="t", title="t", targets=[RT], benchmark=[CYCLIC])
    request = Request(
        campaign=campaign,
        entry=CampaignEntry(name="t", file="", sha256="", quick=False),
        targets=[parse_target(RT)],
        choices=choices(campaign, {"guest": {"kernel": (str(kernel),)}}),
    )
    (job,) = prepare(request, Progress(), threading.Event())
    return job


def test_a_kernel_by_path_gives_the_samples_of_its_version(
    kernel_file: Path, tmp_path: Path
) -> None:
    by_version = measured(RT, tmp_path / "a", fresh=True)
    by_path = measured(RT, tmp_path / "b", fresh=True, kernel=str(kernel_file))
    assert bytes_of(by_version) == bytes_of(by_path) != {}
    manifest = by_path.manifest
    assert manifest.warnings == []  # its configuration is beside, and lacks nothing
    digest = read_digest(kernel_file)
    assert manifest.condition_values["guest kernel"].endswith(f"SHA-256 {digest[:16]}")
    assert manifest.build is not None and digest in manifest.build.kernel_source
    assert manifest.target.kernel_version == by_version.manifest.target.kernel_version
    assert digest[:8] in by_path.folder.name
    # The same bytes are the same value, wherever they are.
    kernel_file.rename(kernel_file.parent / "renamed")
    assert is_stored(measured(RT, tmp_path / "c", kernel=str(kernel_file.parent / "renamed")))


def is_stored(result: Result) -> bool:
    """Whether every record came from the store."""
    values = [record.value for record in result.manifest.records]
    return all(value is not None and value.stored for value in values)


def keys(document: Manifest) -> set[str]:
    """The keys of the values of its records."""
    return {record.value.key for record in document.records if record.value is not None}


def read_digest(file: Path) -> str:
    import hashlib

    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_another_kernel_is_another_value_and_no_run_is_resumed_under_it(
    kernel_file: Path, tmp_path: Path
) -> None:
    before = read_run(measured(RT, tmp_path / "runs", kernel=str(kernel_file)).folder)
    assert left_of([job_of(kernel_file)], [before]) == []
    with kernel_file.open("ab") as file:
        file.write(b"another build")
    with pytest.raises(UsageError, match="a kernel is not the one") as told:
        left_of([job_of(kernel_file)], [before])
    assert str(kernel_file) in told.value.detail and told.value.remedy
    other = measured(RT, tmp_path / "other", kernel=str(kernel_file))
    assert keys(other.manifest).isdisjoint(keys(before.manifest))
    assert other.manifest.condition_values != before.manifest.condition_values


def test_a_kernel_that_does_not_come_up_is_named_with_what_it_said(
    kernel_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kadenz.lab.catalog.BOOT_S", 10.0)
    content = bytearray(kernel_file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = bytes(4096)  # of the packed kernel
    broken = write(tmp_path, "broken", bytes(content))
    with pytest.raises(TargetFailed, match=f"under the kernel {broken}") as told:
        job_of(Path(broken))
    assert "measure-your-own-kernel.md" in told.value.remedy
    assert told.value.detail
