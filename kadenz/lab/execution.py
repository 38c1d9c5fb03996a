# SPDX-License-Identifier: Apache-2.0
"""From a target's name to its image and to the class that executes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kadenz import tools
from kadenz.config import inventory
from kadenz.config.board import Board, EmulatedTier, HostTier
from kadenz.config.board_link import DEFAULT, BoardLink
from kadenz.config.debug_server import DebugServer
from kadenz.config.manifest import INTERVAL, MISSES, FootprintEntry
from kadenz.config.target_name import TargetName, own_image, own_link, own_source
from kadenz.errors import TargetFailed, UsageError
from kadenz.images.given_image import GivenImage, given_image
from kadenz.images.guest import GuestImage
from kadenz.images.image import Image, build_image
from kadenz.lab import tuning_in_force
from kadenz.lab.condition import Allowance, Setup
from kadenz.lab.guests import default_guest, guest_image, guest_target
from kadenz.targets import rtl_core
from kadenz.targets import timing_model as timing_models
from kadenz.targets.base import Target
from kadenz.targets.counted import CountedProcess
from kadenz.targets.process import ProcessTarget
from kadenz.targets.timing_model import Model
from kadenz.values.keeper import Keeper

if TYPE_CHECKING:
    from kadenz.targets.scoped import Arriving

# Listing benchmarks and conformance measure nothing, so they need no right.
ASKING: frozenset[Allowance] = frozenset({"no-realtime", "idle-states"})


def image_of(
    name: TargetName, instrument: str, setup: Setup, extra_bench: Sequence[Path] = ()
) -> Image:
    """The image of a target, built now or given. `extra_bench` are C files outside the suite."""
    rtl, server = inventory.board(name.board).tier.rtl, board_server(name, setup.link)
    if rtl is not None and name.tier == "rtl":
        rtl_core.build(rtl.core)
    if rtl is not None and server is not None and server.simulated_jtag:
        rtl_core.build(rtl.core, rtl_core.BY_JTAG)
    if setup.image is not None:
        return given_image(name, setup.image, marks_of(instrument, setup))
    if setup.guest is not None:
        return guest_image(name, setup.guest, extra_bench, setup.program)
    return build_image(
        name,
        marks_of(instrument, setup),
        tree=setup.kernel_source,
        extra_bench=extra_bench,
        isa=setup.isa,
        console=_console(name, setup.link),
    )


def has_minimal(name: TargetName) -> bool:
    """Whether a minimal application is linked for the target: for boards, not for Linux."""
    return name.tier not in ("host", "guest")


def minimal_of(name: TargetName, setup: Setup) -> list[FootprintEntry]:
    """The footprint of the target's minimal application; empty for an image that is given."""
    if setup.image is not None or not has_minimal(name):
        return []
    tree, isa = setup.kernel_source, setup.isa
    return build_image(name, "counter", tree=tree, isa=isa, minimal=True).entry.footprint


def _console(name: TargetName, link: BoardLink) -> str:
    """The way by which frames leave a board, if it is not the board's own UART."""
    tier = inventory.board(name.board).tier.board
    way = link.results or tier.results if name.tier == "board" and tier is not None else ""
    return "" if way == "uart" else way


def setup_of(name: TargetName) -> Setup:
    """A target without conditions, as the lab's file describes it."""
    return Setup(kernel_source=own_source(name), image=own_image(name), link=own_link(name))


def default_setup(name: TargetName) -> Setup:
    """The same, started to be asked and not to measure."""
    guest = default_guest(name) if name.tier == "guest" else None
    return replace(setup_of(name), allowed=ASKING, guest=guest)


def make_target(name: TargetName, instrument: str, image: Image, setup: Setup) -> Target:
    """An execution of `image`: a fresh one, or the value of an equal one (kadenz/values).

    An image of another build is always executed: it may ask the emulator for more than its files.
    """
    image.require_unchanged()
    target = _target(name, instrument, image, setup)
    if isinstance(target, CountedProcess) and not isinstance(image, GivenImage):
        target.keeper = Keeper(str(name), fresh=setup.fresh)
    return target


