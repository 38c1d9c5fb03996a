# SPDX-License-Identifier: Apache-2.0
"""board.toml: a chip, what it has, and by which tiers its image can execute."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from kadenz.config.model import FileModel

Positive = Annotated[int, msgspec.Meta(ge=1)]


class Memory(FileModel, kw_only=True, frozen=True):
    """What the chip has; the linker script holds the layout."""

    data_bytes: Positive
    code_bytes: Positive | None = None


class HostTier(FileModel, kw_only=True, frozen=True):
    """The image is a program of this Linux: the suite's, or one that speaks the same frames."""

    clock_unit: str = "ns"  # what one tick of the target's clock is
    # A package of the workspace fieldbus/ that takes a plan and answers as the suite does; empty:
    # the suite itself, built by CMake.
    crate: str = ""
    arguments: tuple[str, ...] = ()
    # What the program calls these two; empty: it has no such option.
    no_realtime_argument: str = "--allow-no-realtime"
    idle_states_argument: str = "--allow-idle-states"
    # Of a program with a fieldbus: the network interface of its devices, and the file that says
    # which device is what. Empty: it has no bus.
    bus_interface_argument: str = ""
    bus_layout_argument: str = ""


class EmulatedTier(FileModel, kw_only=True, frozen=True):
    """The image runs in QEMU, its virtual time driven by counted instructions."""

    qemu: str  # "qemu-system-riscv32"
    machine: str  # "sifive_e,revb=on"
    # One instruction advances virtual time by 2**icount_shift ns (QEMU, -icount shift=N).
    icount_shift: Annotated[int, msgspec.Meta(ge=0, le=10)]
    plan_address: int  # where the plan text is placed before reset (-device loader)
    plan_bytes: Positive = 4096  # room there, with the ending zero
    serial: Annotated[int, msgspec.Meta(ge=0, le=7)] = 0  # which UART of the machine talks
    arguments: tuple[str, ...] = ()
    clock_unit: str = "instruction"
    # What a reader of one benchmark's figures has to know; a run that measures it is stamped.
    benchmark_notes: dict[str, str] = msgspec.field(default_factory=dict)


class GuestTier(FileModel, kw_only=True, frozen=True):
    """The image is the first work of a Linux that boots in QEMU, in virtual time."""

    qemu: str  # "qemu-system-x86_64"
    machine: str  # "q35"
    cpu: str
    memory_mib: Positive
    # One instruction advances virtual time by 2**icount_shift ns (QEMU, -icount shift=N).
    icount_shift: Annotated[int, msgspec.Meta(ge=0, le=10)]
    console: str  # the kernel's words go to this line: "ttyS0"
    frames: str  # and frames to this one: "ttyS1"
    # A device that carries the second line, on the character device `frames`; empty: the machine's.
    frames_device: str = ""
    parameters: str = ""  # further words on the kernel's command line
    clock_unit: str = "virtual ns"


class BoardTier(FileModel, kw_only=True, frozen=True):
    """The image runs on silicon; frames come over a serial line."""

    verified: bool  # true once somebody ran the whole suite on the real board
    baud: Positive = 115200
    clock_unit: str = "cycle"
    # Command that writes the image; {elf} stands for its path. Empty: flash by hand.
    flash: tuple[str, ...] = ()


class Tiers(FileModel, kw_only=True, frozen=True):
    """One table for each way this board's image can execute."""

    host: HostTier | None = None
    guest: GuestTier | None = None
    emulated: EmulatedTier | None = None
    board: BoardTier | None = None

    def names(self) -> list[str]:
        """Tiers that board.toml offers, in the order of their closeness to this machine."""
        return [t for t in ("host", "guest", "emulated", "board") if getattr(self, t) is not None]


class Board(FileModel, kw_only=True, frozen=True):
    """A board: boards/<name>/board.toml."""

    title: str  # "SiFive HiFive1 Rev B"
    arch: str  # folder under arch/
    cores: Positive = 1
    memory: Memory | None = None  # None: this machine's own
    tier: Tiers
    instruments: tuple[Literal["counter", "scope"], ...] = ("counter",)
    notes: str = ""  # what a reader of results from this board has to know
