# SPDX-License-Identifier: Apache-2.0
"""board.toml: a chip, its resources, and the tiers that can execute its image."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from kadenz.config.board_link import Way
from kadenz.config.model import FileModel
from kadenz.config.params import Value

_WORD = re.compile(r"[\w./=:+-]+", re.ASCII)
_WORDS_MAX = 16  # WORDS_MAX of kernels/linux/guest/init.c
Positive = Annotated[int, msgspec.Meta(ge=1)]


class Memory(FileModel, kw_only=True, frozen=True):
    """The chip's resources; the linker script holds the layout."""

    data_bytes: Positive
    code_bytes: Positive | None = None
    # Addresses and sizes of the memory that an image may occupy; empty: not checked.
    ranges: tuple[tuple[int, Positive], ...] = ()


class HostTier(FileModel, kw_only=True, frozen=True):
    """The image is a program of this Linux: the suite, or a program with the same wire format."""

    clock_unit: str = "ns"  # unit of one tick of the target's clock
    # A package of the workspace fieldbus/ that takes a plan and answers like the suite. Empty: the
    # suite itself, built by CMake.
    crate: str = ""
    arguments: tuple[str, ...] = ()
    # The program's own names of these options; empty: it has no such option.
    no_realtime_argument: str = "--allow=no-realtime"
    idle_states_argument: str = "--allow=idle-states"
    # For a program with a fieldbus: the network interface of its devices, and the file that
    # describes them. Empty: it has no bus.
    bus_interface_argument: str = ""
    bus_second_argument: str = ""
    bus_layout_argument: str = ""


class TimingModel(FileModel, kw_only=True, frozen=True):
    """The model that turns the instructions of an emulated core into cycles of the real one."""

    name: str  # folder under instruments/models/
    # The clock of the chip in Hz, for which the parameters hold; 0: not stated.
    hz: Annotated[int, msgspec.Meta(ge=0)] = 0
    # Values of parameters on this board: cycles, or the least and the most. The others keep the
    # ranges of the model.
    parameters: dict[str, int | tuple[int, int]] = msgspec.field(default_factory=dict)


class DeviceStore(FileModel, kw_only=True, frozen=True):
    """A word of 32 bits that is stored to a device of the board."""

    address: Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)]
    value: Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)]


class EmulatedTier(FileModel, kw_only=True, frozen=True):
    """The image runs in QEMU, its virtual time driven by counted instructions."""

    qemu: str  # "qemu-system-riscv32"
    machine: str  # "sifive_e,revb=on"
    # The image is linked for another map than on the other tiers: KDZ_BOARD_MAP of board.cmake.
    map: str = ""
    # One instruction advances virtual time by 2**icount_shift ns (QEMU, -icount shift=N).
    icount_shift: Annotated[int, msgspec.Meta(ge=0, le=10)]
    # Where the plan text is placed before reset (-device loader). 0: the board executes firmwares
    # for `kadenz count`, and no image of the suite.
    plan_address: Annotated[int, msgspec.Meta(ge=0)] = 0
    plan_bytes: Positive = 4096  # space there, including the terminating zero
    serial: Annotated[int, msgspec.Meta(ge=0, le=7)] = 0  # index of the output UART
    # A store that raises the suite's interrupt, as the board's kdz_board_irq_raise does.
    interrupt: DeviceStore | None = None
    arguments: tuple[str, ...] = ()
    clock_unit: str = "instruction"
    # Notes on figures, by benchmark: globs, joined by spaces. A run that measures one carries its
    # note.
    benchmark_notes: dict[str, str] = msgspec.field(default_factory=dict)
    # Samples of one benchmark, at most: those that show a figure which the emulator alone decides.
    benchmark_samples: dict[str, Positive] = msgspec.field(default_factory=dict)
    model: TimingModel | None = None  # None: instructions only

    def __post_init__(self) -> None:
        """Raises ValueError for arguments by which an image would reach this machine's files."""
        for word in self.arguments:
            if word.lstrip("-").startswith("semihosting"):
                raise ValueError(
                    f"`{word}` in `arguments`: kadenz itself lets an image end QEMU by "
                    "semihosting, and nothing else; leave it out"
                )