def _target(name: TargetName, instrument: str, image: Image, setup: Setup) -> Target:
    if name.tier == "guest":
        if setup.guest is None or not isinstance(image, GuestImage):
            raise TypeError(f"{name}: a guest needs its kernel and its archive")
        return guest_target(name, setup.guest, image, setup.program)
    board = inventory.board(name.board)
    tiers = board.tier
    if name.tier == "emulated" and tiers.emulated is not None:
        if instrument in ("scope", "model", "records"):
            from kadenz.lab.profile.watching import watched
            from kadenz.targets.scoped import ScopedQemuTarget

            model = timing_model(name) if instrument == "model" else None
            recorded = setup.profiled or setup.traced
            watch = watched(name, image, traced=setup.traced) if recorded else None
            raised = _arriving_in(tiers.emulated, name, image, setup)
            return ScopedQemuTarget(tiers.emulated, image.elf, model, watch, raised)
        from kadenz.targets.qemu import QemuTarget

        return QemuTarget(tiers.emulated, image.elf)
    if name.tier == "rtl" and tiers.rtl is not None:
        from kadenz.lab.profile.watching import flag_of, lock_address, watched
        from kadenz.targets.rtl import RtlTarget

        arriving = setup.arriving if instrument == "scope" else None
        followed = setup.profiled if arriving is None else bool(arriving.only)
        watch = watched(name, image, traced=False) if followed else None
        if arriving is not None:
            flag = flag_of(name, tiers.rtl, image)
            arriving = replace(arriving, lock=lock_address(name, image), flag=flag)
        return RtlTarget(
            tiers.rtl,
            board.cores,
            image.elf,
            setup.wait_states,
            scoped=instrument == "scope",
            watched=watch,
            flushed=setup.flushed_caches,
            arriving=arriving,
        )
    if name.tier == "board" and tiers.board is not None:
        from kadenz.targets.board.reach import reach
        from kadenz.targets.board.target import BoardTarget

        link = reach(name.board, tiers.board, setup.link)
        return BoardTarget(link, tiers.board, image.elf)
    host = tiers.host or HostTier()
    argument_of = {
        "no-realtime": host.no_realtime_argument,
        "idle-states": host.idle_states_argument,
    }
    options = [
        argument_of[allowance] for allowance in sorted(setup.allowed) if argument_of[allowance]
    ]
    command = [str(image.elf.path), *host.arguments, *options, *setup.arguments]
    return ProcessTarget(tuning_in_force.on_every_processor(command), suite=not tiers.crate("host"))


def _arriving_in(
    tier: EmulatedTier, name: TargetName, image: Image, setup: Setup
) -> Arriving | None:
    """The arrivals that QEMU is asked for; None without any."""
    if setup.arriving is None or tier.interrupt is None:
        return None
    from kadenz.lab.profile.cores import core_of
    from kadenz.lab.profile.watching import lock_address
    from kadenz.targets.scoped import Arriving

    asked = replace(setup.arriving, lock=lock_address(name, image))
    return Arriving(asked, tier.interrupt, core_of(inventory.board(name.board).arch).shown)


def check_instrument(name: TargetName, instrument: str) -> None:
    """UsageError if this target cannot be measured by `instrument`."""
    offered = instruments(name)
    if instrument not in offered:
        raise UsageError(
            f"{name} cannot be measured with the instrument `{instrument}`",
            remedy=f"It offers {', '.join(offered)}",
        )


def check_marks(setup: Setup, instrument: str) -> None:
    """UsageError for caches that are to be emptied at marks which the instrument does not make."""
    if setup.flushed_caches and instrument != "scope":
        raise UsageError(
            "--caches: the bench empties caches when it sees a sample begin, which the instrument "
            f"`{instrument}` hides",
            remedy="Add --instrument scope",
        )


def instruments(name: TargetName) -> list[str]:
    """Instruments that can measure this target.

    `model` where its board names a timing model, `records` where the scope sees a counter at work.
    """
    board_instruments = inventory.board(name.board).instruments
    offered: list[str] = [i for i in board_instruments if i != "scope" or scoped(name)]
    if "scope" in offered and timing_model(name):
        offered.append("model")
    if {"counter", "scope"} <= set(offered) and name.tier == "emulated":
        offered.append("records")
    if name.kernel and inventory.in_rust(name.kernel):  # its stamps are in Rust
        offered = [i for i in offered if i not in ("pins", "records")]
    return offered


