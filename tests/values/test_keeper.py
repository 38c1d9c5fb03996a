# SPDX-License-Identifier: Apache-2.0
"""Executions that are kept, that are taken from the store, and that are executed all the same."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kadenz.errors import TargetFailed
from kadenz.values import keeper as keepers
from kadenz.values.entry import Entry
from kadenz.values.keeper import Keeper, is_checked
from kadenz.values.key import Command
from kadenz.values.store import Store


@dataclass
class Lab:
    """Executions of one command, whose process is a function of this test."""

    folder: Path
    output: bytes = b"frames"
    executed: int = 0
    keepers: list[Keeper] = field(default_factory=list)

    @property
    def store(self) -> Store:
        return Store(self.folder / "store")

    def execute(self, *, vouched: bool = True, fresh: bool = False, meanwhile: str = "") -> bytes:
        """One execution. Returns the bytes that the lab reads; see `executed` for their source."""
        number = len(self.keepers)
        scratch = self.folder / f"scratch-{number}"
        scratch.mkdir()
        (scratch / "image").symlink_to(self.folder / "image.elf")
        keeper = Keeper("freertos/x@emulated", fresh=fresh, store=self.store)
        self.keepers.append(keeper)
        command = Command(self.folder / "qemu", ["-M", "x"], {}, scratch, ("image",))
        if not keeper.take(command):
            self.executed += 1
            assert sorted(file.name for file in scratch.iterdir()) == ["image"]
            (scratch / "serial").write_bytes(self.output)
            (scratch / "words").write_bytes(b"")
        if meanwhile:
            (self.folder / meanwhile).write_text("changed meanwhile")
        if vouched:
            keeper.vouch()
        keeper.settle(scratch)
        return (scratch / "serial").read_bytes()

    @property
    def last(self) -> Keeper:
        return self.keepers[-1]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    (tmp_path / "qemu").write_text("a program")
    (tmp_path / "image.elf").write_text("an image")
    monkeypatch.setattr(keepers, "is_checked", lambda key, day: False)
    monkeypatch.setattr(keepers, "_told", set())
    return Lab(tmp_path)


def test_the_second_of_two_equal_executions_is_taken_from_the_store(lab: Lab) -> None:
    assert [lab.execute(), lab.execute()] == [b"frames", b"frames"]
    assert lab.executed == 1
    first, second = (keeper.value for keeper in lab.keepers)
    assert first is not None and second is not None
    assert (first.stored, second.stored) == (False, True)
    assert (first.key, first.measured) == (second.key, second.measured)


def test_a_changed_input_is_executed_and_the_old_one_is_still_known(lab: Lab) -> None:
    lab.execute()
    (lab.folder / "image.elf").write_text("another image")
    lab.output = b"other frames"
    assert lab.execute() == b"other frames" and lab.executed == 2
    (lab.folder / "image.elf").write_text("an image")
    assert lab.execute() == b"frames" and lab.executed == 2


def test_an_execution_without_a_voucher_is_not_kept(lab: Lab) -> None:
    """A run that failed, was stopped, partial, timed out or warned of its execution."""
    lab.execute(vouched=False)
    lab.execute()
    assert lab.executed == 2


def test_what_is_withdrawn_is_forgotten_and_executed_anew(lab: Lab) -> None:
    lab.execute()
    lab.last.withdraw()
    lab.execute()
    assert lab.executed == 2


def test_withdrawing_a_value_of_the_store_leaves_it_there(lab: Lab) -> None:
    """It was sound when it was kept; the same reason will be found again."""
    lab.execute()
    lab.execute()
    lab.last.withdraw()
    lab.execute()
    assert lab.executed == 1


def test_an_execution_during_which_an_input_changed_is_not_kept(lab: Lab) -> None:
    lab.execute(meanwhile="image.elf")
    (lab.folder / "image.elf").write_text("an image")
    lab.execute()
    assert lab.executed == 2


def test_fresh_executes_everything_and_its_entry_is_the_new_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.execute()
    (file,) = lab.store.entries()
    before = file.stat().st_ino
    lab.execute(fresh=True)
    assert lab.executed == 2 and lab.last.difference is None
    assert file.stat().st_ino != before
    value = lab.last.value
    assert value is not None and not value.stored
    with Entry(file) as entry:
        assert entry.head.measured == value.measured


def test_the_store_may_be_off(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KADENZ_STORE", "off")
    keeper = Keeper("freertos/x@emulated")
    assert not keeper.take(Command(lab.folder / "qemu", [], {}, lab.folder))
    keeper.vouch()
    keeper.settle(lab.folder)
    keeper.withdraw()
    assert keeper.value is None and keeper.difference is None


def test_what_cannot_be_looked_at_is_executed_and_no_value(lab: Lab) -> None:
    keeper = Keeper("freertos/x@emulated", store=lab.store)
    assert not keeper.take(None)
    keeper.vouch()
    keeper.settle(lab.folder)
    assert keeper.value is None and list(lab.store.entries()) == []


# ---- spot checks ---------------------------------------------------------------------------------


def test_one_use_in_fifty_is_checked_by_the_key_and_the_day() -> None:
    keys = [f"{number:064x}" for number in range(5000)]
    first = {key for key in keys if is_checked(key, "2026-11-26")}
    second = {key for key in keys if is_checked(key, "2026-11-27")}
    assert 60 <= len(first) <= 140 and 60 <= len(second) <= 140
    assert len(first & second) < 20, "another day checks others"
    assert first == {key for key in keys if is_checked(key, "2026-11-26")}


def test_a_spot_check_executes_and_finds_the_same(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.execute()
    monkeypatch.setattr(keepers, "is_checked", lambda key, day: True)
    assert lab.execute() == b"frames"
    assert lab.executed == 2 and lab.last.difference is None
    value = lab.last.value
    assert value is not None and not value.stored


@pytest.mark.parametrize("fresh", [False, True])
def test_a_difference_is_an_error_that_names_both_executions_and_replaces_nothing(
    fresh: bool, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.execute()
    (file,) = lab.store.entries()
    before = file.read_bytes()
    monkeypatch.setattr(keepers, "is_checked", lambda key, day: not fresh)
    lab.output = b"framez"
    assert lab.execute(fresh=fresh) == b"framez"
    error = lab.last.difference
    assert isinstance(error, TargetFailed) and error.exit_code == 1
    first, second = (keeper.value for keeper in lab.keepers)
    assert first is not None and second is not None
    for part in ("freertos/x@emulated", "`serial`", first.measured, second.measured):
        assert part in error.message
    assert "kadenz cache verify" in error.remedy
    (other,) = lab.store.differing()
    assert str(file) in error.detail and str(other) in error.detail
    assert file.read_bytes() == before and other.read_bytes() != before


def test_a_file_more_is_a_difference(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.execute()
    with Entry(next(lab.store.entries())) as entry:
        folder = lab.folder / "scratch-0"
        assert entry.differs(folder) == ""
    (folder / "trace").write_text("more")
    with Entry(next(lab.store.entries())) as entry:
        assert entry.differs(folder) == "trace"
    (folder / "trace").unlink()
    (folder / "words").unlink()
    with Entry(next(lab.store.entries())) as entry:
        assert entry.differs(folder) == "words"


# ---- a store that cannot be used -----------------------------------------------------------------


def test_a_damaged_entry_is_reported_executed_and_replaced(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.execute()
    (file,) = lab.store.entries()
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
    assert lab.execute() == b"frames" and lab.executed == 2
    assert f"{file}: its bytes do not have its digest: it is not used" in capsys.readouterr().err
    assert lab.store.damaged() == {}
    assert lab.execute() == b"frames" and lab.executed == 2


def test_entries_of_another_user_are_reported_once_and_not_used(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.execute()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    lab.execute()
    lab.execute()
    said = capsys.readouterr().err
    assert lab.executed == 3
    assert said.count("has entries of another user: they are not used") == 1
    assert said.count("belongs to another user") == 1 and "KADENZ_STORE" in said


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_takes_nothing_is_reported_once_and_everything_is_measured(
    code: int,
    lab: Lab,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("kadenz.values.store.write", refuse)
    assert [lab.execute(), lab.execute()] == [b"frames", b"frames"]
    assert lab.executed == 2
    said = capsys.readouterr().err
    assert said.count(os.strerror(code)) == 1 and "KADENZ_STORE" in said


def test_a_file_in_place_of_the_store_is_reported_and_everything_is_measured(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    (lab.folder / "store").write_text("a file in the way")
    assert [lab.execute(), lab.execute()] == [b"frames", b"frames"]
    assert lab.executed == 2
    assert "Not a directory" in capsys.readouterr().err


def test_a_clock_that_was_set_back_changes_no_figure(lab: Lab) -> None:
    """Entries are then of tomorrow: they are used, and forgotten last."""
    lab.execute()
    (file,) = lab.store.entries()
    os.utime(file, (4e9, 4e9))
    assert lab.execute() == b"frames" and lab.executed == 1


def begun(lab: Lab, *, fresh: bool = False) -> tuple[Keeper, Path]:
    """The keeper of an execution that begins, and its file of what it has done."""
    scratch = lab.folder / f"begun-{len(lab.keepers)}"
    scratch.mkdir()
    (scratch / "image").symlink_to(lab.folder / "image.elf")
    keeper = Keeper("freertos/x@emulated", fresh=fresh, store=lab.store)
    lab.keepers.append(keeper)
    assert not keeper.take(Command(lab.folder / "qemu", ["-M", "x"], {}, scratch, ("image",)))
    keeper.go_on(scratch / "tried")
    return keeper, scratch / "tried"


def test_an_execution_goes_on_with_what_a_stopped_one_had_done(lab: Lab) -> None:
    _, file = begun(lab)
    file.write_text("half")
    keeper, file = begun(lab)
    assert file.read_text() == "half"
    keeper.complete()
    _, file = begun(lab)
    assert not file.exists()


def test_a_fresh_one_and_one_with_another_input_begin_anew(lab: Lab) -> None:
    _, file = begun(lab)
    file.write_text("half")
    (lab.folder / "image.elf").write_text("another image")
    _, file = begun(lab)
    assert not file.exists()
    (lab.folder / "image.elf").write_text("an image")
    _, file = begun(lab, fresh=True)
    assert not file.exists()


def test_without_a_store_or_where_it_cannot_be_written_nothing_is_begun(lab: Lab) -> None:
    keeper = Keeper("freertos/x@emulated", store=lab.store)
    keeper.go_on(lab.folder / "tried")
    assert not (lab.folder / "tried").is_symlink()
    (lab.folder / "store").write_text("no folder")
    _, file = begun(lab)
    assert not file.is_symlink()