class GuestCard(FileModel, kw_only=True, frozen=True):
    """A network card that QEMU emulates, and its register that hands a frame over.

    A guest has two of them on one hub, the program's and that of the devices.
    """

    device: str  # as QEMU calls it: "e1000e"
    region: str  # of its registers, as QEMU calls it: "e1000e-mmio"
    region_bytes: Positive
    doorbell: Annotated[int, msgspec.Meta(ge=0)]  # the register's place in the region
    driver_text: Annotated[int, msgspec.Meta(ge=0)]  # lowest address of the kernel's modules
    # The address after the last one; 0: the modules are above all other code.
    driver_text_end: Annotated[int, msgspec.Meta(ge=0)] = 0


class OutputBit(FileModel, kw_only=True, frozen=True):
    """The digital output whose pulses are measured, in the process data of its master."""

    address: Annotated[int, msgspec.Meta(ge=0)]  # logical, of its byte
    mask: Annotated[int, msgspec.Meta(ge=1, le=255)] = 1
    # The address in records with a parameter that changes the ring: {"acquisition=second" = 0}.
    moved: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError for a key of `moved` that is no parameter with a value."""
        for key in self.moved:
            if not all(key.partition("=")):
                raise ValueError(f"`{key}` in `moved`: write a parameter and its value, `a=b`")

    def address_in(self, params: Mapping[str, Value]) -> int:
        """The address in a record with these parameters."""
        for key, address in self.moved.items():
            name, _, value = key.partition("=")
            if str(params.get(name)) == value:
                return address
        return self.address


class GuestProgram(FileModel, kw_only=True, frozen=True):
    """A program that a guest runs instead of the suite."""

    crate: str  # a package of the workspace fieldbus/, with the wire format of the suite
    # The guest's instruction set in Rust's words: "aarch64-unknown-linux-gnu". Machines of another
    # one compile the program for it. Empty: they cannot.
    target: str = ""
    modules: tuple[str, ...]  # of kernels/linux/guest/modules, in the order of their loading
    wire: tuple[str, ...]  # two interfaces: the program's, and that of the devices; or none
    arguments: tuple[str, ...]
    ring: tuple[str, ...]  # arguments with which the program simulates the devices
    card: GuestCard | None = None  # None: the interfaces are a virtual pair
    output: OutputBit | None = None  # with a card: what its frames are read for

    def __post_init__(self) -> None:
        """Raises ValueError for words that do not pass through the guest's command line."""
        for word in (*self.modules, *self.wire, *self.arguments, *self.ring):
            if not _WORD.fullmatch(word):
                raise ValueError(f"`{word}`: expected letters, digits, and any of ./=:_+-")
        if len(self.wire) not in (0, 2):
            raise ValueError("`wire`: expected two interfaces, or none")
        count = max(len(self.arguments), len(self.ring))
        if count > _WORDS_MAX:
            raise ValueError(f"{count} arguments; a guest takes {_WORDS_MAX}")
        if self.output is not None and self.card is None:
            raise ValueError("`output` is read from the frames of a card: add [card]")


class GuestTier(FileModel, kw_only=True, frozen=True):
    """The image runs in a Linux that boots in QEMU, in virtual time."""

    qemu: str  # "qemu-system-x86_64"
    machine: str  # "q35"
    cpu: str
    memory_mib: Positive
    # One instruction advances virtual time by 2**icount_shift ns (QEMU, -icount shift=N).
    icount_shift: Annotated[int, msgspec.Meta(ge=0, le=10)]
    console: str  # line of the kernel's messages: "ttyS0"
    frames: str  # line of the frames: "ttyS1"
    # A device for the second line, on the character device `frames`; empty: the machine's own.
    frames_device: str = ""
    parameters: str = ""  # more arguments for the kernel's command line
    clock_unit: str = "virtual ns"
    program: GuestProgram | None = None  # None: the suite
    # Notes on figures, by benchmark: globs, joined by spaces. A run that measures one carries its
    # note.
    benchmark_notes: dict[str, str] = msgspec.field(default_factory=dict)


class RtlMemory(FileModel, kw_only=True, frozen=True):
    """A memory of the simulated SoC."""

    name: str  # "rom"
    start: Annotated[int, msgspec.Meta(ge=0)]
    bytes: Positive
    wait: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0  # cycles of an access after the first
    shared: bool = False  # one access at a time over all buses; else one per bus


