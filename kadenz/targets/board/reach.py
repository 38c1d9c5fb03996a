# SPDX-License-Identifier: Apache-2.0
"""From a board's table and the user's words to how one board is reached."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kadenz.config import inventory
from kadenz.config.board import BoardTier, RtlTier
from kadenz.config.board_link import BY_HAND, WAYS, BoardLink, PowerSwitch, Way
from kadenz.config.debug_server import DebugServer, filled
from kadenz.config.toml import did_you_mean
from kadenz.elf import Elf
from kadenz.errors import UsageError
from kadenz.targets import rtl_core
from kadenz.targets.board import usb
from kadenz.targets.board.server import RunningServer, ServerProcess, program_of
from kadenz.targets.board.simulated import SimulatedBoard

Server = ServerProcess | RunningServer


@dataclass(frozen=True)
class Reach:
    """How one board is reached."""

    name: str  # of the server: "openocd", "none"
    server: DebugServer | None  # None: loaded by hand
    address: str  # of a server that runs already; "" if kadenz starts it
    command: tuple[str, ...]  # with `{port}`, `{folder}` and `{elf}` left
    way: Way
    port: str  # serial line; may have `{folder}`
    simulated: RtlTier | None = None  # the board, if the server's data says that it is simulated
    power: PowerSwitch | None = None  # None: nobody can switch the board

    def make_server(self, folder: Path, elf: Elf) -> Server:
        """The server of one execution, not yet started."""
        if self.address or self.server is None:
            return RunningServer(self.address)
        values = {"folder": str(folder), "elf": str(elf.path)}
        command = [filled(word, values) for word in self.command]
        if self.simulated is None:
            return ServerProcess(self.server, command, folder)
        socket = Path(filled(self.server.simulated_jtag, values))
        board = SimulatedBoard(self.simulated, elf, folder, socket)
        return ServerProcess(self.server, command, folder, board)


def data_of(tier: BoardTier, link: BoardLink) -> DebugServer | None:
    """The data of the server that a link means: its own, or that of board.toml; None: by hand.

    Raises UsageError for an unknown one.
    """
    name, _ = _name(tier, link)
    return None if name == BY_HAND else inventory.debug_server(name)


def _name(tier: BoardTier, link: BoardLink) -> tuple[str, str]:
    """The server's name, and the address of one that runs already: "openocd@desk:3333"."""
    name, _, address = (link.server or tier.server or BY_HAND).partition("@")
    if address and not address.rpartition(":")[2].isdigit():
        raise UsageError(
            f"server `{link.server}`: `{address}` is not HOST:PORT",
            remedy=f"Write {name}@localhost:3333",
        )
    return name, address


def reach(board: str, tier: BoardTier, link: BoardLink, sysfs: Path = usb.SYSFS) -> Reach:
    """Resolves a link. Raises UsageError for what cannot work, TargetFailed for a missing probe,
    ToolMissing for a server that is not installed.
    """
    (name, address), server = _name(tier, link), data_of(tier, link)
    way = _way_of(tier, link)
    if server is None:
        return _by_hand(way, link)
    port = link.port or server.line
    if way == "uart" and not port:
        raise UsageError(
            f"{board}: results come over a serial line, and none is named",
            remedy="Pass --board port=/dev/serial/by-id/…, or --board results=rtt, without a line",
        )
    if address:
        _refuse_choice(link, f"{address} runs already, with its own probe")
        return Reach(name, server, address, (), way, port, power=link.power)
    simulated = _simulated(board, server)
    command = _command(board, name, server, tier, link, sysfs)
    if simulated is not None:
        rtl_core.require(simulated.core)
    return Reach(name, server, "", command, way, port, simulated, link.power)


def _simulated(board: str, server: DebugServer) -> RtlTier | None:
    """The machine that a server's data asks for in the board's place; None: a real board."""
    if not server.simulated_jtag:
        return None
    tier = inventory.board(board).tier.rtl
    if tier is None or not rtl_core.core_file(tier.core).idcode:
        raise UsageError(
            f"{server.title} reaches simulated cores with a JTAG port, and {board} has none",
            remedy="Name another server, --board server=NAME: `kadenz doctor` lists them",
        )
    return tier


def _command(
    board: str,
    name: str,
    server: DebugServer,
    tier: BoardTier,
    link: BoardLink,
    sysfs: Path,
) -> tuple[str, ...]:
    """The server's command with everything filled in that does not change between executions."""
    probes = tier.own_probe.get(name, ())
    # The user's own command may drive another probe than that of the board.
    known = probes if probes and not link.command else inventory.probe_names() | set(probes)
    probe = usb.probe_for(link.probe, known, sysfs) if server.usb else None
    values = {
        "serial": probe.serial if probe else "",
        "usb": probe.usb if probe else "",
        "transport": tier.transport,
        "chip": tier.chip.get(name, ""),
    }
    others = server.interfaces.get("", ())
    interface = server.interfaces.get(probe.usb.lower() if probe else "", others)
    several = {
        "{probe}": server.probe if probe and probe.serial else (),
        "{interface}": () if probes else interface,
    }
    whole = link.command or (str(program_of(server)), *server.command)
    command = [part for word in whole for part in several.get(word, (word,))]
    if not values["chip"] and any("{chip}" in word for word in command):
        raise UsageError(
            f"{board} has no name for its chip in {server.title}",
            remedy=f"Add `{name} = …` to [tier.board.chip] in its board.toml, or use --board "
            + " or ".join(f"server={server_name}" for server_name in tier.chip or (BY_HAND,)),
        )
    return tuple(filled(word, values) for word in command)


def _way_of(tier: BoardTier, link: BoardLink) -> Way:
    text = link.results or tier.results
    for way in WAYS:
        if text == way:
            return way
    raise UsageError(f"results `{text}`", remedy=did_you_mean(text, list(WAYS)))


def _by_hand(way: Way, link: BoardLink) -> Reach:
    if way != "uart":
        raise UsageError(
            f"without a debug server, results cannot come by {way}",
            remedy="Pass --board server=NAME, or --board results=uart",
        )
    if not link.port:
        raise UsageError(
            "a board without a debug server requires a serial port",
            remedy="Pass --board server=openocd, or --board port=/dev/serial/by-id/…",
        )
    _refuse_choice(link, "no debug server is used")
    return Reach(BY_HAND, None, "", (), way, link.port)


def _refuse_choice(link: BoardLink, why: str) -> None:
    """Raises UsageError if a link chooses a probe or a command: two boards might be swapped."""
    chosen = [f"probe {link.probe}"] if link.probe else []
    chosen += [f"`{link.command[0]}`"] if link.command else []
    if chosen:
        raise UsageError(
            f"{' and '.join(chosen)} cannot be used: {why}",
            remedy="Leave out probe and server_command, or name a server that kadenz starts: "
            "--board server=NAME",
        )
