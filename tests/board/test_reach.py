# SPDX-License-Identifier: Apache-2.0
"""From a board's table and the user's words to one server's command; mistakes are refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kadenz.config import inventory
from kadenz.config.board_link import BoardLink
from kadenz.config.debug_server import DebugServer
from kadenz.config.target_name import parse_target
from kadenz.config.toml import parse_toml
from kadenz.errors import ConfigError, TargetFailed, ToolMissing, UsageError
from kadenz.lab.clock import clock_class
from kadenz.lab.conformance import conformance
from kadenz.targets.board.reach import data_of, reach
from kadenz.targets.board.server import program_of
from tests.board.bench import on_bench, reached, session

HELP = {"qemu-arm": ("-help",), "qemu-riscv32": ("-help",), "pyocd": ("gdbserver", "--help")}


@pytest.fixture
def usb(tmp_path: Path) -> Path:
    """A machine with one ST-LINK."""
    folder = tmp_path / "usb" / "1-1"
    folder.mkdir(parents=True)
    for name, text in (("idVendor", "0483"), ("idProduct", "374b"), ("serial", "066EFF01")):
        (folder / name).write_text(f"{text}\n")
    return folder.parent


def command(board: str, link: BoardLink, sysfs: Path) -> tuple[str, ...]:
    tier = inventory.board(board).tier.board
    assert tier is not None
    return reach(board, tier, link, sysfs).command


def test_the_probe_is_chosen_by_its_serial_number(usb: Path) -> None:
    """Also where it is the only one: a board that is plugged in later must not be taken."""
    words = command("stm32f4", BoardLink(port="/dev/x"), usb)
    assert "adapter serial 066EFF01" in words
    assert "interface/stlink.cfg" in words and "target/stm32f4x.cfg" in words
    assert not any(word.startswith("{") for word in words if word != "{folder}")


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (("mine", "-p", "{port}", "{probe}", "{chip}"), "adapter serial 066EFF01"),
        (("mine", "-p", "{port}", "--serial={serial}"), "--serial=066EFF01"),
    ],
)
def test_the_users_own_command_replaces_that_of_the_server(
    own: tuple[str, ...], expected: str, usb: Path
) -> None:
    words = command("stm32f4", BoardLink(port="/dev/x", command=own), usb)
    assert words[:3] == ("mine", "-p", "{port}") and expected in words


@pytest.mark.parametrize(
    ("link", "words", "remedy"),
    [
        ({"port": ""}, "results come over a serial line, and none is named", "--results rtt"),
        ({"server": "none", "port": ""}, "requires a serial port", "--server openocd"),
        ({"server": "none", "results": "rtt"}, "cannot come by rtt", "--results uart"),
        ({"server": "none", "probe": "0"}, "no debug server that uses it", "--server"),
        ({"server": "opencd"}, "no debug server `opencd`", "openocd"),
        ({"server": "openocd@desk"}, "`desk` is no HOST:PORT", "openocd@localhost:3333"),
        ({"probe": "12:34"}, "`12:34` is not a probe", "vid:pid:serial"),
        ({"results": "usb"}, "results `usb`", "uart"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_built(
    link: dict[str, str], words: str, remedy: str, usb: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        command("stm32f4", BoardLink(**{"port": "/dev/x", **link}), usb)  # type: ignore[arg-type]
    assert words in caught.value.message and remedy in caught.value.remedy


@pytest.mark.parametrize(("server", "kind"), [("openocd", "hardware"), ("qemu-arm", "instruction")])
def test_the_clock_of_a_board_is_that_of_what_its_server_runs_it_on(server: str, kind: str) -> None:
    """This machine may be virtual: a board's counter does not notice."""
    tier = inventory.board("stm32f4").tier.board
    assert tier is not None
    found = data_of(tier, BoardLink(server=server))
    assert found is not None
    assert clock_class("board", "kvm", found.clock) == kind


def test_openocd_at_a_chain_that_nobody_drives_is_quoted() -> None:
    """As with a board without power: OpenOCD complains, and goes on."""
    own = (
        *("openocd", "-c", "bindto 127.0.0.1", "-c", "gdb_port {port}", "-c", "tcl_port disabled"),
        *("-c", "telnet_port disabled", "-c", "adapter driver dummy", "-c", "adapter speed 1"),
        *("-c", "jtag newtap chip cpu -irlen 4"),
        *("-c", "target create chip.cpu testee -chain-position chip.cpu"),
    )
    way = reached(server="openocd", command=own, results="rtt", port="")
    with pytest.raises(TargetFailed, match="OpenOCD is not ready") as caught:
        session(on_bench(way))
    assert "double-check your JTAG setup" in caught.value.detail


def test_pyocd_without_a_probe_is_refused_with_its_own_words() -> None:
    with pytest.raises(TargetFailed, match="pyOCD (is not ready|ended with code 1)") as caught:
        session(on_bench(reached(server="pyocd", port="/dev/null")))
    assert "No connected debug probes" in caught.value.detail


def test_a_server_that_is_missing_is_reported_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # there is no compiler either
    with pytest.raises(ToolMissing, match="openocd is not installed"):
        conformance(parse_target("freertos/stm32f4@board"), link=BoardLink(port="/dev/null"))


@pytest.mark.parametrize("name", sorted(inventory.debug_servers()))
def test_every_server_that_is_missing_says_how_it_is_installed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = inventory.debug_server(name)
    monkeypatch.setattr("kadenz.targets.board.server.shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("kadenz.tools.shutil.which", lambda *_, **__: None)
    with pytest.raises(ToolMissing, match=server.program) as caught:
        program_of(server)
    assert server.remedy in caught.value.remedy and caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["openocd", "pyocd", "probe-rs", "jlink"])
def test_every_server_with_a_probe_gets_chip_and_serial_number(name: str, usb: Path) -> None:
    """Also those that are not installed here: nothing of their command is left to be filled."""
    server = inventory.debug_server(name)
    own = (server.program, *server.command)
    words = command("stm32f4", BoardLink(server=name, port="/dev/x", command=own), usb)
    assert any("066EFF01" in word for word in words)
    assert {word for word in words if "{" in word} <= {word for word in own if "{port}" in word}


def test_a_placeholder_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="`{serail}` in `--uid={serail}`"):
        parse_toml(
            'title = "x"\nprogram = "x"\nremedy = "x"\nreset = ["r"]\ncommand = ["--uid={serail}"]',
            DebugServer,
            "x.toml",
        )


def test_openocd_without_a_probe_is_refused_with_its_own_words() -> None:
    """The real OpenOCD, with no probe at this machine."""
    with pytest.raises(TargetFailed, match="OpenOCD ended with code 1") as caught:
        session(on_bench(reached(server="openocd", port="/dev/null", probe="")))
    assert "Error: " in caught.value.detail and "probe's cable" in caught.value.remedy


@pytest.mark.parametrize("name", ["openocd", "st-util", "qemu-arm", "qemu-riscv32", "pyocd"])
def test_a_server_knows_the_options_that_its_data_names(name: str) -> None:
    """Against the help of the program that is installed."""
    server = inventory.debug_server(name)
    answer = subprocess.run(
        [program_of(server), *HELP.get(name, ("--help",))],
        capture_output=True,
        text=True,
        check=False,
    )
    known = answer.stdout + answer.stderr
    for option in (word for word in (*server.command, *server.probe) if word.startswith("-")):
        assert option in known, f"{name}: {option}"
