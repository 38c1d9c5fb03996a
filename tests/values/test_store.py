# SPDX-License-Identifier: Apache-2.0
"""Entries of the store: whole or not used, bounded, and of this user."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kadenz.errors import UsageError
from kadenz.owner import name_space
from kadenz.values import entry as entries
from kadenz.values.entry import DamagedError, Entry, ForeignError, Head
from kadenz.values.store import BOUND_BYTES, Store, the_store
from tests.store.crashes import ends_at

KEY = "ab" + "0" * 62
FILES = {"serial": b"frames" * 500, "words": b"", "trace": bytes(range(256)) * 9}


def key(number: int) -> str:
    return f"{number:02x}" + f"{number:062x}"


def head(name: str = KEY, files: dict[str, bytes] | None = None) -> Head:
    listed = [(file, len(content)) for file, content in (files or FILES).items()]
    return Head(name, "freertos/x@emulated", "2026-11-26T10:02:00+00:00", "m", "1", {}, listed)


def output(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (files or FILES).items():
        (folder / name).write_bytes(content)
    return folder


def put(store: Store, folder: Path, name: str = KEY) -> Path:
    return store.put(head(name), output(folder))


def taken(store: Store, folder: Path, name: str = KEY) -> dict[str, bytes] | None:
    """The files of an entry as they arrive; None without one."""
    folder.mkdir()
    entry = store.find(name)
    if entry is None:
        return None
    with entry:
        entry.fill(folder)
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_an_entry_gives_back_every_byte(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    put(store, tmp_path / "output")
    assert taken(store, tmp_path / "taken") == dict(sorted(FILES.items()))
    assert taken(store, tmp_path / "other", key(1)) is None


def test_no_writer_killed_at_any_step_leaves_an_entry_that_is_used(tmp_path: Path) -> None:
    """Also in mid-write, and over an older entry: what is found is one of the two, whole."""
    folder = output(tmp_path / "output")
    for older in (False, True):
        for number in range(1, 60):
            store = Store(tmp_path / f"{older}-{number}")
            if older:
                put(store, tmp_path / "output")
            killed = ends_at(number, lambda store=store: store.put(head(), folder))  # type: ignore[misc]
            files = taken(store, tmp_path / f"taken-{older}-{number}")
            assert files in (None, dict(sorted(FILES.items())))
            if older:
                assert files is not None
            if not killed:
                break
        assert not killed and number > 5


def test_a_half_written_file_of_a_killed_writer_goes_and_that_of_a_living_one_stays(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "store")
    put(store, tmp_path / "output")
    (parent,) = {file.parent for file in store.entries()}
    dead = parent / f".writing-{name_space()}-999999999-0-0"
    living = parent / f".writing-{name_space()}-{os.getpid()}-{started_now()}-7"
    elsewhere = parent / ".writing-00000000-1-0-0"  # on another machine, a moment ago
    for file in (dead, living, elsewhere):
        file.write_text("half")
    Store(tmp_path / "store").put(head(key(3)), output(tmp_path / "output"))
    assert not dead.exists() and living.exists() and elsewhere.exists()
    os.utime(elsewhere, (0, 0))
    Store(tmp_path / "store").put(head(key(4)), output(tmp_path / "output"))
    assert not elsewhere.exists()


def started_now() -> str:
    from kadenz.owner import started

    return started(os.getpid())


@pytest.mark.parametrize("at", ["first", "second", "body", "last"])
def test_an_entry_with_a_changed_bit_is_not_used(at: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    file = put(store, tmp_path / "output")
    content = bytearray(file.read_bytes())
    lines = content.split(b"\n", 2)
    place = {
        "first": 20,
        "second": len(lines[0]) + 1 + lines[1].index(b"2026"),
        "body": len(lines[0]) + len(lines[1]) + 300,
        "last": len(content) - 1,
    }[at]
    content[place] ^= 4
    file.write_bytes(content)
    with pytest.raises(DamagedError):
        taken(store, tmp_path / "taken")
    assert list(store.damaged()) == [file]


@pytest.mark.parametrize(
    "change", [lambda text: text[:-1], lambda text: text + b"x", lambda _: b""]
)
def test_an_entry_of_another_length_is_not_used(change: object, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    file = put(store, tmp_path / "output")
    assert callable(change)
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(DamagedError):
        taken(store, tmp_path / "taken")


def test_an_entry_under_another_key_is_not_used(tmp_path: Path) -> None:
    """Whoever may write in the folder can link an entry of mine under another name."""
    store = Store(tmp_path / "store")
    file = put(store, tmp_path / "output")
    other = file.parent.parent / key(5)[:2]
    other.mkdir()
    (other / key(5)).hardlink_to(file)
    with pytest.raises(DamagedError):
        store.find(key(5))


def test_an_entry_never_writes_outside_its_folder_or_over_an_input(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    output(tmp_path / "output", {"image": b"evil"})
    store.put(head(KEY, {"image": b"evil"}), tmp_path / "output")
    (tmp_path / "my.elf").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "image").symlink_to(tmp_path / "my.elf")
    with pytest.raises(DamagedError, match="overwrite"), Entry(next(store.entries())) as entry:
        entry.fill(tmp_path / "folder")
    assert (tmp_path / "my.elf").read_bytes() == b"mine"
    (tmp_path / "outside").write_bytes(b"")
    store.put(head(KEY, {"../outside": b""}), tmp_path / "output")
    with pytest.raises(DamagedError):
        store.find(KEY)


def test_an_entry_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    put(store, tmp_path / "output")
    monkeypatch.setattr(entries.os, "geteuid", lambda: 12345)  # type: ignore[attr-defined]
    with pytest.raises(ForeignError):
        store.find(KEY)


def test_nothing_is_written_in_the_folder_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(PermissionError, match="another user"):
        put(Store(tmp_path / "store"), tmp_path / "output")
    assert list((tmp_path / "store").iterdir()) == []


def test_a_link_is_no_entry(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    file = put(store, tmp_path / "output")
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        store.find(KEY)


def test_a_full_disk_leaves_the_entry_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    put(store, tmp_path / "output")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("kadenz.values.store.write", full)
    with pytest.raises(OSError, match="No space"):
        store.put(head(), tmp_path / "output")
    assert taken(store, tmp_path / "taken") == dict(sorted(FILES.items()))
    assert [file.name for file in (tmp_path / "store" / "ab").iterdir()] == [KEY]


def test_the_oldest_use_is_forgotten_first(tmp_path: Path) -> None:
    size = put(Store(tmp_path / "measure"), tmp_path / "output", key(0)).stat().st_size
    store = Store(tmp_path / "store", bound=5 * size)
    for number in range(5):
        file = put(store, tmp_path / "output", key(number))
        os.utime(file, (1000 + number, 1000 + number))
    oldest = store.find(key(0))
    assert oldest is not None
    with oldest:
        store.used(oldest)
    put(store, tmp_path / "output", key(9))
    assert sorted(file.name for file in store.entries()) == [key(n) for n in (0, 3, 4, 9)]


def test_an_entry_that_is_forgotten_while_it_is_read_is_read_to_its_end(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    put(store, tmp_path / "output")
    entry = store.find(KEY)
    assert entry is not None
    store.clear()
    with entry:
        entry.fill(output(tmp_path / "taken", {}))
    assert (tmp_path / "taken" / "serial").read_bytes() == FILES["serial"]


_PUTS = """
import sys
from pathlib import Path
from kadenz.values.store import Store
from tests.values.test_store import head, key
for number in range(60):
    Store(Path(sys.argv[1]), bound=40_000).put(head(key(number % 7)), Path(sys.argv[2]))
