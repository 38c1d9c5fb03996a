# SPDX-License-Identifier: Apache-2.0
"""A planted run is not the latest, and its call is not executed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import kadenz as package
from kadenz.cli import cli
from kadenz.config.manifest import CallEntry
from kadenz.errors import UsageError
from kadenz.store import names
from kadenz.store.layout import MANIFEST
from kadenz.store.names import named
from tests.forked import kadenz
from tests.synthetic import STM32F4, Point, manifest, write_run

STRANGER = 12345
FUTURE = "2099-01-01T00:00:00+00:00"
ARGUMENTS = ["itc/queue", "--target", "freertos/nowhere@emulated", "--image", "it's evil.elf"]


def write(parent: Path, name: str, created: str, lab: str = "") -> Path:
    document = manifest(STM32F4)
    document.name, document.created = name, created
    document.call = CallEntry(arguments=ARGUMENTS, folder=str(Path.cwd()), lab=lab)
    point = Point("itc/queue", {"all": np.array([1, 2], "<u4")}, {"size_bytes": 4})
    return write_run(parent, document, [point])


def owned_by(monkeypatch: pytest.MonkeyPatch, owners: dict[Path, int]) -> None:
    """These folders, and what is in them, belong to other users."""

    def foreign(path: Path) -> int | None:
        full = path.absolute()
        return next((user for owned, user in owners.items() if full.is_relative_to(owned)), None)

    monkeypatch.setattr("kadenz.owner.foreign", foreign)
    monkeypatch.setattr(names, "foreign", foreign)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of runs of the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def ahead(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat(timespec="seconds")


def resumed(*arguments: str) -> Result:
    """`kadenz run --resume`, in this process."""
    result = CliRunner().invoke(cli, ["run", "--resume", *arguments], standalone_mode=False)
    assert isinstance(result.exception, UsageError), result.output
    return result


@pytest.mark.parametrize("created", [FUTURE, "in two days", "9999-99-99", "tomorrow", "zzz"])
def test_latest_ignores_the_future(created: str, runs: Path) -> None:
    created = ahead(days=2) if created == "in two days" else created
    mine = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    planted = write(runs, "planted", created)
    notes: list[str] = []
    assert named(runs, "latest", notes.append) == [mine]
    assert len(notes) == 1 and str(planted) in notes[0]
    assert named(runs, "planted") == [planted], "a run is read by its name"


def test_latest_takes_a_run_of_a_machine_whose_clock_is_a_little_ahead(runs: Path) -> None:
    write(runs, "mine", "2026-11-23T09:00:00+00:00")
    other = write(runs, "other", ahead(hours=20))
    assert named(runs, "latest") == [other]


def test_latest_ignores_runs_of_others(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    by_root = write(runs, "root", "2026-11-23T10:00:00+00:00")
    planted = write(runs, "planted", "2026-11-23T11:00:00+00:00")
    owned_by(monkeypatch, {planted: STRANGER, by_root: 0})
    notes: list[str] = []
    assert named(runs, "latest", notes.append) == [by_root], "root need not plant anything"
    assert notes == [f"`latest` ignores {planted}: it belongs to user {STRANGER}"]
    owned_by(monkeypatch, {planted: STRANGER, by_root: STRANGER})
    assert named(runs, "latest") == [mine]
    owned_by(monkeypatch, {runs: STRANGER})
    assert named(runs, "latest") == []


def test_latest_takes_no_run_of_others_with_the_latest_name(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = write(runs, "mine", "2026-11-23T08:00:00+00:00")
    mine = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    owned_by(monkeypatch, {planted: STRANGER})
    assert named(runs, "latest") == [mine]


@pytest.mark.parametrize("command", ["show", "report", "compare", "gate", "export"])
def test_each_command_says_what_latest_ignores(command: str, runs: Path) -> None:
    write(runs, "mine", "2026-11-23T09:00:00+00:00")
    planted = write(runs, "planted", FUTURE)
    more = {
        "compare": ["mine"],
        "gate": ["--limit", "itc/queue max < 1000 instructions"],
        "report": ["-o", "r.html"],
        "export": ["-o", "x.csv"],
    }
    answer = kadenz(command, "latest", *more.get(command, []))
    note = f"`latest` ignores {planted.relative_to(runs.parent)}: its date 2099-01-01 is in the"
    assert note in answer.stderr, answer.stderr


def test_python_warns_of_what_latest_ignores(runs: Path) -> None:
    mine = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    write(runs, "planted", FUTURE)
    with pytest.warns(UserWarning, match="its date 2099-01-01 is in the future"):
        assert package.Run("latest").path.samefile(mine)


@pytest.mark.parametrize("by", ["name", "path", "latest"])
def test_the_call_of_somebody_else_is_not_repeated(
    by: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = write(runs, "planted", "2026-11-23T09:00:00+00:00")
    owned_by(monkeypatch, {planted: STRANGER})
    result = resumed({"name": "planted", "path": str(planted), "latest": "latest"}[by])
    refusal = "no such run" if by == "latest" else f"is not only yours (user {STRANGER})"
    assert refusal in str(result.exception) and "resumes" not in result.output


def test_a_run_of_somebody_else_is_not_completed_along_with_the_caller_s(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    planted = write(runs, "mine", "2026-11-23T10:00:00+00:00")
    owned_by(monkeypatch, {planted: STRANGER})
    assert f"{planted.name} is not only yours" in str(resumed(str(mine)).exception)


@pytest.mark.parametrize("exposed", [".", MANIFEST])
def test_a_call_that_everybody_may_change_is_not_repeated(exposed: str, runs: Path) -> None:
    mine = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    (mine / exposed).chmod(0o777)
    answer = kadenz("run", "--resume", "latest")
    assert answer.returncode == 2 and "everybody may write to it" in answer.stderr


def test_a_call_of_another_lab_is_not_repeated(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("this", "other lab"):
        Path(name).mkdir()
        Path(name, "kadenz.toml").write_text("")
    write(runs, "mine", "2026-11-23T09:00:00+00:00", lab=str(runs.parent / "other lab"))
    monkeypatch.setenv("KADENZ_LAB", "this")
    answer = kadenz("run", "--resume", "mine", "--output", "runs")
    assert answer.returncode == 2 and "was called in the lab" in answer.stderr
    assert f"KADENZ_LAB='{runs.parent}/other lab'" in answer.stderr
    monkeypatch.setenv("KADENZ_LAB", "other lab")
    answer = kadenz("run", "--resume", "mine", "--output", "runs")
    assert "no target `freertos/nowhere@emulated`" in answer.stderr, "it went on"


def test_the_call_is_shown_before_anything_starts(runs: Path) -> None:
    write(runs, "mine", "2026-11-23T09:00:00+00:00")
    answer = kadenz("run", "--resume", "latest")
    first, *others = answer.stderr.splitlines()
    assert first.startswith("resumes runs/") and first.endswith("--image 'it'\"'\"'s evil.elf'")
    assert "no target `freertos/nowhere@emulated`" in "".join(others)


def test_the_targets_that_start_are_named_with_their_images(runs: Path) -> None:
    Path("kadenz.toml").write_text(
        '[target.mine]\nimage = "evil.elf"\nboard = "stm32f4"\ntier = "emulated"\n'
    )
    Path("evil.elf").write_bytes(b"no ELF")
    folder = write(runs, "mine", "2026-11-23T09:00:00+00:00")
    document = json.loads((folder / MANIFEST).read_text())
    document["call"]["words"] = ["itc/queue", "--target", "mine"]
    (folder / MANIFEST).write_text(json.dumps(document))
    answer = kadenz("run", "--resume", "latest")
    assert f"starts mine ({runs.parent}/evil.elf)" in answer.stderr.splitlines()[1]
