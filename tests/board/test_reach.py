# SPDX-License-Identifier: Apache-2.0
"""From a board's table and the user's words to one server's command; mistakes are refused."""

from __future__ import annotations

import importlib
import itertools
import re
import subprocess
import sys
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
from kadenz.targets.board.discovery import probes
from kadenz.targets.board.reach import data_of, reach
from kadenz.targets.board.server import ServerProcess, program_of
from tests.board.bench import on_bench, reached, session

HELP = {"qemu-arm": ("-help",), "qemu-riscv32": ("-help",), "pyocd": ("gdbserver", "--help")}


@pytest.fixture
def usb(tmp_path: Path) -> Path:
    """A machine with one ST-LINK."""
    plug(tmp_path / "usb" / "1-1", "0483", "374b", "066EFF01")
    return tmp_path / "usb"


def plug(folder: Path, vendor: str, product: str, serial: str) -> None:
    """A device on USB, as Linux lists it."""
    folder.mkdir(parents=True)
    for name, text in (("idVendor", vendor), ("idProduct", product), ("serial", serial)):
        (folder / name).write_text(f"{text}\n")


def command(board: str, link: BoardLink, sysfs: Path) -> tuple[str, ...]:
    tier = inventory.board(board).tier.board
    assert tier is not None
    return reach(board, tier, link, sysfs).command


def test_the_probe_is_chosen_by_its_serial_number(usb: Path) -> None:
    """Also where it is the only one: a board that is plugged in later must not be taken."""
    command_line = command("stm32f4", BoardLink(port="/dev/x"), usb)
    assert "adapter serial 066EFF01" in command_line
    assert "interface/stlink.cfg" in command_line and "target/stm32f4x.cfg" in command_line
    assert not any(word.startswith("{") for word in command_line if word != "{folder}")


@pytest.mark.parametrize(
    ("user_command", "expected"),
    [
        (("mine", "-p", "{port}", "{probe}", "{chip}"), "adapter serial 066EFF01"),
        (("mine", "-p", "{port}", "--serial={serial}"), "--serial=066EFF01"),
    ],
)
def test_the_users_own_command_replaces_that_of_the_server(
    user_command: tuple[str, ...], expected: str, usb: Path
) -> None:
    command_line = command("stm32f4", BoardLink(port="/dev/x", command=user_command), usb)
    assert command_line[:3] == ("mine", "-p", "{port}") and expected in command_line