"""


def test_two_labs_at_once_leave_whole_entries(tmp_path: Path) -> None:
    """Also while each forgets what the other wrote."""
    folder = output(tmp_path / "output")
    labs = [
        subprocess.Popen([sys.executable, "-c", _PUTS, str(tmp_path / "store"), str(folder)])
        for _ in range(2)
    ]
    store = Store(tmp_path / "store")
    hits, looks = 0, 0
    while any(lab.poll() is None for lab in labs):
        looks += 1
        kept = taken(store, tmp_path / f"taken-{looks}", key(looks % 7))
        assert kept in (None, dict(sorted(FILES.items())))
        hits += kept is not None
    assert [lab.wait() for lab in labs] == [0, 0]
    assert store.damaged() == {} and [*store.entries()]
    assert not list((tmp_path / "store").glob("*/.writing-*"))


def test_threads_of_a_lab_put_and_take_at_once(tmp_path: Path) -> None:
    store, folder = Store(tmp_path / "store", bound=30_000), output(tmp_path / "output")

    def work(number: int) -> None:
        store.put(head(key(number % 9)), folder)
        kept = taken(store, tmp_path / f"taken-{number}", key(number % 9))
        assert kept in (None, dict(sorted(FILES.items())))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(80)))
    assert store.damaged() == {}


def test_uses_are_counted_by_target(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    put(store, tmp_path / "output")
    for _ in range(3):
        entry = store.find(KEY)
        assert entry is not None
        with entry:
            store.used(entry)
    assert store.hits() == {"freertos/x@emulated": 3}
    assert store.clear()[0] == 1
    assert (store.hits(), list(store.entries())) == ({}, [])


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KADENZ_STORE", raising=False)
    monkeypatch.delenv("KADENZ_STORE_BYTES", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = the_store()
    assert store is not None
    assert (store.folder, store.bound) == (tmp_path / "kadenz" / "store", BOUND_BYTES)
    monkeypatch.setenv("KADENZ_STORE", str(tmp_path / "mine"))
    monkeypatch.setenv("KADENZ_STORE_BYTES", "1000")
    store = the_store()
    assert store is not None and (store.folder, store.bound) == (tmp_path / "mine", 1000)
    monkeypatch.setenv("KADENZ_STORE", "off")
    assert the_store() is None
    monkeypatch.setenv("KADENZ_STORE", "")
    monkeypatch.setenv("KADENZ_STORE_BYTES", "2G")
    with pytest.raises(UsageError, match="KADENZ_STORE_BYTES=2G"):
        the_store()


def test_what_was_begun_counts_by_its_blocks_and_is_no_entry(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", bound=1 << 20)
    file = store.begun(KEY)
    with file.open("wb") as stream:
        stream.truncate(64 << 20)  # a hole
    put(store, tmp_path / "output", key(7))
    assert file.exists() and [entry.name for entry in store.entries()] == [key(7)]
    assert store.damaged() == {} and store.differing() == []
    entries, size = store.clear()
    assert entries == 1 and size < 1 << 20 and not file.exists()


def test_what_was_begun_is_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.forget_begun(KEY)
    store.begun(KEY).write_bytes(b"rows")
    store.forget_begun(KEY)
    assert not store.begun(KEY).exists()
