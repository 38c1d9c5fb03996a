# SPDX-License-Identifier: Apache-2.0
"""kadenz doctor reports what can run and what is missing, also by its exit code."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from kadenz import tools
from kadenz.cli.doctor import _debug_servers, doctor
from kadenz.config import inventory
from kadenz.host import facts
from kadenz.host.limits import Rights
from kadenz.report import zoom
from kadenz.targets.board import discovery
from kadenz.targets.checkup import Missing, check_targets
from kadenz.tools import Need, Tool

EMULATED = "freertos/hifive1-revb@emulated"
HOST = "posix/linux@host"


def without(*names: str) -> Any:
    """A look-up that finds every tool of this machine except these."""

    def look_up(wanted: Need, **places: Any) -> Tool:
        if wanted.name in names or "everything" in names:
            return Tool(wanted, None, "", f"{wanted.name} is not installed")
        return tools.look_up(wanted, **places)

    return look_up


def problems(look_up: Any, target: str) -> list[str]:
    (check,) = [check for check in check_targets(look_up) if check.name == target]
    return [missing.problem for missing in check.missing]


@pytest.mark.counted
def test_this_machine_can_run_the_targets_of_the_demo() -> None:
    """After `make setup` nothing may be missing."""
    checks = {check.name: check for check in check_targets()}
    for name in (EMULATED, "freertos/stm32f4@emulated", HOST):
        assert checks[name].missing == ()
        assert checks[name].missing_for_scope == ()


def test_a_missing_emulator_stops_only_its_board() -> None:
    look_up = without("qemu-system-riscv32")
    assert problems(look_up, EMULATED) == ["qemu-system-riscv32 is not installed"]
    assert problems(look_up, "freertos/stm32f4@emulated") == []
    assert problems(look_up, HOST) == []


def test_a_missing_compiler_stops_only_its_boards() -> None:
    look_up = without("arm-none-eabi-gcc")
    assert problems(look_up, "freertos/stm32f4@emulated") == ["arm-none-eabi-gcc is not installed"]
    assert problems(look_up, EMULATED) == []


def test_the_kernels_source_needs_cargo_and_linux_does_not() -> None:
    look_up = without("cargo")
    assert problems(look_up, EMULATED) == ["cargo is not installed"]
    assert problems(look_up, HOST) == []


@pytest.mark.parametrize("target", ["posix/indy7@host", "linux/terminals-x86_64@guest"])
def test_a_board_whose_program_is_a_crate_needs_cargo(target: str) -> None:
    assert problems(without("cargo"), target)[0] == "cargo is not installed"


@pytest.mark.counted
def test_a_missing_plugin_header_stops_only_the_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "user_cache", lambda: tmp_path)
    installed = {
        name: tools.look_up(tools.need(name), cache=Path.home() / ".cache" / "kadenz")
        for name in ("qemu-system-riscv32", "qemu-system-arm")
    }
    checks = check_targets(lambda need: installed.get(need.name) or tools.look_up(need))
    (check,) = [check for check in checks if check.name == EMULATED]
    assert check.ready
    assert "qemu-plugin.h of QEMU" in check.missing_for_scope[0].problem
    assert "kadenz setup" in check.missing_for_scope[0].remedy


@pytest.mark.counted
def test_an_emulator_without_the_boards_machine_is_detected(tmp_path: Path) -> None:
    other = tmp_path / "qemu-system-riscv32"
    other.write_text("#!/bin/sh\necho 'virt  RISC-V VirtIO board'\n")
    other.chmod(0o755)

    def look_up(wanted: Need) -> Tool:
        if wanted.name == other.name:
            return Tool(wanted, other, "99.0", "")
        return tools.look_up(wanted)

    assert problems(look_up, EMULATED) == [f"{other} has no machine sifive_e"]


def test_this_linux_cannot_be_measured_without_rights() -> None:
    lacking = Missing("no right to SCHED_FIFO", "Run as root")
    checks = {check.name: check for check in check_targets(of_host=[lacking])}
    assert checks[HOST].missing == (lacking,)
    assert checks[EMULATED].missing == ()


def test_doctor_distinguishes_rights_from_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "try_rights", lambda: Rights("EPERM", "", ""))
    data = json.loads(CliRunner().invoke(doctor, ["--json"]).output)
    (linux,) = [target for target in data["targets"] if target["name"] == HOST]
    assert linux["ready"] is False
    assert "no right to SCHED_FIFO" in linux["missing"][0]["problem"]
    assert "--allow no-realtime" in linux["missing"][0]["remedy"]


def test_the_tables_name_the_machine_the_clock_the_tools_and_the_targets() -> None:
    answer = CliRunner().invoke(doctor, [])
    assert answer.exit_code == 0, answer.output
    for text in ("This machine", "CLOCK_MONOTONIC_RAW", "qemu-system-arm", EMULATED, HOST):
        assert text in answer.output


def test_json_contains_the_same() -> None:
    answer = CliRunner().invoke(doctor, ["--json"])
    assert answer.exit_code == 0
    data = json.loads(answer.output)
    assert data["ready"] is True
    assert {tool["name"] for tool in data["tools"]} == {need.name for need in tools.NEEDS}
    assert EMULATED in {target["name"] for target in data["targets"]}
    assert data["host"]["cpus"] >= 1
    assert data["clock"]["backward_steps"] >= 0
    for warning in data["warnings"]:
        assert warning["remedy"]


def test_debug_servers_and_probes_are_in_the_tables_and_in_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usb = {
        "1-1": ("0483", "374b", "066EFF01"),  # an ST-LINK
        "1-2": ("0403", "6010", "FT01"),  # on the HiFive1 Rev A
        "1-3": ("046d", "c31c", "KEYS"),
    }
    for name, contents in usb.items():
        (tmp_path / name).mkdir()
        for file, word in zip(("idVendor", "idProduct", "serial"), contents, strict=True):
            (tmp_path / name / file).write_text(f"{word}\n")
    monkeypatch.setattr(discovery, "probes", partial(discovery.probes, tmp_path))
    monkeypatch.setattr(discovery, "servers", partial(discovery.servers, without("openocd")))
    data = json.loads(CliRunner().invoke(doctor, ["--json"]).output)
    servers = {server["name"]: server for server in data["debug_servers"]}
    assert servers.keys() == inventory.debug_servers().keys()
    assert servers["openocd"]["problem"] == "openocd is not installed"
    assert not servers["qemu-arm"]["problem"] and servers["qemu-arm"]["version"]
    assert data["probes"] == ["0403:6010:FT01", "0483:374b:066EFF01"]
    console = Console(record=True, width=200)
    _debug_servers(console)
    shown = console.export_text()
    assert "probes on USB: 0403:6010:FT01, 0483:374b:066EFF01" in shown
    assert re.search(r"✗ +openocd +openocd is not installed", shown)
    assert re.search(r"✓ +qemu-arm ", shown)


def test_a_machine_that_can_run_nothing_fails_with_remedies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "look_up", without("everything"))
    answer = CliRunner().invoke(doctor, ["--json"])
    assert answer.exit_code == 1
    data = json.loads(answer.output)
    assert data["ready"] is False
    for tool in data["tools"]:
        assert tool["problem"]
        assert tool["remedy"]
    table = CliRunner().invoke(doctor, [])
    assert table.exit_code == 1
    assert "cannot run" in table.output


@pytest.mark.parametrize("fetched", [True, False])
def test_a_missing_zoom_library_is_reported_with_its_remedy(
    fetched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = zoom.Library("9.9.9", "", "") if fetched else None
    monkeypatch.setattr(zoom, "library", lambda: library)
    data = json.loads(CliRunner().invoke(doctor, ["--json"]).output)["pictures"]
    assert data["version"] == ("9.9.9" if fetched else "")
    assert bool(data["problem"]) is not fetched
    assert ("make setup" in data["remedy"]) is not fetched
