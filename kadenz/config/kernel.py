# SPDX-License-Identifier: Apache-2.0
"""kernel.toml: a kernel port, the boards it runs on, and where the kernel's source comes from."""

from __future__ import annotations

from typing import Literal

import msgspec

from kadenz.config.model import FileModel


class VersionMark(FileModel, kw_only=True, frozen=True):
    """Where to find the version in a source tree of the kernel."""

    file: str  # relative to the root of the tree
    pattern: str  # regular expression; its groups, joined by dots, are the version


class SeveralCores(FileModel, kw_only=True, frozen=True):
    """How to tell a source tree that can run several cores from one that cannot."""

    file: str  # relative to the root of the tree
    text: str  # text that this file contains
    since: str  # the first version that has it


class KernelSource(FileModel, kw_only=True, frozen=True):
    """A kernel that is built into the image. This repository contains no kernel sources.

    Exactly one of `crate`, `tree`, `cmake` and `image` says where the kernel comes from. A folder
    is relative to the kernel.toml; "" leaves it to the user (--kernel-source). With `image`, the
    kernel's own build makes the whole image (--image).
    """

    crate: str | None = None  # name of a package on crates.io
    version: str = ""  # its exact version; kernels/<name>/source/Cargo.toml pins the same
    path: str = ""  # the kernel's folder inside the crate
    tree: str | None = None  # folder of the sources, which the port compiles
    # CMake file of the port that has the tree's own rules compile them instead; an exported suite
    # takes it along, with the files of the port that the rules read.
    rules: str = ""
    cmake: str | None = None  # folder whose own CMakeLists.txt builds the kernel
    image: str | None = None  # form of `export-suite` that takes the suite into the kernel's build
    target: str = ""  # its library, linked into the image
    include: tuple[str, ...] = ()  # include folders that the library does not export
    cache: dict[str, str] = msgspec.field(default_factory=dict)  # cache variables for that folder
    # Possible folders of the kernel in a tree given with --kernel-source; "." is the tree itself.
    roots: tuple[str, ...] = (".",)
    # Required files, relative to the root; checked before compiling. `*` is a folder of any name.
    files: tuple[str, ...] = ()
    since: str = ""  # the first version that has all of them; "": they do not tell versions apart
    version_mark: VersionMark | None = None
    several_cores: SeveralCores | None = None  # None: any tree, or none, can run several cores

    def __post_init__(self) -> None:
        """Each way has its own keys."""
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            raise ValueError("[source] needs exactly one of `crate`, `tree`, `cmake` and `image`")
        for way, keys in _WAYS.items():
            for key in keys:
                if way != ways[0] and getattr(self, key):
                    raise ValueError(f"[source] `{key}` belongs to `{way}`, not to `{ways[0]}`")
        if ways == ["crate"] and not (self.crate and self.version):
            raise ValueError("[source] `crate` needs a name and an exact `version`")
        if ways == ["cmake"] and not self.target:
            raise ValueError("[source] `cmake` needs `target`: the library to link")
        if ways == ["image"] and not self.image:
            raise ValueError("[source] `image` needs a form of `kadenz export-suite`")

    @property
    def folder(self) -> str:
        """The folder of `tree` or `cmake`; "" if the user names it."""
        return self.tree or self.cmake or ""

    @property
    def left_to_user(self) -> bool:
        """Whether there is no kernel to build unless the user names its folder."""
        return self.crate is None and self.image is None and not self.folder


# The ways, and the keys that belong to one way only.
_WAYS: dict[str, tuple[str, ...]] = {
    "crate": ("version", "path"),
    "tree": ("rules",),
    "cmake": ("target", "include", "cache"),
    "image": (),
}


class KernelObject(FileModel, kw_only=True, frozen=True):
    """A kind of kernel object, and the RAM that one takes."""

    type: str  # structure, union or typedef of its control block, in the kernel's sources
    plus: str = ""  # what is allocated with it: "its stack"


ALL = ("*",)


class Never(FileModel, kw_only=True, frozen=True):
    """A function that services cannot reach although their code calls it."""

    function: str
    services: tuple[str, ...] = ALL  # globs of benchmarks
    why: str


class Ready(FileModel, kw_only=True, frozen=True):
    """A function that switches while the running thread, or a more urgent one, is ready."""

    function: str
    masked: bool = False  # only where it switches with interrupts off
    services: tuple[str, ...] = ALL
    why: str


