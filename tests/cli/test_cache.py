# SPDX-License-Identifier: Apache-2.0
"""`kadenz cache`: shows, verifies and empties the store of executions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kadenz.cli import cli
from kadenz.values.store import Store
from tests.values.test_store import KEY, head, key, output


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """With two entries, one of which was used twice."""
    monkeypatch.setenv("KADENZ_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("KADENZ_STORE_BYTES", raising=False)
    store = Store(tmp_path / "store")
    for name in (KEY, key(7)):
        store.put(head(name), output(tmp_path / "output"))
    for _ in range(2):
        entry = store.find(KEY)
        assert entry is not None
        with entry:
            store.used(entry)
    return store


def kadenz(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["cache", *arguments], standalone_mode=False)


def test_the_group_alone_shows_entries_bytes_and_uses(store: Store) -> None:
    for arguments in ((), ("show",)):
        answer = kadenz(*arguments)
        assert answer.exception is None
        assert f"{store.folder}: 2 entries, " in answer.output
        assert " of 2,048.0 MiB" in answer.output and "forgotten first" in answer.output
        assert "freertos/x@emulated: 2 entries, used 2 times" in answer.output


def test_the_contents_as_json(store: Store) -> None:
    report = json.loads(kadenz("show", "--json").output)
    assert report["entries"] == 2 and report["bound"] == 2 << 30
    assert report["bytes"] == sum(file.stat().st_size for file in store.entries())
    assert report["targets"] == {"freertos/x@emulated": {"entries": 2, "hits": 2}}


def test_an_empty_store_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KADENZ_STORE", str(tmp_path / "nowhere"))
    assert ": 0 entries, 0.0 MiB" in kadenz().output
    assert kadenz("verify").return_value == 0
    assert kadenz("clear").return_value == 0
    assert not (tmp_path / "nowhere").exists()


def test_verify_names_a_damaged_entry_and_mend_removes_it(store: Store) -> None:
    assert kadenz("verify").return_value == 0
    file = next(store.entries())
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    answer = kadenz("verify")
    assert answer.return_value == 1
    assert f"damaged: {file}" in answer.output and "1 entries intact, 1 damaged" in answer.output
    assert "--mend" in answer.output and file.exists()
    assert kadenz("verify", "--mend").return_value == 0
    assert not file.exists() and kadenz("verify").return_value == 0


def test_verify_names_both_of_two_executions_that_differ(store: Store, tmp_path: Path) -> None:
    other = store.put(head(), output(tmp_path / "output"), differing=True)
    answer = kadenz("verify")
    assert answer.return_value == 1
    assert f"differs: {other} from {other.with_suffix('')}" in answer.output
    assert kadenz("verify", "--mend").return_value == 0
    assert [file.name for file in store.entries()] == [key(7)]


def test_clear_removes_everything(store: Store) -> None:
    answer = kadenz("clear")
    assert answer.return_value == 0 and "2 entries removed" in answer.output
    assert list(store.entries()) == [] and store.hits() == {}


def test_a_store_that_is_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KADENZ_STORE", "off")
    for arguments in ((), ("verify",), ("clear",)):
        answer = kadenz(*arguments)
        assert answer.return_value == 0 and "KADENZ_STORE=off" in answer.output


def test_a_size_in_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KADENZ_STORE_BYTES", "2 GiB")
    answer = kadenz()
    assert answer.exception is not None and "KADENZ_STORE_BYTES=2 GiB" in str(answer.exception)
