# SPDX-License-Identifier: Apache-2.0
"""A farm listens to this machine, or by TLS to those who have its keys."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadenz.config.farm import DaskTable, read_farm
from kadenz.errors import UsageError
from kadenz.farm.keys import host_of, is_loopback, make_keys, security
from kadenz.farm.pool import Pool
from kadenz.farm.serving import serve_scheduler, serve_worker
from tests.e2e.conftest import BOARDS, kadenz
from tests.farm.machines import Machines
from tests.listeners import listeners

HERE = ("127.0.0.1", "::1", "localhost", "127.3.2.1")
ELSEWHERE = ("10.0.0.1", "0.0.0.0", "::", "rack", "localhost.rack", "127.0.0.1.rack", "fe80::1")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    make_keys(folder, ["lab", "rack-1"])
    return folder


@pytest.fixture
def machines(tmp_path: Path, keys: Path) -> Iterator[Machines]:
    (tmp_path / "farm").mkdir()
    farm = Machines(tmp_path / "farm", keys / "lab")
    try:
        yield farm
    finally:
        farm.close()


def test_what_only_this_machine_reaches() -> None:
    assert [is_loopback(host) for host in (*HERE, *ELSEWHERE)] == [True] * 4 + [False] * 7


@pytest.mark.parametrize("host", ELSEWHERE)
def test_without_keys_nothing_beyond_this_machine_is_served_or_called(host: str) -> None:
    place = f"[{host}]" if ":" in host else host
    for serve in (
        lambda: serve_scheduler(host, 0, None, print),
        lambda: serve_worker(f"tcp://{place}:8786", 1, None, print),
        lambda: Pool(DaskTable(scheduler=f"tcp://{place}:8786")),
    ):
        with pytest.raises(UsageError, match="is not this machine, and there are no keys") as seen:
            serve()
        assert "kadenz farm keys" in seen.value.remedy


def test_a_program_says_it_with_exit_2() -> None:
    for arguments in (
        ("scheduler", "--host", "0.0.0.0"),
        ("worker", "tcp://10.0.0.1:8786"),
        ("worker", "10.0.0.1"),
        ("worker", "tcp://127.0.0.1:8786", "--keys", "nowhere"),
    ):
        assert kadenz("farm", *arguments).returncode == 2


@pytest.mark.parametrize("address", ["rack:8786", "http://rack:1", "tcp://rack", "tcp://r:x", ""])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(UsageError, match="not the address of a scheduler"):
        host_of(address)


def test_only_their_owner_reads_keys(keys: Path) -> None:
    for key in keys.rglob("*.key"), keys.rglob("key.pem"):
        assert {stat.S_IMODE(file.stat().st_mode) for file in key} == {0o600}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (keys, keys / "lab")} == {0o700}
    assert not list((keys / "lab").glob("authority.key"))


def test_keys_that_others_read_are_refused(tmp_path: Path) -> None:
    (folder,) = make_keys(tmp_path, ["desk"])
    (folder / "key.pem").chmod(0o640)
    with pytest.raises(UsageError, match="others can read it") as seen:
        security("tls://10.0.0.1:1", folder)
    assert f"chmod 600 {folder / 'key.pem'}" in seen.value.remedy
    (folder / "key.pem").chmod(0o600)
    assert security("tls://10.0.0.1:1", folder).require_encryption
    (folder / "certificate.pem").unlink()
    with pytest.raises(UsageError, match=r"no certificate\.pem"):
        security("tls://10.0.0.1:1", folder)


@pytest.mark.parametrize("machine", ["", "..", "../x", "a/b", "-x", "a b", "x=1"])
def test_a_machine_has_a_name(machine: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not the name of a machine"):
        make_keys(tmp_path / "keys", ["fine", machine])
    assert not (tmp_path / "keys").exists()


def test_keys_are_not_overwritten(tmp_path: Path) -> None:
    (folder,) = make_keys(tmp_path, ["desk"])
    before = (folder / "key.pem").read_bytes()
    with pytest.raises(UsageError, match="has keys already"):
        make_keys(tmp_path, ["shelf", "desk"])
    assert (folder / "key.pem").read_bytes() == before and not (tmp_path / "shelf").exists()
    make_keys(tmp_path, ["shelf"])
    authorities = {(tmp_path / name / "authority.pem").read_bytes() for name in ("desk", "shelf")}
    assert authorities == {(tmp_path / "authority.pem").read_bytes()}


def test_keys_in_a_file_are_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "farm.toml"
    file.write_text('[dask]\nscheduler = "tls://rack:8786"\nkeys = "desk"\n')
    table = read_farm(file).dask
    assert table is not None and table.keys == str(tmp_path / "desk")


@pytest.mark.counted
def test_a_farm_with_keys_measures_for_those_who_have_them(
    machines: Machines, keys: Path, tmp_path: Path
) -> None:
    for process in (machines.scheduler, *machines.workers):
        assert listeners(process.pid) and all(map(is_loopback, listeners(process.pid)))
    (stranger,) = make_keys(tmp_path / "others", ["stranger"])
    plain = machines.address.replace("tls", "tcp")
    for address, key_folder, refusal in (
        (machines.address, str(stranger), "cannot be reached"),
        (machines.address, "", "without keys, an address begins with tcp://"),
        (plain, str(keys / "lab"), "with keys, an address begins with tls://"),
        (plain, "", "cannot be reached"),
    ):
        with pytest.raises(UsageError, match=refusal):
            Pool(DaskTable(scheduler=address, keys=key_folder))
    call = ("run", "itc/queue", "--quick", "--fresh", "--target", BOARDS[1])
    answer = kadenz(*call, "--farm", machines.config, "--output", tmp_path / "runs")
    assert answer.returncode == 0, answer.stderr


@pytest.mark.counted
def test_a_farm_without_keys_listens_to_this_machine(tmp_path: Path) -> None:
    (tmp_path / "farm").mkdir()
    farm = Machines(tmp_path / "farm")
    try:
        for process in (farm.scheduler, *farm.workers):
            assert listeners(process.pid) and all(map(is_loopback, listeners(process.pid)))
    finally:
        farm.close()