class BoundFacts(FileModel, kw_only=True, frozen=True):
    """What `kadenz bound` cannot read from the code of a kernel."""

    # Its words that each thread has its own value of, 0 where a thread calls a service.
    per_thread: tuple[str, ...] = ()
    # Its words that are 0 unless an interrupt is served, such as how many are nested.
    in_interrupts: tuple[str, ...] = ()
    # Its words that are 0 where a thread calls a service, and behind a switch: what an interrupt
    # leaves behind that came while the scheduler was locked. They are written by their names alone.
    resting: tuple[str, ...] = ()
    # Quantities of at_most that are 0 until an interrupt is served: what interrupts leave behind.
    by_interrupts: tuple[str, ...] = ()
    # Quantities of a search for the most urgent thread that is ready: 0 where the running one is,
    # or a more urgent one: behind an interrupt, and where one of `ready` switches.
    search: tuple[str, ...] = ()
    ready: tuple[Ready, ...] = ()
    # Functions by which a thread gives the processor up; empty: it raises an exception. They return
    # when it goes on.
    switches: tuple[str, ...] = ()
    # Its pointer to the thread that should run. A lock's end compares it with `current_thread` in
    # open code, and switches where they differ. Empty: the end of a lock switches by itself.
    should_run: str = ""
    # Functions of threads whose rank is the highest, too.
    urgent: tuple[str, ...] = ()
    # Functions that a woken thread does not call again, because it finds what it waited for.
    woken_skips: tuple[str, ...] = ()
    # function -> where its calls through a register lead.
    calls: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    at_most: dict[str, int] = msgspec.field(default_factory=dict)  # quantity -> usual value
    # function -> how often each of its loops begins a round, for each entry: a number, or a
    # quantity of at_most: "threads", or "threads+1" for a loop that tests before its first round.
    # "function/other": its loop that calls another.
    loops: dict[str, int | str] = msgspec.field(default_factory=dict)
    # function -> the bytes that it writes, each once, besides its stack: a number or a quantity.
    writes: dict[str, int | str] = msgspec.field(default_factory=dict)
    never: tuple[Never, ...] = ()


class GuestKernels(FileModel, kw_only=True, frozen=True):
    """Kernels that boot in an emulated machine, from the cache of `make guest-kernels`."""

    flavour: Literal["rt", "plain"]
    # Available versions by instruction set; the first one is the default.
    versions: dict[str, tuple[str, ...]]


class Kernel(FileModel, kw_only=True, frozen=True):
    """A kernel port: kernels/<name>/kernel.toml."""

    title: str  # "FreeRTOS"
    # The folder of kernels/ with the port of this kernel and its `lacks`; empty: its own.
    port: str = ""
    guest: GuestKernels | None = None
    boards: list[str]  # folders under boards/
    source: KernelSource | None = None  # None: the kernel is already running (Linux)
    # Its pointer to the running thread, for profiles: a symbol, or a member of one,
    # "osRtxInfo.thread.run.curr".
    current_thread: str = ""
    # The source file that defines it, relative to the kernel's tree: shows where the tree begins
    # for an image that another build made. Empty: at the root.
    current_thread_file: str = ""
    # Its word that is not 0 while the scheduler is locked; needs `current_thread`.
    scheduler_lock: str = ""
    # Or one sentence: why its services never lock the scheduler. Without both it is unknown.
    no_scheduler_lock: str = ""
    # Of the thread's structure: its name, "tskTaskControlBlock.pcTaskName", for timelines.
    thread_name: str = ""
    bound: BoundFacts | None = None  # None: nothing is known for bounds
    objects: dict[str, KernelObject] = msgspec.field(default_factory=dict)  # kind -> its RAM
    lacks: dict[str, str] = msgspec.field(
        default_factory=dict
    )  # name of mechanism.h -> one sentence: why this kernel lacks it

    # study -> the kernel in `published/published.csv` whose figures are shown next to it:
    # the beginning of its name there, "Keil RTX5"
    published: dict[str, str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """The build reads `[lacks]` line by line and compiles it in: suite/lacks.cmake."""
        if self.scheduler_lock and self.no_scheduler_lock:
            raise ValueError("`scheduler_lock` and `no_scheduler_lock` exclude each other")
        for name, sentence in self.lacks.items():
            if not sentence or set('"\\\n') & {*name, *sentence}:
                raise ValueError(
                    f"[lacks] {name}: one sentence on one line, without quotes and backslashes"
                )

    @property
    def needs_tree(self) -> str:
        """Why a kernel cannot be built whose source is left to the user."""
        return f"{self.title} needs a source tree: no registry carries it"

    @property
    def own_build(self) -> str:
        """The form of `export-suite` if the kernel's own build makes the image, else ""."""
        return self.source.image or "" if self.source else ""

    @property
    def builds_itself(self) -> str:
        """Why kadenz does not build a kernel whose own build makes the image."""
        return f"{self.title} has a build of its own, which makes the whole image"

    def take_the_suite(self, name: str) -> str:
        """The remedy, for the kernel called `name`."""
        return (
            "Export the suite into it, build, and pass --image: "
            f"kadenz export-suite DIR --as {self.own_build} --kernel {name} --board BOARD"
        )

    @staticmethod
    def name_the_tree(name: str) -> str:
        """The remedy, for the kernel called `name`."""
        return f"Get its source and pass --kernel-source {name}=DIR"