def asked_by(name: TargetName) -> str:
    """The instrument of the image that is asked what it can: the board's first, its counter."""
    return inventory.board(name.board).instruments[0]


def timing_model(name: TargetName) -> Model | None:
    """The timing model of a target with the board's values, if it has one."""
    emulated = inventory.board(name.board).tier.emulated
    if name.tier != "emulated" or emulated is None or emulated.model is None:
        return None
    return timing_models.model(name.board, emulated.model)


def scope_kinds(name: TargetName, instrument: str) -> tuple[str, ...]:
    """Companions that an instrument outside the target gives each sample: INTERVAL, MISSES."""
    rtl = inventory.board(name.board).tier.rtl
    if instrument == "scope" and name.tier == "rtl" and rtl is not None:
        return rtl_core.core_file(rtl.core).counted_misses
    model = timing_model(name) if instrument == "model" else None
    if model is None:
        return ()
    return (*(INTERVAL if model.has_interval else ()), *(MISSES if model.file.misses else ()))


def marks_of(instrument: str, setup: Setup) -> str:
    """The instrument that an image is built for: a model watches the marks of the scope. Where
    nobody outside raises arrivals, stamps of the counter arm a timer (instruments/timer). On
    several cores another one works beside the service (instruments/beside)."""
    if setup.arriving is not None and instrument == "counter":
        return "timer"
    if setup.arriving is not None and setup.arriving.beside:
        return "beside"
    return "scope" if instrument == "model" else instrument


def board_server(name: TargetName, link: BoardLink) -> DebugServer | None:
    """The debug server of a board; None on another tier, and for a board loaded by hand."""
    from kadenz.targets.board.reach import data_of

    tier = inventory.board(name.board).tier.board
    return data_of(tier, link) if name.tier == "board" and tier is not None else None


def check_board(name: TargetName, link: BoardLink) -> None:
    """Every mistake in how a board is to be reached; called before anything is built.

    UsageError, ToolMissing, or TargetFailed for a probe or a serial port that is not connected.
    """
    from kadenz.targets.board.gdb import PROGRAM
    from kadenz.targets.board.reach import reach

    tier = inventory.board(name.board).tier.board
    if name.tier != "board" or tier is None:
        return
    reached = reach(name.board, tier, link.over(own_link(name)))
    if reached.server is not None:
        tools.require(PROGRAM)
    if reached.way == "uart":
        _check_port(reached.port)


def check_link(names: Sequence[TargetName], link: BoardLink) -> None:
    """UsageError for a way to a board, if no target is a board."""
    if link != DEFAULT and all(name.tier != "board" for name in names):
        keys = ("port", "probe", "server", "results")
        given = [f"{key}={value}" for key in keys if (value := getattr(link, key))]
        raise UsageError(
            f"--board {','.join(given)}: no target of this run is a board",
            remedy="Leave it out, or measure a target whose tier is board",
        )


def _check_port(port: str) -> None:
    """TargetFailed for a device of this machine that is not there; others are opened later."""
    if port.startswith("/") and "{" not in port and not Path(port).exists():
        raise TargetFailed(
            f"{port}: no such serial port",
            remedy="Connect the board, or pass --board port=… with a port of /dev/serial/by-id/",
        )


def check_tools(name: TargetName) -> None:
    """ToolMissing if the target's emulator is not installed; called before anything is built."""
    tiers = inventory.board(name.board).tier
    tier = {"emulated": tiers.emulated, "guest": tiers.guest}.get(name.tier)
    if tier is not None:
        tools.require(tier.qemu)
    if name.tier == "rtl" and tiers.rtl is not None:
        rtl_core.require(tiers.rtl.core)


def scoped(name: TargetName) -> bool:
    """Whether the scope can watch this tier from outside."""
    return name.tier in ("emulated", "rtl")


def clock_unit(name: TargetName, board: Board) -> str:
    """The unit of a target's clock, from board.toml."""
    tier = {
        "host": board.tier.host,
        "guest": board.tier.guest,
        "emulated": board.tier.emulated,
        "rtl": board.tier.rtl,
        "board": board.tier.board,
    }[name.tier]
    return tier.clock_unit if tier is not None else "tick"