@pytest.mark.parametrize(
    ("link", "message", "remedy"),
    [
        ({"port": ""}, "results come over a serial line, and none is named", "--board results=rtt"),
        ({"server": "none", "port": ""}, "requires a serial port", "--board server=openocd"),
        ({"server": "none", "results": "rtt"}, "cannot come by rtt", "--board results=uart"),
        ({"server": "none", "probe": "0"}, "probe 0 cannot be used", "--board server="),
        ({"server": "none", "command": ("mine",)}, "`mine` cannot be used", "--board server="),
        (
            {"server": "openocd@desk:33", "probe": "066EFF01"},
            "desk:33 runs already",
            "--board server=",
        ),
        (
            {"server": "openocd@desk:33", "command": ("mine",)},
            "desk:33 runs already",
            "--board server=",
        ),
        ({"server": "opencd"}, "no debug server `opencd`", "openocd"),
        ({"server": "openocd@desk"}, "`desk` is not HOST:PORT", "openocd@localhost:3333"),
        ({"probe": "12:34"}, "`12:34` is not a probe", "vid:pid:serial"),
        ({"results": "usb"}, "results `usb`", "uart"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_built(
    link: dict[str, str], message: str, remedy: str, usb: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        command("stm32f4", BoardLink(**{"port": "/dev/x", **link}), usb)  # type: ignore[arg-type]
    assert message in caught.value.message and remedy in caught.value.remedy


# What OpenOCD says when its configuration is sound and the probe is not there.
SEARCHED = {
    "0403:6010": "unable to open ftdi device with vid 0403, pid 6010",
    "0483:374b": "open failed",
    "1366:1015": "No J-Link device found",
    "1366:1051": "No J-Link device found",
    "0d28:0204": "unable to find a matching CMSIS-DAP device",
    "": "unable to find a matching CMSIS-DAP device",
}
ADAPTERS = [("hifive1-reva", "0403:6010"), ("hifive1-revb", "1366:1051")]
ARM = ["nrf52840-dk", "nucleo-f401re", "nucleo-f429zi", "stm32f4", "stm32l432"]
PAIRS = [*ADAPTERS, *itertools.product(ARM, ["0483:374b", "1366:1015", "0d28:0204", ""])]
PAIRS += [("rp2040", "1366:1015"), ("rp2040", "0d28:0204"), ("rp2040", "")]


def test_every_board_of_openocd_is_paired_with_its_probes() -> None:
    tiers = {name: data.tier.board for name, data in inventory.boards().items()}
    assert {board for board, _ in PAIRS} == {
        name for name, tier in tiers.items() if tier is not None and tier.server == "openocd"
    }


@pytest.mark.parametrize(("board", "usb_name"), PAIRS)
def test_openocd_accepts_the_configuration_of_each_board_with_each_probe(
    board: str, usb_name: str, tmp_path: Path
) -> None:
    """The real OpenOCD reads all of it, then misses the probe: its serial number is nobody's."""
    if usb_name:
        vendor, _, product = usb_name.partition(":")
        plug(tmp_path / "1-1", vendor, product, "987654321")
    command_line = [
        word.replace("{port}", "disabled")
        for word in command(board, BoardLink(port="/dev/x"), tmp_path)
    ]
    answer = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    errors = [line for line in answer.stderr.splitlines() if line.startswith("Error: ")]
    assert SEARCHED[usb_name] in errors[-1], answer.stderr
    assert not re.search(r"invalid|ignoring|deprecated|missing", answer.stderr), answer.stderr


def test_the_probe_on_a_board_is_known_and_no_other_is_taken(usb: Path) -> None:
    """The ST-LINK belongs to another board; the FTDI is a serial line everywhere else."""
    plug(usb / "1-2", "0403", "6010", "FT01")
    command_line = command("hifive1-reva", BoardLink(port="/dev/x"), usb)
    assert "adapter serial FT01" in command_line and not any(
        "interface/" in word for word in command_line
    )
    assert "adapter serial 066EFF01" in command("stm32f4", BoardLink(port="/dev/x"), usb)
    with pytest.raises(TargetFailed, match="no probe 066EFF01 is connected"):
        command("hifive1-reva", BoardLink(port="/dev/x", probe="066EFF01"), usb)
    assert [str(probe) for probe in probes(usb)] == ["0403:6010:FT01", "0483:374b:066EFF01"]


def test_each_chip_of_pyocd_is_built_in_or_its_pack_is_documented() -> None:
    built_in = importlib.import_module("pyocd.target.builtin").BUILTIN_TARGETS
    page = Path("docs/reference/debug-servers.md").read_text()
    for name, board in inventory.boards().items():
        chip = board.tier.board.chip.get("pyocd", "") if board.tier.board is not None else ""
        documented = f"pyocd pack install {chip}   # {name}\n" in page
        assert not chip or (chip in built_in) != documented, (name, chip)


@pytest.mark.parametrize(("server", "kind"), [("openocd", "hardware"), ("qemu-arm", "instruction")])
def test_the_clock_of_a_board_is_that_of_what_its_server_runs_it_on(server: str, kind: str) -> None:
    """This machine may be virtual: a board's counter does not notice."""
    tier = inventory.board("stm32f4").tier.board
    assert tier is not None
    data = data_of(tier, BoardLink(server=server))
    assert data is not None
    assert clock_class("board", "kvm", data.clock) == kind


def test_openocd_at_a_chain_that_nobody_drives_is_quoted() -> None:
    """As with a board without power: OpenOCD complains, and goes on."""
    user_command = (
        *("openocd", "-c", "bindto 127.0.0.1", "-c", "gdb_port {port}", "-c", "tcl_port disabled"),
        *("-c", "telnet_port disabled", "-c", "adapter driver dummy", "-c", "adapter speed 1"),
        *("-c", "jtag newtap chip cpu -irlen 4"),
        *("-c", "target create chip.cpu testee -chain-position chip.cpu"),
    )
    way = reached(server="openocd", command=user_command, results="rtt", port="")
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
    server_command = (server.program, *server.command)
    command_line = command(
        "stm32f4", BoardLink(server=name, port="/dev/x", command=server_command), usb
    )
    assert any("066EFF01" in word for word in command_line)
    assert {word for word in command_line if "{" in word} <= {
        word for word in server_command if "{port}" in word
    }


# Of `probe-rs gdb`, by the declarations of cmd/gdb_server/mod.rs and util/common_options.rs in
# probe-rs-tools, whose releases are not installed here. Values: what the option takes.
PROBE_RS = {
    "--gdb-connection-string": r"[0-9.]+:\d+",
    "--chip": r"\S+",
    "--protocol": r"swd|jtag",
    "--probe": r"[0-9a-f]{4}:[0-9a-f]{4}(:\S+)?",
}
PROBE_RS_MONITOR = {"info", "reset", "reset halt"}  # cmd/gdb_server/target/monitor.rs


@pytest.mark.parametrize("board", [*ARM, "rp2040"])
def test_the_command_of_probe_rs_is_what_its_source_declares(board: str, usb: Path) -> None:
    server = inventory.debug_server("probe-rs")
    server_command = (server.program, *server.command)
    command_line = command(
        board, BoardLink(server="probe-rs", port="/dev/x", command=server_command), usb
    )
    program, subcommand, *options = (word.replace("{port}", "1337") for word in command_line)
    assert (program, subcommand) == ("probe-rs", "gdb")
    pairs = dict(zip(options[::2], options[1::2], strict=True))
    assert pairs.keys() == PROBE_RS.keys()
    for option, value in pairs.items():
        assert re.fullmatch(PROBE_RS[option], value), (option, value)
    assert set(server.reset) <= PROBE_RS_MONITOR


def test_a_placeholder_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="`{serail}` in `--uid={serail}`"):
        parse_toml(
            'title = "x"\nprogram = "x"\nremedy = "x"\nreset = ["r"]\ncommand = ["--uid={serail}"]',
            DebugServer,
            "x.toml",
        )


def server_at(host: str, folder: Path) -> ServerProcess:
    """A server that listens at an address of this machine."""
    six = ":" in host
    family = f"socket.AF_INET{'6' if six else ''}"
    server = f"create_server(('{host}', {{port}}), family={family}, dualstack_ipv6={six})"
    script = f"import socket, time; listener = socket.{server}; time.sleep(600)"
    data = DebugServer(title="Mine", program="mine", remedy="", command=("x",), reset=("r",))
    return ServerProcess(data, [sys.executable, "-c", script], folder)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_a_server_listens_to_this_machine(host: str, tmp_path: Path) -> None:
    server = server_at(host, tmp_path)
    server.start()
    assert not server.ended()
    server.end()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_that_listens_to_others_is_ended(host: str, tmp_path: Path) -> None:
    server = server_at(host, tmp_path)
    with pytest.raises(TargetFailed, match="Mine listens to other machines") as caught:
        server.start()
    assert "127.0.0.1" in caught.value.remedy and server.how_it_ended() == ""


def test_openocd_without_a_probe_is_refused_with_its_own_words() -> None:
    """The real OpenOCD, with no probe at this machine."""
    with pytest.raises(TargetFailed, match="OpenOCD ended with code 1") as caught:
        session(on_bench(reached(server="openocd", port="/dev/null", probe="")))
    assert "Error: " in caught.value.detail and "probe's cable" in caught.value.remedy


@pytest.mark.parametrize("name", ["openocd", "qemu-arm", "qemu-riscv32", "pyocd"])
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
