# SPDX-License-Identifier: Apache-2.0
"""The user's own bus: errors are reported before any build, valid options reach the target."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from kadenz.config.target_name import TargetName, parse_target
from kadenz.errors import ConfigError, TargetFailed, UsageError
from kadenz.host.interface import check_interface, interfaces
from kadenz.lab.condition import Setup
from kadenz.lab.conditions.bus import Bus, BusChoice, has_bus

INDY7 = TargetName("posix", "indy7", "host")


def card(root: Path, name: str, *, flags: str = "0x1003", carrier: str = "1") -> None:
    """An Ethernet interface in sysfs."""
    folder = root / "sys/class/net" / name
    folder.mkdir(parents=True)
    (folder / "type").write_text("1\n")
    (folder / "flags").write_text(flags + "\n")
    (folder / "carrier").write_text(carrier + "\n")


def test_interface_and_layout_reach_the_targets_program(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("x")
    setup = Setup()
    (bus,) = BusChoice(Bus("eth1", file)).variants(INDY7)
    bus.set_up(setup, INDY7)
    assert setup.arguments == ["--interface", "eth1", "--layout", str(file)]
    assert BusChoice().variants(INDY7) == []


def test_the_second_interface_reaches_the_program_and_is_named_with_the_first() -> None:
    setup = Setup()
    (bus,) = BusChoice(Bus("eth1", second="eth2")).variants(INDY7)
    bus.set_up(setup, INDY7)
    assert setup.arguments == ["--interface", "eth1", "--second-interface", "eth2"]
    assert str(bus) == "--bus interface=eth1,second=eth2"
    assert [(entry.kind, entry.value) for entry in bus.entries] == [("interface", "eth1 and eth2")]


@pytest.mark.parametrize(
    ("bus", "what", "remedy"),
    [
        (Bus(second="eth2"), "only the second interface is named", "interface=NAME,second=NAME"),
        (Bus("eth1", second="eth1"), "both rings are at the same interface", "two network cards"),
    ],
)
def test_two_rings_need_two_interfaces(bus: Bus, what: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=what) as wrong:
        BusChoice(bus).check([INDY7])
    assert remedy in wrong.value.remedy


def test_the_layouts_digest_is_a_setting_of_the_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b"a = 1\n")
    digest = hashlib.sha256(b"a = 1\n").hexdigest()
    assert Bus(layout=file).settings() == {"layout_sha256": digest}
    assert Bus("eth1").settings() == {}


def test_only_targets_with_a_bus_accept_one() -> None:
    assert has_bus(INDY7)
    for text in ("posix/linux@host", "freertos/stm32f4@emulated"):
        with pytest.raises(UsageError, match=f"{text} has no bus") as wrong:
            BusChoice(Bus("lo")).check([INDY7, parse_target(text)])
        assert str(INDY7) in wrong.value.remedy
    BusChoice().check([parse_target("posix/linux@host")])


def test_a_missing_layout_is_refused_with_an_example(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.toml: No such file") as wrong:
        BusChoice(Bus(layout=tmp_path / "nowhere.toml")).check([INDY7])
    assert "indy7.toml" in wrong.value.remedy


def test_a_layout_that_the_target_refuses_is_a_usage_error(tmp_path: Path) -> None:
    failure = TargetFailed("it ended", detail="layout mine.toml: axis.velocity_deg_s is -1")
    error = Bus(layout=Path("mine.toml")).refused(failure)
    assert isinstance(error, ConfigError) and "mine.toml" in error.message
    assert "velocity_deg_s" in error.detail
    assert Bus("eth1").refused(failure) is failure


def test_an_unknown_interface_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    card(tmp_path, "eth1")
    (tmp_path / "sys/class/net/lo").mkdir()
    (tmp_path / "sys/class/net/lo/type").write_text("772\n")
    assert interfaces(tmp_path) == ["eth1"]
    with pytest.raises(UsageError, match="eth2: no such") as wrong:
        check_interface("eth2", "--bus interface", tmp_path)
    assert "eth1" in wrong.value.remedy
    with pytest.raises(UsageError, match="lo: not an Ethernet"):
        check_interface("lo", "--bus interface", tmp_path)
    with pytest.raises(UsageError, match="no such"):
        check_interface("../net/eth1", "--bus interface", tmp_path)


def test_an_interface_without_link_is_refused_before_the_measurement(tmp_path: Path) -> None:
    card(tmp_path, "eth1", flags="0x1002")
    card(tmp_path, "eth2", carrier="0")
    card(tmp_path, "eth3")
    with pytest.raises(TargetFailed, match="eth1: the interface is down") as down:
        check_interface("eth1", "--bus interface", tmp_path)
    assert down.value.remedy == "Run `ip link set eth1 up`" and down.value.exit_code == 1
    with pytest.raises(TargetFailed, match="eth2: the interface has no link"):
        check_interface("eth2", "--bus interface", tmp_path)
    check_interface("eth3", "--bus interface", tmp_path)