class RtlTier(FileModel, kw_only=True, frozen=True):
    """The image runs on a core compiled from its Verilog: exact cycles."""

    core: str  # folder under instruments/rtl/cores/; the board's `cores` of them
    memory: Annotated[tuple[RtlMemory, ...], msgspec.Meta(min_length=1)]
    plan_address: int  # where the plan text is placed before reset
    plan_bytes: Positive = 4096  # space there, including the terminating zero
    # The core's clock, by which cycles become a time: as boards/softcore/include/kdz_core_hz.h.
    hz: Positive = 100_000_000
    timer_divider: Positive = 10  # core cycles per count of mtime; the image checks it
    uart: int = 0x10000000  # addresses of the devices
    clint: int = 0x02000000
    finisher: int = 0x00100000
    locks: int = 0  # 32 spinlocks, for several cores; 0: none
    # Of several cores: the member of an array of the image, one element for each core, that
    # kdz_board_irq_raise sets: "reasons.raised". Empty: no interrupt can be raised from outside.
    interrupt: str = ""
    # Limits at which a run is stopped: its cycles, and its cycles without output.
    cycle_limit: Positive = 50_000_000_000
    silence_limit: Positive = 1_000_000_000
    clock_unit: str = "cycle"


class SecondClock(FileModel, kw_only=True, frozen=True):
    """A counter of the board on another oscillator than the core's (kdz_board_second_clock)."""

    name: str  # "mtime"
    oscillator: str  # "32768 Hz crystal"
    hz: Positive
    tolerance_ppm: Annotated[float, msgspec.Meta(gt=0)] = 100.0  # of the oscillator


class BoardTier(FileModel, kw_only=True, frozen=True):
    """The image runs on silicon, which a debug server reaches; frames come by one of the WAYS."""

    verified: bool  # true once the whole suite has run on the real board
    baud: Positive = 115200
    clock_unit: str = "cycle"
    server: str = ""  # file of servers/: the board's own probe. Empty: loaded by hand
    results: Way = "uart"
    transport: Literal["swd", "jtag"] = "swd"  # between a probe and the chip
    # The chip's name in each server: `openocd = "target/stm32f4x.cfg"`.
    chip: dict[str, str] = msgspec.field(default_factory=dict)
    # USB names "vid:pid" of the probe on the board, for each server whose configuration of the chip
    # also selects the driver of that probe; no other probe works with such a server.
    own_probe: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    # The image is in RAM: a reset starts other code, so the debugger starts it at its entry.
    in_ram: bool = False
    # Seconds after a start: without a byte by then, the board is reset and started once more.
    answer_s: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    # Maximum deviation of the core's clock from the configured rate: the tolerances of its
    # oscillator and of this machine's clock, which NTP may steer.
    clock_tolerance_ppm: Annotated[float, msgspec.Meta(gt=0)] = 1000.0
    second_clock: SecondClock | None = None  # None: the clock is compared with this machine's


class Tiers(FileModel, kw_only=True, frozen=True):
    """One table per tier that can execute this board's image."""

    host: HostTier | None = None
    guest: GuestTier | None = None
    emulated: EmulatedTier | None = None
    rtl: RtlTier | None = None
    board: BoardTier | None = None

    def crate(self, tier: str) -> str:
        """The package of fieldbus/ whose program a tier runs; "" where it runs the suite."""
        program = self.guest.program if self.guest is not None else None
        crates = {
            "host": self.host.crate if self.host is not None else "",
            "guest": program.crate if program is not None else "",
        }
        return crates.get(tier, "")

    def names(self) -> list[str]:
        """The tiers in board.toml, from this machine outwards."""
        return [
            t for t in ("host", "guest", "emulated", "rtl", "board") if getattr(self, t) is not None
        ]


class Board(FileModel, kw_only=True, frozen=True):
    """What boards/<name>/board.toml says of a board: chip, memory, tiers."""

    title: str  # "SiFive HiFive1 Rev B"
    arch: str  # folder under arch/
    # Kernels that run on it and do not name it themselves: folders under kernels/.
    kernels: tuple[str, ...] = ()
    cores: Positive = 1
    memory: Memory | None = None  # None: this machine's own
    tier: Tiers
    instruments: tuple[Literal["counter", "scope", "pins", "ftrace"], ...] = ("counter",)
    # The compiler's names: the chip's own first, then subsets that images can be built for.
    instruction_sets: tuple[str, ...] = ()
    # A timer that raises the suite's interrupt by itself (kadenz/device.h). Empty: none.
    timer: str = ""
    notes: str = ""  # notes for readers of this board's results
